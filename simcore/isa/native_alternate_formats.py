"""bf16, tf32, e4m3 and e5m2 to and from `float` as LLVM IR: the twin of `alternate_formats`."""

from __future__ import annotations

from kernelcast.simcore.isa.alternate_formats import (
    BF16_LARGEST,
    FLOAT8,
    FLOAT8_NAN,
    FLOAT8_SIGN,
    TF32_DROPPED,
    TF32_LARGEST,
    TF32_NAN,
)
from kernelcast.simcore.isa.native_code import LLVM_TYPES, NativeCode
from kernelcast.simcore.isa.native_packed import shortened, single, to_bf16
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["from_alternate", "to_alternate"]

_FRACTION_BITS = 23
_BIAS = 127
_HALF_NAN = 0x7E00
_SIGN_MASK = 0x7FFFFFFF


def from_alternate(code: NativeCode, value: str, type_: ScalarType) -> str:
    """As `float`, exactly: numbers of 8 bits are placed in a `half`, whose bias is 15."""
    if type_ is ScalarType.BF16:
        return single(code, value)
    fraction_bits, bias, largest = FLOAT8[type_]

    def op(name: str, a: str, b: int | str) -> str:
        return code.binary(name, "i16", a, code.splat("i16", b) if isinstance(b, int) else b)

    wide = code.cast("zext", "i8", value, "i16")
    magnitude = op("and", wide, FLOAT8_SIGN - 1)
    placed = op("shl", magnitude, 10 - fraction_bits)
    if type_ is ScalarType.E4M3:
        is_nan = op("icmp ugt", magnitude, largest)
        placed = code.select("i16", is_nan, code.splat("i16", _HALF_NAN), placed)
    bits = op("or", placed, op("shl", op("and", wide, FLOAT8_SIGN), 8))
    number = code.cast("fpext", "half", code.cast("bitcast", "i16", bits, "half"), "float")
    return code.binary("fmul", "float", number, code.real("float", 2.0 ** (15 - bias)))


def to_alternate(
    code: NativeCode, value: str, type_: ScalarType, mode: str, is_finite: bool
) -> str:
    """A `float` rounded as `mode` says; with `is_finite` the largest number stands for infinity."""
    if type_ in FLOAT8:
        return _to_float8(code, value, type_)
    if type_ is ScalarType.BF16:
        bits, largest, infinity = to_bf16(code, value, mode), BF16_LARGEST, 0x7F80
    else:
        is_nan = code.binary("fcmp uno", "float", value, value)
        bits = shortened(code, value, TF32_DROPPED, mode)
        bits = code.select("i32", is_nan, code.splat("i32", TF32_NAN), bits)
        largest, infinity = TF32_LARGEST, 0x7F800000
    if not is_finite:
        return bits
    lane, top = LLVM_TYPES[type_], 1 << (type_.bits - 1)
    sign = code.binary("and", lane, bits, code.splat(lane, top))
    magnitude = code.binary("and", lane, bits, code.splat(lane, top - 1))
    is_infinite = code.binary("icmp eq", lane, magnitude, code.splat(lane, infinity))
    limit = code.binary("or", lane, sign, code.splat(lane, largest))
    return code.select(lane, is_infinite, limit, bits)


def _to_float8(code: NativeCode, value: str, type_: ScalarType) -> str:
    """Rounds normal numbers in place, and the subnormal ones of the target by adding 2**23."""
    fraction_bits, bias, largest = FLOAT8[type_]

    def op(name: str, a: str, b: int | str) -> str:
        return code.binary(name, "i32", a, code.splat("i32", b) if isinstance(b, int) else b)

    bits = code.cast("bitcast", "float", value, "i32")
    magnitude = code.cast("bitcast", "i32", op("and", bits, _SIGN_MASK), "float")
    dropped = _FRACTION_BITS - fraction_bits
    near = op("lshr", shortened(code, magnitude, dropped, ""), dropped)
    normal = op("sub", near, (_BIAS - bias) << fraction_bits)
    scale = code.real("float", 2.0 ** (fraction_bits + bias - 1))
    rounder = 2.0**_FRACTION_BITS
    scaled = code.binary("fmul", "float", magnitude, scale)
    shifted = code.binary("fadd", "float", scaled, code.real("float", rounder))
    steps = code.cast("bitcast", "float", shifted, "i32")
    subnormal = op("sub", steps, (_BIAS + _FRACTION_BITS) << _FRACTION_BITS)
    limit = code.real("float", 2.0 ** (1 - bias))
    is_small = code.binary("fcmp olt", "float", magnitude, limit)
    chosen = code.select("i32", is_small, subnormal, normal)
    kind = code.type("i32")
    chosen = code.intrinsic("umin", "i32", [(kind, chosen), (kind, code.splat("i32", largest))])
    chosen = op("or", chosen, op("and", op("lshr", bits, 24), FLOAT8_SIGN))
    is_nan = code.binary("fcmp uno", "float", value, value)
    chosen = code.select("i32", is_nan, code.splat("i32", FLOAT8_NAN), chosen)
    return code.cast("trunc", "i32", chosen, "i8")
