"""Products of integers, in vector and uniform registers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kernelcast.ptx_frontend.sass.lowering.arithmetic.carries import (
    predicates_from,
    sum_from_halves,
    with_carry,
)
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.lowering.wide_sum_code import write_sum
from kernelcast.ptx_frontend.sass.text.operands import SassOperand
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register

__all__: list[str] = []

_ZERO, _ONE = Immediate(0), Immediate(1)


@lowers("IMAD", "UIMAD")
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
        whole = sum_from_halves(site)
        if whole is not None:
            write_sum(site, whole)
            return
    a, b, c = (site.word(site.operand(i), "s32") for i in (1, 2, 3))
    if extended:
        c = with_carry(site, c, site.operand(4))
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


@dataclass(frozen=True, slots=True)
class _Terms:
    """What a product of 64 bits reads: a and b of 32 bits, c of 64, carries; `carry` is written."""

    kind: str
    a: Operand
    b: Operand
    c: Operand
    inputs: Sequence[SassOperand]
    carry: SassOperand | None


def _product_terms(site: Site) -> _Terms:
    """`d[, carry], a, b, c[, carry in]`, where c is a pair."""
    kind = "u32" if site.take("U32") else "s32"
    extended = site.take("X")
    found = predicates_from(site, 1)
    first = 1 + len(found)
    a, b = (site.word(site.operand(first + i)) for i in (0, 1))
    c = site.pair(site.operand(first + 2))
    inputs = predicates_from(site, first + 3) if extended else []
    outputs = [output for output in found if not site.is_discarded(output)]
    if len(outputs) > 1:
        raise site.refuse("two carries of 64 bits")
    return _Terms(kind, a, b, c, inputs, outputs[0] if outputs else None)


def _wide_product(site: Site) -> None:
    """`d[, carry], a, b, c[, carry in]` with pairs d and c."""
    terms = _product_terms(site)
    if terms.carry is not None:
        total, carry = _wide_sum(site, terms)
        site.main("mov.b64", site.pair_destination(site.operand(0)), total)
        site.part("mov.pred", site.destination(terms.carry), carry)
        return
    c = terms.c
    for predicate in terms.inputs:
        c = with_carry(site, c, predicate, 64)
    destination = site.pair_destination(site.operand(0))
    if c == _ZERO:
        site.main(f"mul.wide.{terms.kind}", destination, terms.a, terms.b)
    else:
        site.main(f"mad.wide.{terms.kind}", destination, terms.a, terms.b, c)


def _wide_sum(site: Site, terms: _Terms) -> tuple[Register, Register]:
    """The sum of 64 bits with the carries from below, and its own carry."""
    product = site.compute(f"mul.wide.{terms.kind}", 64, terms.a, terms.b)
    total = site.compute("add.s64", 64, product, terms.c)
    carry = site.compute("setp.lt.u64", 1, total, product)
    for predicate in terms.inputs:
        one = with_carry(site, _ZERO, predicate, 64)
        if one == _ZERO:
            continue
        before, total = total, site.compute("add.s64", 64, total, one)
        passes = site.compute("setp.lt.u64", 1, total, before)
        carry = site.compute("or.pred", 1, carry, passes)
    return total, carry


def _upper_product(site: Site) -> None:
    """`d[, carry], a, b, c[, carry in]`: the upper 32 bits of a * b + c, where c is a pair."""
    terms = _product_terms(site)
    if terms.c == _ZERO and terms.carry is None and not terms.inputs:
        site.main(f"mul.hi.{terms.kind}", site.destination(site.operand(0)), terms.a, terms.b)
        return
    total, carry = _wide_sum(site, terms)
    site.main("mov.b64", None, site.destination(site.operand(0)), total, results=2)
    if terms.carry is not None:
        site.part("mov.pred", site.destination(terms.carry), carry)


_DOT_TYPES = {"U8": "u32", "S8": "s32", "U16": "u32", "S16": "s32"}


@lowers("IDP", "UIDP")
def lower_dot_product(site: Site) -> None:
    """`d, a, b, c`: four products of bytes, or two of halves of a with bytes of b, and c."""
    form = site.choose({"4A": "dp4a", "2A": "dp2a"}, "")
    if form == "dp2a":
        half = site.choose({"LO": "lo", "HI": "hi"}, "lo")
        form = f"dp2a.{half}"
    first = site.choose(_DOT_TYPES, "")
    second = site.choose(_DOT_TYPES, "")
    if not form or not first or not second:
        raise site.refuse("a dot product of no known form")
    a, b, c = (site.word(site.operand(i)) for i in (1, 2, 3))
    site.main(f"{form}.{first}.{second}", site.destination(site.operand(0)), a, b, c)
