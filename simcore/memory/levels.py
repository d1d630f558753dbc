"""What each memory level does with the lines of one access, and what is counted of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.memory.access_shapes import LineRuns
from kernelcast.simcore.memory.bitmask import count_bits
from kernelcast.simcore.memory.cache import (
    CacheState,
    fetch,
    fetched_groups,
    find,
    open_line,
    write_part,
    write_whole,
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
def _read_l2_line(
    l2: CacheState, line: int, wanted: int, pc: np.uint64, counters: Counters
) -> None:
    fetched = fetch(l2, open_line(l2, _ONLY, line), wanted)
    counters.l2_read_hits[pc] += count_bits(np.uint64(wanted & ~fetched))
    if fetched:
        counters.dram_reads[pc] += fetched_groups(l2, fetched)


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
    l1: CacheState,
    l2: CacheState,
    instance: int,
    whole_lines: bool,
    runs: LineRuns,
    at: np.uint64,
    stretch: int,
    pc: np.uint64,
    counters: Counters,
) -> None:
    """Reads the L1 lines of row `at`, from line `stretch` on; what L1 lacks is asked of L2.

    L1 lines that lie in one L2 line ask it once, together.
    """
    hits, misses, below, wanted_below = 0, 0, 0, 0
    pieces = max(1, l1.sectors_per_line // l2.sectors_per_line)
    for position in range(runs.lines[at]):
        line = stretch + runs.line[at, position]
        wanted = runs.touched[at, position]
        if whole_lines:
            wanted = (1 << l1.sectors_per_line) - 1
        fetched = fetch(l1, open_line(l1, instance, line), wanted)
        hits += count_bits(np.uint64(wanted & ~fetched))
        if fetched == 0:
            continue
        misses += count_bits(np.uint64(fetched))
        for piece in range(pieces):
            l2_line, part = _below(l1, l2, line, fetched, piece)
            if part and l2_line != below and wanted_below:
                _read_l2_line(l2, below, wanted_below, pc, counters)
                wanted_below = 0
            if part:
                below = l2_line
                wanted_below |= part
    if wanted_below:
        _read_l2_line(l2, below, wanted_below, pc, counters)
    counters.l1_hits[pc] += hits
    counters.l2_reads[pc] += misses


@compiled
def read_l2(
    l2: CacheState, runs: LineRuns, at: np.uint64, stretch: int, pc: np.uint64, counters: Counters
) -> None:
    for position in range(runs.lines[at]):
        line = stretch + runs.line[at, position]
        _read_l2_line(l2, line, runs.touched[at, position], pc, counters)


@compiled
def write_l1(
    l1: CacheState, instance: int, role: int, runs: LineRuns, at: np.uint64, stretch: int
) -> None:
    """Stores pass through L1: they evict what it holds of their lines, or keep whole sectors."""
    for position in range(runs.lines[at]):
        line, whole = stretch + runs.line[at, position], runs.whole[at, position]
        if role == L1_EVICT:
            slot = find(l1, instance, line)
            if slot >= 0:
                l1.valid[slot] = 0
        elif whole:
            slot = open_line(l1, instance, line)
            l1.valid[slot] |= np.uint32(whole)


@compiled
def write_l2(
    l2: CacheState,
    runs: LineRuns,
    byte_masks: Words,
    at: np.uint64,
    stretch: int,
    pc: np.uint64,
    counters: Counters,
) -> None:
    """`byte_masks`, shape (rows, sectors): what is written of each touched sector."""
    ordinal, cleaned = 0, 0
    for position in range(runs.lines[at]):
        touched, whole = runs.touched[at, position], runs.whole[at, position]
        slot = open_line(l2, _ONLY, stretch + runs.line[at, position])
        cleaned += write_whole(l2, slot, whole)
        if touched == whole:
            ordinal += count_bits(np.uint64(touched))
            continue
        for sector in range(l2.sectors_per_line):
            if (touched >> sector) & 1:
                if not (whole >> sector) & 1:
                    cleaned += write_part(l2, slot, sector, byte_masks[at, ordinal])
                ordinal += 1
    counters.dram_writes[pc] += cleaned


@compiled
def write_around_l2(
    l2: CacheState, runs: LineRuns, at: np.uint64, stretch: int, pc: np.uint64, counters: Counters
) -> None:
    """Without write-allocation a store goes straight to DRAM and drops what L2 holds of it."""
    for position in range(runs.lines[at]):
        touched, whole = runs.touched[at, position], runs.whole[at, position]
        slot = find(l2, _ONLY, stretch + runs.line[at, position])
        if slot >= 0:
            l2.valid[slot] &= np.uint32(~touched)
        written = count_bits(np.uint64(touched))
        l2.written[0] += written
        counters.dram_writes[pc] += written
        incomplete = touched if l2.fetch_sectors > 1 else touched & ~whole
        l2.written[1] += count_bits(np.uint64(incomplete))
