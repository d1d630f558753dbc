"""Sums of 64 bits that the assembler wrote as two of 32: found again, so that engines add once.

A low half (`IADD3 R2, P0, R4, R6, RZ`) gives a carry that a high half of the same basic block takes
(`IADD3.X R3, R5, R7, RZ, P0, !PT`). Addresses are made so, and what is known of them (the same in
all lanes, a fixed distance from lane to lane) would be lost in halves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from kernelcast.ptx_frontend.sass.lowering.written_registers import may_write
from kernelcast.ptx_frontend.sass.text.operands import (
    ConstantOperand,
    ImmediateOperand,
    RegisterOperand,
    SassOperand,
)
from kernelcast.ptx_frontend.sass.text.statements import Statement

__all__ = ["Term", "WideSum", "find_wide_sums", "is_nothing", "is_upper"]

_FARTHEST = 24
"""Statements between two halves; compilers put them next to each other or nearly so."""


@dataclass(frozen=True, slots=True)
class Term:
    """What is added: the operands of both halves, None where a half adds nothing.

    `shift`: bits to the left. `is_negative`: it is subtracted, as `-low` and `~high` say.
    `is_signed`: the upper half is the sign of the lower. `is_kept`: the 64 bits are copied where
    the low half stands, because their register may change before the upper half.
    """

    low: SassOperand | None
    high: SassOperand | None
    shift: int = 0
    is_negative: bool = False
    is_signed: bool = False
    is_kept: bool = False


@dataclass(frozen=True, slots=True)
class WideSum:
    """Two statements, by their addresses, and what they add."""

    low: int
    high: int
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class _Half:
    """One half of a sum: its destination, its carry, and what it adds."""

    destination: RegisterOperand
    carry: RegisterOperand
    terms: tuple[SassOperand, ...]
    is_shifted: bool = False
    shift: int = 0
    shifted_high: SassOperand | None = None
    is_signed: bool = False


def find_wide_sums(statements: Sequence[Statement], starts: Iterable[int]) -> dict[int, WideSum]:
    """Sums by the addresses of both halves. `starts`: where basic blocks begin."""
    begins = frozenset(starts)
    found: dict[int, WideSum] = {}
    for index, statement in enumerate(statements):
        high = _high_half(statement)
        if high is None:
            continue
        for place in range(index - 1, max(-1, index - 1 - _FARTHEST), -1):
            if statements[place + 1].address in begins:
                break
            earlier = statements[place]
            low = _low_half(earlier)
            if low is not None and _same(low.carry, high.carry):
                between = statements[place + 1 : index]
                sum_ = _joined(earlier, low, statement, high, between)
                if sum_ is not None and earlier.address not in found:
                    found[earlier.address] = found[statement.address] = sum_
                break
            if may_write(earlier, [high.carry]):
                break
    return found


def _same(one: RegisterOperand, other: RegisterOperand) -> bool:
    return (one.file, one.number) == (other.file, other.number)


def is_nothing(operand: SassOperand) -> bool:
    """Whether an operand adds nothing: RZ, URZ or the number 0."""
    if isinstance(operand, RegisterOperand):
        return operand.number is None and operand.file in ("R", "UR") and not operand.sign
    return isinstance(operand, ImmediateOperand) and operand.value == 0


def _is_predicate(operand: SassOperand) -> bool:
    return isinstance(operand, RegisterOperand) and operand.file in ("P", "UP")


def _predicates(operands: Sequence[SassOperand]) -> list[RegisterOperand]:
    return [o for o in operands if isinstance(o, RegisterOperand) and o.file in ("P", "UP")]


def _low_half(statement: Statement) -> _Half | None:
    name = statement.mnemonic.removeprefix("U")
    if name not in ("IADD3", "LEA"):
        return None
    destination, *rest = statement.operands
    carries = [o for o in _predicates(rest) if o.number is not None]
    others = [o for o in rest if not _is_predicate(o)]
    if len(carries) != 1 or not _is_register(destination):
        return None
    assert isinstance(destination, RegisterOperand)
    if name == "IADD3":
        return _Half(destination, carries[0], tuple(o for o in others if not is_nothing(o)))
    if len(others) != 3 or not isinstance(others[2], ImmediateOperand) or _signed(others[:2]):
        return None
    return _Half(destination, carries[0], tuple(others[:2]), True, others[2].value or 0)


def _high_half(statement: Statement) -> _Half | None:
    name = statement.mnemonic.removeprefix("U")
    destination, *rest = statement.operands or (None,)
    if not _is_register(destination):
        return None
    assert isinstance(destination, RegisterOperand)
    others = [o for o in rest if not _is_predicate(o)]
    if not others or any(o.number is not None for o in _predicates(rest[: rest.index(others[0])])):
        return None  # a carry goes on from here
    behind = _predicates(rest[rest.index(others[0]) :])
    inputs = [o for o in behind if not (o.number is None and o.sign)]
    if len(inputs) != 1 or inputs[0].sign or inputs[0].number is None:
        return None
    carry = inputs[0]
    if name in ("IADD3.X", "IMAD.X") and len(others) == 3:
        added = tuple(others) if name == "IADD3.X" else _factor_one(others)
        if added is None:
            return None
        return _Half(destination, carry, tuple(o for o in added if not is_nothing(o)))
    if _signed(others):
        return None
    if name == "LEA.HI.X" and len(others) == 4 and isinstance(others[3], ImmediateOperand):
        a, b, c, shift = *others[:3], others[3].value
        return _Half(destination, carry, (a, b), True, shift or 0, c)
    if name == "LEA.HI.X.SX32" and len(others) == 3 and isinstance(others[2], ImmediateOperand):
        a, b, shift = *others[:2], others[2].value
        return _Half(destination, carry, (a, b), True, shift or 0, None, True)
    return None


def _factor_one(factors: Sequence[SassOperand]) -> tuple[SassOperand, ...] | None:
    """What a * b + c adds where a or b is 0, or b is 1; None elsewhere."""
    a, b, c = factors
    if is_nothing(a) or is_nothing(b):
        return (c,)
    is_one = isinstance(b, ImmediateOperand) and b.value == 1
    return (a, c) if is_one and not _signed([a]) else None


def _signed(operands: Sequence[SassOperand]) -> bool:
    """Whether one of the operands has a sign."""
    return any(isinstance(o, RegisterOperand | ConstantOperand) and o.sign for o in operands)


def _is_register(operand: SassOperand | None) -> bool:
    return (
        isinstance(operand, RegisterOperand)
        and operand.file in ("R", "UR")
        and operand.number is not None
    )


def _joined(
    low_statement: Statement,
    low: _Half,
    high_statement: Statement,
    high: _Half,
    between: Sequence[Statement],
) -> WideSum | None:
    """The sum of two halves; None where they are none of neighbours, or something intervenes."""
    if low_statement.guard != high_statement.guard:
        return None
    target = low.destination
    number = target.number or 0
    if (high.destination.file, high.destination.number) != (target.file, number + 1) or number % 2:
        return None
    if low.is_shifted != high.is_shifted:
        return None
    terms = _shifted_terms(low, high) if low.is_shifted else _terms(low, high)
    if terms is None:
        return None
    guard = low_statement.guard
    if guard is not None and _same(guard, low.carry):
        return None  # the upper half has another guard
    involved = [low.destination, high.destination, low.carry]
    involved += [
        item
        for term in terms
        for item in ((term.low, term.high) if low.is_shifted else (term.high,))
        if isinstance(item, RegisterOperand) and item.number is not None
    ]
    if guard is not None:
        involved.append(guard)
    if any(may_write(item, involved) for item in between):
        return None
    # the low half must not overwrite what the high one reads
    if any(
        isinstance(term.high, RegisterOperand) and _same(term.high, low.destination)
        for term in terms
    ):
        return None
    if guard is not None or between:
        # what reads the pair in between, or lanes that keep it, bring it up to date half way
        terms = tuple(replace(t, is_kept=_changes(t.low, target, between)) for t in terms)
    return WideSum(low_statement.address, high_statement.address, terms)


def _changes(
    operand: SassOperand | None, target: RegisterOperand, between: Sequence[Statement]
) -> bool:
    """Whether the lower half of a term is something else when the upper half is computed."""
    if not isinstance(operand, RegisterOperand) or operand.number is None:
        return False
    return _same(operand, target) or any(may_write(item, [operand]) for item in between)


def _terms(low: _Half, high: _Half) -> tuple[Term, ...] | None:
    """Each low term with the high one that belongs to it; those that are left stand alone."""
    if any(isinstance(o, RegisterOperand | ConstantOperand) and o.sign == "~" for o in low.terms):
        return None
    left = list(high.terms)
    found: list[Term] = []
    for lower in low.terms:
        partner = next((item for item in left if is_upper(lower, item)), None)
        if partner is not None:
            left.remove(partner)
        found.append(_term(lower, partner))
    for index, term in enumerate(found):
        is_open = term.high is None and not isinstance(term.low, ImmediateOperand)
        partner = next((item for item in left if not _signed([item])), None)
        if is_open and partner is not None and not term.is_negative:
            left.remove(partner)
            found[index] = Term(term.low, partner)
    return (*found, *(Term(None, item) for item in left))


def _term(low: SassOperand, high: SassOperand | None) -> Term:
    is_negative = isinstance(low, RegisterOperand | ConstantOperand) and low.sign == "-"
    return Term(low, high, is_negative=is_negative)


def is_upper(low: SassOperand, high: SassOperand) -> bool:
    """Whether an operand is the upper neighbour of another, with the sign that belongs to it."""
    signs = {"": "", "-": "~"}
    if isinstance(low, RegisterOperand) and isinstance(high, RegisterOperand):
        is_next = low.file == high.file and (low.number or 0) + 1 == high.number
        return is_next and low.number is not None and signs.get(low.sign) == high.sign
    if isinstance(low, ConstantOperand) and isinstance(high, ConstantOperand):
        is_next = low.bank == high.bank and low.offset + 4 == high.offset
        return is_next and low.index is None and signs.get(low.sign) == high.sign
    return False


def _shifted_terms(low: _Half, high: _Half) -> tuple[Term, ...] | None:
    """`LEA` and `LEA.HI.X`: the first operand is shifted, the second added."""
    (a, b), (a_again, b_high) = low.terms, high.terms
    if low.shift != high.shift or a != a_again:
        return None
    if isinstance(a, RegisterOperand) and _same(a, low.destination):
        return None  # the upper half reads what the lower one wrote
    index = Term(a, high.shifted_high, low.shift, is_signed=high.is_signed)
    return index, Term(b, b_high)
