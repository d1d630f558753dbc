"""Products of 24 bits, products and sums that round twice, and the negation of bits.

AMD Instinct MI200 Instruction Set Architecture, chapters 12.7 to 12.11.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand

__all__ = ["PRODUCTS"]

_UNUSED_BITS = Immediate(8)
_LOW = Immediate(0xFFFFFF)


def _signed(site: Site, index: int) -> Operand:
    """The lower 24 bits of an operand with their sign."""
    moved = site.code.compute("shl.b32", 32, site.integer(index), _UNUSED_BITS)
    return site.code.compute("shr.s32", 32, moved, _UNUSED_BITS)


def _product(site: Site) -> None:
    found = site.main("mul.lo.s32", 32, _signed(site, 1), _signed(site, 2))
    site.code.set_vector(site.operands[0], found)


def _sum(site: Site) -> None:
    operands = _signed(site, 1), _signed(site, 2), site.integer(3)
    site.code.set_vector(site.operands[0], site.main("mad.lo.s32", 32, *operands))


def _upper_signed(site: Site) -> None:
    """Bits 32 and up of the product, with their sign."""
    found = site.main("mul.hi.s32", 32, _signed(site, 1), _signed(site, 2))
    site.code.set_vector(site.operands[0], found)


def _upper(site: Site) -> None:
    factors = (site.code.compute("and.b32", 32, site.integer(n), _LOW) for n in (1, 2))
    site.code.set_vector(site.operands[0], site.main("mul.hi.u32", 32, *factors))


def _rounded_twice(addend: int, site: Site) -> None:
    """`v_mad_f32`: the product is rounded, then the sum, and subnormal numbers are zeros."""
    code = site.code
    product = code.compute("mul.ftz.f32", 32, site.number(1), site.number(2))
    found = site.main("add.ftz.f32", 32, product, site.number(addend))
    code.set_vector(site.operands[0], found)


def _negated(site: Site) -> None:
    site.code.set_vector(site.operands[0], site.main("not.b32", 32, site.integer(1)))


PRODUCTS: Mapping[str, Lowering] = {
    "v_mul_i32_i24": _product,
    "v_mad_i32_i24": _sum,
    "v_mul_hi_i32_i24": _upper_signed,
    "v_mul_hi_u32_u24": _upper,
    **{f"v_mad{kind}_f32": partial(_rounded_twice, 3) for kind in ("", "mk", "ak")},
    "v_mac_f32": partial(_rounded_twice, 0),
    "v_not_b32": _negated,
}
