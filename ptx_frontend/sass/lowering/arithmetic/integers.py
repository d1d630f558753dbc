"""Sums and products of integers, in vector and uniform registers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.lowering.wide_sum_code import HALVES, read_terms, write_sum
from kernelcast.ptx_frontend.sass.text.operands import ConstantOperand, RegisterOperand, SassOperand
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register
from kernelcast.simcore.isa.types import Unit

__all__: list[str] = []

_ZERO, _ONE = Immediate(0), Immediate(1)
_WORD = 0xFFFFFFFF


def _sign_of(operand: SassOperand) -> str:
    return getattr(operand, "sign", "")


class _CarrySum:
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


def _predicates_from(site: Site, position: int) -> list[SassOperand]:
    """The predicates that stand side by side from a position on."""
    found = []
    while site.is_predicate(position):
        found.append(site.operand(position))
        position += 1
    return found


@lowers("IADD3", "UIADD3", unit=Unit.INTEGER)
def lower_sum(site: Site) -> None:
    """`d[, carry[, carry2]], a, b, c[, carry in[, carry in 2]]`; `.X` takes carries."""
    extended = site.take("X")
    outputs = _predicates_from(site, 1)
    first = 1 + len(outputs)
    sources = [site.operand(first + i) for i in range(3)]
    inputs = _predicates_from(site, first + 3) if extended else []
    outputs = [output for output in outputs if not site.is_discarded(output)]
    whole = _halves(site)
    if whole is not None and extended:
        write_sum(site, whole)
        return
    if not outputs:
        _plain_sum(site, sources, inputs)
        return
    total = _CarrySum(site)
    # subtrahends last: what they are taken from is then there
    for operand in sorted(sources, key=lambda operand: _sign_of(operand) == "-"):
        if _sign_of(operand) == "-":
            total.subtract(site.word(_positive(operand)))
        else:
            total.add(site.word(operand))
    for predicate in inputs:
        total.add_carry(site.predicate(predicate))
    carries = total.outputs()
    site.main("mov.b32", site.destination(site.operand(0)), total.total)
    for output, carry in zip(outputs, carries, strict=False):
        site.part("mov.pred", site.destination(output), carry)


def _positive(operand: SassOperand) -> SassOperand:
    """The operand without its minus."""
    if isinstance(operand, RegisterOperand | ConstantOperand):
        return replace(operand, sign="")
    return operand


def _plain_sum(site: Site, sources: Sequence[SassOperand], inputs: Sequence[SassOperand]) -> None:
    values = [site.word(operand, "s32") for operand in sources]
    for predicate in inputs:
        value = site.predicate(predicate)
        if value != _ZERO:
            values.append(site.compute("selp.b32", 32, _ONE, _ZERO, value))
    values = [value for value in values if value != _ZERO]
    destination = site.destination(site.operand(0))
    if len(values) < 2:
        site.main("mov.b32", destination, values[0] if values else _ZERO)
        return
    total = values[0]
    for value in values[1:-1]:
        total = site.compute("add.s32", 32, total, value)
    site.main("add.s32", destination, total, values[-1])


def _halves(site: Site) -> list[tuple[Operand, bool]] | None:
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


@lowers("IMAD", "UIMAD", unit=Unit.INTEGER)
def lower_product(site: Site) -> None:
    """`d, a, b, c`: a * b + c; `.WIDE` of 64 bits, `.HI` the upper half of that."""
    if site.take("WIDE"):
        _wide_product(site)
        return
    if site.take("HI"):
        _upper_product(site)
        return
    extended = site.take("X")
    site.ignore("U32", "MOV", "SHL", "IADD")
    if extended:
        whole = _halves(site)
        if whole is not None:
            write_sum(site, whole)
            return
    a, b, c = (site.word(site.operand(i), "s32") for i in (1, 2, 3))
    if extended:
        carry = site.predicate(site.operand(4))
        if carry != _ZERO:
            one = site.compute("selp.b32", 32, _ONE, _ZERO, carry)
            c = one if c == _ZERO else site.compute("add.s32", 32, c, one)
    destination = site.destination(site.operand(0))
    _product_sum(site, destination, a, b, c)


def _product_sum(site: Site, destination: Register, a: Operand, b: Operand, c: Operand) -> None:
    if isinstance(a, Immediate):
        a, b = b, a
    if a == _ZERO or b == _ZERO:
        site.main("mov.b32", destination, c)
    elif b == _ONE:
        site.main("add.s32", destination, a, c)
    elif c == _ZERO and isinstance(b, Immediate) and b.bits & (b.bits - 1) == 0:
        site.main("shl.b32", destination, a, Immediate(b.bits.bit_length() - 1))
    elif c == _ZERO:
        site.main("mul.lo.s32", destination, a, b)
    else:
        site.main("mad.lo.s32", destination, a, b, c)


def _wide_product(site: Site) -> None:
    """`d[, carry], a, b, c[, carry in]` with pairs d and c."""
    kind = "u32" if site.take("U32") else "s32"
    extended = site.take("X")
    outputs = _predicates_from(site, 1)
    first = 1 + len(outputs)
    a, b = (site.word(site.operand(first + i)) for i in (0, 1))
    c = site.pair(site.operand(first + 2))
    inputs = _predicates_from(site, first + 3) if extended else []
    for predicate in inputs:
        value = site.predicate(predicate)
        if value != _ZERO:
            one = site.compute("selp.b64", 64, _ONE, _ZERO, value)
            c = site.compute("add.s64", 64, c, one)
    outputs = [output for output in outputs if not site.is_discarded(output)]
    if outputs:
        product = site.compute(f"mul.wide.{kind}", 64, a, b)
        total = site.compute("add.s64", 64, product, c)
        carry = site.compute("setp.lt.u64", 1, total, product)
        site.main("mov.b64", site.pair_destination(site.operand(0)), total)
        site.part("mov.pred", site.destination(outputs[0]), carry)
        return
    destination = site.pair_destination(site.operand(0))
    if c == _ZERO:
        site.main(f"mul.wide.{kind}", destination, a, b)
    else:
        site.main(f"mad.wide.{kind}", destination, a, b, c)


def _upper_product(site: Site) -> None:
    """The upper 32 bits of a * b + c, where c is a pair."""
    kind = "u32" if site.take("U32") else "s32"
    a, b = (site.word(site.operand(i)) for i in (1, 2))
    c = site.pair(site.operand(3))
    destination = site.destination(site.operand(0))
    if c == _ZERO:
        site.main(f"mul.hi.{kind}", destination, a, b)
        return
    total = site.compute(f"mad.wide.{kind}", 64, a, b, c)
    site.main("mov.b64", None, destination, total, results=2)


@lowers("LEA", "ULEA", unit=Unit.INTEGER)
def lower_address_sum(site: Site) -> None:
    """`d[, carry], a, b, n`: (a << n) + b; `.HI`: the upper half of {c, a} << n, plus b."""
    if site.take("HI"):
        _upper_address_sum(site)
        return
    outputs = _predicates_from(site, 1)
    first = 1 + len(outputs)
    a, b = site.word(site.operand(first), "s32"), site.word(site.operand(first + 1))
    shift = site.word(site.operand(first + 2))
    outputs = [output for output in outputs if not site.is_discarded(output)]
    _halves(site)
    shifted = a if shift == _ZERO else site.compute("shl.b32", 32, a, shift)
    if not outputs:
        site.main("add.s32", site.destination(site.operand(0)), shifted, b)
        return
    total = site.compute("add.s32", 32, shifted, b)
    carry = site.compute("setp.lt.u32", 1, total, shifted)
    site.main("mov.b32", site.destination(site.operand(0)), total)
    site.part("mov.pred", site.destination(outputs[0]), carry)


def _upper_address_sum(site: Site) -> None:
    extended, is_signed = site.take("X"), site.take("SX32")
    whole = _halves(site)
    if whole is not None and extended:
        write_sum(site, whole)
        return
    outputs = _predicates_from(site, 1)
    if any(not site.is_discarded(output) for output in outputs):
        raise site.refuse("a carry of the upper half")
    first = 1 + len(outputs)
    a, b = site.word(site.operand(first)), site.word(site.operand(first + 1))
    position = first + 2
    if is_signed:
        wide = site.compute("cvt.s64.s32", 64, a)
    else:
        wide = site.register(64)
        site.part("mov.b64", wide, a, site.word(site.operand(position)))
        position += 1
    shift = site.word(site.operand(position))
    high = site.register(32)
    site.part("mov.b64", None, high, site.compute("shl.b64", 64, wide, shift), results=2)
    if extended:
        carry = site.predicate(site.operand(position + 1))
        if carry != _ZERO:
            high = site.compute(
                "add.s32", 32, high, site.compute("selp.b32", 32, _ONE, _ZERO, carry)
            )
    site.main("add.s32", site.destination(site.operand(0)), high, b)
