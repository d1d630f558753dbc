"""The instructions of sums of 64 bits whose halves `wide_sums` has found."""

from __future__ import annotations

from collections.abc import Sequence

from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.wide_sums import Term, is_nothing, is_upper
from kernelcast.ptx_frontend.sass.text.operands import (
    ConstantOperand,
    RegisterOperand,
    SassOperand,
)
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register

__all__ = ["HALVES", "read_terms", "write_sum"]

HALVES = "halves of sums"
"""The key, in what statements share, of the terms that low halves have read, by address."""
_WORD, _HIGH = 0xFFFFFFFF, 32


def read_terms(site: Site, terms: Sequence[Term]) -> list[tuple[Operand, bool]]:
    """The 64 bits of each term, and whether it is subtracted, read where the low half stands."""
    found: list[tuple[Operand, bool]] = []
    constant = 0
    for term in terms:
        if term.low is None:
            high = site.word(_required(term.high))
            found.append((_shifted(site, _wide(site, high), _HIGH), False))
            continue
        value = _value(site, term)
        if term.is_negative and term.high is None:
            constant += 1 << _HIGH
        if isinstance(value, Immediate):
            constant += -value.bits if term.is_negative else value.bits
            continue
        if term.shift:
            value = _shifted(site, value, term.shift)
        elif term.is_kept:
            value = site.compute("mov.b64", 64, value)
        found.append((value, term.is_negative))
    constant &= _WORD << _HIGH | _WORD
    if constant or not found:
        found.append((Immediate(constant), False))
    return found


def _required(operand: SassOperand | None) -> SassOperand:
    assert operand is not None
    return operand


def _value(site: Site, term: Term) -> Operand:
    """A term's magnitude as 64 bits, before its shift."""
    low, high = _unsigned(_required(term.low)), None if term.high is None else _unsigned(term.high)
    if term.is_signed:
        return site.compute("cvt.s64.s32", 64, site.word(low))
    if high is None or is_nothing(high):
        return _wide(site, site.word(low))
    is_whole = isinstance(low, RegisterOperand) and (low.number or 0) % 2 == 0
    if (is_whole or isinstance(low, ConstantOperand)) and is_upper(low, high):
        return site.pair(low)
    words = site.word(low), site.word(high)
    if isinstance(words[0], Immediate) and isinstance(words[1], Immediate):
        return Immediate(words[1].bits << _HIGH | words[0].bits)
    result = site.register(64)
    site.part("mov.b64", result, *words)
    return result


def _unsigned(operand: SassOperand) -> SassOperand:
    """The operand without the sign that the term has taken over."""
    if isinstance(operand, RegisterOperand):
        return RegisterOperand(operand.file, operand.number, "", False, operand.parts)
    if isinstance(operand, ConstantOperand):
        return ConstantOperand(operand.bank, operand.offset, operand.index, operand.bank_register)
    return operand


def _wide(site: Site, value: Operand) -> Operand:
    if isinstance(value, Immediate):
        return Immediate(value.bits & _WORD)
    return site.compute("cvt.u64.u32", 64, value)


def _shifted(site: Site, value: Operand, by: int) -> Register:
    return site.compute("shl.b64", 64, value, Immediate(by))


def write_sum(site: Site, terms: Sequence[tuple[Operand, bool]]) -> None:
    """The sum, in the pair whose upper half the high statement names."""
    destination = site.operand(0)
    assert isinstance(destination, RegisterOperand)
    assert destination.number is not None
    low = RegisterOperand(destination.file, destination.number - 1)
    pair = site.pair_destination(low)
    ordered = sorted(terms, key=lambda term: term[1])
    total, is_negative = ordered[0]
    if is_negative:
        total = site.compute("neg.s64", 64, total)
    if len(ordered) == 1:
        site.main("mov.b64", pair, total)
        return
    for value, subtracts in ordered[1:-1]:
        total = site.compute("sub.s64" if subtracts else "add.s64", 64, total, value)
    value, subtracts = ordered[-1]
    site.main("sub.s64" if subtracts else "add.s64", pair, total, value)
