"""Sums of 64 bits that the assembler wrote as two of 32: found again, so that engines add once.

A low half (`IADD3 R2, P0, R4, R6, RZ`) gives a carry that a high half of the same basic block takes
(`IADD3.X R3, R5, R7, RZ, P0, !PT`). Addresses are made so, and what is known of them (the same in
all lanes, a fixed distance from lane to lane) would be lost in halves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kernelcast.ptx_frontend.sass.text.operands import (
    ConstantOperand,
    ImmediateOperand,
    RegisterOperand,
    SassOperand,
)
from kernelcast.ptx_frontend.sass.text.statements import Statement

__all__ = ["Term", "WideSum", "find_wide_sums", "is_nothing", "is_upper"]

_WIDEST, _WIDEST_TILE = 8, 128
"""Registers that one destination may stand for."""
_FARTHEST = 24
"""Statements between two halves; compilers put them next to each other or nearly so."""


@dataclass(frozen=True, slots=True)
class Term:
    """What is added: the operands of both halves, None where a half adds nothing.

    `shift`: bits to the left. `is_negative`: it is subtracted, as `-low` and `~high` say.
    `is_signed`: the upper half is the sign of the lower.
    """

    low: SassOperand | None
    high: SassOperand | None
    shift: int = 0
    is_negative: bool = False
    is_signed: bool = False


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
            if _touches(earlier, [high.carry]):
                break
    return found


def _same(one: RegisterOperand, other: RegisterOperand) -> bool:
    return (one.file, one.number) == (other.file, other.number)


def is_nothing(operand: SassOperand) -> bool:
    """Whether an operand adds nothing: RZ, URZ or the number 0."""
    if isinstance(operand, RegisterOperand):
        return operand.number is None and operand.file in ("R", "UR") and operand.sign != "~"
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
    if len(others) != 3 or not isinstance(others[2], ImmediateOperand):
        return None
    if isinstance(others[0], RegisterOperand) and others[0].sign:
        return None
    return _Half(destination, carries[0], tuple(others[:2]), shift=others[2].value or 0)


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
    if name == "IADD3.X" and len(others) == 3:
        return _Half(destination, inputs[0], tuple(o for o in others if not is_nothing(o)))
    if name == "IMAD.X" and len(others) == 3 and all(map(is_nothing, others[:2])):
        return _Half(destination, inputs[0], tuple(o for o in others[2:] if not is_nothing(o)))
    if name == "LEA.HI.X" and len(others) == 4 and isinstance(others[3], ImmediateOperand):
        a, b, c, shift = *others[:3], others[3].value
        return _Half(destination, inputs[0], (a, b), shift or 0, c)
    if name == "LEA.HI.X.SX32" and len(others) == 3 and isinstance(others[2], ImmediateOperand):
        return _Half(
            destination, inputs[0], (others[0], others[1]), others[2].value or 0, None, True
        )
    return None


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
    number = low.destination.number
    is_pair = (high.destination.file, high.destination.number) == (
        low.destination.file,
        (number or 0) + 1,
    )
    if not is_pair or (number or 0) % 2:
        return None
    terms = _shifted_terms(low, high) if low.shift or high.shift else _terms(low, high)
    if terms is None:
        return None
    involved = [low.destination, high.destination, low.carry]
    involved += [
        item
        for term in terms
        for item in (term.low, term.high)
        if isinstance(item, RegisterOperand) and item.number is not None
    ]
    guard = low_statement.guard
    if any(_touches(item, involved, guard) for item in between):
        return None
    # the low half must not overwrite what the high one reads
    if any(
        isinstance(term.high, RegisterOperand) and _same(term.high, low.destination)
        for term in terms
    ):
        return None
    return WideSum(low_statement.address, high_statement.address, terms)


def _touches(
    statement: Statement,
    registers: Sequence[RegisterOperand],
    guard: RegisterOperand | None = None,
) -> bool:
    """Whether a statement may write one of the registers; it names them, or a neighbour below."""
    written = [item for item in statement.operands[:3] if isinstance(item, RegisterOperand)]
    is_tile = statement.opcode.endswith("GMMA") or statement.opcode in ("LDTM", "LDT")
    widest = _WIDEST_TILE if is_tile else _WIDEST
    for item in written:
        for register in (*registers, *([guard] if guard is not None else [])):
            if item.file != register.file or item.number is None or register.number is None:
                continue
            reach = 0 if item.file in ("P", "UP") else widest
            if item.number <= register.number <= item.number + reach:
                return True
    return False


def _terms(low: _Half, high: _Half) -> tuple[Term, ...] | None:
    """Each low term with the high one that belongs to it; those that are left stand alone."""
    left = list(high.terms)
    found: list[Term] = []
    for lower in low.terms:
        partner = next((item for item in left if is_upper(lower, item)), None)
        if partner is not None:
            left.remove(partner)
        found.append(_term(lower, partner))
    for index, term in enumerate(found):
        is_open = term.high is None and not isinstance(term.low, ImmediateOperand)
        if is_open and left and not term.is_negative:
            found[index] = Term(term.low, left.pop(0))
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
    index = Term(a, high.shifted_high, low.shift, is_signed=high.is_signed)
    return index, Term(b, b_high)
