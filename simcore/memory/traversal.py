"""The compiled traversal: accesses, in the order of time, through L1 and L2 to DRAM."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.host.compiled import compiled
from kernelcast.simcore.memory.access_memo import (
    FOUND,
    IDEAL_SECTORS,
    KEY,
    LINES,
    PC,
    REQUESTED_BYTES,
    SINGLE_USE_ROW,
    USES,
    AccessMemo,
    fact,
    learn_access,
    learn_segments,
    memo_row,
)
from kernelcast.simcore.memory.cache import CacheState
from kernelcast.simcore.memory.levels import (
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
from kernelcast.simcore.memory.on_the_way import stamp
from kernelcast.simcore.memory.segments import SegmentRule
from kernelcast.simcore.memory.way_search import trailing_zeros

__all__ = [
    "ADDRESS",
    "ATOMIC",
    "CYCLE",
    "LOAD",
    "NOTHING",
    "PC_AND_PATTERN",
    "PC_BITS",
    "PC_MASK",
    "RECORD_WORDS",
    "SM_AND_STEP",
    "SM_BITS",
    "STORE",
    "Patterns",
    "Routes",
    "settle",
    "traverse",
]

NOTHING, LOAD, STORE, ATOMIC = 0, 1, 2, 3
CYCLE, ADDRESS, PC_AND_PATTERN, SM_AND_STEP = range(4)
SM_BITS = 16
SM_MASK = (1 << SM_BITS) - 1
RECORD_WORDS = 4
"""An access to come is so many words: one line of the processor's cache holds two."""
PC_BITS = 31
PC_MASK = (1 << PC_BITS) - 1

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


class Patterns(NamedTuple):
    """Access patterns: `lanes`, shape (patterns,), and `offsets`, shape (patterns, warp width).

    The first `kept` of them may be used by many accesses, each other one by a single access.
    """

    lanes: Words
    offsets: Ints
    kept: int


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
def _settle_row(
    paths: Routes, l1: CacheState, memo: AccessMemo, row: np.uint64, tally: Ints
) -> None:
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
            found = transactions << l1.line_shift
        add(tally, count, L1_READS, uses * found)
    elif kind != STORE:
        add(tally, count, L2_READS, uses * found)
    if kind != LOAD:
        add(tally, count, L2_WRITES, uses * found)
    add(tally, count, SECTORS, uses * found)
    add(tally, count, TRANSACTIONS, uses * transactions)


@compiled
def settle(paths: Routes, l1: CacheState, memo: AccessMemo, tally: Ints) -> None:
    """Brings the counters up to date with the uses of all remembered memo."""
    for row in range(SINGLE_USE_ROW + 1):
        _settle_row(paths, l1, memo, np.uint64(row), tally)


@compiled
def _memo_row_of(
    patterns: Patterns,
    paths: Routes,
    l1: CacheState,
    memo: AccessMemo,
    pc: np.uint64,
    pattern: int,
    place: int,
    tally: Ints,
) -> np.uint64:
    """The row in which an access is remembered, used once more."""
    row, key = np.uint64(SINGLE_USE_ROW), -1
    if pattern < patterns.kept:
        key = (pattern * len(paths.kind) + int(np.int64(pc))) * memo.stretch_bytes + place
        row = memo_row(key)
    if key < 0 or memo.facts[fact(row, KEY)] != key:
        _settle_row(paths, l1, memo, row, tally)
        memo.facts[fact(row, KEY)] = key
        memo.facts[fact(row, PC)] = np.int64(pc)
        at = np.uint64(pattern)
        offsets, lanes = patterns.offsets[at], patterns.lanes[at]
        align, size = paths.alignment[pc], paths.bytes[pc]
        if paths.in_segments[pc]:
            learn_segments(memo, row, paths.segments, place, offsets, lanes, align, size)
        else:
            learn_access(memo, row, place, offsets, lanes, align, size)
    memo.facts[fact(row, USES)] += 1
    return row


@compiled
def traverse(
    order: Ints,
    row_mask: int,
    records: Ints,
    patterns: Patterns,
    paths: Routes,
    caches: Caches,
    memo: AccessMemo,
    tally: Ints,
) -> None:
    """Runs the accesses whose rows are the low bits `row_mask` of `order`.

    Atomics read and write their sectors at L2.
    """
    l1, l2 = caches.l1, caches.l2
    sector_shift = trailing_zeros(memo.sector_bytes)
    l1_shift = memo.stretch_shift - sector_shift - l1.line_shift
    l2_shift = memo.stretch_shift - sector_shift - l2.line_shift
    for item in order:
        at = (item & row_mask) * RECORD_WORDS
        address, placed = records[np.uint64(at + ADDRESS)], records[np.uint64(at + SM_AND_STEP)]
        sm, now = placed & SM_MASK, stamp(records[np.uint64(at + CYCLE)], placed >> SM_BITS)
        pc = np.uint64(records[np.uint64(at + PC_AND_PATTERN)] & PC_MASK)
        pattern = records[np.uint64(at + PC_AND_PATTERN)] >> PC_BITS
        count = np.uint64(pc * np.uint64(TALLY_COLUMNS))
        place = address & (memo.stretch_bytes - 1)
        row = _memo_row_of(patterns, paths, l1, memo, pc, pattern, place, tally)
        if paths.in_segments[pc]:
            continue
        stretch = address >> memo.stretch_shift
        l1_line, l2_line = stretch << l1_shift, stretch << l2_shift
        kind, role = paths.kind[pc], paths.l1_role[pc]
        if kind == LOAD and role == L1_READ:
            read_l1(caches, sm, paths.whole_lines, memo, Access(row, l1_line, now), tally, count)
            continue
        if kind != STORE:
            read_l2(l2, sm, memo, Access(row, l2_line, now), tally, count)
        if kind != LOAD:
            if role != L1_BYPASS:
                write_l1(l1, sm, role, memo, row, l1_line)
            if paths.l2_allocates_writes:
                write_l2(l2, sm, memo, Access(row, l2_line, now), tally, count)
            else:
                write_around_l2(l2, memo, row, l2_line, tally, count)
