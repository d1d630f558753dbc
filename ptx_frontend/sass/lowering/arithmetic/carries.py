"""Carries of sums of words, and where they come from and go to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.wide_sum_code import HALVES, read_terms
from kernelcast.ptx_frontend.sass.text.operands import ConstantOperand, RegisterOperand, SassOperand
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register

__all__ = [
    "Terms",
    "has_minus",
    "predicates_from",
    "sum_from_halves",
    "with_carry",
    "without_sign",
    "write_total",
]

_ZERO, _ONE = Immediate(0), Immediate(1)
_WORD_BITS = 32


class _CarrySum:
    """A sum of words or pairs with its carries: one for each time that it passes their width."""

    def __init__(self, site: Site, bits: int) -> None:
        self._site = site
        self._bits = bits
        self.total: Operand = _ZERO
        self.carries: list[Operand] = []

    def add(self, value: Operand) -> None:
        """Adds a value."""
        if value == _ZERO:
            return
        if self.total == _ZERO:
            self.total = value
            return
        before, site, bits = self.total, self._site, self._bits
        self.total = site.compute(f"add.s{bits}", bits, before, value)
        self.carries.append(site.compute(f"setp.lt.u{bits}", 1, self.total, before))

    def subtract(self, value: Operand) -> None:
        """Adds the complement of a value and one; the carry is there unless it borrows."""
        before, site, bits = self.total, self._site, self._bits
        self.total = site.compute(f"sub.s{bits}", bits, before, value)
        self.carries.append(site.compute(f"setp.ge.u{bits}", 1, before, value))

    def outputs(self) -> tuple[Operand, Operand]:
        """Whether there is one carry, and whether there is a second."""
        site = self._site
        first: Operand = _ZERO
        second: Operand = _ZERO
        for carry in self.carries:
            if first == _ZERO:
                first = carry
                continue
            both = site.compute("and.pred", 1, first, carry)
            second = both if second == _ZERO else site.compute("or.pred", 1, second, both)
            first = site.compute("or.pred", 1, first, carry)
        return first, second


def has_minus(operand: SassOperand) -> bool:
    """Whether an operand is subtracted."""
    return getattr(operand, "sign", "") == "-"


def without_sign(operand: SassOperand) -> SassOperand:
    """The operand without its minus."""
    if isinstance(operand, RegisterOperand | ConstantOperand):
        return replace(operand, sign="")
    return operand


def predicates_from(site: Site, position: int) -> list[SassOperand]:
    """The predicates that stand side by side from a position on."""
    found = []
    while site.is_predicate(position):
        found.append(site.operand(position))
        position += 1
    return found


def with_carry(site: Site, value: Operand, operand: SassOperand, bits: int = 32) -> Operand:
    """The value, and one more where the predicate of the operand holds."""
    carry = site.predicate(operand)
    if carry == _ZERO:
        return value
    one = site.compute(f"selp.b{bits}", bits, _ONE, _ZERO, carry)
    return one if value == _ZERO else site.compute(f"add.s{bits}", bits, value, one)


@dataclass(frozen=True, slots=True)
class Terms:
    """What a statement sums: values that are there already, and operands.

    An operand with a minus is subtracted. `outputs` are predicates that take carries, none of which
    is discarded, `inputs` those that give some from below.
    """

    operands: Sequence[SassOperand]
    outputs: Sequence[SassOperand] = ()
    inputs: Sequence[SassOperand] = ()
    added: Sequence[Operand] = ()
    subtracted: Sequence[Operand] = ()


def write_total(site: Site, terms: Terms, bits: int = 32) -> None:
    """The sum of words or pairs as the instruction that counts, and its carries."""
    read = site.word if bits == _WORD_BITS else site.pair
    write = site.destination if bits == _WORD_BITS else site.pair_destination
    minuses = [read(without_sign(item)) for item in terms.operands if has_minus(item)]
    minuses += terms.subtracted
    pluses = [*terms.added, *(read(item) for item in terms.operands if not has_minus(item))]
    carries = [site.predicate(item) for item in terms.inputs]
    ones = [
        site.compute(f"selp.b{bits}", bits, _ONE, _ZERO, carry)
        for carry in carries
        if carry != _ZERO
    ]
    if not terms.outputs:
        _write_plain(site, write(site.operand(0)), [*pluses, *ones], minuses)
        return
    total = _CarrySum(site, bits)
    for value in pluses:
        total.add(value)
    # subtrahends after what they are taken from
    for value in minuses:
        total.subtract(value)
    for value in ones:
        total.add(value)
    found = total.outputs()
    site.main(f"mov.b{bits}", write(site.operand(0)), total.total)
    for output, carry in zip(terms.outputs, found, strict=False):
        site.part("mov.pred", site.destination(output), carry)


def _write_plain(
    site: Site, destination: Register, pluses: Sequence[Operand], minuses: Sequence[Operand]
) -> None:
    bits = destination.bits
    steps = [(f"add.s{bits}", value) for value in pluses if value != _ZERO]
    steps += [(f"sub.s{bits}", value) for value in minuses if value != _ZERO]
    if not steps:
        site.main(f"mov.b{bits}", destination, _ZERO)
        return
    (first, total), *others = steps
    is_negative = first.startswith("sub")
    if not others:
        site.main(f"neg.s{bits}" if is_negative else f"mov.b{bits}", destination, total)
        return
    if is_negative:
        total = site.compute(f"neg.s{bits}", bits, total)
    for mnemonic, value in others[:-1]:
        total = site.compute(mnemonic, bits, total, value)
    site.main(others[-1][0], destination, total, others[-1][1])


def sum_from_halves(site: Site) -> list[tuple[Operand, bool]] | None:
    """The terms of the sum of 64 bits that a statement is a half of, read at the low half.

    Which half the machine reads an operand with, the facts of both tell nevertheless.
    """
    sums, terms = site.context.wide_sums, site.context.memory.setdefault(HALVES, {})
    assert isinstance(terms, dict)
    address = site.statement.address
    found = sums.get(address)
    if found is None:
        return None
    if found.low == address:
        before = dict(site.reads)
        terms[address] = read_terms(site, found.terms)
        site.reads = before
        return None
    site.notes_reads(site.operands[1:])
    read: list[tuple[Operand, bool]] | None = terms.pop(found.low, None)
    return read
