"""The lines of a warp access, remembered by its key: regular kernels repeat few keys endlessly.

The key of an access is its pattern, its instruction and its place within a *stretch* of memory
that is as long as the longest cache line. Its line numbers count from the stretch's start.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.host.compiled import compiled
from kernelcast.simcore.memory.bitmask import count_bits, low_bits
from kernelcast.simcore.memory.coalescer import (
    SectorRoom,
    coalesce_into,
    distinct_bytes,
    sector_room,
)
from kernelcast.simcore.memory.segments import LARGEST_SEGMENT_BYTES, SegmentRule, segments_of
from kernelcast.simcore.memory.way_search import trailing_zeros

__all__ = [
    "FOUND",
    "IDEAL_SECTORS",
    "KEY",
    "LINES",
    "PC",
    "REQUESTED_BYTES",
    "SINGLE_USE_ROW",
    "USES",
    "WORDS_PER_LINE",
    "AccessMemo",
    "empty_memo",
    "fact",
    "forget",
    "learn_access",
    "learn_segments",
    "lines_of",
    "memo_row",
]

_ROW_BITS = 9
SINGLE_USE_ROW = 1 << _ROW_BITS
"""The row of accesses that are not worth remembering."""
_UNKNOWN = -1
_WIDEST_ACCESS_BYTES = 64  # merged accesses too: they begin at multiples of their width
_WIDEST_REQUEST_BYTES = 2 * LARGEST_SEGMENT_BYTES  # of the words in order that segments serve
KEY, USES, PC, FOUND, REQUESTED_BYTES, IDEAL_SECTORS, LINES = range(7)
_FACT_BITS = 3
"""LINES + 0 and LINES + 1: the lines of the two levels. Of an access that makes segments FOUND are
units of traffic and LINES + 0 transactions."""
WORDS_PER_LINE = 3

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


class AccessMemo(NamedTuple):
    """Row i remembers the access of fact KEY; a later access of the same row replaces it.

    `facts`, shape (rows * 8,), see `fact`: the USES since KEY was set, its PC, and what each use
    asks for; FOUND are its sectors. `byte_masks` of them, shape (rows, most sectors), ascending.
    `lines`, shape (rows * levels * most sectors * 3,): number, mask of the sectors asked for, mask
    of those asked for completely; ascending. `levels` is 1 where lines of L1 and L2 are equally
    long, else 2.
    `sectors` and `starts` are working space.
    """

    stretch_bytes: int
    stretch_shift: int
    sector_bytes: int
    most_sectors: int
    levels: int
    l1_line_shift: int
    l2_line_shift: int
    facts: Ints
    byte_masks: Words
    lines: Ints
    sectors: Ints
    starts: Ints


def empty_memo(
    lanes: int, widest_access_bytes: int, sector_bytes: int, l1_line_shift: int, l2_line_shift: int
) -> AccessMemo:
    """`line_shift`s are binary logarithms of sectors a line."""
    most = sector_room(lanes, widest_access_bytes, sector_bytes)
    longest_line = sector_bytes << max(l1_line_shift, l2_line_shift)
    stretch = max(longest_line, _WIDEST_ACCESS_BYTES, _WIDEST_REQUEST_BYTES)
    levels, rows = 1 if l1_line_shift == l2_line_shift else 2, SINGLE_USE_ROW + 1
    facts = np.zeros(rows << _FACT_BITS, np.int64)
    memo = AccessMemo(
        stretch,
        stretch.bit_length() - 1,
        sector_bytes,
        most,
        levels,
        l1_line_shift,
        l2_line_shift,
        facts,
        np.zeros((rows, most), np.uint64),
        np.zeros(rows * levels * most * WORDS_PER_LINE, np.int64),
        np.zeros(most, np.int64),
        np.zeros((2, lanes), np.int64),
    )
    forget(memo)
    return memo


def forget(memo: AccessMemo) -> None:
    """Makes every row unknown, as when patterns get new numbers."""
    memo.facts[KEY :: 1 << _FACT_BITS] = _UNKNOWN


@compiled
def fact(row: np.uint64, number: int) -> np.uint64:
    """Where a fact of a row stands; flat, so that the compiler knows the distances."""
    return np.uint64((row << np.uint64(_FACT_BITS)) | np.uint64(number))


@compiled
def lines_of(memo: AccessMemo, row: np.uint64, level: int) -> tuple[int, int]:
    """Where the lines of level 0 (L1) or 1 (L2) begin in `lines`, and how many they are."""
    list_ = level if memo.levels == 2 else 0
    begin = (int(np.int64(row)) * memo.levels + list_) * memo.most_sectors * WORDS_PER_LINE
    return begin, memo.facts[fact(row, LINES + list_)]


@compiled
def _collect_lines(memo: AccessMemo, row: np.uint64, level: int, line_shift: int) -> None:
    """Groups the sectors of `memo.sectors` by line."""
    full = low_bits(memo.sector_bytes)
    masks, lines = memo.byte_masks[row], memo.lines
    at, _ = lines_of(memo, row, level)
    within = (1 << line_shift) - 1
    count, last, touched, whole = 0, 0, 0, 0
    for position in range(memo.facts[fact(row, FOUND)]):
        sector = memo.sectors[np.uint64(position)]
        line = sector >> line_shift
        if count == 0 or line != last:
            count += 1
            last, touched, whole = line, 0, 0
            at += WORDS_PER_LINE
        bit = 1 << (sector & within)
        touched |= bit
        whole |= bit if masks[np.uint64(position)] == full else 0
        lines[np.uint64(at - 3)] = line
        lines[np.uint64(at - 2)] = touched
        lines[np.uint64(at - 1)] = whole
    memo.facts[fact(row, LINES + level)] = count


@compiled
def learn_access(
    memo: AccessMemo,
    row: np.uint64,
    place: int,
    offsets: Ints,
    lanes: np.uint64,
    alignment: int,
    access_bytes: int,
) -> None:
    """Coalesces an access at `place` of a stretch into a row."""
    masks, facts = memo.byte_masks[row], memo.facts
    sector_bytes = memo.sector_bytes
    found = coalesce_into(
        place,
        offsets,
        lanes,
        alignment,
        access_bytes,
        sector_bytes,
        SectorRoom(memo.starts, memo.sectors, masks),
    )
    facts[fact(row, FOUND)] = found
    facts[fact(row, REQUESTED_BYTES)] = count_bits(lanes) * access_bytes
    distinct = distinct_bytes(masks, found)
    facts[fact(row, IDEAL_SECTORS)] = (distinct + sector_bytes - 1) >> trailing_zeros(sector_bytes)
    _collect_lines(memo, row, 0, memo.l1_line_shift)
    if memo.levels == 2:
        _collect_lines(memo, row, 1, memo.l2_line_shift)


@compiled
def learn_segments(
    memo: AccessMemo,
    row: np.uint64,
    rule: SegmentRule,
    place: int,
    offsets: Ints,
    lanes: np.uint64,
    alignment: int,
    access_bytes: int,
) -> None:
    """Learns an access that goes to memory in segments: it has no lines."""
    learn_access(memo, row, place, offsets, lanes, alignment, access_bytes)
    facts, unit_shift = memo.facts, trailing_zeros(rule.unit_bytes)
    distinct = distinct_bytes(memo.byte_masks[row], facts[fact(row, FOUND)])
    count, bytes_ = segments_of(rule, place, offsets, lanes, alignment, access_bytes, memo.starts)
    facts[fact(row, FOUND)] = bytes_ >> unit_shift
    facts[fact(row, LINES)] = count
    facts[fact(row, IDEAL_SECTORS)] = (distinct + rule.unit_bytes - 1) >> unit_shift


@compiled
def memo_row(key: int) -> np.uint64:
    """The row in which the access of `key` is remembered, if it is."""
    return np.uint64((key ^ (key >> _ROW_BITS)) & (SINGLE_USE_ROW - 1))
