"""Global memory bandwidth: read, write, copy and triad through arrays that no cache holds.

Bytes count as STREAM counts them: what the kernel loads and stores. A CPU that loads a line before
it writes it moves more, and so does no better here than there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kernelcast.opencl_bench.benchmark import Effort
from kernelcast.opencl_bench.measurement import WORK_ITEM_PREFIX, Finding
from kernelcast.opencl_bench.memory.rates import (
    Seconds,
    bandwidth,
    per_second,
    require_equal,
    word_sum,
)
from kernelcast.opencl_bench.memory.sizes import REPEATS, Words, array_bytes, numbered_words
from kernelcast.opencl_bench.memory.work_shape import (
    WORD_BYTES,
    WorkShape,
    fastest,
    plain_shape,
    vector_shapes,
)
from kernelcast.opencl_bench.target import Target

__all__ = ["measure_streams"]

_FILE = "stream.cl"
_FACTOR = np.uint32(3)
_CACHES = 4
_SHIFT = 4097
"""The second source holds the first one's words from there on."""


class _Arrays:
    """Two sources and a destination on the device, and what the sources hold."""

    def __init__(self, target: Target, effort: Effort) -> None:
        self.target = target
        self.size_bytes = array_bytes(target.facts, effort, arrays=3, caches=_CACHES)
        words = self.size_bytes // WORD_BYTES
        numbers = numbered_words(words + _SHIFT)
        self.first_content, self.second_content = numbers[:words], numbers[_SHIFT:]
        self.first = target.buffer(self.first_content)
        self.second = target.buffer(self.second_content)
        self.destination = target.empty(self.size_bytes)
        self.repeats = REPEATS[effort]
        self.seed = 0

    def run(self, kernel: str, shape: WorkShape, arguments: Sequence[Any]) -> Seconds:
        items = shape.work_items(self.size_bytes // shape.vector_bytes)
        return self.target.seconds(
            self.target.kernel(_FILE, kernel, shape.defines()),
            (items,),
            (shape.work_group,),
            (*arguments, np.uint32(shape.per_item)),
            self.repeats,
        )

    def touched_bytes(self, shape: WorkShape) -> int:
        return shape.vectors(self.size_bytes) * shape.vector_bytes

    def check(self, kernel: str, shape: WorkShape, expected: Words) -> None:
        found = self.target.read(self.destination, self.touched(self.first_content, shape))
        require_equal(kernel, found, expected)

    def touched(self, content: Words, shape: WorkShape) -> Words:
        """The part that kernels of that shape use, shape (vectors, lanes)."""
        words = self.touched_bytes(shape) // WORD_BYTES
        return content[:words].reshape(-1, shape.lanes)


def _read(arrays: _Arrays, shape: WorkShape) -> Seconds:
    items = shape.work_items(arrays.size_bytes // shape.vector_bytes)
    sums = arrays.target.empty(items * shape.vector_bytes)
    seconds = arrays.run("stream_read", shape, (arrays.first, sums))
    found = arrays.target.read(sums, np.empty(items * shape.lanes, np.uint32))
    expected = word_sum(arrays.touched(arrays.first_content, shape))
    require_equal("stream_read", np.array([word_sum(found)]), expected)
    moved = arrays.touched_bytes(shape) + items * shape.vector_bytes
    return per_second("stream_read", moved, seconds)


def _write(arrays: _Arrays, shape: WorkShape) -> Seconds:
    arrays.seed += 0x01000193
    seed = np.uint32(arrays.seed % 2**32)
    seconds = arrays.run("stream_write", shape, (arrays.destination, seed))
    vectors = np.arange(shape.vectors(arrays.size_bytes), dtype=np.uint32)
    arrays.check("stream_write", shape, vectors[:, None] + seed)
    return per_second("stream_write", arrays.touched_bytes(shape), seconds)


def _copy(arrays: _Arrays, shape: WorkShape) -> Seconds:
    seconds = arrays.run("stream_copy", shape, (arrays.first, arrays.destination))
    arrays.check("stream_copy", shape, arrays.touched(arrays.first_content, shape))
    return per_second("stream_copy", 2 * arrays.touched_bytes(shape), seconds)


def _triad(arrays: _Arrays, shape: WorkShape) -> Seconds:
    buffers = (arrays.first, arrays.second, arrays.destination)
    seconds = arrays.run("stream_triad", shape, (*buffers, _FACTOR))
    expected = _FACTOR * arrays.touched(arrays.second_content, shape)
    expected += arrays.touched(arrays.first_content, shape)
    arrays.check("stream_triad", shape, expected)
    return per_second("stream_triad", 3 * arrays.touched_bytes(shape), seconds)


_STREAMS: dict[str, tuple[Callable[[_Arrays, WorkShape], Seconds], str]] = {
    "global_read_bandwidth": (_read, "each element added to its work-item's sum"),
    "global_write_bandwidth": (_write, "numbers written in order"),
    "global_copy_bandwidth": (_copy, "c = a, two arrays counted"),
    "global_triad_bandwidth": (_triad, "c = a + 3 b, three arrays counted"),
}
"""The streams in an order in which each finds in the destination what it must overwrite."""


def measure_streams(target: Target, effort: Effort) -> Sequence[Finding]:
    """Measures read, write, copy and triad.

    The thesis's B_mem is the mean of the first three; on processors of plain work-items, which are
    measured apart there.
    """
    arrays = _Arrays(target, effort)
    shapes = [s for s in vector_shapes(target.facts, effort) if s.vectors(arrays.size_bytes)]
    samples = {
        shape: {name: stream(arrays, shape) for name, (stream, _) in _STREAMS.items()}
        for shape in shapes
    }
    findings: list[Finding] = []
    for name, (_, what) in _STREAMS.items():
        best = fastest({shape: samples[shape][name] for shape in shapes})
        method = f"{what}; arrays of {arrays.size_bytes >> 20} MiB, {best}"
        findings.append(bandwidth(name, samples[best][name], method))
    if target.facts.is_cpu:
        findings += _plain_streams(arrays)
        if effort is Effort.FULL:
            findings.append(_int_indexed_copy(arrays))
    return findings


def _plain_streams(arrays: _Arrays) -> Iterator[Finding]:
    shape = plain_shape(arrays.target.facts)
    for name, (stream, what) in _STREAMS.items():
        method = f"{what}; arrays of {arrays.size_bytes >> 20} MiB, {shape}"
        yield bandwidth(WORK_ITEM_PREFIX + name, stream(arrays, shape), method)


def _int_indexed_copy(arrays: _Arrays) -> Finding:
    """What indices of 32 bits cost where a compiler cannot tell that they do not wrap."""
    shape = replace(plain_shape(arrays.target.facts), has_int_indices=True)
    method = f"c = a, two arrays counted; arrays of {arrays.size_bytes >> 20} MiB, {shape}"
    name = f"{WORK_ITEM_PREFIX}int_index_copy_bandwidth"
    return bandwidth(name, _copy(arrays, shape), method)
