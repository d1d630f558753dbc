"""Launches whose ways and addresses depend on data that no thread block writes.

Such thread blocks run alone. Of buffers that are made when they are needed only those chunks are
made that they read for it: an execution tells which ones they touch, the next one what they find
there and touch because of it, until nothing is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.errors import LaunchError
from kernelcast.simcore.engine.jit.runtime.run import SlicedLaunch
from kernelcast.simcore.isa.analysis.instruction_rows import instruction_rows
from kernelcast.simcore.isa.analysis.slices import Slice
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.allocations import Allocation
from kernelcast.simcore.launch.launch import Launch, Limits
from kernelcast.simcore.launch.lazy_buffer import ELEMENTS_PER_CHUNK, LazyBuffer
from kernelcast.traces.stream import AccessBatch, AccessSink, GridPart
from kernelcast.traces.trace import Trace

__all__ = ["DataSource"]

_WRITES = ("store", "atomic")


@dataclass
class _Chunks:
    """A lazy buffer beside the array that gets its chunks, and which it has."""

    buffer: LazyBuffer
    array: npt.NDArray[Any]
    has: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, buffer: LazyBuffer) -> _Chunks:
        if buffer.is_materialised:
            return cls(buffer, buffer.materialise(), np.ones(1, np.bool_))
        try:
            array = np.zeros(buffer.shape, buffer.dtype)  # takes memory where it is written only
        except (MemoryError, ValueError):
            raise LaunchError(f"no memory for a buffer of shape {buffer.shape}") from None
        return cls(buffer, array, np.zeros(-(-buffer.size // ELEMENTS_PER_CHUNK), np.bool_))

    def fill(self, chunk: int) -> None:
        """Makes the contents of a chunk."""
        first = chunk * ELEMENTS_PER_CHUNK
        end = min(self.buffer.size, first + ELEMENTS_PER_CHUNK)
        self.array.reshape(-1)[first:end] = self.buffer.elements(first, end)
        self.has[chunk] = True


class DataSource:
    """A launch that makes the counts and the accesses of any of its thread blocks."""

    def __init__(
        self, kernel: Kernel, launch: Launch, warp_width: int, limits: Limits, data: Slice
    ) -> None:
        self._data = data
        lazy = {value: None for value in launch.arguments if isinstance(value, LazyBuffer)}
        self._chunks = [_Chunks.of(buffer) for buffer in lazy]
        arrays: dict[object, Any] = {item.buffer: item.array for item in self._chunks}
        arguments = tuple(
            arrays[value] if isinstance(value, LazyBuffer) else value for value in launch.arguments
        )
        self.launch = replace(launch, arguments=arguments)
        """The launch on arrays that have only what was needed so far."""
        self._sliced = SlicedLaunch(kernel, self.launch, warp_width, limits, data)
        self._allocations = self._sliced.memory.globals.allocations
        self._writes = [row.pc for row in instruction_rows(kernel) if row.kind in _WRITES]
        self._touch = _Touch(data.loads, self._allocations, self._chunks)
        self._filled: set[GridPart] = set()

    def counts(self, progress: Callable[[float], None] | None) -> Trace:
        """Instructions of the whole grid, exactly; no accesses."""
        for item in self._chunks:
            for chunk in np.flatnonzero(~item.has).tolist():
                item.fill(chunk)
        return self._sliced.counts(progress)

    def counts_of(self, parts: Sequence[GridPart]) -> Trace:
        """Instructions of the thread blocks of all parts, which alone are in the trace."""
        self.fill(parts)
        return self._sliced.counts_of(parts)

    def stream(self, parts: Sequence[GridPart], sinks: Sequence[AccessSink]) -> Trace:
        """The accesses of all parts, in their order; the trace counts their instructions."""
        self.fill(parts)
        return self._sliced.stream(parts, sinks)

    def fill(self, parts: Sequence[GridPart]) -> None:
        """Makes what thread blocks read to find their way."""
        wanted = [part for part in parts if part not in self._filled]
        while wanted and not all(item.has.all() for item in self._chunks):
            self._sliced.stream(wanted, [self._touch])
            missing = self._touch.missing()
            if not missing:
                break
            for number, chunk in missing:
                self._chunks[number].fill(chunk)
        self._filled.update(parts)

    def reads_what_is_written(self, parts: Sequence[GridPart]) -> bool:
        """Whether thread blocks of the parts write where any of them looks for its way."""
        self.fill(parts)
        looks = _Allocations(self._data.loads, self._writes, self._allocations)
        self._sliced.stream(parts, [looks])
        return bool((looks.read & looks.written).any())


class _Allocations:
    """An AccessSink that notes which allocations a slice reads, and which are written."""

    def __init__(
        self, loads: Sequence[int], writes: Sequence[int], allocations: Sequence[Allocation]
    ) -> None:
        self._loads, self._writes = np.array(loads, np.int64), np.array(writes, np.int64)
        self._starts = np.array([item.address for item in allocations], np.int64)
        self.read = np.zeros(len(allocations) + 1, np.bool_)
        self.written = np.zeros_like(self.read)

    def accept(self, batch: AccessBatch) -> None:
        """Notes the allocations of a batch's accesses."""
        number = np.searchsorted(self._starts, batch.accesses.address, side="right")
        self.read[number[np.isin(batch.accesses.pc, self._loads)]] = True
        self.written[number[np.isin(batch.accesses.pc, self._writes)]] = True


class _Touch:
    """An AccessSink that finds the chunks that a slice reads."""

    def __init__(
        self, loads: Sequence[int], allocations: Sequence[Allocation], chunks: Sequence[_Chunks]
    ) -> None:
        self._loads = np.array(loads, np.int64)
        self._chunks = chunks
        places = {item.bytes.ctypes.data: item.address for item in allocations if item.size}
        self._starts = [places.get(item.array.ctypes.data) for item in chunks]
        self._found: set[tuple[int, int]] = set()

    def accept(self, batch: AccessBatch) -> None:
        """Notes the chunks that are missing."""
        chosen = np.flatnonzero(np.isin(batch.accesses.pc, self._loads))
        if not len(chosen):
            return
        pattern, address = batch.accesses.pattern[chosen], batch.accesses.address[chosen]
        offsets = batch.patterns.offsets
        low, high = offsets.min(axis=1)[pattern] + address, offsets.max(axis=1)[pattern] + address
        for number, (item, start) in enumerate(zip(self._chunks, self._starts, strict=True)):
            if start is None or item.has.all():
                continue
            inside = np.flatnonzero((low >= start) & (high < start + item.array.nbytes))
            size = ELEMENTS_PER_CHUNK * item.array.itemsize
            first, last = (low[inside] - start) // size, (high[inside] - start) // size
            near = first == last
            touched = np.unique(first[near])
            wide = inside[~near]
            if len(wide):
                lanes = address[wide, None] + offsets[pattern[wide]]
                touched = np.unique(np.append(touched, np.unique((lanes - start) // size)))
            self._found.update((number, int(c)) for c in touched[~item.has[touched]])

    def missing(self) -> list[tuple[int, int]]:
        """(buffer, chunk) of all that was found since the last time."""
        found, self._found = sorted(self._found), set()
        return found
