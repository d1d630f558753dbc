"""The alternate floating-point formats of PTX to and from float32: bf16, tf32, e4m3 and e5m2."""

from __future__ import annotations

import numpy as np

from kernelcast.simcore.isa.packed import Array, shortened, single, to_bf16
from kernelcast.simcore.isa.types import ScalarType

__all__ = [
    "BF16_LARGEST",
    "FLOAT8",
    "FLOAT8_NAN",
    "FLOAT8_SIGN",
    "TF32_DROPPED",
    "TF32_LARGEST",
    "TF32_NAN",
    "from_alternate",
    "to_alternate",
]

TF32_DROPPED = 13
TF32_NAN = 0x7FFFFFFF
TF32_LARGEST = 0x7F7FE000
BF16_LARGEST = 0x7F7F
FLOAT8: dict[ScalarType, tuple[int, int, int]] = {
    # bits of the fraction, bias of the exponent, code of the largest number
    ScalarType.E4M3: (3, 7, 0x7E),
    ScalarType.E5M2: (2, 15, 0x7B),
}
FLOAT8_NAN = 0x7F
FLOAT8_SIGN = 0x80


def _decoded(code: int, type_: ScalarType) -> float:
    fraction_bits, bias, largest = FLOAT8[type_]
    magnitude, sign = code & ~FLOAT8_SIGN, -1.0 if code & FLOAT8_SIGN else 1.0
    if magnitude > largest:
        is_infinity = type_ is ScalarType.E5M2 and magnitude == largest + 1
        return sign * np.inf if is_infinity else np.nan
    exponent, fraction = divmod(magnitude, 1 << fraction_bits)
    if exponent:
        fraction += 1 << fraction_bits
    return float(sign * np.ldexp(fraction, max(exponent, 1) - bias - fraction_bits))


_DECODED = {
    type_: np.array([_decoded(code, type_) for code in range(256)], np.float32) for type_ in FLOAT8
}


def from_alternate(value: Array, type_: ScalarType) -> Array:
    """As float32, exactly."""
    return single(value) if type_ is ScalarType.BF16 else np.take(_DECODED[type_], value)


def to_alternate(value: Array, type_: ScalarType, mode: str, is_finite: bool) -> Array:
    """A float32 rounded as `mode` says; with `is_finite` the largest number stands for infinity.

    The formats of 8 bits round to nearest even and are always finite.
    """
    if type_ in FLOAT8:
        return _to_float8(value, type_)
    if type_ is ScalarType.BF16:
        bits, largest, infinity = to_bf16(value, mode), BF16_LARGEST, 0x7F80
    else:
        bits = shortened(value, TF32_DROPPED, mode)
        bits = np.where(np.isnan(value), np.uint32(TF32_NAN), bits)
        largest, infinity = TF32_LARGEST, 0x7F800000
    if not is_finite:
        return bits
    dtype = type_.dtype.type
    sign = bits & dtype(1 << (type_.bits - 1))
    return np.where(bits - sign == dtype(infinity), sign | dtype(largest), bits)


def _to_float8(value: Array, type_: ScalarType) -> Array:
    fraction_bits, bias, largest = FLOAT8[type_]
    magnitude = np.abs(value).astype(np.float64)
    is_nan = np.isnan(magnitude)
    limited = np.where(is_nan, 0.0, np.minimum(magnitude, 2.0**16))
    lowest = 1 - bias
    binade = np.where(limited == 0, lowest, np.maximum(np.frexp(limited)[1] - 1, lowest))
    steps = np.rint(np.ldexp(limited, fraction_bits - binade)).astype(np.int64)
    # a step beyond the last of a binade is the first of the next
    code = np.minimum(((binade + bias - 1) << fraction_bits) + steps, largest)
    code = np.where(is_nan, FLOAT8_NAN, code | np.where(np.signbit(value), FLOAT8_SIGN, 0))
    return code.astype(np.uint8)
