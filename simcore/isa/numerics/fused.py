"""Fused multiply-add, which NumPy does not have: one rounding, as a compiled ufunc."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
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
    return _wide()(a, b, c)


@cache
def _wide() -> Callable[[Array, Array, Array], Array]:
    # numba takes half a second to import: only kernels that execute an fma pay for it
    from numba import float32, float64, vectorize
    from numba.extending import intrinsic

    one_rounding: Any = intrinsic(_llvm_fma)

    def one_lane(a: Any, b: Any, c: Any) -> Any:
        return one_rounding(a, b, c)

    untyped: Any = vectorize
    signatures = [float32(float32, float32, float32), float64(float64, float64, float64)]
    compiled: Callable[[Array, Array, Array], Array] = untyped(signatures, cache=True)(one_lane)
    return compiled


def _llvm_fma(_typing: Any, a: Any, b: Any, c: Any) -> Any:
    def emit(_context: Any, builder: Any, _signature: Any, operands: Any) -> Any:
        return builder.fma(*operands)

    return a(a, b, c), emit
