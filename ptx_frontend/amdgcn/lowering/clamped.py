"""Vector instructions whose results are clamped: to what the type holds, or from zero to one.

AMD Instinct MI200 Instruction Set Architecture, chapter 6.2.2; what is no number becomes zero, as
the descriptors that LLVM writes say (`dx10_clamp`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Immediate

__all__ = ["CLAMPED"]

_ZERO, _LARGEST = Immediate(0), Immediate(0xFFFFFFFF)


def _sum(site: Site) -> None:
    code, first = site.code, site.integer(1)
    total = code.compute("add.u32", 32, first, site.integer(2))
    over = code.compute("setp.lt.u32", 1, total, first)
    code.set_vector(site.operands[0], site.main("selp.b32", 32, _LARGEST, total, over))


def _difference(is_reversed: bool, site: Site) -> None:
    code, first, second = site.code, site.integer(1), site.integer(2)
    if is_reversed:
        first, second = second, first
    found = code.compute("sub.u32", 32, first, second)
    less = code.compute("setp.lt.u32", 1, first, second)
    code.set_vector(site.operands[0], site.main("selp.b32", 32, _ZERO, found, less))


def _signed(mnemonic: str, site: Site) -> None:
    found = site.main(mnemonic, 32, site.integer(1), site.integer(2))
    site.code.set_vector(site.operands[0], found)


def _float(mnemonic: str, count: int, site: Site) -> None:
    if {"mul", "div"} & set(site.instruction.modifiers):
        raise site.code.refused("output modifiers")
    found = site.main(mnemonic, 32, *(site.number(n + 1) for n in range(count)))
    site.code.set_vector(site.operands[0], found)


def _quotient(site: Site) -> None:
    found = site.main("div.rn.f32", 32, site.number(3), site.number(2))
    clamped = site.code.compute("add.sat.f32", 32, found, _ZERO)
    site.code.set_vector(site.operands[0], clamped)


CLAMPED: Mapping[str, Lowering] = {
    "v_add_u32": _sum,
    "v_sub_u32": partial(_difference, False),
    "v_subrev_u32": partial(_difference, True),
    "v_add_i32": partial(_signed, "add.sat.s32"),
    "v_sub_i32": partial(_signed, "sub.sat.s32"),
    "v_add_f32": partial(_float, "add.sat.f32", 2),
    "v_mul_f32": partial(_float, "mul.sat.f32", 2),
    "v_div_fixup_f32": _quotient,
    "v_fma_f32": partial(_float, "fma.rn.sat.f32", 3),
}
