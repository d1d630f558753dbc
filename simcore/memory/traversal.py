"""The compiled traversal: accesses, in the order of time, through L1 and L2 to DRAM.

Its first half, `request`, finds the lines of each access and needs no cache; its second half,
`traverse`, takes them through the caches. They may work on different accesses at the same time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.host.compiled import compiled
from kernelcast.simcore.memory.access_memo import (
    BATCH,
    FOUND,
    IDEAL_SECTORS,
    KEY,
    L2_LINES,
    LINES,
    LIST,
    PC,
    PIECES,
    REQUESTED_BYTES,
    SINGLE_USE_ROW,
    USES,
    AccessMemo,
    WarpAccess,
    fact,
    learn_access,
    learn_segments,
    memo_row,
)
from kernelcast.simcore.memory.bitmask import ALL_BITS, count_bits
from kernelcast.simcore.memory.levels import (
    ASKED_LINES,
    ASKED_PIECES,
    DRAM_READS,
    DRAM_WRITES,
    IDEAL,
    L1_BYPASS,
    L1_READ,
    L1_READS,
    L2_READS,
    L2_WRITES,
    REQUESTED,
    REQUESTS,
    SECTORS,
    TALLY_COLUMNS,
    TRANSACTIONS,
    Access,
    Caches,
    add,
    read_l1,
    read_l2,
    write_around_l2,
    write_l1,
    write_l2,
)
from kernelcast.simcore.memory.passes.line_requests import (
    HEAD_WORDS,
    LINES_AT,
    NOW,
    PC_AND_SM,
    SM_BITS,
    SM_MASK,
    STRETCH,
    Requests,
    unpack_lines,
)
from kernelcast.simcore.memory.segments import SegmentRule
from kernelcast.simcore.memory.sets.way_search import prefetch

__all__ = [
    "ADDRESS",
    "ATOMIC",
    "LOAD",
    "NOTHING",
    "PATTERN_SHIFT",
    "PC_BITS",
    "RECORD_WORDS",
    "STORE",
    "WHAT",
    "Patterns",
    "Records",
    "Room",
    "Routes",
    "Turn",
    "request",
    "settle",
    "traverse",
]

NOTHING, LOAD, STORE, ATOMIC = 0, 1, 2, 3
ADDRESS, WHAT = range(2)
RECORD_WORDS = 2
"""An access to come is so many words beside its stamp: a line of the processor's cache holds four.

WHAT it is: its pattern, its pc and its SM, the latter two as in `Requests`.
"""
PC_BITS = 21
PATTERN_SHIFT = SM_BITS + PC_BITS
PC_MASK = (1 << PC_BITS) - 1
_PC_AND_SM_MASK = (1 << PATTERN_SHIFT) - 1
_AHEAD = 4
_WORDS_PER_HOST_LINE = 8

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


class Patterns(NamedTuple):
    """Access patterns: `lanes`, shape (patterns,), and `offsets`, shape (patterns, warp width).

    The first `kept` of them may be used by many accesses, each other one by a single access.
    `are_sorted`: offsets of the latter ascend, whichever lanes they are of.
    """

    lanes: Words
    offsets: Ints
    kept: int
    are_sorted: bool


class Records(NamedTuple):
    """Accesses: the RECORD_WORDS `words` of each, and their stamps (`on_the_way`)."""

    words: Ints
    stamps: Ints


class Routes(NamedTuple):
    """Facts of memory instructions by pc.

    What the instruction does (LOAD, ...), what L1 does for it (L1_READ, ...), its width, and
    whether it goes to memory in segments, through no cache. `whole_lines`: L1 is asked for lines,
    not sectors.
    """

    kind: npt.NDArray[np.int8]
    l1_role: npt.NDArray[np.int8]
    bytes: Ints
    alignment: Ints
    in_segments: npt.NDArray[np.bool_]
    segments: SegmentRule
    whole_lines: bool
    l2_allocates_writes: bool


@compiled
def _settle_row(paths: Routes, memo: AccessMemo, row: np.uint64, tally: Ints) -> None:
    """Adds what all uses of an access have in common to the counters."""
    facts, uses_at = memo.facts, fact(row, USES)
    uses, pc = facts[uses_at], np.uint64(facts[fact(row, PC)])
    if uses == 0:
        return
    facts[uses_at] = 0
    kind, found = paths.kind[pc], facts[fact(row, FOUND)]
    count = np.uint64(pc * np.uint64(TALLY_COLUMNS))
    add(tally, count, REQUESTS, uses)
    add(tally, count, REQUESTED, uses * facts[fact(row, REQUESTED_BYTES)])
    add(tally, count, IDEAL, uses * facts[fact(row, IDEAL_SECTORS)])
    add(tally, count, ASKED_LINES, uses * facts[fact(row, L2_LINES)])
    add(tally, count, ASKED_PIECES, uses * facts[fact(row, PIECES)])
    if paths.in_segments[pc]:
        add(tally, count, SECTORS, uses * found)
        add(tally, count, TRANSACTIONS, uses * facts[fact(row, LINES)])
        if kind != STORE:
            add(tally, count, DRAM_READS, uses * found)
        if kind != LOAD:
            add(tally, count, DRAM_WRITES, uses * found)
        return
    transactions = found
    if kind == LOAD and paths.l1_role[pc] == L1_READ:
        if paths.whole_lines:
            transactions = facts[fact(row, LINES)]
            found = transactions << memo.l1_line_shift
        add(tally, count, L1_READS, uses * found)
    elif kind != STORE:
        add(tally, count, L2_READS, uses * found)
    if kind != LOAD:
        add(tally, count, L2_WRITES, uses * found)
    add(tally, count, SECTORS, uses * found)
    add(tally, count, TRANSACTIONS, uses * transactions)


@compiled
def settle(paths: Routes, memo: AccessMemo, tally: Ints) -> None:
    """Brings the counters up to date with the uses of all remembered memo."""
    for row in range(SINGLE_USE_ROW + 1):
        _settle_row(paths, memo, np.uint64(row), tally)


@compiled
def _memo_row_of(
    patterns: Patterns,
    paths: Routes,
    memo: AccessMemo,
    pc: np.uint64,
    pattern: int,
    place: int,
    tally: Ints,
) -> tuple[np.uint64, bool]:
    """The row in which an access is remembered, used once more, and whether it is there already."""
    row, key = np.uint64(SINGLE_USE_ROW), -1
    if pattern < patterns.kept:
        key = (pattern * len(paths.kind) + int(np.int64(pc))) * memo.stretch_bytes + place
        row = memo_row(key)
    is_known = key >= 0 and memo.facts[fact(row, KEY)] == key
    if not is_known:
        _settle_row(paths, memo, row, tally)
        memo.facts[fact(row, KEY)] = key
        memo.facts[fact(row, PC)] = np.int64(pc)
    memo.facts[fact(row, USES)] += 1
    return row, is_known


@compiled
def _look_ahead(
    order: Ints, position: int, row_mask: int, records: Records, patterns: Patterns
) -> None:
    """Has memory of accesses to come brought near: in the order of time it lies anywhere."""
    if position + 2 * _AHEAD >= len(order):
        return
    later = order[np.uint64(position + 2 * _AHEAD)] & row_mask
    prefetch(records.words, np.uint64(later * RECORD_WORDS))
    prefetch(records.stamps, np.uint64(later))
    next_ = (order[np.uint64(position + _AHEAD)] & row_mask) * RECORD_WORDS
    pattern = records.words[np.uint64(next_ + WHAT)] >> PATTERN_SHIFT
    if pattern >= patterns.kept:
        width = patterns.offsets.shape[1]
        for lane in range(0, width, _WORDS_PER_HOST_LINE):
            prefetch(patterns.offsets, np.uint64(pattern * width + lane))


class Turn(NamedTuple):
    """Accesses in the order of time: those whose rows are the low bits `row_mask` of `order`."""

    order: Ints
    row_mask: int
    begin: int


class Room(NamedTuple):
    """Requests to be filled; `batch` is a number of theirs that no others had.

    An access adds at most `most_words` to their words.
    """

    requests: Requests
    batch: int
    most_words: int


@compiled
def request(
    turn: Turn,
    records: Records,
    patterns: Patterns,
    room: Room,
    paths: Routes,
    memo: AccessMemo,
    tally: Ints,
) -> tuple[int, int]:
    """Lists what the accesses of a turn ask for, from `begin` on.

    Returns where in `order` it stopped because the room was full, and how many it has listed.
    """
    order, row_mask, position = turn
    requests, batch, most_words = room
    heads, words = 0, 0
    while position < len(order):
        if (heads + 1) * HEAD_WORDS > len(requests.heads) or words + most_words > len(
            requests.words
        ):
            break
        row_of = order[np.uint64(position)] & row_mask
        at = row_of * RECORD_WORDS
        position += 1
        _look_ahead(order, position, row_mask, records, patterns)
        address = records.words[np.uint64(at + ADDRESS)]
        what = records.words[np.uint64(at + WHAT)]
        pc, pattern = np.uint64((what >> SM_BITS) & PC_MASK), what >> PATTERN_SHIFT
        place = address & (memo.stretch_bytes - 1)
        row, is_known = _memo_row_of(patterns, paths, memo, pc, pattern, place, tally)
        in_segments = paths.in_segments[pc]
        if not is_known or (memo.facts[fact(row, BATCH)] != batch and not in_segments):
            which, is_written = np.uint64(pattern), paths.kind[pc] != LOAD
            offsets, lanes = patterns.offsets[which], patterns.lanes[which]
            asking = count_bits(lanes)
            if patterns.are_sorted and pattern >= patterns.kept:
                lanes = ALL_BITS
            access = WarpAccess(
                *(place, offsets, lanes, paths.alignment[pc], paths.bytes[pc]), asking, is_written
            )
            if in_segments:
                learn_segments(memo, row, paths.segments, access)
            else:
                words = learn_access(memo, row, access, requests.words, words)
                memo.facts[fact(row, BATCH)] = batch
        if in_segments:
            continue
        head = heads * HEAD_WORDS
        heads += 1
        requests.heads[np.uint64(head + STRETCH)] = address >> memo.stretch_shift
        requests.heads[np.uint64(head + NOW)] = records.stamps[np.uint64(row_of)]
        requests.heads[np.uint64(head + PC_AND_SM)] = what & _PC_AND_SM_MASK
        requests.heads[np.uint64(head + LINES_AT)] = memo.facts[fact(row, LIST)]
    return position, heads


@compiled
def traverse(
    requests: Requests,
    count: int,
    levels: int,
    l1_shift: int,
    l2_shift: int,
    paths: Routes,
    caches: Caches,
    tally: Ints,
) -> None:
    """Runs the first `count` accesses of `requests` through the caches.

    A stretch of memory is 2^`l1_shift` lines of L1 and 2^`l2_shift` of L2. Atomics read and write
    their sectors at L2.
    """
    l1 = caches.l1
    for number in range(count):
        head = number * HEAD_WORDS
        stretch = requests.heads[np.uint64(head + STRETCH)]
        who = requests.heads[np.uint64(head + PC_AND_SM)]
        access = Access(
            requests.words,
            unpack_lines(requests.heads[np.uint64(head + LINES_AT)], levels),
            stretch << l1_shift,
            stretch << l2_shift,
            who & SM_MASK,
            requests.heads[np.uint64(head + NOW)],
        )
        pc = np.uint64(who >> SM_BITS)
        row = np.uint64(pc * np.uint64(TALLY_COLUMNS))
        kind, role = paths.kind[pc], paths.l1_role[pc]
        if kind == LOAD and role == L1_READ:
            read_l1(caches, paths.whole_lines, access, tally, row)
            continue
        if kind != STORE:
            read_l2(caches, access, tally, row)
        if kind != LOAD:
            if role != L1_BYPASS:
                write_l1(l1, role, access)
            if paths.l2_allocates_writes:
                write_l2(caches, access, tally, row)
            else:
                write_around_l2(caches, access, tally, row)
