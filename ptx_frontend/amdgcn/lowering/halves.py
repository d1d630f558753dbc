"""Vector instructions of half precision, and what converts to and from it.

Meanings: AMD Instinct MI200 Instruction Set Architecture, chapters 12.7 to 12.11; RDNA 3
Instruction Set Architecture, chapter 16. What the hardware approximates is rounded correctly, by
way of single precision.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from functools import partial

from kernelcast.ptx_frontend.amdgcn.lowering.shorts import short_operand, with_halves
from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand

__all__ = ["HALVES", "half_operand", "write_half"]

_SIGN = 0x8000
_OF_TWO = {
    "v_add_f16": "add.f16",
    "v_sub_f16": "sub.f16",
    "v_mul_f16": "mul.f16",
    "v_max_f16": "max.f16",
    "v_min_f16": "min.f16",
    "v_maximum_f16": "max.NaN.f16",
    "v_minimum_f16": "min.NaN.f16",
}
_BY_SINGLE = {
    "v_rcp_f16": "rcp.approx.f32",
    "v_rsq_f16": "rsqrt.approx.f32",
    "v_sqrt_f16": "sqrt.approx.f32",
    "v_exp_f16": "ex2.approx.f32",
    "v_log_f16": "lg2.approx.f32",
    "v_rndne_f16": "cvt.rni.f32.f32",
    "v_floor_f16": "cvt.rmi.f32.f32",
    "v_ceil_f16": "cvt.rpi.f32.f32",
    "v_trunc_f16": "cvt.rzi.f32.f32",
}


def half_operand(site: Site, index: int) -> Operand:
    """Operand `index`, half of a register or a constant, with `-` and `| |` before and around."""
    code, text = site.code, site.operands[index]
    is_negative = text.startswith("-") and not text[1:2].isdigit()
    plain = text.removeprefix("-") if is_negative else text
    inner = plain.strip("|")
    word: Operand
    if "." in inner and not code.names(inner):
        (bits,) = struct.unpack("<H", struct.pack("<e", float(inner)))
        word = Immediate(bits)
    elif inner == text:
        word = site.integer(index)
    else:
        word = code.single(inner)
    if plain.startswith("|"):
        word = code.compute("and.b32", 32, word, Immediate(_SIGN - 1))
    if is_negative:
        word = code.compute("xor.b32", 32, word, Immediate(_SIGN))
    return code.compute("cvt.u16.u32", 16, word)


def write_half(site: Site, value: Operand) -> None:
    """Writes 16 bits into the half of a register that the result is for."""
    site.code.set_half(site.operands[0], site.code.compute("cvt.u32.u16", 32, value))


def _from_half(site: Site) -> None:
    site.code.set_vector(site.operands[0], site.main("cvt.f32.f16", 32, half_operand(site, 1)))


def _to_half(site: Site) -> None:
    write_half(site, site.main("cvt.rn.f16.f32", 16, site.number(1)))


def _of_two(mnemonic: str, site: Site) -> None:
    write_half(site, site.main(mnemonic, 16, half_operand(site, 1), half_operand(site, 2)))


def _reversed_difference(site: Site) -> None:
    write_half(site, site.main("sub.f16", 16, half_operand(site, 2), half_operand(site, 1)))


def _fused(site: Site) -> None:
    write_half(site, site.main("fma.rn.f16", 16, *(half_operand(site, n) for n in (1, 2, 3))))


def _rounded_twice(site: Site) -> None:
    """`v_mad_f16` and its kin: the product is rounded, then the sum."""
    product = site.code.compute("mul.f16", 16, half_operand(site, 1), half_operand(site, 2))
    addend = half_operand(site, 3 if len(site.operands) > 3 else 0)
    write_half(site, site.main("add.f16", 16, product, addend))


def _quotient(site: Site) -> None:
    """`v_div_fixup_f16`: the third operand by the second one, rounded correctly."""
    code = site.code
    wide = [code.compute("cvt.f32.f16", 32, half_operand(site, index)) for index in (3, 2)]
    found = site.main("div.rn.f32", 32, *wide)
    write_half(site, code.compute("cvt.rn.f16.f32", 16, found))


def _fraction(site: Site) -> None:
    """What is above the next lower integer; less than one, whatever is rounded."""
    code = site.code
    single = code.compute("cvt.f32.f16", 32, half_operand(site, 1))
    below = code.compute("cvt.rmi.f32.f32", 32, single)
    rest = code.compute("cvt.rn.f16.f32", 16, site.main("sub.f32", 32, single, below))
    write_half(site, code.compute("min.f16", 16, rest, Immediate(0x3BFF)))


def _of_turns(mnemonic: str, site: Site) -> None:
    """The sine or cosine of an angle in turns."""
    code = site.code
    single = code.compute("cvt.f32.f16", 32, half_operand(site, 1))
    double = code.compute("add.f32", 32, single, single)
    found = site.main(f"opencl.{mnemonic}.f32", 32, double)
    write_half(site, code.compute("cvt.rn.f16.f32", 16, found))


def _added_up(site: Site) -> None:
    factors = half_operand(site, 1), half_operand(site, 2)
    write_half(site, site.main("fma.rn.f16", 16, *factors, half_operand(site, 0)))


def _by_single(mnemonic: str, site: Site) -> None:
    single = site.code.compute("cvt.f32.f16", 32, half_operand(site, 1))
    found = site.main(mnemonic, 32, single)
    write_half(site, site.code.compute("cvt.rn.f16.f32", 16, found))


def _from_integer(kind: str, site: Site) -> None:
    word = short_operand(site, 1, ".s" if kind == "s" else "")
    single = site.main(f"cvt.rn.f32.{kind}32", 32, word)
    write_half(site, site.code.compute("cvt.rn.f16.f32", 16, single))


def _to_integer(kind: str, site: Site) -> None:
    """Rounded towards zero, and to what 16 bits hold."""
    code = site.code
    single = code.compute("cvt.f32.f16", 32, half_operand(site, 1))
    found: Operand = site.main(f"cvt.rzi.{kind}32.f32", 32, single)
    low, high = (-0x8000, 0x7FFF) if kind == "s" else (0, 0xFFFF)
    found = code.compute(f"max.{kind}32", 32, found, Immediate(low & 0xFFFFFFFF))
    found = code.compute(f"min.{kind}32", 32, found, Immediate(high))
    code.set_half(site.operands[0], found)


def _scaled(site: Site) -> None:
    """`v_ldexp_f16`: times a power of two, which a single holds."""
    code = site.code
    single = code.compute("cvt.f32.f16", 32, half_operand(site, 1))
    exponent = short_operand(site, 2, ".s")
    found = site.main("opencl.ldexp.f32", 32, single, exponent)
    write_half(site, code.compute("cvt.rn.f16.f32", 16, found))


def _is_set(site: Site, name: str, index: int) -> bool:
    """The flag of operand `index` in a list such as `op_sel:[0,1,0]`; none is set by default."""
    flags = site.instruction.modifiers.get(name, "").strip("[]").split(",")
    return index <= len(flags) and flags[index - 1] == "1"


def _mixed(site: Site, index: int) -> Operand:
    """A number of single precision, or a half of a register that `op_sel_hi` calls one."""
    text, code = site.operands[index], site.code
    if not _is_set(site, "op_sel_hi", index):
        return site.number(index)
    word = code.single(text.strip("-|"))
    if _is_set(site, "op_sel", index):
        word = code.compute("shr.u32", 32, word, Immediate(16))
    value: Operand = code.compute("cvt.f32.f16", 32, code.compute("cvt.u16.u32", 16, word))
    if "|" in text:
        value = code.compute("and.b32", 32, value, Immediate(0x7FFFFFFF))
    if text.startswith("-"):
        value = code.compute("xor.b32", 32, value, Immediate(0x80000000))
    return value


def _mixed_fused(to: str, site: Site) -> None:
    """`v_fma_mix`: the result is a single, or rounded once more into a half of the register."""
    code = site.code
    found = site.main("fma.rn.f32", 32, *(_mixed(site, n) for n in (1, 2, 3)))
    if to == "f32":
        code.set_vector(site.operands[0], found)
        return
    half = code.compute("cvt.u32.u16", 32, code.compute("cvt.rn.f16.f32", 16, found))
    half = code.compute("and.b32", 32, half, Immediate(0xFFFF))
    own, kept = code.single(site.operands[0]), 0xFFFF0000
    if to == "hi":
        half, kept = code.compute("shl.b32", 32, half, Immediate(16)), 0xFFFF
    rest = code.compute("and.b32", 32, own, Immediate(kept))
    code.set_vector(site.operands[0], code.compute("or.b32", 32, rest, half))


_ALL: Mapping[str, Lowering] = {
    "v_cvt_f32_f16": _from_half,
    "v_cvt_f16_f32": _to_half,
    **dict.fromkeys(("v_fma_f16", "v_fmaak_f16", "v_fmamk_f16"), _fused),
    **dict.fromkeys(("v_mad_f16", "v_mac_f16", "v_madak_f16", "v_madmk_f16"), _rounded_twice),
    "v_div_fixup_f16": _quotient,
    "v_fract_f16": _fraction,
    "v_sin_f16": partial(_of_turns, "sinpi"),
    "v_cos_f16": partial(_of_turns, "cospi"),
    "v_fmac_f16": _added_up,
    "v_subrev_f16": _reversed_difference,
    "v_ldexp_f16": _scaled,
    **{name: partial(_of_two, mnemonic) for name, mnemonic in _OF_TWO.items()},
    **{name: partial(_by_single, mnemonic) for name, mnemonic in _BY_SINGLE.items()},
    **{
        f"v_cvt_f16_{kind}16": partial(_from_integer, type_)
        for kind, type_ in (("i", "s"), ("u", "u"))
    },
    **{
        f"v_cvt_{kind}16_f16": partial(_to_integer, type_)
        for kind, type_ in (("i", "s"), ("u", "u"))
    },
}
HALVES: Mapping[str, Lowering] = {
    **{name: with_halves(lower) for name, lower in _ALL.items()},
    "v_fma_mix_f32": partial(_mixed_fused, "f32"),
    "v_fma_mixlo_f16": partial(_mixed_fused, "lo"),
    "v_fma_mixhi_f16": partial(_mixed_fused, "hi"),
}
