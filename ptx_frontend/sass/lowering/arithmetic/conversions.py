"""Conversions between numbers of one register or pair.

Types that are not printed are f32 and s32. What is narrower than 32 bits comes out extended to it:
halves by zeros, integers by their sign.
"""

from __future__ import annotations

from dataclasses import replace

from kernelcast.ptx_frontend.sass.lowering.arithmetic.half_operands import half, placed
from kernelcast.ptx_frontend.sass.lowering.arithmetic.singles import ROUNDING
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.text.operands import ConstantOperand, RegisterOperand, SassOperand
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register

__all__ = ["INTEGRAL"]

_FLOATS = {"F16": "f16", "BF16": "bf16", "F32": "f32", "F64": "f64"}
_INTEGERS = {f"{sign}{bits}": f"{sign.lower()}{bits}" for sign in "SU" for bits in (8, 16, 32, 64)}
INTEGRAL = {"TRUNC": ".rzi", "FLOOR": ".rmi", "CEIL": ".rpi", "ROUND": ".rni"}
_BITS = {"bf16": 16, "s8": 8, "u8": 8}
_PLACES = {"B0": 0, "B1": 8, "B2": 16, "B3": 24, "H0": 0, "H1": 16}
"""Where parts of a register begin."""
_VOLTA = 70
_WORD, _TOP = 32, 0x80000000


def _bits(kind: str) -> int:
    return _BITS.get(kind) or int(kind[1:])


def _float_source(site: Site, operand: SassOperand, kind: str) -> Operand:
    if _bits(kind) == 16:
        return half(site, operand)
    if kind == "f64":
        return site.pair(operand, kind)
    return site.word(operand, kind)


def _integer_source(site: Site, operand: SassOperand, kind: str) -> tuple[Operand, str]:
    """An integer of at least 32 bits and its type: narrow ones are extended."""
    bits = _bits(kind)
    if bits == 2 * _WORD:
        return site.pair(operand, kind), kind
    if bits == _WORD:
        return site.word(operand, kind), kind
    if not isinstance(operand, RegisterOperand | ConstantOperand):
        return site.word(operand, kind[0] + "32"), kind[0] + "32"
    place = next((_PLACES[part] for part in operand.parts if part in _PLACES), 0)
    word = site.word(replace(operand, sign="", is_absolute=False), parts=_PLACES)
    type_ = kind[0] + "32"
    value = site.compute(f"bfe.{type_}", _WORD, word, Immediate(place), Immediate(bits))
    if operand.is_absolute:
        value = site.compute("abs.s32", _WORD, value)
    if operand.sign:
        value, type_ = site.compute("neg.s32", _WORD, value), "s32"
    return value, type_


def _write(site: Site, mnemonic: str, kind: str, value: Operand) -> None:
    """Converts into the first operand, which has type `kind`."""
    operand, bits = site.operand(0), _bits(kind)
    if bits == 2 * _WORD:
        site.main(mnemonic, site.pair_destination(operand), value)
    elif bits == _WORD:
        site.main(mnemonic, site.destination(operand), value)
    else:
        narrow = site.register(bits)
        site.main(mnemonic, narrow, value)
        placed(site, operand, narrow)


def _flushing(site: Site) -> str:
    return ".ftz" if site.take("FTZ") else ""


@lowers("F2F")
def lower_float_to_float(site: Site) -> None:
    """`d, a`; of equal types it rounds to an integral value where it says how."""
    target, source = site.choose(_FLOATS, "f32"), site.choose(_FLOATS, "f32")
    integral, rounding = site.choose(INTEGRAL, ""), site.choose(ROUNDING, "")
    flushes = _flushing(site)
    saturates = ".sat" if site.take("SAT") else ""
    narrows = _bits(target) < _bits(source) or {target, source} == {"f16", "bf16"}
    if integral:
        if target != source:
            raise site.refuse("two roundings")
        rounding = integral
    elif narrows:
        rounding = rounding or ".rn"
    value = _float_source(site, site.operand(1), source)
    _write(site, f"cvt{rounding}{flushes}{saturates}.{target}.{source}", target, value)


@lowers("FRND", "UFRND")
def lower_integral(site: Site) -> None:
    """`d, a`: to an integral value."""
    kind = site.choose(_FLOATS, "f32")
    rounding, flushes = site.choose(INTEGRAL, ".rni"), _flushing(site)
    value = _float_source(site, site.operand(1), kind)
    _write(site, f"cvt{rounding}{flushes}.{kind}.{kind}", kind, value)


@lowers("I2F", "I2FP", "UI2F", "UI2FP")
def lower_integer_to_float(site: Site) -> None:
    """`d, a`."""
    target, source = site.choose(_FLOATS, "f32"), site.choose(_INTEGERS, "s32")
    rounding = site.choose(ROUNDING, ".rn")
    value, source = _integer_source(site, site.operand(1), source)
    _write(site, f"cvt{rounding}.{target}.{source}", target, value)


@lowers("F2I", "UF2I")
def lower_float_to_integer(site: Site) -> None:
    """`d, a`: clamped; NaN gives 0 with `.NTZ`, else the integer whose top bit alone is set."""
    target, source = site.choose(_INTEGERS, "s32"), site.choose(_FLOATS, "f32")
    rounding, flushes = site.choose(INTEGRAL, ".rni"), _flushing(site)
    gives_zero = site.take("NTZ")
    value = _float_source(site, site.operand(1), source)
    bits = _bits(target)
    usually_zero = source != "f64" and bits != 2 * _WORD
    if site.architecture < _VOLTA:
        gives_zero = usually_zero
    wide = target if bits >= _WORD else target[0] + "32"
    mnemonic = f"cvt{rounding}{flushes}.{wide}.{source}"
    if bits >= _WORD and gives_zero == usually_zero:
        _write(site, mnemonic, target, value)
        return
    found: Register = site.register(_bits(wide))
    site.main(mnemonic, found, value)
    found = _clamped(site, found, target)
    if gives_zero != usually_zero or (bits < _WORD and not gives_zero):
        is_nan = site.compute(f"setp.nan.{source}", 1, value, value)
        top = 1 << (bits - 1)
        if bits < _WORD and target[0] == "s":
            top = -top & 0xFFFFFFFF
        instead = Immediate(0 if gives_zero else top)
        found = site.compute(f"selp.b{found.bits}", found.bits, instead, found, is_nan)
    if found.bits == _WORD:
        site.part("mov.b32", site.destination(site.operand(0)), found)
    else:
        site.part("mov.b64", site.pair_destination(site.operand(0)), found)


def _clamped(site: Site, value: Register, kind: str) -> Register:
    """A number of 32 bits within the limits of a narrower type."""
    bits = _bits(kind)
    if bits >= _WORD:
        return value
    if kind[0] == "u":
        return site.compute("min.u32", _WORD, value, Immediate((1 << bits) - 1))
    low, high = -(1 << (bits - 1)) & 0xFFFFFFFF, (1 << (bits - 1)) - 1
    above = site.compute("max.s32", _WORD, value, Immediate(low))
    return site.compute("min.s32", _WORD, above, Immediate(high))


@lowers("I2I", "UI2I")
def lower_integer_to_integer(site: Site) -> None:
    """`d, a`: clamped with `.SAT`, else its lowest bits, extended."""
    target, source = site.choose(_INTEGERS, "s32"), site.choose(_INTEGERS, "s32")
    saturates = site.take("SAT")
    if max(_bits(target), _bits(source)) > _WORD:
        raise site.refuse("integers of 64 bits")
    value, source = _integer_source(site, site.operand(1), source)
    destination, bits = site.destination(site.operand(0)), _bits(target)
    if not saturates:
        ends = (Immediate(0), Immediate(bits))
        site.main(f"bfe.{target[0]}32", destination, value, *ends)
        return
    if source[0] == "s" and target[0] == "u":
        value = site.compute("max.s32", _WORD, value, Immediate(0))
    elif source[0] == "s":
        low = -(1 << (bits - 1)) & 0xFFFFFFFF
        value = site.compute("max.s32", _WORD, value, Immediate(low))
    most = (1 << (bits - (target[0] == "s"))) - 1
    is_unsigned = "u" in (source[0], target[0])  # not negative any more
    site.main("min.u32" if is_unsigned else "min.s32", destination, value, Immediate(most))
