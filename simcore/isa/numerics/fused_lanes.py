"""Fused multiply-add of numbers as a compiled ufunc. Importing it takes numba's half a second."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy.typing as npt
from numba import float32, float64
from numba.extending import intrinsic

from kernelcast.simcore.host.compiled import compiled_ufunc

__all__ = ["fused_lanes"]

Array = npt.NDArray[Any]


def _llvm_fma(_typing: Any, a: Any, b: Any, c: Any) -> Any:
    def emit(_context: Any, builder: Any, _signature: Any, operands: Any) -> Any:
        return builder.fma(*operands)

    return a(a, b, c), emit


_one_rounding: Any = intrinsic(_llvm_fma)


def _one_lane(a: Any, b: Any, c: Any) -> Any:
    return _one_rounding(a, b, c)


fused_lanes: Callable[[Array, Array, Array], Array] = compiled_ufunc(
    _one_lane, [float32(float32, float32, float32), float64(float64, float64, float64)]
)
"""a*b + c with one rounding to nearest even, for float32 and float64, lane by lane."""
