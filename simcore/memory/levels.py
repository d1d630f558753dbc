"""What each memory level does with the sectors of one access, and what is counted of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.memory.bitmask import count_groups, low_bits
from kernelcast.simcore.memory.cache import (
    CacheState,
    fetch,
    fetched_groups,
    find,
    open_line,
    write,
)
from kernelcast.simcore.memory.compiled import compiled

__all__ = [
    "L1_BYPASS",
    "L1_EVICT",
    "L1_READ",
    "L1_UPDATE",
    "Counters",
    "read_l1",
    "read_l2",
    "write_around_l2",
    "write_l1",
    "write_l2",
]

L1_BYPASS, L1_READ, L1_EVICT, L1_UPDATE = 0, 1, 2, 3
_ONLY = 0  # the number of the one L2

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


class Counters(NamedTuple):
    """Counts by pc; all but `requests` and `requested_bytes` (of all lanes) are sectors.

    `sectors`: asked of the first level; `ideal_sectors`: the fewest that hold the distinct bytes.
    `dram_reads`, `dram_writes`: transactions; a write belongs to the store that made it necessary.
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


@compiled
def _same_line(sectors: Ints, at: int, found: int, line_shift: int) -> int:
    """The end of the run of sectors from `at` that lie in one line."""
    line = sectors[at] >> line_shift
    while at < found and sectors[at] >> line_shift == line:
        at += 1
    return at


@compiled
def _sector_mask(sectors: Ints, begin: int, end: int, line_shift: int) -> int:
    within = (1 << line_shift) - 1
    mask = 0
    for at in range(begin, end):
        mask |= 1 << (sectors[at] & within)
    return mask


@compiled
def read_l1(
    l1: CacheState,
    instance: int,
    whole_lines: bool,
    sectors: Ints,
    found: int,
    missing: Ints,
    pc: int,
    counters: Counters,
) -> int:
    """Fills `missing` with the sectors that L1 asks L2 for; their number."""
    count = 0
    begin = 0
    while begin < found:
        end = _same_line(sectors, begin, found, l1.line_shift)
        line = sectors[begin] >> l1.line_shift
        wanted = _sector_mask(sectors, begin, end, l1.line_shift)
        if whole_lines:
            wanted = (1 << l1.sectors_per_line) - 1
        fetched = fetch(l1, open_line(l1, instance, line), wanted)
        asked = count_groups(wanted, 1)
        counters.sectors[pc] += asked
        counters.l1_reads[pc] += asked
        counters.l1_hits[pc] += count_groups(wanted & ~fetched, 1)
        for sector in range(l1.sectors_per_line):
            if (fetched >> sector) & 1:
                missing[count] = line * l1.sectors_per_line + sector
                count += 1
        begin = end
    return count


@compiled
def write_l1(
    l1: CacheState, instance: int, role: int, sectors: Ints, byte_masks: Words, found: int
) -> None:
    """Stores pass through L1: they evict what it holds of their lines, or keep whole sectors."""
    for at in range(found):
        line = sectors[at] >> l1.line_shift
        if role == L1_EVICT:
            slot = find(l1, instance, line)
            if slot >= 0:
                l1.valid[slot] = 0
        elif byte_masks[at] == low_bits(l1.sector_bytes):
            slot = open_line(l1, instance, line)
            l1.valid[slot] |= 1 << (sectors[at] & (l1.sectors_per_line - 1))


@compiled
def read_l2(l2: CacheState, sectors: Ints, found: int, pc: int, counters: Counters) -> None:
    begin = 0
    while begin < found:
        end = _same_line(sectors, begin, found, l2.line_shift)
        wanted = _sector_mask(sectors, begin, end, l2.line_shift)
        slot = open_line(l2, _ONLY, sectors[begin] >> l2.line_shift)
        fetched = fetch(l2, slot, wanted)
        counters.l2_reads[pc] += end - begin
        if fetched != wanted:
            counters.l2_read_hits[pc] += count_groups(wanted & ~fetched, 1)
        if fetched:
            counters.dram_reads[pc] += fetched_groups(l2, fetched)
        begin = end


@compiled
def write_l2(
    l2: CacheState,
    sectors: Ints,
    byte_masks: Words,
    found: int,
    pc: int,
    counters: Counters,
) -> None:
    begin = 0
    while begin < found:
        end = _same_line(sectors, begin, found, l2.line_shift)
        slot = open_line(l2, _ONLY, sectors[begin] >> l2.line_shift)
        for at in range(begin, end):
            if write(l2, slot, sectors[at] & (l2.sectors_per_line - 1), byte_masks[at]):
                counters.dram_writes[pc] += 1
        begin = end
    counters.l2_writes[pc] += found


@compiled
def write_around_l2(
    l2: CacheState,
    sectors: Ints,
    byte_masks: Words,
    found: int,
    pc: int,
    counters: Counters,
) -> None:
    """Without write-allocation a store goes straight to DRAM and drops what L2 holds of it."""
    full = low_bits(l2.sector_bytes)
    for at in range(found):
        slot = find(l2, _ONLY, sectors[at] >> l2.line_shift)
        if slot >= 0:
            l2.valid[slot] &= ~(1 << (sectors[at] & (l2.sectors_per_line - 1)))
        l2.written[0] += 1
        if byte_masks[at] != full or l2.fetch_sectors > 1:
            l2.written[1] += 1
    counters.l2_writes[pc] += found
    counters.dram_writes[pc] += found
