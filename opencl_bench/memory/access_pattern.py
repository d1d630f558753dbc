"""Bandwidth over stride, misalignment and spread: what a transaction of the memory moves.

Only the bytes that the kernel asks for count.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kernelcast.opencl_bench.benchmark import Effort
from kernelcast.opencl_bench.measurement import Curve, CurvePoint, Finding, Unit
from kernelcast.opencl_bench.memory.rates import (
    bandwidth_curve,
    curve_point,
    per_second,
    require_equal,
    word_sum,
)
from kernelcast.opencl_bench.memory.sizes import REPEATS, Words, array_bytes, numbered_words
from kernelcast.opencl_bench.memory.work_shape import WORD_BYTES, scalar_shape
from kernelcast.opencl_bench.target import Target

__all__ = ["measure_gather", "measure_strides", "scattered"]

_CPU_PER_ITEM, _GPU_PER_ITEM = 2048, 64
"""Words that a work-item adds up."""
_STRIDES = {
    Effort.QUICK: (1, 2, 4, 8, 16, 32, 64),
    Effort.FULL: (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 48, 64, 128, 256, 512),
}
_RUN_BITS = 5
_PITCH = 128
_OFFSETS = {Effort.QUICK: (0, 4, 8, 16, 32), Effort.FULL: tuple(range(0, 65, 2))}
_PARTLY = 16
"""How sparsely large windows are read: one word in so many, from a 16th of the array on."""
_WINDOW_STEP = {Effort.QUICK: 6, Effort.FULL: 2}
_SMALLEST_WINDOW_BITS = 3
_CHECKED = 1 << 10
"""Sums of so many work-items are compared one by one, those of all in total."""


class _Array:
    """Words that no cache holds, read one by one."""

    def __init__(self, target: Target, effort: Effort, size_bytes: int) -> None:
        self.target, self.repeats = target, REPEATS[effort]
        self.content = numbered_words(size_bytes // WORD_BYTES)
        self.data = target.buffer(self.content)
        per_item = _CPU_PER_ITEM if target.facts.is_cpu else _GPU_PER_ITEM
        self.shape = scalar_shape(target.facts, per_item)

    def has_room(self, pitch: int, run: int = 1) -> bool:
        """Whether runs at that distance are enough for one work-group."""
        return (self.content.size // pitch - 1) * run >= self.shape.per_item * self.shape.work_group

    def bandwidth(
        self, file: str, kernel: str, words: int, patterns: Sequence[int]
    ) -> tuple[Words, npt.NDArray[np.float64]]:
        """Sums of the work-items, and useful bytes per second of at most that many words."""
        shape = self.shape
        items = shape.work_items(words)
        sums = self.target.empty(items * WORD_BYTES)
        seconds = self.target.seconds(
            self.target.kernel(file, kernel, {"CONTIGUOUS": 1} if shape.is_contiguous else {}),
            (items,),
            (shape.work_group,),
            (self.data, sums, *map(np.uint32, patterns), np.uint32(shape.per_item)),
            self.repeats,
        )
        found = self.target.read(sums, np.empty(items, np.uint32))
        return found, per_second(kernel, float(items) * shape.per_item * WORD_BYTES, seconds)

    def runs(self, pitch: int, run_bits: int, offset: int) -> npt.NDArray[np.float64]:
        """Bytes per second of runs of 2^run_bits words, `pitch` words apart."""
        run = 1 << run_bits
        rows = self.content.size // pitch - 1
        found, samples = self.bandwidth(
            "stride.cl", "stride_read", rows * run, (pitch, run_bits, offset)
        )
        count = found.size * self.shape.per_item
        read = self.content[offset:][: rows * pitch].reshape(rows, pitch)[:, :run]
        expected = word_sum(read.reshape(-1)[:count])
        require_equal("stride_read", np.array([word_sum(found)]), expected)
        return samples


def _stride_curve(array: _Array, effort: Effort) -> Curve:
    points = [
        curve_point(stride * WORD_BYTES, array.runs(stride, 0, 0))
        for stride in _STRIDES[effort]
        if array.has_room(stride)
    ]
    return bandwidth_curve(
        "read_bandwidth_over_stride",
        "distance of neighbouring elements",
        Unit.BYTES,
        points,
        f"single words at a regular distance, {array.content.nbytes >> 20} MiB passed",
    )


def _misalignment_curve(array: _Array, effort: Effort) -> Curve:
    points = [
        curve_point(offset * WORD_BYTES, array.runs(_PITCH, _RUN_BITS, offset))
        for offset in _OFFSETS[effort]
        if array.has_room(_PITCH, 1 << _RUN_BITS)
    ]
    run, pitch = (1 << _RUN_BITS) * WORD_BYTES, _PITCH * WORD_BYTES
    return bandwidth_curve(
        "read_bandwidth_over_misalignment",
        "offset of the runs",
        Unit.BYTES,
        points,
        f"runs of {run} bytes that begin so far after multiples of {pitch} bytes",
    )


def measure_strides(target: Target, effort: Effort) -> Sequence[Finding]:
    """Measures bandwidth over stride, until each element has its own line, and misalignment."""
    array = _Array(target, effort, array_bytes(target.facts, effort))
    return (_stride_curve(array, effort), _misalignment_curve(array, effort))


def scattered(indices: Words, bits: int) -> Words:
    """The map of `gather.cl`: one-to-one within windows of 2^bits indices."""
    mask = np.uint32((1 << bits) - 1)
    shift = np.uint32((bits + 1) // 2)
    x = (indices * np.uint32(0x9E3779B1)) & mask
    x ^= x >> shift
    x = (x * np.uint32(0x85EBCA6B)) & mask
    x ^= x >> shift
    return (indices & ~mask) | x


def _gather(array: _Array, bits: int) -> CurvePoint:
    total, shape = array.content.size, array.shape
    count = total // _PARTLY if 1 << bits >= total // 16 else total
    found, samples = array.bandwidth("gather.cl", "gather_read", count, (bits,))
    if count == total:
        require_equal("gather_read", np.array([word_sum(found)]), word_sum(array.content))
    checked = min(_CHECKED, found.size) // shape.work_group * shape.work_group
    order = np.arange(checked * shape.per_item, dtype=np.uint32)
    read = array.content[scattered(order, bits)]
    axes = (-1, shape.per_item, 1 if shape.is_contiguous else shape.work_group)
    expected = np.add.reduce(read.reshape(axes), axis=1, dtype=np.uint32).reshape(-1)
    require_equal("gather_read", found[:checked], expected)
    return curve_point((1 << bits) * WORD_BYTES, samples)


def measure_gather(target: Target, effort: Effort) -> Sequence[Finding]:
    """Every word of the array once; the order is random within windows."""
    size = array_bytes(target.facts, effort)
    largest_bits = int(np.log2(size // WORD_BYTES))
    array = _Array(target, effort, WORD_BYTES << largest_bits)
    step = _WINDOW_STEP[effort]
    windows = sorted({*range(_SMALLEST_WINDOW_BITS, largest_bits - step + 1, step), largest_bits})
    curve = bandwidth_curve(
        "gather_bandwidth_over_spread",
        "spread of the indices",
        Unit.BYTES,
        [_gather(array, bits) for bits in windows],
        f"each word of {array.content.nbytes >> 20} MiB once, in random order within the spread",
    )
    return (curve,)
