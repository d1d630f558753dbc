"""The alternate floating-point formats of PTX to and from float32: bf16, tf32 and narrow ones."""

from __future__ import annotations

import numpy as np

from kernelcast.simcore.isa.numerics.narrow_formats import (
    NARROW,
    from_narrow,
    from_scale,
    to_narrow,
    to_scale,
)
from kernelcast.simcore.isa.numerics.packed import Array, shortened, single, to_bf16
from kernelcast.simcore.isa.types import ScalarType

__all__ = [
    "BF16_LARGEST",
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


def from_alternate(value: Array, type_: ScalarType) -> Array:
    """Decodes an alternate format into float32, exactly."""
    if type_ is ScalarType.UE8M0:
        return from_scale(value)
    return single(value) if type_ is ScalarType.BF16 else from_narrow(value, type_)


def to_alternate(value: Array, type_: ScalarType, mode: str, is_finite: bool) -> Array:
    """A float32 rounded as `mode` says; with `is_finite` the largest number stands for infinity.

    The narrow formats round to nearest even and are always finite; ue8m0 rounds to zero or upward.
    """
    if type_ is ScalarType.UE8M0:
        return to_scale(value, mode == "rp", is_finite)
    if type_ in NARROW:
        return to_narrow(value, type_)
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
