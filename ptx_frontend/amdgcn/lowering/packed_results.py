"""Vector instructions that convert two numbers into the halves of one register.

AMD Instinct MI200 Instruction Set Architecture, chapters 12.7 and 12.11; AMD CDNA 4 Instruction Set
Architecture for `v_cvt_pk_bf16_f32`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from kernelcast.ptx_frontend.amdgcn.lowering.halves import half_operand
from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand

__all__ = ["PACKED_RESULTS"]

_HALF = Immediate(16)


def _pair(site: Site, low: Operand, high: Operand) -> None:
    """Writes two words of which the lower halves count."""
    code = site.code
    kept = code.compute("and.b32", 32, low, Immediate(0xFFFF))
    upper = code.compute("shl.b32", 32, high, _HALF)
    code.set_vector(site.operands[0], site.main("or.b32", 32, kept, upper))


def _of_singles(mnemonic: str, site: Site) -> None:
    halves = (site.code.compute(mnemonic, 16, site.number(index)) for index in (1, 2))
    _pair(site, *(site.code.compute("cvt.u32.u16", 32, half) for half in halves))


def _of_halves(site: Site) -> None:
    halves = (half_operand(site, index) for index in (1, 2))
    _pair(site, *(site.code.compute("cvt.u32.u16", 32, half) for half in halves))


def _of_integers(kind: str, low: int, high: int, site: Site) -> None:
    """What 16 bits do not hold becomes the nearest that they do."""
    found = []
    for index in (1, 2):
        above = site.code.compute(f"max.{kind}", 32, site.integer(index), Immediate(low))
        found.append(site.code.compute(f"min.{kind}", 32, above, Immediate(high)))
    _pair(site, *found)


PACKED_RESULTS: Mapping[str, Lowering] = {
    "v_cvt_pkrtz_f16_f32": partial(_of_singles, "cvt.rz.f16.f32"),
    "v_cvt_pk_rtz_f16_f32": partial(_of_singles, "cvt.rz.f16.f32"),
    "v_cvt_pk_bf16_f32": partial(_of_singles, "cvt.rn.bf16.f32"),
    "v_pack_b32_f16": _of_halves,
    "v_cvt_pk_i16_i32": partial(_of_integers, "s32", -0x8000 & 0xFFFFFFFF, 0x7FFF),
    "v_cvt_pk_u16_u32": partial(_of_integers, "u32", 0, 0xFFFF),
}
