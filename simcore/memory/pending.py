"""Accesses whose time has come only when no later thread block can precede them.

Rows are kept by warp and program order, so that the row number decides between accesses of one
cycle.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.host.compiled import compiled
from kernelcast.simcore.memory.on_the_way import STEP_BITS, cycle_of, stamp
from kernelcast.simcore.memory.passes.line_requests import SM_BITS
from kernelcast.simcore.memory.pattern_rows import KEPT_ROWS, SINGLE_USE, PatternRows
from kernelcast.simcore.memory.schedule import Dispatch
from kernelcast.simcore.memory.traversal import (
    ADDRESS,
    NOTHING,
    PATTERN_SHIFT,
    RECORD_WORDS,
    WHAT,
    Patterns,
    Records,
)
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.trace import AccessTable

__all__ = ["PendingAccesses", "rows_by_warp"]

_FIRST_ROOM = 1 << 12
_KEY_BITS = 63
_MOST_CYCLES_PER_ACCESS = 4
"""Where there are more, counting the accesses of each cycle takes longer than sorting them."""
_NEVER = (1 << 63) - 1  # no cycle comes later

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Column = npt.NDArray[np.int32]


class _Columns(NamedTuple):
    """The columns of the rows that are appended."""

    pc: Column
    time: Column
    address: Ints
    pattern: Column


class _Clock(NamedTuple):
    """The SM and first cycle of each thread block; `turn`: cycles between two instructions."""

    sm: Ints
    start_cycle: Ints
    turn: int


class _Patterns(NamedTuple):
    """The patterns that rows name, and the `numbers` of those that are kept."""

    lanes: Words
    offsets: Ints
    numbers: Ints


class _Held(NamedTuple):
    """What pending accesses are and refer to."""

    lanes: Words
    offsets: Ints
    records: Records


class PendingAccesses:
    """Accesses of dispatched thread blocks, not simulated yet, and the patterns they refer to.

    `sorts_lanes`: which lane has which offset does not matter, only how many lanes there are.
    """

    def __init__(self, warp_width: int, *, sorts_lanes: bool = False) -> None:
        self._count = 0
        self._single_uses = 0
        self._records = _room_for(_FIRST_ROOM)
        self._rows = PatternRows(warp_width, sorts_lanes)
        self._patterns = PatternTable(np.empty(0, np.uint64), np.empty((0, warp_width), np.int64))
        self._numbers: Ints = np.empty(0, np.int64)
        self._has_single_uses = False

    def __len__(self) -> int:
        return self._count

    def use_patterns(self, patterns: PatternTable, used: Column) -> bool:
        """Makes `patterns` those of the accesses to come, which use the patterns `used`.

        True if the patterns of pending accesses got new numbers, because there was no more room.
        """
        is_full = self._rows.is_full
        if is_full:
            self._keep_pending_patterns()
        self._patterns = patterns
        self._numbers = self._rows.numbers(patterns, used)
        self._has_single_uses = bool((self._numbers == SINGLE_USE).any())
        return is_full

    def _keep_pending_patterns(self) -> None:
        column = self._records.words[WHAT : self._count * RECORD_WORDS : RECORD_WORDS]
        number = column >> PATTERN_SHIFT
        kept = np.unique(number[number < KEPT_ROWS])
        renumbered = np.where(number < KEPT_ROWS, np.searchsorted(kept, number), number)
        column[:] = (renumbered << PATTERN_SHIFT) | (column & ((1 << PATTERN_SHIFT) - 1))
        self._rows.keep_only(kept)

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
        begin, end, first = int(row_ends[0]), int(row_ends[-1]), self._single_uses
        self._make_room(end - begin)
        chosen = rows[begin:end] if len(rows) else slice(begin, end)
        self._count, self._single_uses = _append(
            _Columns(
                table.pc[chosen], table.time[chosen], table.address[chosen], table.pattern[chosen]
            ),
            row_ends[warps_per_thread_block::warps_per_thread_block] - begin,
            _Clock(dispatch.sm, dispatch.start_cycle, cycles_per_instruction),
            kinds,
            _Patterns(self._patterns.mask, self._patterns.offsets, self._numbers),
            _Held(self._rows.lanes, self._rows.offsets, self._records),
            self._count,
            self._single_uses,
        )
        self._rows.sort_lanes(first, self._single_uses)

    @property
    def records(self) -> Records:
        """A row for each access."""
        return self._records

    @property
    def patterns(self) -> Patterns:
        """The patterns that the pending accesses refer to."""
        return self._rows.table

    def order(self, until: int | None) -> tuple[Ints, int]:
        """The accesses up to cycle `until`, all for None, in the order of time.

        Their row numbers are the low bits of the items; also returns the mask of these bits.
        """
        if self._count == 0:
            return np.empty(0, np.int64), 0
        stamps = self._records.stamps[: self._count]
        first, last, due = _span(stamps, _NEVER if until is None else until)
        if due == 0:
            return np.empty(0, np.int64), 0
        if last - first < _MOST_CYCLES_PER_ACCESS * due:
            order = np.empty(due, np.int64)
            places = np.zeros(last - first + 1, np.int64)
            _sort_by_cycle(stamps, first, last, places, order)
            return order, -1
        row_bits = self._count.bit_length()
        if (last - first) >> (_KEY_BITS - row_bits):
            cycles = stamps >> STEP_BITS
            order = np.argsort(cycles, kind="stable").astype(np.int64, copy=False)
            return order[:due], -1
        keys = np.empty(due + 1, np.int64)
        _pack_keys(stamps, first, row_bits, last, keys)
        order = keys[:due]
        order.sort()
        return order, (1 << row_bits) - 1

    def drop(self, until: int | None) -> None:
        """Forgets the accesses up to cycle `until`, all for None."""
        if until is None:
            self._count, self._single_uses = 0, 0
            return
        self._count, self._single_uses = _drop(
            self._count,
            until,
            _Held(self._rows.lanes, self._rows.offsets, self._records),
        )

    def _make_room(self, more: int) -> None:
        if self._has_single_uses:
            self._rows.make_room(self._single_uses + more)
        wanted = self._count + more + 1  # one is written before it is known to count
        if wanted > len(self._records.stamps):
            longer = _room_for(4 * wanted)  # unused room costs nothing, growing does
            used = self._count * RECORD_WORDS
            longer.words[:used] = self._records.words[:used]
            longer.stamps[: self._count] = self._records.stamps[: self._count]
            self._records = longer


def _room_for(rows: int) -> Records:
    return Records(np.empty(rows * RECORD_WORDS, np.int64), np.empty(rows, np.int64))


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
    columns: _Columns,
    ends: Ints,
    clock: _Clock,
    kinds: npt.NDArray[np.int8],
    patterns: _Patterns,
    held: _Held,
    count: int,
    single_uses: int,
) -> tuple[int, int]:
    """Copies what reaches memory; the new numbers of pending accesses and of single uses.

    `ends`: the first row behind each thread block.
    """
    pc, time, address, pattern = columns
    lanes, offsets, numbers = patterns
    to_lanes, to_offsets, (words, stamps) = held
    turn, row = clock.turn, 0
    for thread_block in range(len(ends)):
        start, at_sm = clock.start_cycle[thread_block], clock.sm[thread_block]
        while row < ends[thread_block]:
            at, which, to = np.uint64(pc[row]), np.uint64(pattern[row]), count * RECORD_WORDS
            number = numbers[which]
            is_due = kinds[at] != NOTHING and lanes[which] != 0
            if number == SINGLE_USE and is_due:
                number = KEPT_ROWS + single_uses
                _copy_pattern(lanes, offsets, which, to_lanes, to_offsets, np.uint64(number))
                single_uses += 1
            cycle = start + np.int64(time[row]) * turn
            stamps[np.uint64(count)] = stamp(cycle, int(time[row]))
            words[np.uint64(to + ADDRESS)] = address[row]
            what = (number << PATTERN_SHIFT) | (np.int64(at) << SM_BITS) | at_sm
            words[np.uint64(to + WHAT)] = what
            count += is_due
            row += 1
    return count, single_uses


@compiled
def _copy_pattern(
    lanes: Words,
    offsets: Ints,
    row: np.uint64,
    to_lanes: Words,
    to_offsets: Ints,
    to: np.uint64,
) -> None:
    to_lanes[to] = lanes[row]
    for lane in range(offsets.shape[1]):
        to_offsets[to, lane] = offsets[row, lane]


@compiled
def _span(stamps: Ints, until: int) -> tuple[int, int, int]:
    """The first and the last cycle up to `until`, and how many accesses these are."""
    first, last, due = _NEVER, -_NEVER, 0
    for stamp_ in stamps:
        cycle = cycle_of(stamp_)
        first = min(first, cycle)
        last = max(last, min(cycle, until))
        due += cycle <= until
    return first, last, due


@compiled
def _pack_keys(stamps: Ints, first: int, row_bits: int, last: int, keys: Ints) -> None:
    """Packs cycle and row of what is due into `keys`, which has room for one more."""
    packed = 0
    for row in range(len(stamps)):
        cycle = cycle_of(stamps[row])
        keys[np.uint64(packed)] = ((cycle - first) << row_bits) | row
        packed += cycle <= last


@compiled
def _sort_by_cycle(stamps: Ints, first: int, last: int, places: Ints, order: Ints) -> None:
    """Lists the rows from cycle `first` to `last`, those of one cycle in their order.

    `places` are zeros, one for each cycle.
    """
    for stamp_ in stamps:
        cycle = cycle_of(stamp_)
        if cycle <= last:
            places[np.uint64(cycle - first)] += 1
    place = 0
    for cycle in range(len(places)):
        number = places[cycle]
        places[cycle] = place
        place += number
    for row in range(len(stamps)):
        cycle = cycle_of(stamps[row])
        if cycle <= last:
            at = np.uint64(cycle - first)
            order[np.uint64(places[at])] = row
            places[at] += 1


@compiled
def _drop(count: int, until: int, held: _Held) -> tuple[int, int]:
    """Single uses are numbered in the order of the accesses, so that they can move down too."""
    lanes, offsets, (words, stamps) = held
    kept, single_uses = 0, 0
    for row in range(count):
        at, to = row * RECORD_WORDS, kept * RECORD_WORDS
        if cycle_of(stamps[row]) <= until:
            continue
        stamps[np.uint64(kept)] = stamps[row]
        for word in range(RECORD_WORDS):
            words[np.uint64(to + word)] = words[np.uint64(at + word)]
        kept += 1
        number = words[np.uint64(to + WHAT)] >> PATTERN_SHIFT
        if number >= KEPT_ROWS:
            moved = KEPT_ROWS + single_uses
            _copy_pattern(lanes, offsets, np.uint64(number), lanes, offsets, np.uint64(moved))
            words[np.uint64(to + WHAT)] += (moved - number) << PATTERN_SHIFT
            single_uses += 1
    return kept, single_uses
