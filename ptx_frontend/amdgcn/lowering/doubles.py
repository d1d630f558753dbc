"""Vector instructions of double precision, and what converts to and from it.

Meanings: AMD Instinct MI200 Instruction Set Architecture, chapters 12.8 to 12.11. The quotient of
`v_div_fixup_f64` is rounded correctly, as that of single precision is.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand

__all__ = ["DOUBLES", "double_operand"]

_SIGN = 1 << 63
_WORD = 32
_INLINE = 64
"""The largest number that an operand holds by itself; larger ones are upper words of doubles."""
_OF_ONE = {
    "v_rcp_f64": "rcp.rn.f64",
    "v_rsq_f64": "rsqrt.approx.f64",
    "v_sqrt_f64": "sqrt.rn.f64",
    "v_rndne_f64": "cvt.rni.f64.f64",
    "v_floor_f64": "cvt.rmi.f64.f64",
    "v_ceil_f64": "cvt.rpi.f64.f64",
    "v_trunc_f64": "cvt.rzi.f64.f64",
}
_OF_TWO = {
    "v_add_f64": "add.f64",
    "v_mul_f64": "mul.f64",
    "v_max_f64": "max.f64",
    "v_min_f64": "min.f64",
}
_TO_WORD = {
    "v_cvt_f32_f64": "cvt.rn.f32.f64",
    "v_cvt_i32_f64": "cvt.rzi.s32.f64",
    "v_cvt_u32_f64": "cvt.rzi.u32.f64",
}
_FROM_INTEGER = {"v_cvt_f64_i32": "cvt.rn.f64.s32", "v_cvt_f64_u32": "cvt.rn.f64.u32"}


def double_operand(site: Site, index: int) -> Operand:
    """Operand `index` as a double, with `-` and `| |` before and around it."""
    text, code = site.operands[index], site.code
    is_negative = text.startswith("-") and not text[1:2].isdigit()
    plain = text.removeprefix("-") if is_negative else text
    parts = code.source(plain.strip("|"), is_double=True)
    value: Operand
    if len(parts) == 1:
        value = _constant(site, parts[0])
    elif isinstance(parts[0], Immediate) and isinstance(parts[1], Immediate):
        value = Immediate(parts[1].bits << _WORD | parts[0].bits)
    else:
        value = code.joined(parts[0], parts[1])
    if plain.startswith("|"):
        value = code.compute("and.b64", 64, value, Immediate(_SIGN - 1))
    return code.compute("xor.b64", 64, value, Immediate(_SIGN)) if is_negative else value


def _constant(site: Site, part: Operand) -> Operand:
    """A small integer as it is, anything else as the upper word."""
    if not isinstance(part, Immediate):
        raise site.code.refused("a single register for a double")
    signed = part.bits - (1 << _WORD) if part.bits >> (_WORD - 1) else part.bits
    if -16 <= signed <= _INLINE:
        return Immediate(signed & (1 << 64) - 1)
    return Immediate(part.bits << _WORD)


def _write(site: Site, value: Operand) -> None:
    site.code.set_vector(site.operands[0], *site.code.halves(value))


def _of_two(mnemonic: str, site: Site) -> None:
    _write(site, site.main(mnemonic, 64, double_operand(site, 1), double_operand(site, 2)))


def _of_one(mnemonic: str, site: Site) -> None:
    _write(site, site.main(mnemonic, 64, double_operand(site, 1)))


def _fused(site: Site) -> None:
    _write(site, site.main("fma.rn.f64", 64, *(double_operand(site, n) for n in (1, 2, 3))))


def _added_up(site: Site) -> None:
    own = double_operand(site, 0)
    _write(site, site.main("fma.rn.f64", 64, double_operand(site, 1), double_operand(site, 2), own))


def _to_word(mnemonic: str, site: Site) -> None:
    site.code.set_vector(site.operands[0], site.main(mnemonic, 32, double_operand(site, 1)))


def _from_single(site: Site) -> None:
    _write(site, site.main("cvt.f64.f32", 64, site.number(1)))


def _from_integer(mnemonic: str, site: Site) -> None:
    _write(site, site.main(mnemonic, 64, site.integer(1)))


def _scaled(site: Site) -> None:
    _write(site, site.main("opencl.ldexp.f64", 64, double_operand(site, 1), site.integer(2)))


def _division_scale(site: Site) -> None:
    """Nothing is scaled: `v_div_fixup_f64` gives the quotient."""
    _write(site, site.main("mov.b64", 64, double_operand(site, 2)))
    site.code.set_mask(site.operands[1], Immediate(0))


def _quotient(site: Site) -> None:
    _write(site, site.main("div.rn.f64", 64, double_operand(site, 3), double_operand(site, 2)))


def _fraction(site: Site) -> None:
    """What is above the next lower integer; less than one, whatever is rounded (ISA, 12.8)."""
    code, value = site.code, double_operand(site, 1)
    rest = site.main("sub.f64", 64, value, code.compute("cvt.rmi.f64.f64", 64, value))
    _write(site, code.compute("min.f64", 64, rest, Immediate(0x3FEFFFFFFFFFFFFF)))


DOUBLES: Mapping[str, Lowering] = {
    **{name: partial(_of_two, mnemonic) for name, mnemonic in _OF_TWO.items()},
    **{name: partial(_of_one, mnemonic) for name, mnemonic in _OF_ONE.items()},
    **{name: partial(_to_word, mnemonic) for name, mnemonic in _TO_WORD.items()},
    **{name: partial(_from_integer, mnemonic) for name, mnemonic in _FROM_INTEGER.items()},
    "v_cvt_f64_f32": _from_single,
    "v_fract_f64": _fraction,
    "v_fma_f64": _fused,
    "v_fmac_f64": _added_up,
    "v_ldexp_f64": _scaled,
    "v_div_scale_f64": _division_scale,
    "v_div_fmas_f64": _fused,
    "v_div_fixup_f64": _quotient,
}
