"""Rates of timed launches, and the check of what they computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.errors import BenchmarkError
from kernelcast.opencl_bench.measurement import (
    Curve,
    CurvePoint,
    Measurement,
    Unit,
    measurement,
)

__all__ = [
    "Seconds",
    "bandwidth",
    "bandwidth_curve",
    "curve_point",
    "per_second",
    "require_equal",
    "word_sum",
]

Seconds = npt.NDArray[np.float64]


def per_second(kernel: str, amount: float, seconds: Seconds) -> Seconds:
    """Rates of launches; BenchmarkError when one took no time at all."""
    if not np.all(seconds > 0):
        raise BenchmarkError(f"kernel {kernel}: the device's clock does not advance")
    return amount / seconds


def bandwidth(name: str, samples: Seconds, method: str) -> Measurement:
    """A bandwidth as a measurement, from its samples."""
    return measurement(name, list(samples), Unit.BYTES_PER_S, method)


def curve_point(x: float, samples: Seconds) -> CurvePoint:
    """Median and spread of the samples, at x."""
    low, middle, high = np.percentile(samples, (25, 50, 75))
    return CurvePoint(float(x), float(middle), float((high - low) / middle))


def bandwidth_curve(
    name: str, x_name: str, x_unit: Unit, points: list[CurvePoint], method: str
) -> Curve:
    """Points in any order; BenchmarkError without any, on a device with too little memory."""
    if not points:
        raise BenchmarkError(f"{name}: the device's memory is too small for any point")
    ordered = tuple(sorted(points, key=lambda point: point.x))
    return Curve(name, x_name, x_unit, "bandwidth", Unit.BYTES_PER_S, ordered, method)


def require_equal(kernel: str, found: npt.NDArray[Any], expected: Any) -> None:
    """Raises BenchmarkError when a kernel's result is not exactly what NumPy computes."""
    if not np.array_equal(found, np.broadcast_to(expected, found.shape)):
        raise BenchmarkError(f"kernel {kernel} computes a wrong result")


def word_sum(words: npt.NDArray[np.uint32]) -> np.uint32:
    """Sum modulo 2^32, as a kernel's unsigned int adds."""
    total: np.uint32 = np.add.reduce(words, axis=None, dtype=np.uint32)
    return total
