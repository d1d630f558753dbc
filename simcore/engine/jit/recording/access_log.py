"""What one worker records, thread block by thread block, cut into batches for the sinks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.engine.jit.codegen.memory.counted_accesses import CountedAccesses
from kernelcast.simcore.engine.jit.codegen.runtime_functions import RECORD_WORDS
from kernelcast.simcore.engine.jit.recording.access_rows import (
    SLOTS,
    CountStore,
    PatternStore,
    PcFacts,
    Rows,
    Scratch,
    Stores,
    decode,
    key_columns,
    refill,
)
from kernelcast.simcore.engine.jit.recording.repeated_loads import (
    OfRows,
    Patterns,
    mark,
    new_period,
    no_repeats,
    taken,
    with_room,
)
from kernelcast.simcore.engine.jit.recording.row_order import by_warp
from kernelcast.simcore.host.compiled import bound
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.stream import AccessBatch
from kernelcast.traces.trace import PatternCounts

__all__ = ["AccessLog"]

_FIRST_ROOM = 1 << 12

Ints = npt.NDArray[np.int64]


class AccessLog:
    """`take` empties a ring; `batch` hands over all that was taken since the last one."""

    def __init__(
        self,
        width: int,
        warps: int,
        facts: PcFacts,
        lane_offsets: tuple[tuple[int, ...], ...],
        counted: CountedAccesses,
        is_load: npt.NDArray[np.bool_],
    ) -> None:
        self.counted = counted
        self._width = width
        self._warps = warps
        self._facts = facts
        self._lane_offsets = np.array(lane_offsets, np.int64).reshape(-1, width)
        self._scratch = Scratch(
            np.zeros(width, np.int64),
            np.zeros((len(lane_offsets), 3), np.int64),
            no_repeats(is_load, width),
        )
        self._used = np.zeros(3, np.int64)
        self._rows = _new_rows(_FIRST_ROOM)
        self._marks = 0
        self._store = PatternStore(
            np.full(SLOTS, -1, np.int32),
            np.empty(_FIRST_ROOM, np.uint64),
            np.empty(_FIRST_ROOM, np.uint64),
            np.empty((_FIRST_ROOM, width), np.int64),
        )
        self._counts = _new_counts(_FIRST_ROOM)
        self._decode = self._decoder()

    def _decoder(self) -> Callable[[Ints, int], int]:
        """`decode` into the tables of now."""
        stores = Stores(self._store, self._rows, self._counts, self._used)
        return bound(decode, self._warps, self._lane_offsets, self._facts, self._scratch, stores)

    def tell_repeats(self, period: int, leaves_out: bool) -> None:
        """Tells loads that repeat others of a `period` apart, or leaves them out, in one batch."""
        self._marks = 0 if leaves_out else period
        new_period(self._scratch.repeats, period if leaves_out else 0)

    def take(self, words: Ints) -> None:
        """The records of a ring."""
        at = 0
        self._make_room(len(words) // RECORD_WORDS)
        while at < len(words):
            at = self._decode(words, at)
            if at < len(words):
                self._make_room(0)

    def batch(self, first: int, end: int, warp_time: npt.NDArray[np.int32]) -> AccessBatch:
        """The accesses of thread blocks [first, end); `warp_time` of their warps."""
        rows, patterns, _ = self._used.tolist()
        counted = self.counted.take()
        if self._marks:
            self._mark(rows)
        accesses = by_warp(self._rows, rows)
        of_counted = self.counted.patterns
        table = PatternTable(
            np.concatenate((self._store.mask[:patterns], of_counted.mask)),
            np.concatenate((self._store.offsets[:patterns], of_counted.offsets)),
        )
        counts = _joined(self._pattern_counts(), counted, patterns)
        self._used[:] = 0
        self._scratch.memo[:] = 0
        self._store.slot[:] = -1
        self._counts.key[:] = -1
        self._counts.often[:] = 0
        left_out = taken(self._scratch.repeats)
        new_period(self._scratch.repeats, 0)
        self._marks = 0
        return AccessBatch(first, end - first, accesses, table, warp_time, counts, left_out)

    def _mark(self, count: int) -> None:
        """Tells repeats apart, in the order of time."""
        rows, known = self._rows, Patterns(self._store.mask, self._store.offsets)
        new_period(self._scratch.repeats, self._marks)
        self._make_room(0)
        order = np.lexsort((rows.time[:count], rows.warp[:count] // self._warps))
        of_rows = OfRows(rows.address, rows.pattern)
        at = rows.pc, rows.warp, rows.time, of_rows, self._warps
        mark(self._scratch.repeats, order, *at, known)
        taken(self._scratch.repeats)
        new_period(self._scratch.repeats, 0)

    @property
    def rows(self) -> int:
        """Accesses taken since the last batch."""
        return int(self._used[0])

    def _pattern_counts(self) -> PatternCounts:
        """The counts of patterns, in ascending order of keys whatever the order they came in."""
        used = np.flatnonzero(self._counts.key >= 0)
        used = used[np.argsort(self._counts.key[used])]
        columns = key_columns(self._counts.key[used])
        pc, stage, start, pattern = (column.astype(np.int32) for column in columns)
        return PatternCounts(pc, stage, start, pattern, self._counts.often[used])

    def _make_room(self, more: int) -> None:
        """Enlarges tables for `more` rows, and patterns and counts to twice where they run out."""
        rows, patterns, counts = self._used.tolist()
        before = self._rows, self._store, self._scratch.repeats, self._counts
        if rows + more + 8 > len(self._rows.pc):
            size = max(2 * len(self._rows.pc), rows + more + 8)
            self._rows = _resized(self._rows, rows, size)
        if patterns + 8 > len(self._store.mask):
            size = 2 * len(self._store.mask)
            self._store = PatternStore(
                self._store.slot,
                _longer(self._store.hash, size),
                _longer(self._store.mask, size),
                _longer(self._store.offsets, size),
            )
        repeats = with_room(self._scratch.repeats, len(self._store.mask))
        self._scratch = self._scratch._replace(repeats=repeats)
        if 2 * (counts + 8) > len(self._counts.key):
            old, self._counts = self._counts, _new_counts(4 * len(self._counts.key))
            self._used[2] = 0
            refill(old, self._counts, self._used)
        after = self._rows, self._store, self._scratch.repeats, self._counts
        if any(new is not old for new, old in zip(after, before, strict=True)):
            self._decode = self._decoder()


def _joined(recorded: PatternCounts, counted: PatternCounts, first: int) -> PatternCounts:
    """`first`: the number of the first pattern of `counted`."""
    return PatternCounts(
        np.concatenate((recorded.pc, counted.pc)),
        np.concatenate((recorded.stage, counted.stage)),
        np.concatenate((recorded.start, counted.start)),
        np.concatenate((recorded.pattern, counted.pattern + np.int32(first))),
        np.concatenate((recorded.count, counted.count)),
    )


def _new_rows(size: int) -> Rows:
    pc, warp, time, stage, pattern = (np.empty(size, np.int32) for _ in range(5))
    return Rows(pc, warp, time, stage, np.empty(size, np.int64), pattern)


def _resized(rows: Rows, used: int, size: int) -> Rows:
    """A copy of the first `used` rows with room for `size`."""
    return Rows(
        _longer(rows.pc[:used], size),
        _longer(rows.warp[:used], size),
        _longer(rows.time[:used], size),
        _longer(rows.stage[:used], size),
        _longer(rows.address[:used], size),
        _longer(rows.pattern[:used], size),
    )


def _new_counts(size: int) -> CountStore:
    return CountStore(np.full(size, -1, np.int64), np.zeros(size, np.int64))


def _longer(column: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    longer = np.empty((size, *column.shape[1:]), column.dtype)
    longer[: len(column)] = column
    return longer
