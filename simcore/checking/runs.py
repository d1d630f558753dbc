"""Lanes that go to neighbouring cells, or all to one: followed at once, with vector instructions.

What is done is the same as lane by lane in `cells`, as long as nothing is found; where something
might be, nothing is done and the lanes go one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.checking.cells import WEAK_WORDS
from kernelcast.simcore.checking.records import (
    ASYNC,
    GLOBAL_SPACE,
    IN_CELLS,
    ONLY_READ,
    PC_BITS,
    SEGMENT_SHIFT,
    SHARED_SPACE,
    STAMP_BITS,
    STRONG,
    THREAD_SHIFT,
    WRITE,
    Access,
    Geometry,
    PcTable,
    Shadow,
)
from kernelcast.simcore.host.compiled import inlined, noinline

__all__ = ["follow_run", "open_segments", "runs_of"]

Ints = npt.NDArray[np.int64]
_WRITE, _READ, _READ2 = range(WEAK_WORDS)
_STAMPS = (1 << STAMP_BITS) - 1
_LEAST_RUN = 4


class By(NamedTuple):
    """Who makes an access: the threads [home, end) of the thread block.

    They know each other up to `floor`; `word` of the first of them.
    """

    home: int
    end: int
    floor: int
    word: int
    is_shared: bool
    checks_first: bool


def runs_of(lane_offsets: Sequence[tuple[int, ...]], width: int) -> Ints:
    """Runs by pattern and lane: how many lanes from there on have one distance, and that distance.

    Shape (patterns, width, 2).
    """
    found = np.ones((max(1, len(lane_offsets)), width, 2), np.int64)
    for pattern, offsets in enumerate(lane_offsets):
        steps = np.diff(offsets)
        lane = 0
        while lane < width - 1:
            end = lane + 1
            while end < width - 1 and steps[end] == steps[lane]:
                end += 1
            found[pattern, lane] = end - lane + 1, steps[lane]
            lane = end + 1
    return found


@inlined
def _first_of(access: Access) -> int:
    """The word of the first thread of the thread block."""
    return (access.home << STAMP_BITS | access.now) << PC_BITS | access.pc


@noinline
def _read(cells: Any, first: int, count: int, shift: int, me: int, by: By) -> bool:
    """A plain load of neighbouring cells, `1 << shift` of each thread from `me` on."""
    home, end, floor, is_shared = by.home, by.end, by.floor, by.is_shared
    first_check = by.checks_first
    write = cells[_WRITE][first : first + count]
    read = cells[_READ][first : first + count]
    bad, busy = np.int64(0), np.int64(0)
    for i in range(count):
        word = write[i]
        who = np.int64(np.uint64(word) >> np.uint64(THREAD_SHIFT))
        stamp = np.int64(np.uint64(word) >> np.uint64(PC_BITS)) & _STAMPS
        is_home = (who >= home) & (who < end)
        is_late = is_home & (stamp > floor)
        is_other = (word != 0) & (not is_home) & (not is_shared)
        bad |= np.int64((is_late | is_other) & (who != me + (i >> shift)))
        bad |= np.int64(first_check & (not is_home))
        busy |= read[i]
    if bad:
        return False
    mine = by.word + ((me - home) << THREAD_SHIFT)
    if busy == 0:
        for i in range(count):
            read[i] = mine + ((i >> shift) << THREAD_SHIFT)
        return True
    second = cells[_READ2][first : first + count]
    for i in range(count):
        before, other = read[i], second[i]
        who = np.int64(np.uint64(before) >> np.uint64(THREAD_SHIFT))
        stamp = np.int64(np.uint64(before) >> np.uint64(PC_BITS)) & _STAMPS
        was_home = (who >= home) & (who < end)
        its = np.int64(np.uint64(other) >> np.uint64(THREAD_SHIFT))
        is_home = (its >= home) & (its < end)
        is_fresh = (before != 0) & (
            (was_home & (stamp > floor)) | ((not was_home) & (not is_shared))
        )
        takes = (other == 0) | is_home | (not was_home)
        kept = other if (who == me + (i >> shift)) | ((not is_home) & (not is_shared)) else 0
        fresh = before if takes else other
        is_mine = who == me + (i >> shift)
        second[i] = fresh if is_fresh & (not is_mine) else kept
        read[i] = mine + ((i >> shift) << THREAD_SHIFT)
    return True


@noinline
def _write(cells: Any, first: int, count: int, shift: int, me: int, by: By) -> bool:
    """A plain store to neighbouring cells."""
    home, end, floor, is_shared = by.home, by.end, by.floor, by.is_shared
    bad, busy = np.int64(0), np.int64(0)
    for number in range(WEAK_WORDS):
        row = cells[number][first : first + count]
        if number == _READ2 and busy == 0:
            break
        busy = np.int64(0)
        for i in range(count):
            word = row[i]
            who = np.int64(np.uint64(word) >> np.uint64(THREAD_SHIFT))
            stamp = np.int64(np.uint64(word) >> np.uint64(PC_BITS)) & _STAMPS
            is_home = (who >= home) & (who < end)
            is_late = is_home & (stamp > floor)
            is_other = (word != 0) & (not is_home) & (not is_shared)
            bad |= np.int64((is_late | is_other) & (who != me + (i >> shift)))
            busy |= word
    if bad:
        return False
    mine = by.word + ((me - home) << THREAD_SHIFT)
    write, read = cells[_WRITE][first : first + count], cells[_READ][first : first + count]
    for i in range(count):
        write[i] = mine + ((i >> shift) << THREAD_SHIFT)
    busy = np.int64(0)
    for i in range(count):
        busy |= read[i]
    if busy:
        second = cells[_READ2][first : first + count]
        for i in range(count):
            read[i] = 0
            second[i] = 0
    return True


@inlined
def open_segments(first: int, count: int, shadow: Shadow) -> None:
    """Makes cells say what their segments did, before threads touch them in another way."""
    for segment in range(first >> SEGMENT_SHIFT, ((first + count - 1) >> SEGMENT_SHIFT) + 1):
        word = shadow.segments[segment]
        if word == IN_CELLS:
            continue
        shadow.segments[segment] = IN_CELLS
        if word != 0:
            row = _READ if word & ONLY_READ else _WRITE
            at = segment << SEGMENT_SHIFT
            for i in range(1 << SEGMENT_SHIFT):
                shadow.buffers[row, at + i] = (word & ~ONLY_READ) + (i << THREAD_SHIFT)


@inlined
def _in_segments(first: int, count: int, me: int, access: Access, shadow: Shadow) -> bool:
    """Whole segments, a cell for each thread, whose words are enough to tell what was done."""
    size = 1 << SEGMENT_SHIFT
    if (first | count) & (size - 1):
        return False
    for part in range(0, count, size):
        segment = (first + part) >> SEGMENT_SHIFT
        word, who = shadow.segments[segment], me + part
        mine = _first_of(access) + ((who - access.home) << THREAD_SHIFT)
        is_read = access.flags & WRITE == 0
        if word == IN_CELLS:
            return False
        if word != 0 and (word & ~ONLY_READ) >> THREAD_SHIFT != who:
            return False
        if word != 0 and is_read and word & ONLY_READ == 0:
            if (word ^ mine) >> PC_BITS & _STAMPS:
                return False
            continue
        shadow.segments[segment] = mine | ONLY_READ if is_read else mine
    return True


@inlined
def _read_by_all(cells: Any, number: int, me: int, length: int, by: By) -> bool:
    """A plain load of one cell by neighbouring threads: two of them stand for all."""
    word = cells[_WRITE, number]
    who = word >> THREAD_SHIFT
    is_home = by.home <= who and who < by.end
    if is_home and (word >> PC_BITS) & _STAMPS > by.floor:
        return False
    if not is_home and (by.checks_first or (word != 0 and not by.is_shared)):
        return False
    if not by.is_shared:  # a reader of another thread block must not be forgotten
        for row in (_READ, _READ2):
            other = cells[row, number] >> THREAD_SHIFT
            if other != 0 and (other < by.home or by.end <= other):
                return False
    first = by.word + ((me - by.home) << THREAD_SHIFT)
    cells[_READ2, number] = first
    cells[_READ, number] = first + ((length - 1) << THREAD_SHIFT)
    return True


@inlined
def _together(
    cells: Any,
    first: int,
    shift: int,
    run: Any,
    me: int,
    access: Access,
    geometry: Geometry,
) -> bool:
    """Lanes side by side; or at one place."""
    is_shared = access.space == SHARED_SPACE
    end = access.home + geometry.warps * geometry.width
    checks_first = is_shared and geometry.checks_first != 0
    by = By(access.home, end, access.floor, _first_of(access), is_shared, checks_first)
    length = run[0]
    if run[1] == 0:
        for number in range(first, first + (1 << shift)):
            if not _read_by_all(cells, number, me, length, by):
                return False
        return True
    if access.flags & WRITE:
        return _write(cells, first, length << shift, shift, me, by)
    return _read(cells, first, length << shift, shift, me, by)


@inlined
def _places(cell_shift: int, size: int) -> int:
    """The power of two of the cells of one lane; -1 where they are not so many."""
    cells = size >> cell_shift
    shift = 0
    while 1 << shift < cells:
        shift += 1
    return shift if 1 << shift == cells else -1


@inlined
def follow_run(
    lane: int,
    run: Any,
    row: int,
    access: Access,
    table: PcTable,
    shadow: Shadow,
    geometry: Geometry,
) -> bool:
    """Follows the lanes of a run from `lane` on; False where they must go one by one.

    `run`: its lanes and their distance; `row` of the allocation that the first is in, or -1.
    """
    length, step, is_shared = run[0], run[1], access.space == SHARED_SPACE
    if length < _LEAST_RUN or access.flags & (STRONG | ASYNC) or not geometry.has_runs:
        return False
    if step != access.bytes and (step != 0 or access.flags & WRITE or geometry.is_fine):
        return False
    low = shadow.spare[lane]
    high = low + (length - 1) * step + access.bytes
    me = access.home + access.warp * geometry.width + lane
    if is_shared:
        bounds = table.high[access.pc]
        if bounds and (low < table.low[access.pc] or high > bounds):
            return False
        shift = _places(geometry.shared_shift, access.bytes)
        if shift < 0 or low < 0 or high > geometry.shared_cells << geometry.shared_shift:
            return False
        first = low >> geometry.shared_shift
        return _together(shadow.shared, first, shift, run, me, access, geometry)
    if access.space != GLOBAL_SPACE or row < 0:
        return False
    shift = _places(geometry.buffer_shift, access.bytes)
    if shift < 0 or high > shadow.rows[row, 1]:
        return False
    if shadow.rows[row, 2] < 0:
        return True
    if shadow.rows[row, 3]:
        return False
    first = shadow.rows[row, 2] + ((low - shadow.rows[row, 0]) >> geometry.buffer_shift)
    count = length << shift if step else 1 << shift
    if step and shift == 0 and _in_segments(first, count, me, access, shadow):
        return True
    open_segments(first, count, shadow)
    return _together(shadow.buffers, first, shift, run, me, access, geometry)
