"""The batches of a running launch, collected into the access table of its trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.errors import TraceFormatError
from kernelcast.traces.pattern_numbers import PatternNumbers
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.pattern_tally import PatternTally
from kernelcast.traces.stream import AccessBatch
from kernelcast.traces.trace import AccessTable, PatternCounts

__all__ = ["AccessCollector", "BatchOrder", "by_thread_block"]

_COLUMNS = ("pc", "warp", "time", "stage", "address", "pattern")
_KINDS = (np.int32, np.int32, np.int32, np.int32, np.int64, np.int32)
_ROW_BYTES = sum(np.dtype(kind).itemsize for kind in _KINDS)


class BatchOrder:
    """Watches that batches come in ascending order of thread blocks, without gaps."""

    def __init__(self) -> None:
        self._next_thread_block = 0

    def check(self, batch: AccessBatch) -> None:
        """Raises TraceFormatError for a batch out of its turn."""
        if batch.first_thread_block != self._next_thread_block:
            raise TraceFormatError(
                f"accesses of thread block {batch.first_thread_block} where those of "
                f"{self._next_thread_block} were expected"
            )
        self._next_thread_block += batch.thread_blocks


class AccessCollector:
    """An AccessSink that keeps everything.

    Its tables do not depend on how batches were cut: accesses are ordered by thread block, patterns
    by the first access that has them; equal patterns of different batches are one. `hold` is told
    after each batch how many bytes the accesses take, and may raise.
    """

    def __init__(self, hold: Callable[[int], None] | None = None) -> None:
        self._hold = hold
        self._bytes = 0
        self._order = BatchOrder()
        self._numbers = PatternNumbers()
        self._tally = PatternTally()
        self._columns: list[list[npt.NDArray[Any]]] = [[] for _ in _COLUMNS]

    def accept(self, batch: AccessBatch) -> None:
        """Takes the next batch; TraceFormatError when it does not follow the one before."""
        self._order.check(batch)
        accesses = by_thread_block(batch)
        pattern = self._numbers.of(batch.patterns, accesses.pattern)
        for name, kept in zip(_COLUMNS[:-1], self._columns, strict=False):
            kept.append(getattr(accesses, name))
        self._columns[-1].append(pattern)
        self._tally.add(batch.pattern_counts, batch.patterns)
        self._bytes += len(pattern) * _ROW_BYTES
        if self._hold is not None:
            self._hold(self._bytes)

    def tables(self) -> tuple[PatternTable, AccessTable]:
        """Patterns, those of `pattern_counts` included, and accesses of all batches so far."""
        self.pattern_counts()
        for kept, kind in zip(self._columns, _KINDS, strict=True):
            if len(kept) != 1:
                kept[:] = [np.concatenate([np.zeros(0, kind), *kept])]
        return self._numbers.table(), AccessTable(*(kept[0] for kept in self._columns))

    def pattern_counts(self) -> PatternCounts:
        """Accesses to shared and constant memory, with the pattern numbers of `tables`."""
        return self._tally.counts(self._numbers)


def by_thread_block(batch: AccessBatch) -> AccessTable:
    """The accesses ordered by thread block; within one they stay in the batch's order."""
    accesses = batch.accesses
    warps_per_thread_block = len(batch.warp_time) // batch.thread_blocks
    thread_block = accesses.warp // np.int32(max(warps_per_thread_block, 1))
    if (thread_block[1:] >= thread_block[:-1]).all():
        return accesses
    order = np.argsort(thread_block, kind="stable")
    return AccessTable(*(getattr(accesses, name)[order] for name in _COLUMNS))
