"""What each memory level does with the lines of one access, and what is counted of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.host.compiled import compiled
from kernelcast.simcore.memory.bitmask import count_bits
from kernelcast.simcore.memory.cache import (
    CacheState,
    fetch,
    fetched_groups,
    find,
    home,
    line_bytes,
    open_line,
    write_part,
    write_whole,
)
from kernelcast.simcore.memory.dram_pieces import READ, WRITTEN, begins
from kernelcast.simcore.memory.on_the_way import LateHits, count_late, joins_store, note_store
from kernelcast.simcore.memory.passes.line_requests import WORDS_PER_LINE, Lines, sector_masks
from kernelcast.simcore.memory.sets.sectors import add_valid, dirty_of, drop_all, drop_valid
from kernelcast.simcore.memory.sets.way_search import trailing_zeros

__all__ = [
    "ASKED_LINES",
    "ASKED_PIECES",
    "DRAM_READS",
    "DRAM_WRITES",
    "IDEAL",
    "L1_BYPASS",
    "L1_EVICT",
    "L1_READ",
    "L1_READS",
    "L1_UPDATE",
    "L2_READS",
    "L2_WRITES",
    "MEMORY_SIDE_HITS",
    "REQUESTED",
    "REQUESTS",
    "SECTORS",
    "TALLY_COLUMNS",
    "TRANSACTIONS",
    "Access",
    "Caches",
    "Counters",
    "add",
    "counters",
    "read_l1",
    "read_l2",
    "write_around_l2",
    "write_l1",
    "write_l2",
]

L1_BYPASS, L1_READ, L1_EVICT, L1_UPDATE = 0, 1, 2, 3
Ints = npt.NDArray[np.int64]


class Counters(NamedTuple):
    """Counts by pc; all but `requests` and `requested_bytes` (of all lanes) are sectors.

    `sectors`: asked of the first level; `ideal_sectors`: the fewest that hold the distinct bytes.
    `dram_reads`, `dram_writes`: transactions; a write belongs to the store that made it necessary.
    `transactions`: what lanes coalesce to, of whichever size: sectors, lines or segments.
    `partial_writes`: sectors at L2 that stores write in part, less those that others complete.
    `merged_writes`: sectors of stores that L1 hands on together with those of the store before.
    `l1_pending` and `l2_pending` of the hits find a sector that is still on its way.
    `read_pieces`, `written_pieces`: pieces that DRAM begins for them (`dram_pieces`).
    `l2_lines` and `pieces`: what the accesses touch, whether or not it is there already.
    `memory_side_hits` of the `dram_reads` are in the cache between L2 and DRAM, where there is one.
    """

    requests: Ints
    requested_bytes: Ints
    sectors: Ints
    ideal_sectors: Ints
    l1_reads: Ints
    l1_hits: Ints
    l2_reads: Ints
    l2_read_hits: Ints
    l2_writes: Ints
    dram_reads: Ints
    dram_writes: Ints
    transactions: Ints
    partial_writes: Ints
    l1_pending: Ints
    l2_pending: Ints
    merged_writes: Ints
    read_pieces: Ints
    written_pieces: Ints
    memory_side_hits: Ints
    l2_lines: Ints
    pieces: Ints


class Access(NamedTuple):
    """One access: its lines in `words`, numbered from `l1_line` and `l2_line`, and who asks when.

    `words` as in Requests; `now` is its stamp.
    """

    words: Ints
    lines: Lines
    l1_line: int
    l2_line: int
    sm: int
    now: int


class Caches(NamedTuple):
    """The L1 of each SM, the L2, and their hits on what is still on its way.

    `memory_side`: the cache between L2 and DRAM, of one line where there is none.
    """

    l1: CacheState
    l2: CacheState
    l1_late: LateHits
    l2_late: LateHits
    memory_side: CacheState


TALLY_COLUMNS = 21
"""The counters of a pc begin at the word `count` of an array `tally`."""
(
    REQUESTS,
    REQUESTED,
    SECTORS,
    IDEAL,
    L1_READS,
    L1_HITS,
    L2_READS,
    L2_READ_HITS,
    L2_WRITES,
    DRAM_READS,
    DRAM_WRITES,
    TRANSACTIONS,
    PARTIAL_WRITES,
    L1_PENDING,
    L2_PENDING,
    MERGED_WRITES,
    READ_PIECES,
    WRITTEN_PIECES,
    MEMORY_SIDE_HITS,
    ASKED_LINES,
    ASKED_PIECES,
) = range(len(Counters._fields))


def counters(tally: Ints, caches: Caches, version: int = 0) -> Counters:
    """`tally`: shape (instructions * TALLY_COLUMNS,); late hits are those of a version."""
    columns = tally.reshape(-1, TALLY_COLUMNS).T
    for column, late in ((L1_PENDING, caches.l1_late), (L2_PENDING, caches.l2_late)):
        columns[column] = late.hits.reshape(-1, len(late.cycles))[:, version]
    return Counters(*(columns[number].copy() for number in range(len(Counters._fields))))


@compiled
def add(tally: Ints, count: np.uint64, column: int, amount: int) -> None:
    """Adds to one column of an instruction's counters."""
    tally[np.uint64(count + np.uint64(column))] += amount


@compiled
def _instruction(count: np.uint64) -> int:
    """The pc whose counters begin at the word `count`."""
    return int(np.int64(count) // TALLY_COLUMNS)


@compiled
def _found_at_memory_side(caches: Caches, line: int, fetched: int) -> int:
    """Transactions of what L2 fetches that the cache behind it has; the others come into it."""
    cache = caches.memory_side
    if len(cache.tags) == 1:
        return 0
    missing = fetch(cache, open_line(cache, 0, line), fetched)
    return fetched_groups(caches.l2, fetched & ~missing)


@compiled
def _keep_at_memory_side(caches: Caches, line: int, sectors: int) -> None:
    """Stores leave whole sectors in the cache behind L2, as if they went on there at once."""
    cache = caches.memory_side
    if len(cache.tags) > 1 and sectors:
        add_valid(cache.masks, open_line(cache, 0, line), sectors)


@compiled
def _read_l2_line(
    caches: Caches, sm: int, line: int, wanted: int, tally: Ints, count: np.uint64, now: int
) -> None:
    """Reads a line in the SM's partition, and what that lacks in the line's own one."""
    l2 = caches.l2
    own = home(l2, line)
    near = sm % l2.partitions if l2.partitions > 1 else own
    slot = first = open_line(l2, near, line)
    fetched = fetch(l2, slot, wanted)
    if fetched and near != own:
        slot = open_line(l2, own, line)
        fetched = fetch(l2, slot, fetched)
    hits = count_bits(np.uint64(wanted & ~fetched))
    if hits:
        count_late(caches.l2_late, _instruction(count), l2, slot, now, hits)
    if fetched:
        add(tally, count, DRAM_READS, fetched_groups(l2, fetched))
        add(tally, count, MEMORY_SIDE_HITS, _found_at_memory_side(caches, line, fetched))
        add(tally, count, READ_PIECES, begins(l2.begun, line, line_bytes(l2), READ))
        l2.arrivals[np.uint64(slot)] = now
    if first != slot:
        l2.arrivals[np.uint64(first)] = l2.arrivals[np.uint64(slot)]
    add(tally, count, L2_READ_HITS, hits)


@compiled
def _below(l1: CacheState, l2: CacheState, line: int, fetched: int, piece: int) -> tuple[int, int]:
    """The L2 line that holds a piece of an L1 line, and the sectors `fetched` within it."""
    longer = l2.line_shift - l1.line_shift
    if longer >= 0:
        within = line & ((1 << longer) - 1)
        return line >> longer, fetched << (within << l1.line_shift)
    whole = (1 << l2.sectors_per_line) - 1
    return (line << -longer) + piece, (fetched >> (piece << l2.line_shift)) & whole


@compiled
def read_l1(
    caches: Caches, whole_lines: bool, access: Access, tally: Ints, count: np.uint64
) -> None:
    """Reads the L1 lines of an access; what L1 lacks is asked of L2.

    L1 lines that lie in one L2 line ask it once, together.
    """
    l1, l2, instance, words = caches.l1, caches.l2, access.sm, access.words
    hits, misses, below, wanted_below = 0, 0, 0, 0
    pieces = 1 << max(0, l1.line_shift - l2.line_shift)
    at = access.lines.l1_at
    for _ in range(access.lines.l1_lines):
        line = access.l1_line + words[np.uint64(at)]
        wanted, _ = sector_masks(words[np.uint64(at + 1)])
        at += WORDS_PER_LINE
        if whole_lines:
            wanted = (1 << l1.sectors_per_line) - 1
        slot = open_line(l1, instance, line)
        fetched = fetch(l1, slot, wanted)
        found = count_bits(np.uint64(wanted & ~fetched))
        hits += found
        if found:
            count_late(caches.l1_late, _instruction(count), l1, slot, access.now, found)
        if fetched == 0:
            continue
        l1.arrivals[np.uint64(slot)] = access.now
        misses += count_bits(np.uint64(fetched))
        for piece in range(pieces):
            l2_line, part = _below(l1, l2, line, fetched, piece)
            if part and l2_line != below and wanted_below:
                _read_l2_line(caches, instance, below, wanted_below, tally, count, access.now)
                wanted_below = 0
            if part:
                below = l2_line
                wanted_below |= part
    if wanted_below:
        _read_l2_line(caches, instance, below, wanted_below, tally, count, access.now)
    add(tally, count, L1_HITS, hits)
    add(tally, count, L2_READS, misses)


@compiled
def read_l2(caches: Caches, access: Access, tally: Ints, count: np.uint64) -> None:
    """Looks up the lines of an access in L2, and counts hits and misses."""
    at, words, sm, now = access.lines.l2_at, access.words, access.sm, access.now
    for _ in range(access.lines.l2_lines):
        line = access.l2_line + words[np.uint64(at)]
        wanted, _ = sector_masks(words[np.uint64(at + 1)])
        _read_l2_line(caches, sm, line, wanted, tally, count, now)
        at += WORDS_PER_LINE


@compiled
def write_l1(l1: CacheState, role: int, access: Access) -> None:
    """Stores pass through L1: they evict what it holds of their lines, or keep whole sectors."""
    at, words, instance = access.lines.l1_at, access.words, access.sm
    for _ in range(access.lines.l1_lines):
        line = access.l1_line + words[np.uint64(at)]
        _, whole = sector_masks(words[np.uint64(at + 1)])
        at += WORDS_PER_LINE
        if role == L1_EVICT:
            slot = find(l1, instance, line)
            if slot >= 0:
                drop_all(l1.masks, slot)
        elif whole:
            slot = open_line(l1, instance, line)
            add_valid(l1.masks, slot, whole)


@compiled
def _drop_copies(l2: CacheState, line: int, sectors: int) -> None:
    """Takes sectors of a line from the partitions that it does not belong to."""
    for partition in range(l2.partitions):
        if partition != home(l2, line):
            slot = find(l2, partition, line)
            if slot >= 0:
                drop_valid(l2.masks, slot, sectors)


@compiled
def write_l2(caches: Caches, access: Access, tally: Ints, count: np.uint64) -> None:
    """Writes the lines of an access to L2, and counts what it takes."""
    l2, at, words, sm = caches.l2, access.lines.l2_at, access.words, access.sm
    mask_at, cleaned, partial, merged, pieces = access.lines.masks_at, 0, 0, 0, 0
    for _ in range(access.lines.l2_lines):
        line = access.l2_line + words[np.uint64(at)]
        touched, whole = sector_masks(words[np.uint64(at + 1)])
        at += WORDS_PER_LINE
        if l2.partitions > 1:
            _drop_copies(l2, line, touched)
        _keep_at_memory_side(caches, line, whole)
        slot = open_line(l2, home(l2, line), line)
        if joins_store(l2, slot, sm, access.now):
            merged += count_bits(np.uint64(touched))
            partial -= count_bits(np.uint64(touched & ~whole))
        else:
            partial += count_bits(np.uint64(touched & ~whole))
        note_store(l2, slot, sm, access.now)
        if dirty_of(l2.masks, slot) == 0:
            pieces += begins(l2.begun, line, line_bytes(l2), WRITTEN)
        cleaned += write_whole(l2, slot, whole)
        in_part = touched & ~whole
        while in_part:
            sector = trailing_zeros(in_part)
            before = count_bits(np.uint64(touched & ((1 << sector) - 1)))
            written = np.uint64(words[np.uint64(mask_at + before)])
            cleaned += write_part(l2, slot, sector, written)
            in_part &= in_part - 1
        mask_at += count_bits(np.uint64(touched))
    add(tally, count, DRAM_WRITES, cleaned)
    add(tally, count, PARTIAL_WRITES, partial)
    add(tally, count, MERGED_WRITES, merged)
    add(tally, count, WRITTEN_PIECES, pieces)


@compiled
def write_around_l2(caches: Caches, access: Access, tally: Ints, count: np.uint64) -> None:
    """Writes straight to DRAM, without write-allocation, and drops what L2 holds of it."""
    l2, at, words, pieces = caches.l2, access.lines.l2_at, access.words, 0
    for _ in range(access.lines.l2_lines):
        line = access.l2_line + words[np.uint64(at)]
        touched, whole = sector_masks(words[np.uint64(at + 1)])
        at += WORDS_PER_LINE
        pieces += begins(l2.begun, line, line_bytes(l2), WRITTEN)
        _keep_at_memory_side(caches, line, whole)
        if l2.partitions > 1:
            _drop_copies(l2, line, touched)
        slot = find(l2, home(l2, line), line)
        if slot >= 0:
            drop_valid(l2.masks, slot, touched)
        written = count_bits(np.uint64(touched))
        l2.written[0] += written
        add(tally, count, DRAM_WRITES, written)
        incomplete = touched if l2.transaction_sectors > 1 else touched & ~whole
        l2.written[1] += count_bits(np.uint64(incomplete))
    add(tally, count, WRITTEN_PIECES, pieces)
