"""Vectors: registers that are declared as such, and moves of several elements.

PTX ISA 9.0, "Vectors as operands" and `mov`.
"""

from __future__ import annotations

from dataclasses import replace

from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.instruction_parts import InstructionParts
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.lowering.scopes import Scope
from kernelcast.ptx_frontend.ptx.text import syntax
from kernelcast.ptx_frontend.ptx.text.mnemonics import scalar_type
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["is_vector_move", "lower_vector_move", "with_elements"]

_COUNTS = {"v2": 2, "v4": 4}
_SPECIAL = frozenset(
    f"%{name}"
    for name in (
        *("tid", "ntid", "ctaid", "nctaid"),
        *("clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid"),
    )
)
"""Special registers of four elements, the last of which is zero."""
_MOVE_PARTS = 3
_MOVED = frozenset(
    ScalarType.named(name)
    for name in (*("b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"),)
)
_MOST_BITS = 128


def with_elements(
    statement: syntax.InstructionStatement, scope: Scope
) -> syntax.InstructionStatement:
    """The statement with the names of vector registers replaced by their elements in braces."""
    operands = tuple(_with_elements(operand, scope) for operand in statement.operands)
    return statement._replace(operands=operands)


def _with_elements(operand: syntax.Operand, scope: Scope) -> syntax.Operand:
    if isinstance(operand, syntax.BracketOperand):
        return replace(operand, items=tuple(_with_elements(x, scope) for x in operand.items))
    if isinstance(operand, syntax.PairOperand) and (elements := scope.vector(operand.first)):
        return syntax.VectorOperand(tuple(map(syntax.NameOperand, elements)), operand.second)
    if isinstance(operand, syntax.NameOperand) and (elements := scope.vector(operand.name)):
        return syntax.VectorOperand(tuple(map(syntax.NameOperand, elements)))
    return operand


def is_vector_move(site: Site) -> bool:
    """`mov.v2` and `mov.v4`; without a modifier braces are halves of one value."""
    return site.mnemonic.startswith("mov.v")


def lower_vector_move(site: Site, builder: BasicBlockBuilder) -> None:
    """One instruction: all sources are read before a destination is written."""
    site.expect_operands(2)
    type_, count = _understood(site)
    code = InstructionParts.guarded(site, builder)
    sources = _sources(site, type_, count)
    targets = [site.destination(item, 0, type_) for item in _items(site, 0, count)]
    written = {target for target in targets if target is not None}
    move = f"mov.b{type_.bits}"
    read = [
        code.compute(move, type_.bits, source) if source in written else source
        for source in sources
    ]
    is_first = True
    for target, source in zip(targets, read, strict=True):
        if target is None:
            continue
        if is_first:
            code.assign(move, target, source, is_main=True)
        else:
            code.assign(move, target, source)
        is_first = False


def _understood(site: Site) -> tuple[ScalarType, int]:
    parts = site.mnemonic.split(".")
    type_ = scalar_type(parts[-1])
    count = _COUNTS.get(parts[1], 0)
    if len(parts) != _MOVE_PARTS or not count or type_ is None or not _is_moved(type_, count):
        raise site.refused()
    return type_, count


def _is_moved(type_: ScalarType, count: int) -> bool:
    """Whether `mov` has the type: at most 128 bits, and neither packed nor of bits alone."""
    return type_ in _MOVED and type_.bits * count <= _MOST_BITS


def _sources(site: Site, type_: ScalarType, count: int) -> list[Operand]:
    operand = site.operands[1]
    if isinstance(operand, syntax.NameOperand) and operand.name in _SPECIAL:
        if count != len("xyzw") or type_.bits != ScalarType.U32.bits or type_.is_float:
            raise site.error(f"{operand.name!r} is a vector of 4 elements of 32 bits", 1)
        named = [syntax.NameOperand(f"{operand.name}.{axis}") for axis in "xyz"]
        return [*(site.source(name, 1, type_) for name in named), Immediate(0)]
    return [site.source(item, 1, type_) for item in _items(site, 1, count)]


def _items(site: Site, index: int, count: int) -> tuple[syntax.Operand, ...]:
    operand = site.operands[index]
    items = operand.items if isinstance(operand, syntax.VectorOperand) else ()
    if len(items) != count:
        raise site.error(f"{site.mnemonic!r} takes {count} elements in braces here", index)
    return items
