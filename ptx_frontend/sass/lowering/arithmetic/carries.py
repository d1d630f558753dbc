"""Carries of sums of words, and where they come from and go to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.wide_sum_code import HALVES, read_terms
from kernelcast.ptx_frontend.sass.text.operands import ConstantOperand, RegisterOperand, SassOperand
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand

__all__ = [
    "CarrySum",
    "has_minus",
    "predicates_from",
    "sum_from_halves",
    "with_carry",
    "without_sign",
    "write_total",
]

_ZERO, _ONE = Immediate(0), Immediate(1)


class CarrySum:
    """A sum of words with the carries that it gives: one for each time that it passes 2**32."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self.total: Operand = _ZERO
        self.carries: list[Operand] = []

    def add(self, value: Operand) -> None:
        """Adds a word."""
        if value == _ZERO:
            return
        if self.total == _ZERO:
            self.total = value
            return
        before, site = self.total, self._site
        self.total = site.compute("add.s32", 32, before, value)
        self.carries.append(site.compute("setp.lt.u32", 1, self.total, before))

    def subtract(self, value: Operand) -> None:
        """Adds the complement of a word and one; the carry is there unless it borrows."""
        before, site = self.total, self._site
        self.total = site.compute("sub.s32", 32, before, value)
        self.carries.append(site.compute("setp.ge.u32", 1, before, value))

    def add_carry(self, predicate: Operand) -> None:
        """Adds a carry from below."""
        if predicate == _ZERO:
            return
        one = self._site.compute("selp.b32", 32, _ONE, _ZERO, predicate)
        self.add(one)

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


def write_total(
    site: Site,
    operands: Sequence[SassOperand],
    outputs: Sequence[SassOperand],
    inputs: Sequence[SassOperand] = (),
    values: Sequence[Operand] = (),
) -> None:
    """The sum of values, words and carries from below; its carries go into the predicates.

    An operand with a minus is subtracted. `outputs` are predicates that are not discarded.
    """
    minuses = [site.word(without_sign(item)) for item in operands if has_minus(item)]
    pluses = [*values, *(site.word(item) for item in operands if not has_minus(item))]
    carries = [site.predicate(item) for item in inputs]
    if not outputs:
        _write_plain(site, [*pluses, *(_as_word(site, c) for c in carries if c != _ZERO)], minuses)
        return
    total = CarrySum(site)
    for value in pluses:
        total.add(value)
    # subtrahends after what they are taken from
    for value in minuses:
        total.subtract(value)
    for carry in carries:
        total.add_carry(carry)
    found = total.outputs()
    site.main("mov.b32", site.destination(site.operand(0)), total.total)
    for output, carry in zip(outputs, found, strict=False):
        site.part("mov.pred", site.destination(output), carry)


def _as_word(site: Site, predicate: Operand) -> Operand:
    return site.compute("selp.b32", 32, _ONE, _ZERO, predicate)


def _write_plain(site: Site, pluses: Sequence[Operand], minuses: Sequence[Operand]) -> None:
    steps = [("add.s32", value) for value in pluses if value != _ZERO]
    steps += [("sub.s32", value) for value in minuses if value != _ZERO]
    destination = site.destination(site.operand(0))
    if not steps:
        site.main("mov.b32", destination, _ZERO)
        return
    (first, total), *others = steps
    if not others:
        if first == "sub.s32":
            site.main("neg.s32", destination, total)
        else:
            site.main("mov.b32", destination, total)
        return
    if first == "sub.s32":
        total = site.compute("neg.s32", 32, total)
    for mnemonic, value in others[:-1]:
        total = site.compute(mnemonic, 32, total, value)
    site.main(others[-1][0], destination, total, others[-1][1])


def sum_from_halves(site: Site) -> list[tuple[Operand, bool]] | None:
    """The terms of the sum of 64 bits that a statement is a half of, read at the low half."""
    sums, terms = site.context.wide_sums, site.context.memory.setdefault(HALVES, {})
    assert isinstance(terms, dict)
    address = site.statement.address
    found = sums.get(address)
    if found is None:
        return None
    if found.low == address:
        terms[address] = read_terms(site, found.terms)
        return None
    read: list[tuple[Operand, bool]] | None = terms.pop(found.low, None)
    return read
