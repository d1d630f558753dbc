"""Scalar instructions on numbers of single and half precision, which RDNA has since version 3.5.

LLVM's AMDGPU usage guide and its description of GFX12: what the vector instructions of these names
compute, in a scalar register. Comparisons set the condition code.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register

__all__ = ["SCALAR_FLOATS"]

_HALF = Immediate(16)
_HALVES_OF_TWO = {f"s_{name}_f16": f"{name}.f16" for name in ("add", "sub", "mul", "min", "max")}
_OF_TWO = {f"s_{name}_f32": f"{name}.f32" for name in ("add", "sub", "mul", "min", "max")}
_OF_ONE = {
    "s_rndne_f32": "cvt.rni.f32.f32",
    "s_floor_f32": "cvt.rmi.f32.f32",
    "s_ceil_f32": "cvt.rpi.f32.f32",
    "s_trunc_f32": "cvt.rzi.f32.f32",
    "s_cvt_i32_f32": "cvt.rzi.s32.f32",
    "s_cvt_u32_f32": "cvt.rzi.u32.f32",
    "v_s_rcp_f32": "rcp.approx.f32",
    "v_s_rsq_f32": "rsqrt.approx.f32",
    "v_s_sqrt_f32": "sqrt.approx.f32",
    "v_s_exp_f32": "ex2.approx.f32",
    "v_s_log_f32": "lg2.approx.f32",
}
"""What the hardware approximates within 1 ulp: here it is rounded correctly."""
_OF_INTEGER = {"s_cvt_f32_i32": "cvt.rn.f32.s32", "s_cvt_f32_u32": "cvt.rn.f32.u32"}
_RELATIONS = {
    **{name: name for name in ("lt", "eq", "le", "gt", "ge")},
    "lg": "ne",
    "neq": "neu",
    "nlt": "geu",
    "nle": "gtu",
    "ngt": "leu",
    "nge": "ltu",
    "nlg": "equ",
    "o": "num",
    "u": "nan",
}


def _set(site: Site, found: Operand) -> None:
    site.code.set_scalar(site.operands[0], [found])


def _of_two(mnemonic: str, site: Site) -> None:
    _set(site, site.main(mnemonic, 32, site.number(1), site.number(2)))


def _of_one(mnemonic: str, site: Site) -> None:
    _set(site, site.main(mnemonic, 32, site.number(1)))


def _of_integer(mnemonic: str, site: Site) -> None:
    _set(site, site.main(mnemonic, 32, site.integer(1)))


def _half(site: Site, index: int) -> Operand:
    """A number of half precision, the lower half of a register."""
    return site.code.compute("cvt.u16.u32", 16, site.integer(index))


def _from_half(is_upper: bool, site: Site) -> None:
    word = site.integer(1)
    if is_upper:
        word = site.code.compute("shr.u32", 32, word, _HALF)
    _set(site, site.main("cvt.f32.f16", 32, site.code.compute("cvt.u16.u32", 16, word)))


def _to_half(site: Site) -> None:
    found = site.main("cvt.rn.f16.f32", 16, site.number(1))
    _set(site, site.code.compute("cvt.u32.u16", 32, found))


def _of_two_halves(mnemonic: str, site: Site) -> None:
    found = site.main(mnemonic, 16, _half(site, 1), _half(site, 2))
    _set(site, site.code.compute("cvt.u32.u16", 32, found))


def _fused(site: Site) -> None:
    _set(site, site.main("fma.rn.f32", 32, *(site.number(index) for index in (1, 2, 3))))


def _added_up(site: Site) -> None:
    own = site.code.number(site.operands[0])
    _set(site, site.main("fma.rn.f32", 32, site.number(1), site.number(2), own))


def _compare(relation: str, site: Site) -> None:
    found: Register = site.main(f"setp.{relation}.f32", 1, site.number(0), site.number(1))
    site.scc(lambda: found)


SCALAR_FLOATS: Mapping[str, Lowering] = {
    **{name: partial(_of_two, mnemonic) for name, mnemonic in _OF_TWO.items()},
    **{name: partial(_of_one, mnemonic) for name, mnemonic in _OF_ONE.items()},
    **{name: partial(_of_integer, mnemonic) for name, mnemonic in _OF_INTEGER.items()},
    **dict.fromkeys(("s_fmaak_f32", "s_fmamk_f32"), _fused),
    "s_fmac_f32": _added_up,
    "s_cvt_f32_f16": partial(_from_half, False),
    "s_cvt_hi_f32_f16": partial(_from_half, True),
    "s_cvt_f16_f32": _to_half,
    **{name: partial(_of_two_halves, mnemonic) for name, mnemonic in _HALVES_OF_TWO.items()},
    **{f"s_cmp_{name}_f32": partial(_compare, how) for name, how in _RELATIONS.items()},
}
