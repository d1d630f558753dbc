"""Instructions that the opcode table executes."""

from __future__ import annotations

from kernelcast.ptx_frontend.ptx.asynchronous.peer_addresses import clears_peer_bit
from kernelcast.ptx_frontend.ptx.lowering.inversions import source_or_inverse
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.lowering.wide_registers import WIDE, lower_wide_move
from kernelcast.ptx_frontend.ptx.text import syntax
from kernelcast.ptx_frontend.ptx.text.mnemonics import ComputeForm, Refusal, compute_form
from kernelcast.simcore.isa.ir.kernel import Compute, Operand, Register

__all__ = ["lower_compute"]

_CONVERSION = "cvt"
_SELECT = "selp"
_CARRY = "c"
"""The letter of the carry flag in signatures: no operand of the source."""
_THREE_SOURCES = 4


_NOT_OF_PTX = ("opencl.", "mov.f16")
"""Entries of the table that only OpenCL's built-in functions become, and a move of other sources
than PTX, where 16 bits move as `.b16`."""


def lower_compute(site: Site) -> list[Compute]:
    """The instruction, after the inversions of the predicates that it reads negated."""
    if site.mnemonic == f"mov.{WIDE}":
        return lower_wide_move(site)
    form = compute_form(site.mnemonic, _shape(site))
    if isinstance(form, Refusal):
        raise site.unsupported(form.reason)
    if site.mnemonic.startswith(_NOT_OF_PTX):
        raise site.unsupported(f"instruction {site.mnemonic!r} is none of PTX")
    destinations, first = _destinations(site, form)
    carried = form.opcode.signature.endswith(_CARRY)
    operands = _flattened(site, form, first)
    inversions: list[Compute] = []
    if form.opcode.name == _SELECT and isinstance(operands[2][0], syntax.NegatedOperand):
        # choosing by the negated predicate is choosing the other way round
        chooser = (syntax.NameOperand(operands[2][0].name), operands[2][1])
        operands = [operands[1], operands[0], chooser]
    wider = form.opcode.name == _CONVERSION
    sources: list[Operand] = []
    written = form.sources[: len(form.sources) - carried]
    for (operand, index), type_ in zip(operands, written, strict=True):
        sources.append(source_or_inverse(site, operand, index, type_, inversions, wider))
    if carried:
        sources.append(site.names.carry())
    compute = Compute(
        **site.fields(len(inversions)),
        opcode=form.opcode,
        type=form.type,
        source_type=form.source_type,
        destinations=destinations,
        sources=tuple(sources),
        modifiers=form.modifiers,
    )
    if clears_peer_bit(compute):
        site.names.leaders.update(register for register in destinations if register is not None)
    return [*inversions, compute]


def _shape(site: Site) -> str:
    """What braces add to a `mov`: `pack2` from two parts, `unpack2` into two.

    A third value makes another `min` or `max`.
    """
    if site.mnemonic.startswith(("min.", "max.")):
        return "three" if len(site.operands) == _THREE_SOURCES else ""
    if not site.mnemonic.startswith("mov.") or len(site.operands) != 2:
        return ""
    for name, operand in zip(("unpack", "pack"), site.operands, strict=True):
        if isinstance(operand, syntax.VectorOperand) and len(operand.items) > 1:
            return f"{name}{len(operand.items)}"
    return ""


def _destinations(site: Site, form: ComputeForm) -> tuple[tuple[Register | None, ...], int]:
    """The destinations of a statement, and the index of its first source operand."""
    if not site.operands:
        site.expect_operands(1 + len(form.sources))
    wider = form.opcode.name == _CONVERSION
    operand = site.operands[0]
    if len(form.results) == 1:
        return (site.destination(operand, 0, form.results[0], wider),), 1
    if _CARRY in form.opcode.signature.split("=")[0]:
        return (site.destination(operand, 0, form.results[0]), site.names.carry()), 1
    found: list[Register | None]
    if isinstance(operand, syntax.PairOperand):
        names = (operand.first, operand.second)
        found = [
            site.destination_named(name, 0, type_)
            for name, type_ in zip(names, form.results, strict=True)
        ]
    elif isinstance(operand, syntax.VectorOperand) and len(operand.items) == len(form.results):
        found = [
            site.destination(item, 0, type_)
            for item, type_ in zip(operand.items, form.results, strict=True)
        ]
    else:
        found = [site.destination(operand, 0, form.results[0]), *([None] * (len(form.results) - 1))]
    return tuple(found), 1


def _flattened(site: Site, form: ComputeForm, first: int) -> list[tuple[syntax.Operand, int]]:
    """The sources with the index of the operand that each belongs to; vectors come apart."""
    found: list[tuple[syntax.Operand, int]] = []
    for index, operand in enumerate(site.operands[first:], start=first):
        items = operand.items if isinstance(operand, syntax.VectorOperand) else (operand,)
        found.extend((item, index) for item in items)
    count = len(form.sources) - form.opcode.signature.endswith(_CARRY)
    if len(found) != count:
        site.expect_operands(first + count)
        raise site.error(f"{site.mnemonic!r} takes {count} values, got {len(found)}")
    return found
