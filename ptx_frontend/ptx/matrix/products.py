"""Products of fragments: `mma`, `mma.sp` and `wmma.mma`."""

from __future__ import annotations

from collections.abc import Sequence

from kernelcast.ptx_frontend.ptx.legal.matrix_forms import product_form
from kernelcast.ptx_frontend.ptx.legal.matrix_scaled_forms import is_scaled, scaled_form
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.text import syntax
from kernelcast.ptx_frontend.ptx.text.mnemonics import Refusal
from kernelcast.simcore.isa.ir.kernel import Operand, Register, WarpOperation
from kernelcast.simcore.isa.matrix.operations import MatrixOpcode, MatrixOperation, matrix_opcode
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["fragment_destinations", "fragment_sources", "lower_mma", "lower_wmma"]

_METADATA, _SELECTOR = 4, 5
_FRAGMENTS = 4
_SCALE_OPERANDS = 4


def lower_mma(site: Site, builder: BasicBlockBuilder, target: str) -> None:
    """Lowers `mma`: D, A, B, C; metadata and its selector where A is sparse; scales, if any."""
    is_sparse = any(part.startswith("sp") for part in site.mnemonic.split(".")[1:])
    scaled = is_scaled(site.mnemonic)
    scales_at = _FRAGMENTS + 2 * is_sparse
    site.expect_operands(scales_at + _SCALE_OPERANDS * scaled)
    more: tuple[Operand, ...] = ()
    selected = 0
    if is_sparse:
        selector = site.operands[_SELECTOR]
        if not isinstance(selector, syntax.Integer):
            raise site.error("the sparsity selector is a constant", _SELECTOR)
        selected = selector.value
        more = (site.source(site.operands[_METADATA], _METADATA, ScalarType.B32),)
    operation = _understood(site, target, selected)
    if scaled:
        more += (*_scale(site, scales_at), *_scale(site, scales_at + 2))
    _lower(site, builder, operation, more)


def _scale(site: Site, index: int) -> tuple[Operand, ...]:
    """`register, {number of the first byte, number of the lanes}`."""
    register = site.source(site.operands[index], index, ScalarType.B32)
    byte, lanes = _items(site, index + 1, 2)
    numbers = (site.source(item, index + 1, ScalarType.U16) for item in (byte, lanes))
    return register, *numbers


def lower_wmma(site: Site, builder: BasicBlockBuilder, target: str) -> None:
    """Lowers `wmma.mma`."""
    site.expect_operands(_FRAGMENTS)
    _lower(site, builder, _understood(site, target, 0), ())


def _understood(site: Site, target: str, selector: int) -> MatrixOperation:
    found = scaled_form if is_scaled(site.mnemonic) else product_form
    form = found(site.mnemonic, target, selector)
    if isinstance(form, Refusal):
        raise site.unsupported(form.reason)
    return form


def _lower(
    site: Site, builder: BasicBlockBuilder, operation: MatrixOperation, more: tuple[Operand, ...]
) -> None:
    opcode = matrix_opcode(operation)
    builder.append(
        WarpOperation(
            **site.fields(),
            opcode=opcode,
            type=ScalarType.B32,
            destinations=fragment_destinations(site, 0, opcode.results),
            sources=(*_sources(site, opcode), *more),
            members=None,
        )
    )


def _sources(site: Site, opcode: MatrixOpcode) -> list[Operand]:
    assert opcode.operation is not None
    found: list[Operand] = []
    first = 0
    for index, fragment in enumerate(opcode.operation.fragments()[:3], start=1):
        types = opcode.sources[first : first + fragment.registers]
        found.extend(fragment_sources(site, index, types))
        first += fragment.registers
    return found


def _items(site: Site, index: int, count: int) -> tuple[syntax.Operand, ...]:
    operand = site.operands[index]
    items = operand.items if isinstance(operand, syntax.VectorOperand) else (operand,)
    if len(items) != count:
        raise site.error(
            f"{site.mnemonic!r} takes {count} register{'s' * (count > 1)} here, got {len(items)}",
            index,
        )
    return items


def fragment_destinations(
    site: Site, index: int, types: Sequence[ScalarType | None]
) -> tuple[Register | None, ...]:
    """The registers of a fragment that is written."""
    return tuple(
        site.destination(item, index, type_ or ScalarType.B32)
        for item, type_ in zip(_items(site, index, len(types)), types, strict=True)
    )


def fragment_sources(
    site: Site, index: int, types: Sequence[ScalarType | None]
) -> tuple[Operand, ...]:
    """The registers of a fragment that is read."""
    return tuple(
        site.source(item, index, type_ or ScalarType.B32)
        for item, type_ in zip(_items(site, index, len(types)), types, strict=True)
    )
