"""Fused multiply-add, which NumPy does not have: one rounding, as a compiled ufunc.

This module imports numba and is itself imported when the first `fma` executes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import float32, float64, vectorize
from numba.extending import intrinsic

__all__ = ["fused_multiply_add"]

Array = npt.NDArray[Any]


def _llvm_fma(_typing: Any, a: Any, b: Any, c: Any) -> Any:
    def emit(_context: Any, builder: Any, _signature: Any, operands: Any) -> Any:
        return builder.fma(*operands)

    return a(a, b, c), emit


_fma_intrinsic: Any = intrinsic(_llvm_fma)


def _one_lane(a: Any, b: Any, c: Any) -> Any:
    return _fma_intrinsic(a, b, c)


_compile: Any = vectorize
_wide: Callable[[Array, Array, Array], Array] = _compile(
    [float32(float32, float32, float32), float64(float64, float64, float64)], cache=True
)(_one_lane)


def fused_multiply_add(a: Array, b: Array, c: Array) -> Array:
    """a*b + c with one rounding to nearest even, for float16, float32 and float64."""
    if a.dtype == np.float16:
        return _half(a.astype(np.float64), b.astype(np.float64), c.astype(np.float64))
    return _wide(a, b, c)


def _half(a: Array, b: Array, c: Array) -> Array:
    """Rounds to odd in float64 first, so that the rounding to float16 is the only one that counts.

    The product of two float16 is exact in float64; the error of the sum is exact too (Knuth's
    TwoSum). Rounding to odd and then to nearest is right (Boldo and Melquiond 2008).
    """
    product = a * b
    total = np.asarray(product + c)
    back = total - product
    error = (product - (total - back)) + (c - back)
    is_even = (total.view(np.uint64) & np.uint64(1)) == 0
    neighbour = np.nextafter(total, np.where(error > 0, np.inf, -np.inf))
    odd = np.where(is_even & (error != 0) & np.isfinite(total), neighbour, total)
    return odd.astype(np.float16)
