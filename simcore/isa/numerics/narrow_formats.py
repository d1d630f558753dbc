"""Floating-point formats of at most 8 bits, and f16 where it is rounded at random.

The codes of e4m3 and e5m2 are those of the OCP 8-bit specification, e2m3, e3m2, e2m1 and ue8m0
those of OCP's microscaling formats. Formats without NaN give the largest number for one (PTX ISA,
cvt).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelcast.simcore.isa.numerics.packed import Array
from kernelcast.simcore.isa.types import ScalarType

__all__ = [
    "NARROW",
    "SCALE_NAN",
    "NarrowFormat",
    "from_narrow",
    "from_scale",
    "to_narrow",
    "to_scale",
]


@dataclass(frozen=True, slots=True)
class NarrowFormat:
    """A floating-point format of at most 16 bits.

    Holds bits of the fraction, bias of the exponent, and the codes of the largest number, of NaN
    and of the sign.
    """

    fraction_bits: int
    bias: int
    largest: int
    nan: int
    sign: int


NARROW: dict[ScalarType, NarrowFormat] = {
    ScalarType.E4M3: NarrowFormat(3, 7, 0x7E, 0x7F, 0x80),
    ScalarType.E5M2: NarrowFormat(2, 15, 0x7B, 0x7F, 0x80),
    ScalarType.E2M3: NarrowFormat(3, 1, 0x1F, 0x1F, 0x20),
    ScalarType.E3M2: NarrowFormat(2, 3, 0x1F, 0x1F, 0x20),
    ScalarType.E2M1: NarrowFormat(1, 1, 0x7, 0x7, 0x8),
    ScalarType.F16: NarrowFormat(10, 15, 0x7BFF, 0x7FFF, 0x8000),
}
SCALE_NAN = 0xFF
"""ue8m0 has no sign and no zero: its codes are the exponents of f32, and the highest is NaN."""
_FRACTION_BITS = 23
_FRACTION = (1 << _FRACTION_BITS) - 1
_SMALLEST_SCALE = 0x00400000
"""2**-127, as the bits of a float32."""


def _decoded(code: int, type_: ScalarType) -> float:
    format_ = NARROW[type_]
    magnitude, sign = code & (format_.sign - 1), -1.0 if code & format_.sign else 1.0
    if magnitude > format_.largest:
        is_infinity = type_ is ScalarType.E5M2 and magnitude == format_.largest + 1
        return sign * np.inf if is_infinity else np.nan
    exponent, fraction = divmod(magnitude, 1 << format_.fraction_bits)
    if exponent:
        fraction += 1 << format_.fraction_bits
    return float(sign * np.ldexp(fraction, max(exponent, 1) - format_.bias - format_.fraction_bits))


_DECODED: dict[ScalarType, Array] = {
    type_: np.array([_decoded(code, type_) for code in range(256)], np.float32)
    for type_ in NARROW
    if type_ is not ScalarType.F16
}


def from_narrow(codes: Array, type_: ScalarType) -> Array:
    """Decodes a narrow format into float32, exactly; bits above those of the format are ignored."""
    return np.take(_DECODED[type_], codes)


def to_narrow(value: Array, type_: ScalarType, fraction: Array | None = None) -> Array:
    """A float32 as a code, rounded to nearest even; what is too large becomes the largest number.

    With a `fraction` in [0, 1), a float64, it is added to the number in units of the last place
    and the sum is cut off: rounding at random. The code after the largest number is infinity then.
    """
    format_ = NARROW[type_]
    magnitude = np.abs(value).astype(np.float64)
    is_nan = np.isnan(magnitude)
    limited = np.where(is_nan, 0.0, np.minimum(magnitude, 2.0**17))
    lowest = 1 - format_.bias
    binade = np.where(limited == 0, lowest, np.maximum(np.frexp(limited)[1] - 1, lowest))
    scaled = np.ldexp(limited, format_.fraction_bits - binade)
    steps = np.rint(scaled) if fraction is None else np.floor(scaled + fraction)
    # a step beyond the last of a binade is the first of the next
    code = ((binade + format_.bias - 1) << format_.fraction_bits) + steps.astype(np.int64)
    code = np.minimum(code, format_.largest + (type_ is ScalarType.F16))
    code = np.where(is_nan, format_.nan, code | np.where(np.signbit(value), format_.sign, 0))
    return code.astype(type_.storage)


def from_scale(codes: Array) -> Array:
    """ue8m0 as float32, exactly."""
    wide = codes.astype(np.uint32)
    bits = np.where(wide == 0, np.uint32(_SMALLEST_SCALE), wide << np.uint32(_FRACTION_BITS))
    return np.where(wide == SCALE_NAN, np.float32(np.nan), bits.view(np.float32))


def to_scale(value: Array, is_upward: bool, is_finite: bool) -> Array:
    """The magnitude of a float32 as a power of two, rounded to zero or upward, as ue8m0.

    What is below 2**-127 becomes 2**-127, infinities NaN or, `is_finite`, the largest power.
    """
    bits = value.view(np.uint32) & np.uint32(0x7FFFFFFF)
    exponent = bits >> np.uint32(_FRACTION_BITS)
    if is_upward:
        is_between = (bits & np.uint32(_FRACTION) != 0) & (bits > _SMALLEST_SCALE)
        exponent = exponent + is_between.astype(np.uint32)
    exponent = np.minimum(exponent, np.uint32(SCALE_NAN - is_finite))
    return np.where(np.isnan(value), np.uint32(SCALE_NAN), exponent).astype(np.uint8)
