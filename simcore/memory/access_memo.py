"""What a warp access asks for, remembered by its key: regular kernels repeat few keys endlessly.

The key of an access is its pattern, its instruction and its place within a *stretch* of memory
that is as long as the longest cache line. Its line numbers count from the stretch's start.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device.timing_facts import DRAM_PIECE_BYTES
from kernelcast.simcore.host.compiled import compiled
from kernelcast.simcore.memory.bitmask import low_bits
from kernelcast.simcore.memory.coalescer import (
    SectorRoom,
    coalesce_into,
    distinct_bytes,
    sector_room,
)
from kernelcast.simcore.memory.passes.line_requests import WORDS_PER_LINE, both_masks, pack_lines
from kernelcast.simcore.memory.segments import LARGEST_SEGMENT_BYTES, SegmentRule, segments_of
from kernelcast.simcore.memory.sets.way_search import trailing_zeros

__all__ = [
    "BATCH",
    "FOUND",
    "IDEAL_SECTORS",
    "KEY",
    "L2_LINES",
    "LINES",
    "LIST",
    "PC",
    "PIECES",
    "REQUESTED_BYTES",
    "SINGLE_USE_ROW",
    "USES",
    "AccessMemo",
    "WarpAccess",
    "empty_memo",
    "fact",
    "forget",
    "learn_access",
    "learn_segments",
    "memo_row",
    "most_words",
]

_ROW_BITS = 10
SINGLE_USE_ROW = 1 << _ROW_BITS
"""The row of accesses that are not worth remembering."""
_UNKNOWN = -1
_WIDEST_ACCESS_BYTES = 64  # merged accesses too: they begin at multiples of their width
_WIDEST_REQUEST_BYTES = 2 * LARGEST_SEGMENT_BYTES  # of the words in order that segments serve
KEY, USES, LIST, BATCH, PC, FOUND, REQUESTED_BYTES, IDEAL_SECTORS, LINES = range(9)
L2_LINES, PIECES = range(9, 11)
_FACT_BITS = 4
"""LINES of L1, L2_LINES, PIECES of DRAM, and the LIST of all lines in the requests of BATCH,
`unpack_lines`. Of an access that makes segments FOUND are units of traffic and LINES
transactions."""

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


class AccessMemo(NamedTuple):
    """Row i remembers the access of fact KEY; a later access of the same row replaces it.

    `facts`, shape (rows * 16,), see `fact`: the USES since KEY was set, its PC, and what each use
    asks for; FOUND are its sectors. `levels` is 1 where lines of L1 and L2 are equally long, else
    2. `sectors`, `byte_masks` and `starts` are working space for one access.
    """

    stretch_bytes: int
    stretch_shift: int
    sector_bytes: int
    levels: int
    l1_line_shift: int
    l2_line_shift: int
    facts: Ints
    sectors: Ints
    byte_masks: Words
    starts: Ints


class WarpAccess(NamedTuple):
    """One access: `lanes` at (place + offsets[lane]) & alignment, `bytes` each.

    `place` counts from the start of its stretch. `lanes_asking` take part; others may be in `lanes`
    that repeat one of them. `is_written`: which bytes it touches matters.
    """

    place: int
    offsets: Ints
    lanes: np.uint64
    alignment: int
    bytes: int
    lanes_asking: int
    is_written: bool


def empty_memo(
    lanes: int, widest_access_bytes: int, sector_bytes: int, l1_line_shift: int, l2_line_shift: int
) -> AccessMemo:
    """`line_shift`s are binary logarithms of sectors a line."""
    most = sector_room(lanes, widest_access_bytes, sector_bytes)
    longest_line = sector_bytes << max(l1_line_shift, l2_line_shift)
    stretch = max(longest_line, _WIDEST_ACCESS_BYTES, _WIDEST_REQUEST_BYTES)
    memo = AccessMemo(
        stretch,
        stretch.bit_length() - 1,
        sector_bytes,
        1 if l1_line_shift == l2_line_shift else 2,
        l1_line_shift,
        l2_line_shift,
        np.zeros((SINGLE_USE_ROW + 1) << _FACT_BITS, np.int64),
        np.zeros(most, np.int64),
        np.zeros(most, np.uint64),
        np.zeros((2, lanes), np.int64),
    )
    forget(memo)
    return memo


def forget(memo: AccessMemo) -> None:
    """Makes every row unknown, as when patterns get new numbers."""
    memo.facts[KEY :: 1 << _FACT_BITS] = _UNKNOWN


def most_words(memo: AccessMemo) -> int:
    """How long the list of one access may be."""
    return len(memo.sectors) * (memo.levels * WORDS_PER_LINE + 1)


@compiled
def fact(row: np.uint64, number: int) -> np.uint64:
    """Where a fact of a row stands; flat, so that the compiler knows the distances."""
    return np.uint64((row << np.uint64(_FACT_BITS)) | np.uint64(number))


@compiled
def _collect_lines(memo: AccessMemo, found: int, line_shift: int, words: Ints, at: int) -> int:
    """Groups the sectors of `memo.sectors` by line, from `words[at]` on; how many lines."""
    full = low_bits(memo.sector_bytes)
    within = (1 << line_shift) - 1
    count, last, touched, whole = 0, 0, 0, 0
    for position in range(found):
        sector = memo.sectors[np.uint64(position)]
        line = sector >> line_shift
        if count == 0 or line != last:
            count += 1
            last, touched, whole = line, 0, 0
            at += WORDS_PER_LINE
        bit = 1 << (sector & within)
        touched |= bit
        whole |= bit if memo.byte_masks[np.uint64(position)] == full else 0
        words[np.uint64(at - 2)] = line
        words[np.uint64(at - 1)] = both_masks(touched, whole)
    return count


@compiled
def _coalesce(memo: AccessMemo, row: np.uint64, access: WarpAccess, unit_bytes: int) -> int:
    """Finds the sectors of an access, and what it asks for; how many sectors."""
    facts = memo.facts
    found = coalesce_into(
        access.place,
        access.offsets,
        access.lanes,
        access.alignment,
        access.bytes,
        memo.sector_bytes,
        SectorRoom(memo.starts, memo.sectors, memo.byte_masks),
    )
    facts[fact(row, FOUND)] = found
    facts[fact(row, REQUESTED_BYTES)] = access.lanes_asking * access.bytes
    distinct = distinct_bytes(memo.byte_masks, found)
    facts[fact(row, IDEAL_SECTORS)] = (distinct + unit_bytes - 1) >> trailing_zeros(unit_bytes)
    return found


@compiled
def _pieces(memo: AccessMemo, found: int) -> int:
    """How many pieces of DRAM the sectors of `memo.sectors` lie in."""
    count, last = 0, 0
    for position in range(found):
        piece = memo.sectors[np.uint64(position)] * memo.sector_bytes // DRAM_PIECE_BYTES
        count += 1 if count == 0 or piece != last else 0
        last = piece
    return count


@compiled
def learn_access(memo: AccessMemo, row: np.uint64, access: WarpAccess, words: Ints, at: int) -> int:
    """Coalesces an access into a row, and its list into `words` from `at` on; the list's end."""
    found = _coalesce(memo, row, access, memo.sector_bytes)
    end = at
    l1_lines = l2_lines = _collect_lines(memo, found, memo.l1_line_shift, words, end)
    end += l1_lines * WORDS_PER_LINE
    if memo.levels == 2:
        l2_lines = _collect_lines(memo, found, memo.l2_line_shift, words, end)
        end += l2_lines * WORDS_PER_LINE
    memo.facts[fact(row, LINES)] = l1_lines
    memo.facts[fact(row, L2_LINES)] = l2_lines
    memo.facts[fact(row, PIECES)] = _pieces(memo, found)
    memo.facts[fact(row, LIST)] = pack_lines(at, l1_lines, l2_lines)
    if access.is_written:
        for position in range(found):
            words[np.uint64(end + position)] = np.int64(memo.byte_masks[np.uint64(position)])
        end += found
    return end


@compiled
def learn_segments(memo: AccessMemo, row: np.uint64, rule: SegmentRule, access: WarpAccess) -> None:
    """Learns an access that goes to memory in segments: it has no lines."""
    _coalesce(memo, row, access, rule.unit_bytes)
    count, bytes_ = segments_of(
        rule,
        access.place,
        access.offsets,
        access.lanes,
        access.alignment,
        access.bytes,
        memo.starts,
    )
    memo.facts[fact(row, FOUND)] = bytes_ >> trailing_zeros(rule.unit_bytes)
    memo.facts[fact(row, LINES)] = count
    memo.facts[fact(row, L2_LINES)] = memo.facts[fact(row, PIECES)] = count


@compiled
def memo_row(key: int) -> np.uint64:
    """The row in which the access of `key` is remembered, if it is."""
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return np.uint64(mixed >> np.uint64(64 - _ROW_BITS))
