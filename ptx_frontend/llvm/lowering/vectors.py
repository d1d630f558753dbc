"""Elements of vectors, fields of structs and arrays that are values."""

from __future__ import annotations

from kernelcast.ptx_frontend.llvm.lowering.call_site import Value, register_bits
from kernelcast.ptx_frontend.llvm.lowering.scope import Site
from kernelcast.ptx_frontend.llvm.text.cursor import IrProblem
from kernelcast.ptx_frontend.llvm.text.tokens import TokenKind
from kernelcast.ptx_frontend.llvm.text.types import IrType, VectorType, component, parts_of
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register

__all__ = ["VECTORS"]


def _vector(value: Value) -> VectorType:
    if not isinstance(value.type, VectorType):
        raise IrProblem(f"a vector is needed, not {value.type}", False)
    return value.type


def _extract(site: Site) -> None:
    value, index = site.operand(), site.next_operand()
    type_, (position,) = _vector(value), index.parts
    if isinstance(position, Immediate):
        # an element that does not exist has no value
        chosen = value.parts[position.bits] if position.bits < type_.count else Immediate(0)
        site.result(type_.element, (chosen,))
        return
    bits = register_bits(type_.element)
    found: Operand = value.parts[0]
    for number, part in enumerate(value.parts[1:], 1):
        found = _chosen(site, bits, part, found, position, number, index.type)
    site.result(type_.element, (found,))


def _insert(site: Site) -> None:
    value, new, index = site.operand(), site.next_operand(), site.next_operand()
    type_, (position,), (element,) = _vector(value), index.parts, new.parts
    parts = list(value.parts)
    if isinstance(position, Immediate):
        if position.bits < type_.count:
            parts[position.bits] = element
    else:
        bits = register_bits(type_.element)
        for number, part in enumerate(parts):
            parts[number] = _chosen(site, bits, element, part, position, number, index.type)
    site.result(type_, tuple(parts))


def _chosen(
    site: Site,
    bits: int,
    element: Operand,
    otherwise: Operand,
    position: Operand,
    number: int,
    index: IrType,
) -> Register:
    """`element` where the position is `number`, else the other."""
    width = register_bits(parts_of(index)[0])
    is_here = site.code.compute(f"setp.eq.u{width}", 1, position, Immediate(number))
    kind = "pred" if bits == 1 else f"b{bits}"
    return site.code.compute(f"selp.{kind}", bits, element, otherwise, is_here)


def _shuffle(site: Site) -> None:
    first, second, mask = site.operand(), site.next_operand(), site.next_operand()
    both = (*first.parts, *second.parts)
    chosen = []
    for part in mask.parts:
        if not isinstance(part, Immediate):
            raise IrProblem("a shuffle by a mask that is no constant", False)
        chosen.append(both[part.bits] if part.bits < len(both) else Immediate(0))
    site.result(VectorType(_vector(first).element, len(chosen)), tuple(chosen))


def _path(site: Site, type_: IrType) -> tuple[int, IrType]:
    """The first part of the field that numbers lead to, and its type."""
    start = 0
    while site.cursor.accept(","):
        if site.cursor.peek().kind is TokenKind.METADATA:
            break
        index = site.cursor.integer()
        inner = component(type_, index)
        if inner is None:
            raise IrProblem(f"no element {index} of {type_}", False)
        for before in range(index):
            earlier = component(type_, before)
            start += 0 if earlier is None else len(parts_of(earlier))
        type_ = inner
    return start, type_


def _extract_field(site: Site) -> None:
    value = site.operand()
    start, type_ = _path(site, value.type)
    site.result(type_, value.parts[start : start + len(parts_of(type_))])


def _insert_field(site: Site) -> None:
    value, new = site.operand(), site.next_operand()
    start, _ = _path(site, value.type)
    end = start + len(new.parts)
    site.result(value.type, (*value.parts[:start], *new.parts, *value.parts[end:]))


VECTORS = {
    "extractelement": _extract,
    "insertelement": _insert,
    "shufflevector": _shuffle,
    "extractvalue": _extract_field,
    "insertvalue": _insert_field,
}
"""How each of these instructions is lowered, by opcode."""
