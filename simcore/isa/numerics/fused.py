"""Fused multiply-add, which NumPy does not have: one rounding, as a compiled ufunc.

This module imports numba and is itself imported when the first `fma` executes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import float32, float64
from numba.extending import intrinsic

from kernelcast.simcore.host.compiled import compiled_ufunc

__all__ = ["fused_multiply_add"]

Array = npt.NDArray[Any]


def _llvm_fma(_typing: Any, a: Any, b: Any, c: Any) -> Any:
    def emit(_context: Any, builder: Any, _signature: Any, operands: Any) -> Any:
        return builder.fma(*operands)

    return a(a, b, c), emit


_fma_intrinsic: Any = intrinsic(_llvm_fma)


def _one_lane(a: Any, b: Any, c: Any) -> Any:
    return _fma_intrinsic(a, b, c)


_wide: Callable[[Array, Array, Array], Array] = compiled_ufunc(
    _one_lane, [float32(float32, float32, float32), float64(float64, float64, float64)]
)


def fused_multiply_add(a: Array, b: Array, c: Array) -> Array:
    """a*b + c with one rounding to nearest even, for float16, float32 and float64.

    float16 goes through float64, which holds its products exactly, and each sum too unless one term
    is below 2**-31 of the other: far from any boundary between two float16, so that rounding twice
    changes nothing.
    """
    if a.dtype == np.float16:
        half: Array = (np.multiply(a, b, dtype=np.float64) + c).astype(np.float16)
        return half
    return _wide(a, b, c)
