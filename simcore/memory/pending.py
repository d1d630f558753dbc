"""Accesses whose time has come only when no later thread block can precede them.

Rows are kept by warp and program order, so that the row number decides between accesses of one
cycle.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.memory.compiled import compiled
from kernelcast.simcore.memory.schedule import Dispatch
from kernelcast.simcore.memory.walk import NOTHING, Accesses
from kernelcast.traces.trace import AccessTable, PatternTable

__all__ = ["PendingAccesses", "rows_by_warp"]

_FIRST_ROOM = 1 << 12
_KEY_BITS = 63

Ints = npt.NDArray[np.int64]
Column = npt.NDArray[np.int32]


class PendingAccesses:
    """Accesses of dispatched thread blocks, not simulated yet, and the patterns they refer to."""

    def __init__(self, warp_width: int) -> None:
        self._count = 0
        self._cycle: Ints = np.empty(0, np.int64)
        self._address: Ints = np.empty(0, np.int64)
        self._pc: Column = np.empty(0, np.int32)
        self._sm: Column = np.empty(0, np.int32)
        self._pattern: Column = np.empty(0, np.int32)
        self._patterns = PatternTable(np.empty(0, np.uint64), np.empty((0, warp_width), np.int64))
        self._first_new_pattern = 0

    def __len__(self) -> int:
        return self._count

    def use_patterns(self, patterns: PatternTable) -> bool:
        """Makes `patterns` those of the accesses to come; False if they already are.

        Patterns that no pending access needs are dropped, the others get new numbers.
        """
        if self._count == 0:
            changed = self._patterns is not patterns
            self._patterns, self._first_new_pattern = patterns, 0
            return changed
        if patterns is self._patterns:
            return False
        numbers = self._pattern[: self._count]
        kept, renumbered = np.unique(numbers, return_inverse=True)
        numbers[:] = renumbered
        self._first_new_pattern = len(kept)
        self._patterns = PatternTable(
            np.concatenate((self._patterns.mask[kept], patterns.mask)),
            np.concatenate((self._patterns.offsets[kept], patterns.offsets)),
        )
        return True

    def append(
        self,
        table: AccessTable,
        rows: Ints,
        row_ends: Ints,
        warps_per_thread_block: int,
        dispatch: Dispatch,
        cycles_per_instruction: int,
        kinds: npt.NDArray[np.int8],
    ) -> None:
        """Adds the accesses of the thread blocks of `dispatch`.

        `rows` of the table are those of their warps, one warp after the other; `row_ends`, shape
        (warps + 1,), are positions in it.
        """
        begin, end = int(row_ends[0]), int(row_ends[-1])
        self._make_room(end - begin)
        chosen = rows[begin:end] if len(rows) else slice(begin, end)
        self._count = _append(
            table.pc[chosen],
            table.time[chosen],
            table.address[chosen],
            table.pattern[chosen],
            row_ends,
            warps_per_thread_block,
            dispatch.sm,
            dispatch.start_cycle,
            cycles_per_instruction,
            kinds,
            self._patterns.mask,
            self._first_new_pattern,
            self._count,
            self._cycle,
            self._address,
            self._pc,
            self._sm,
            self._pattern,
        )

    def accesses(self) -> Accesses:
        return Accesses(
            self._pc,
            self._sm,
            self._address,
            self._pattern,
            self._patterns.mask,
            self._patterns.offsets,
        )

    def order(self, until: int | None) -> tuple[Ints, int]:
        """The accesses up to cycle `until`, all for None, in the order of time.

        Their row numbers are the low bits of the items; also returns the mask of these bits.
        """
        cycle = self._cycle[: self._count]
        if self._count == 0:
            return np.empty(0, np.int64), 0
        first, last, row_bits = int(cycle.min()), int(cycle.max()), self._count.bit_length()
        if (last - first) >> (_KEY_BITS - row_bits):
            order = np.argsort(cycle, kind="stable").astype(np.int64, copy=False)
            end = self._count if until is None else np.count_nonzero(cycle <= until)
            return order[:end], -1
        keys = np.empty(self._count, np.int64)
        kept = _pack_keys(
            cycle, first, row_bits, int(cycle.max()) if until is None else until, keys
        )
        order = keys[:kept]
        order.sort()
        return order, (1 << row_bits) - 1

    def drop(self, until: int | None) -> None:
        """Forgets the accesses up to cycle `until`, all for None."""
        if until is None:
            self._count = 0
            return
        self._count = _drop(
            self._count, until, self._cycle, self._address, self._pc, self._sm, self._pattern
        )

    def _make_room(self, more: int) -> None:
        wanted = self._count + more
        if wanted <= len(self._cycle):
            return
        room = max(_FIRST_ROOM, 2 * wanted)
        for name in ("_cycle", "_address", "_pc", "_sm", "_pattern"):
            column = getattr(self, name)
            longer = np.empty(room, column.dtype)
            longer[: self._count] = column[: self._count]
            setattr(self, name, longer)


def rows_by_warp(table: AccessTable, first_warp: int, warps: int) -> tuple[Ints, Ints]:
    """(rows, ends): the accesses of warp `first_warp + w` are rows[ends[w]:ends[w + 1]].

    `rows` is empty where the table is already in this order, and stands for all rows.
    """
    ends = np.zeros(warps + 1, np.int64)
    if _count_by_warp(table.warp, first_warp, ends):
        return np.empty(0, np.int64), ends
    rows = np.empty(len(table), np.int64)
    _list_by_warp(table.warp, first_warp, ends[:-1].copy(), rows)
    return rows, ends


@compiled
def _count_by_warp(warp: Column, first_warp: int, ends: Ints) -> bool:
    """Fills `ends`; whether the warps ascend."""
    ascends, last = True, first_warp
    for row in range(len(warp)):
        ascends &= warp[row] >= last
        last = warp[row]
        ends[last - first_warp + 1] += 1
    for position in range(1, len(ends)):
        ends[position] += ends[position - 1]
    return ascends


@compiled
def _list_by_warp(warp: Column, first_warp: int, place: Ints, rows: Ints) -> None:
    for row in range(len(warp)):
        at = warp[row] - first_warp
        rows[place[at]] = row
        place[at] += 1


@compiled
def _append(
    pc: Column,
    time: Column,
    address: Ints,
    pattern: Column,
    row_ends: Ints,
    warps_per_thread_block: int,
    sm: Ints,
    start_cycle: Ints,
    turn: int,
    kinds: npt.NDArray[np.int8],
    lanes: npt.NDArray[np.uint64],
    first_pattern: int,
    count: int,
    to_cycle: Ints,
    to_address: Ints,
    to_pc: Column,
    to_sm: Column,
    to_pattern: Column,
) -> int:
    """Copies what reaches memory; the new number of pending accesses."""
    warp, row = 0, 0
    for thread_block in range(len(sm)):
        start, at_sm = start_cycle[thread_block], sm[thread_block]
        end = row_ends[warp + warps_per_thread_block] - row_ends[0]
        warp += warps_per_thread_block
        while row < end:
            shape = pattern[row] + first_pattern
            to_cycle[count] = start + np.int64(time[row]) * turn
            to_address[count] = address[row]
            to_pc[count] = pc[row]
            to_sm[count] = at_sm
            to_pattern[count] = shape
            count += kinds[pc[row]] != NOTHING and lanes[shape] != 0
            row += 1
    return count


@compiled
def _pack_keys(cycle: Ints, first: int, row_bits: int, until: int, keys: Ints) -> int:
    """Packs cycle and row of what is due into `keys`; how many."""
    count = 0
    for row in range(len(cycle)):
        keys[count] = ((cycle[row] - first) << row_bits) | row
        count += cycle[row] <= until
    return count


@compiled
def _drop(
    count: int,
    until: int,
    cycle: Ints,
    address: Ints,
    pc: Column,
    sm: Column,
    pattern: Column,
) -> int:
    kept = 0
    for row in range(count):
        if cycle[row] > until:
            cycle[kept] = cycle[row]
            address[kept] = address[row]
            pc[kept] = pc[row]
            sm[kept] = sm[row]
            pattern[kept] = pattern[row]
            kept += 1
    return kept
