"""Throughput over operational intensity: the thesis's mixbench (appendix A.1)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.opencl_bench.benchmark import Effort
from kernelcast.opencl_bench.measurement import Curve, Finding, Unit
from kernelcast.opencl_bench.memory.rates import (
    bandwidth_curve,
    curve_point,
    per_second,
    require_equal,
)
from kernelcast.opencl_bench.memory.sizes import REPEATS, array_bytes
from kernelcast.opencl_bench.memory.work_shape import WORD_BYTES, WorkShape
from kernelcast.opencl_bench.target import DeviceFacts, Target

__all__ = ["measure_fp32_intensity", "measure_fp64_intensity"]

_FILE = "mixed.cl"
_ITERATIONS = {
    Effort.QUICK: (0, 1, 4, 16, 32, 128),
    Effort.FULL: (0, 1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32, 48, 64, 96, 128, 192, 256),
}
_LARGEST_VALUE = 15
_VALUES = np.arange(1021) % (_LARGEST_VALUE + 1)
"""A prime number of them, so that neighbouring work-items have different sums."""


def _shape(facts: DeviceFacts, real_bytes: int) -> WorkShape:
    """64 bytes a vector on CPUs, 16 on GPUs; lanes count reals."""
    if facts.is_cpu:
        return WorkShape(64 // real_bytes, 1, 1024, True)
    return WorkShape(16 // real_bytes, min(256, facts.max_work_group), 16, False)


class _Mix:
    """An array of small integers as reals, on which t -> 15 - t is exact however often."""

    def __init__(self, target: Target, effort: Effort, real: npt.DTypeLike, name: str) -> None:
        self.target, self.repeats = target, REPEATS[effort]
        self.real = np.dtype(real)
        self.shape = _shape(target.facts, self.real.itemsize)
        self.vector_bytes = self.shape.lanes * self.real.itemsize
        vectors = array_bytes(target.facts, effort) // self.vector_bytes
        self.items = self.shape.work_items(vectors)
        self.count = self.items * self.shape.per_item * self.shape.lanes
        self.content = np.resize(_VALUES.astype(self.real), self.count)
        self.data = target.buffer(self.content)
        self.sums = target.empty(self.items * self.vector_bytes)
        wide = {"USE_FP64": 1} if self.real.itemsize > WORD_BYTES else {}
        defines = {**self.shape.defines(name), "REAL": name, **wide}
        self.kernel = target.kernel(_FILE, "mixed_read", defines)

    @property
    def moved_bytes(self) -> int:
        """Loads, and the sums that are stored."""
        return self.count * self.real.itemsize + self.items * self.vector_bytes

    def operations(self, iterations: int) -> int:
        """A multiply-add counts two; one addition joins each element to the sum."""
        return self.count * (2 * iterations + 1)

    @cached_property
    def _plain_sums(self) -> npt.NDArray[Any]:
        """Sums of the work-items without any multiply-add, shape (items, lanes)."""
        shape = self.shape
        groups = (-1, shape.per_item, 1 if shape.is_contiguous else shape.work_group, shape.lanes)
        sums: npt.NDArray[Any] = self.content.reshape(groups).sum(axis=1, dtype=self.real)
        return sums.reshape(self.items, shape.lanes)

    def seconds(self, iterations: int) -> npt.NDArray[np.float64]:
        arguments: tuple[Any, ...] = (
            self.data,
            self.sums,
            self.real.type(-1),
            self.real.type(_LARGEST_VALUE),
            np.uint32(iterations),
            np.uint32(self.shape.per_item),
        )
        seconds = self.target.seconds(
            self.kernel, (self.items,), (self.shape.work_group,), arguments, self.repeats
        )
        self._check(iterations)
        return seconds

    def _check(self, iterations: int) -> None:
        found = self.target.read(self.sums, self._plain_sums)
        mirrored = self.real.type(_LARGEST_VALUE * self.shape.per_item) - self._plain_sums
        require_equal("mixed_read", found, mirrored if iterations % 2 else self._plain_sums)


def _measure(target: Target, effort: Effort, real: npt.DTypeLike, name: str) -> Sequence[Finding]:
    mix = _Mix(target, effort, real, name)
    label = f"fp{8 * mix.real.itemsize}"
    rates, bandwidths = [], []
    for iterations in _ITERATIONS[effort]:
        seconds = mix.seconds(iterations)
        intensity = mix.operations(iterations) / mix.moved_bytes
        rate = per_second("mixed_read", mix.operations(iterations), seconds)
        rates.append(curve_point(intensity, rate))
        bandwidths.append(curve_point(intensity, rate / intensity))
    axis = "operational intensity (operations per byte)"
    method = (
        f"{mix.content.nbytes >> 20} MiB of {name} loaded once, a chain of multiply-adds on each "
        f"element, {mix.shape.per_item} elements of {8 * mix.vector_bytes} bits a work-item"
    )
    throughput = Curve(
        f"{label}_throughput_over_intensity",
        axis,
        Unit.RATIO,
        "throughput",
        Unit.OPERATIONS_PER_S,
        tuple(rates),
        method,
    )
    moved = f"{label}_bandwidth_over_intensity"
    return (throughput, bandwidth_curve(moved, axis, Unit.RATIO, bandwidths, method))


def measure_fp32_intensity(target: Target, effort: Effort) -> Sequence[Finding]:
    """Measures throughput over operational intensity in single precision."""
    return _measure(target, effort, np.float32, "float")


def measure_fp64_intensity(target: Target, effort: Effort) -> Sequence[Finding]:
    """Measures throughput over operational intensity in double precision."""
    return _measure(target, effort, np.float64, "double")
