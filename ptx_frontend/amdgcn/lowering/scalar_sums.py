"""Scalar sums of shifted numbers, products with constants, and fields of 64 bits.

AMD Instinct MI200 Instruction Set Architecture, chapters 12.1 and 12.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Immediate

__all__ = ["SCALAR_SUMS"]


def _shifted_sum(distance: int, site: Site) -> None:
    """`s_lshl2_add_u32` and its kin: the condition is the carry out of the whole sum."""
    code = site.code
    wide = code.compute("cvt.u64.u32", 64, site.integer(1))
    moved = code.compute("shl.b64", 64, wide, Immediate(distance))
    other = code.compute("cvt.u64.u32", 64, site.integer(2))
    found, over = code.halves(site.main("add.u64", 64, moved, other))
    site.scc(lambda: code.compute("setp.ne.u32", 1, over, Immediate(0)))
    code.set_scalar(site.operands[0], [found])


def _product_with_constant(site: Site) -> None:
    found = site.main("mul.lo.s32", 32, site.integer(0), site.short_constant(1))
    site.code.set_scalar(site.operands[0], [found])


def _wide_field(kind: str, site: Site) -> None:
    """Offset in bits 5 to 0, width in bits 22 to 16 of the second operand."""
    code, how = site.code, site.integer(2)
    offset = code.compute("and.b32", 32, how, Immediate(63))
    width = code.compute("shr.u32", 32, how, Immediate(16))
    width = code.compute("and.b32", 32, width, Immediate(127))
    value = code.wide(site.operands[1], is_signed=kind == "s")
    found = site.main(f"bfe.{kind}64", 64, value, offset, width)
    site.scc(lambda: code.compute("setp.ne.u64", 1, found, Immediate(0)))
    code.set_scalar(site.operands[0], code.halves(found))


SCALAR_SUMS: Mapping[str, Lowering] = {
    **{f"s_lshl{n}_add_u32": partial(_shifted_sum, n) for n in range(1, 5)},
    "s_mulk_i32": _product_with_constant,
    "s_bfe_u64": partial(_wide_field, "u"),
    "s_bfe_i64": partial(_wide_field, "s"),
}
