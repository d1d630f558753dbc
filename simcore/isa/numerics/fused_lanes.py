"""Fused multiply-add of numbers, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.host.compiled import compiled, intrinsic

__all__ = ["fused_lanes"]

Array = npt.NDArray[Any]


def _llvm_fma(_typing: Any, a: Any, b: Any, c: Any) -> Any:
    def emit(_context: Any, builder: Any, _signature: Any, operands: Any) -> Any:
        return builder.fma(*operands)

    return a(a, b, c), emit


_one_rounding: Any = intrinsic(_llvm_fma)


@compiled
def _fill(a: Array, b: Array, c: Array, sums: Array) -> None:
    for lane in range(len(sums)):
        sums[lane] = _one_rounding(a[lane], b[lane], c[lane])


def fused_lanes(a: Array, b: Array, c: Array) -> Array:
    """a*b + c with one rounding to nearest even, for float32 and float64, lane by lane.

    Shapes are broadcast; integers count as float64.
    """
    shape = np.broadcast_shapes(np.shape(a), np.shape(b), np.shape(c))
    kind = np.float32 if np.result_type(a, b, c) == np.float32 else np.float64
    sums = np.empty(shape, kind)
    _fill(_column(a, sums), _column(b, sums), _column(c, sums), sums.reshape(-1))
    filled: Array = sums[()]
    return filled


def _column(operand: Array, like: Array) -> Array:
    """The operand as a writable row of numbers, one for each item of `like`."""
    whole = operand if np.shape(operand) == like.shape else np.broadcast_to(operand, like.shape)
    return np.require(whole, like.dtype, ["C", "W"]).reshape(-1)
