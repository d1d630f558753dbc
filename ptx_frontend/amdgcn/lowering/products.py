"""Signed products of 24 bits, and the negation of bits.

AMD Instinct MI200 Instruction Set Architecture, chapters 12.7 to 12.11.
"""

from __future__ import annotations

from collections.abc import Mapping

from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand

__all__ = ["PRODUCTS"]

_UNUSED_BITS = Immediate(8)


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


def _negated(site: Site) -> None:
    site.code.set_vector(site.operands[0], site.main("not.b32", 32, site.integer(1)))


PRODUCTS: Mapping[str, Lowering] = {
    "v_mul_i32_i24": _product,
    "v_mad_i32_i24": _sum,
    "v_not_b32": _negated,
}
