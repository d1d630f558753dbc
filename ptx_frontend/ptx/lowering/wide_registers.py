"""Registers of 128 bits: two of 64, which loads, stores and `mov.b128` move together."""

from __future__ import annotations

from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.lowering.scopes import WIDE_HALVES
from kernelcast.ptx_frontend.ptx.text import syntax
from kernelcast.ptx_frontend.ptx.text.mnemonics import ComputeForm, compute_form
from kernelcast.simcore.isa.ir.kernel import Compute
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["WIDE", "halves", "lower_wide_move"]

WIDE = "b128"
_HALF = ScalarType.B64


def halves(site: Site, index: int) -> tuple[syntax.Operand, syntax.Operand]:
    """The lower and the upper half of an operand: of a register, or of two in braces."""
    operand = site.operands[index]
    if isinstance(operand, syntax.NameOperand):
        low, high = (syntax.NameOperand(f"{operand.name}.{half}") for half in WIDE_HALVES)
        if operand.name != "_" and site.names.scope.register(low.name) is not None:
            return low, high
    raise site.error(f"{site.mnemonic!r} takes a register of 128 bits here", index)


def lower_wide_move(site: Site) -> list[Compute]:
    """`mov.b128`, whole or into and out of halves: two moves of 64 bits."""
    site.expect_operands(2)
    form = compute_form("mov.b64")
    assert isinstance(form, ComputeForm)
    targets, sources = (_parts(site, index) for index in range(2))
    moves: list[Compute] = []
    for target, source in zip(targets, sources, strict=True):
        destination = site.destination(target, 0, _HALF)
        if destination is not None:
            moves.append(
                Compute(
                    **site.fields(len(moves)),
                    opcode=form.opcode,
                    type=_HALF,
                    source_type=_HALF,
                    destinations=(destination,),
                    sources=(site.source(source, 1, _HALF),),
                )
            )
    return moves


def _parts(site: Site, index: int) -> tuple[syntax.Operand, ...]:
    operand = site.operands[index]
    if isinstance(operand, syntax.VectorOperand) and len(operand.items) == len(WIDE_HALVES):
        return operand.items
    return halves(site, index)
