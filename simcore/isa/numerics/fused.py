"""Fused multiply-add, which NumPy does not have: one rounding, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["fma"]

Array = npt.NDArray[Any]


def fma(a: Array, b: Array, c: Array) -> Array:
    """a*b + c with one rounding to nearest even, for float16, float32 and float64.

    float16 goes through float64, which holds its products exactly, and each sum too unless one term
    is below 2**-31 of the other: far from any boundary between two float16, so that rounding twice
    changes nothing.
    """
    if a.dtype == np.float16:
        half: Array = (np.multiply(a, b, dtype=np.float64) + c).astype(np.float16)
        return half
    # only kernels that execute an fma wait for LLVM
    from kernelcast.simcore.isa.numerics.fused_lanes import fused_lanes

    return fused_lanes(a, b, c)
