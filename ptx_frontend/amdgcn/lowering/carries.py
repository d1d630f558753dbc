"""Sums and products of 64 bits in halves: carries are masks of lanes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register

__all__ = ["CARRIES"]

_ZERO, _ONE = Immediate(0), Immediate(1)


def _wide_product(kind: str, site: Site) -> None:
    """A product of 64 bits and a sum; the mask is where the sum overflows."""
    code = site.code
    product = code.compute(f"mul.wide.{kind}32", 64, site.integer(2), site.integer(3))
    addend = code.wide(site.operands[4], is_signed=kind == "s")
    found = site.main("add.u64", 64, product, addend)
    over = code.compute(f"setp.lt.{kind}64", 1, found, product)
    code.set_mask(site.operands[1], code.compute("and.pred", 1, over, code.exec))
    code.set_vector(site.operands[0], *code.halves(found))


def _sum_with_carry(site: Site) -> None:
    """`v_add_co_u32`: the mask is where the sum overflows."""
    code, first = site.code, site.integer(2)
    found = site.main("add.u32", 32, first, site.integer(3))
    over = code.compute("setp.lt.u32", 1, found, first)
    _set(site, found, over)


def _sum_of_carry(site: Site) -> None:
    code, first = site.code, site.integer(2)
    carry = code.compute("selp.b32", 32, _ONE, _ZERO, code.mask(site.operands[4]))
    half = code.compute("add.u32", 32, first, site.integer(3))
    found = site.main("add.u32", 32, half, carry)
    over = code.compute("setp.lt.u32", 1, half, first)
    again = code.compute("setp.lt.u32", 1, found, half)
    _set(site, found, code.compute("or.pred", 1, over, again))


def _difference(is_reversed: bool, site: Site) -> None:
    """`v_sub_co_u32`: the mask is where the difference borrows."""
    first, second = site.integer(2), site.integer(3)
    if is_reversed:
        first, second = second, first
    found = site.main("sub.u32", 32, first, second)
    _set(site, found, site.code.compute("setp.lt.u32", 1, first, second))


def _difference_of_borrow(is_reversed: bool, site: Site) -> None:
    code = site.code
    first, second = site.integer(2), site.integer(3)
    if is_reversed:
        first, second = second, first
    borrow = code.compute("selp.b32", 32, _ONE, _ZERO, code.mask(site.operands[4]))
    half = code.compute("sub.u32", 32, first, second)
    found = site.main("sub.u32", 32, half, borrow)
    less = code.compute("setp.lt.u32", 1, first, second)
    again = code.compute("setp.lt.u32", 1, half, borrow)
    _set(site, found, code.compute("or.pred", 1, less, again))


def _set(site: Site, value: Register, carry: Operand) -> None:
    code = site.code
    code.set_mask(site.operands[1], code.compute("and.pred", 1, carry, code.exec))
    code.set_vector(site.operands[0], value)


CARRIES: Mapping[str, Lowering] = {
    "v_mad_u64_u32": partial(_wide_product, "u"),
    "v_mad_i64_i32": partial(_wide_product, "s"),
    "v_add_co_u32": _sum_with_carry,
    "v_addc_co_u32": _sum_of_carry,
    "v_sub_co_u32": partial(_difference, False),
    "v_subrev_co_u32": partial(_difference, True),
    "v_subb_co_u32": partial(_difference_of_borrow, False),
    "v_subbrev_co_u32": partial(_difference_of_borrow, True),
}
