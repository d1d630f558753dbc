"""The memory hierarchy of a device under one trace: traffic at every level, by instruction.

* Loads go through the L1 of their SM if it caches their kind: plain global loads, read-only loads
  (`ld.global.nc`), local memory. Loads with `cg` or `cv` (volatile) go around it.
* Stores write through L1. They evict the lines that they touch there; local stores, and all stores
  where the device's L1 allocates on write, leave completely written sectors in it instead.
* L2 writes back, allocates on write without reading, and knows the dirty bytes of each sector.
  Atomics read and write there.
* An L2 in partitions: an SM reads from its own, which gets what it lacks from the partition that
  the line belongs to, and keeps it as well. Stores go there, and drop what the others have of it.
* DRAM is read for each sector that L2 lacks, and written for each dirty sector when its line is
  evicted, whichever launch made it dirty. What is left dirty counts for the launch that leaves it.
  Where `partial_write_fills`, a sector that is not known completely is read before it is written.
* A cache at the side of memory has what L2 has read and written, whichever was used last. What L2
  reads and it has does not come from DRAM. Writes go through it.

* Where a device makes segments (compute capability 1.x), all but texture fetches reach DRAM
  uncached, as transactions of their own sizes.

L1 is cold at launch, L2 has what it is given. Every level counts sectors of the L2, or smaller
smallest segments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device.device import CacheFacts, CoalescingRule, Device
from kernelcast.simcore.memory.cache import CacheState, empty_cache
from kernelcast.simcore.memory.levels import (
    L1_BYPASS,
    L1_EVICT,
    L1_READ,
    L1_UPDATE,
    Caches,
    Counters,
)
from kernelcast.simcore.memory.native_accesses import native_accesses
from kernelcast.simcore.memory.on_the_way import late_hits
from kernelcast.simcore.memory.segments import makes_segments, segment_rule
from kernelcast.simcore.memory.traversal import ATOMIC, LOAD, NOTHING, STORE, Routes
from kernelcast.traces.trace import InstructionRow

__all__ = [
    "Latencies",
    "SampledCount",
    "SampledTraffic",
    "TrafficResult",
    "WriteBacks",
    "access_routes",
    "caches_of",
    "cold_l1",
    "cold_l2",
    "cold_memory_side",
    "traffic_result",
]

Ints = npt.NDArray[np.int64]

_KINDS = {"load": LOAD, "store": STORE, "atomic": ATOMIC}
_AROUND_L1 = ("cg", "cv")
_SECTOR_COLUMNS = (
    *("sectors", "ideal_sectors", "l1_reads", "l1_hits"),
    *("l2_reads", "l2_read_hits", "l2_writes", "l1_pending", "l2_pending"),
    *("partial_writes", "merged_writes"),
)


class Latencies(NamedTuple):
    """Cycles until data of L2 and of DRAM are there; 0 where they are not known."""

    l2_cycles: int
    dram_cycles: int

    @classmethod
    def of(cls, device: Device) -> Latencies:
        """The latencies of a device."""
        timing = device.timing
        if timing is None:
            return cls(0, 0)
        return cls(round(timing.l2_latency_cycles), round(timing.dram_latency_cycles))


class WriteBacks(NamedTuple):
    """What L2 writes to DRAM, and reads first because it is incomplete, in transactions.

    `evicted`, `evicted_fills`: in the launch, whichever launch made it dirty. `left`, `left_fills`:
    by how much more is dirty at the end than at the start, negative for less.
    """

    evicted: int
    evicted_fills: int = 0
    left: int = 0
    left_fills: int = 0


@dataclass(frozen=True)
class TrafficResult:
    """`by_instruction` counts sectors of `sector_bytes` by pc, DRAM in `transaction_bytes`."""

    by_instruction: Counters
    sector_bytes: int
    transaction_bytes: int
    writes: WriteBacks

    @property
    def left_writes(self) -> int:
        """The writes of what the launch leaves in L2: they are made while something else runs."""
        return max(0, self.writes.left)

    @property
    def dram_write_transactions(self) -> int:
        """DRAM transactions that write, with those that are left."""
        return self.writes.evicted + self.left_writes

    @property
    def fill_reads(self) -> int:
        """DRAM reads that complete partly written sectors: they belong to no instruction."""
        return self.writes.evicted_fills + max(0, self.writes.left_fills)

    @property
    def dram_read_transactions(self) -> int:
        """DRAM transactions that read, with those that fill partly written sectors."""
        reads = int(self.by_instruction.dram_reads.sum()) - self.memory_side_hits
        return reads + self.fill_reads

    @property
    def memory_side_hits(self) -> int:
        """What L2 reads from the cache between it and DRAM, in transactions."""
        return int(self.by_instruction.memory_side_hits.sum())


def traffic_result(
    counts: Counters, written: Ints, dirtier: Ints, paths: Routes, device: Device
) -> TrafficResult:
    """Converts groups of sectors, as the caches count them, to transactions of the DRAM.

    `written`: groups that L2 wrote back, and of them incomplete ones. `dirtier`: by how many more
    of both were dirty in it at the end than at the start.
    """
    sector, transaction = device.l2.sector_bytes, device.dram.transaction_bytes
    if makes_segments(device):
        return _segment_traffic(counts, paths, device)
    transactions = max(1, sector // transaction)
    evicted, evicted_fills = (int(count) * transactions for count in written)
    left, left_fills = (int(count) * transactions for count in dirtier)
    if not device.dram.partial_write_fills:
        evicted_fills = left_fills = 0
    return TrafficResult(
        by_instruction=counts._replace(
            dram_reads=counts.dram_reads * transactions,
            dram_writes=counts.dram_writes * transactions,
            memory_side_hits=counts.memory_side_hits * transactions,
        ),
        sector_bytes=sector,
        transaction_bytes=transaction,
        writes=WriteBacks(evicted, evicted_fills, left, left_fills),
    )


def _segment_traffic(counts: Counters, paths: Routes, device: Device) -> TrafficResult:
    """Traffic in units of the segment rule; texture caches count sectors fetched together."""
    unit, sector = paths.segments.unit_bytes, device.l2.sector_bytes
    units = np.where(paths.in_segments, 1, sector // unit)
    fetched = np.where(paths.in_segments, 1, max(sector, device.dram.transaction_bytes) // unit)
    scaled = {name: getattr(counts, name) * units for name in _SECTOR_COLUMNS}
    dram_writes = counts.dram_writes
    return TrafficResult(
        by_instruction=counts._replace(**scaled, dram_reads=counts.dram_reads * fetched),
        sector_bytes=unit,
        transaction_bytes=unit,
        writes=WriteBacks(int(dram_writes.sum())),
    )


def cold_l2(device: Device) -> CacheState:
    """An L2 without contents; DeviceFileError when cache sizes do not fit each other."""
    sector = device.l2.sector_bytes
    transaction = max(sector, device.dram.transaction_bytes)
    fetch = max(transaction, device.l2.fetch_bytes)
    parts = device.l2.partitions
    each = replace(device.l2, capacity_bytes=device.l2.capacity_bytes // parts)
    return empty_cache(
        each,
        sector,
        fetch,
        instances=parts,
        keeps_dirty=True,
        transaction_bytes=transaction,
    )


def cold_memory_side(device: Device) -> CacheState:
    """The cache between L2 and DRAM; a device without one gets one of a line that nothing uses."""
    facts, sector = device.memory_side, device.l2.sector_bytes
    lines = replace(device.l2, partitions=1, replacement="lru", index="modulo")
    if facts is None:
        one = replace(lines, capacity_bytes=lines.line_bytes, ways=1)
        return empty_cache(one, sector, sector, instances=1, keeps_dirty=False)
    own = replace(lines, capacity_bytes=facts.capacity_bytes, ways=facts.ways)
    return empty_cache(own, sector, sector, instances=1, keeps_dirty=False)


def cold_l1(device: Device) -> CacheState:
    """The first level; a device without one gets one that no access uses."""
    sector, facts = device.l2.sector_bytes, device.l1
    if facts is None:
        facts = device.l2
        return empty_cache(facts, sector, sector, instances=1, keeps_dirty=False)
    is_linewise = device.coalescing is CoalescingRule.LINES
    fetch = facts.line_bytes if is_linewise else max(sector, facts.sector_bytes)
    return empty_cache(
        facts,
        sector,
        fetch,
        instances=device.architecture.sm_count,
        keeps_dirty=False,
    )


def caches_of(
    device: Device, l2: CacheState, versions: Sequence[Latencies], instructions: int
) -> Caches:
    """A cold L1 and an L2 for so many instructions; each version has latencies of its own."""
    return Caches(
        cold_l1(device),
        l2,
        late_hits([item.l2_cycles for item in versions], instructions),
        late_hits([item.dram_cycles for item in versions], instructions),
        cold_memory_side(device),
    )


def access_routes(instructions: Sequence[InstructionRow], device: Device) -> Routes:
    """What each instruction's accesses do in L1 and L2 of the device, by pc."""
    native = native_accesses(instructions)
    kinds = [
        _KINDS.get(row.kind, NOTHING) if native.bytes[row.pc] else NOTHING for row in instructions
    ]
    roles = [_l1_role(row, device) for row in instructions]
    return Routes(
        np.array(kinds, np.int8),
        np.array(roles, np.int8),
        native.bytes,
        native.alignment,
        np.array([_goes_in_segments(row, device) for row in instructions], np.bool_),
        segment_rule(device),
        device.coalescing is CoalescingRule.LINES,
        device.l2.write_allocate,
    )


def _goes_in_segments(row: InstructionRow, device: Device) -> bool:
    return makes_segments(device) and not _is_texture_fetch(row, device.l2)


def _is_texture_fetch(row: InstructionRow, facts: CacheFacts) -> bool:
    """Whether a read goes through the texture cache, as images and some read-only loads do."""
    is_read_only = row.kind == "load" and row.cache == "nc"
    return is_read_only and (row.is_part or facts.caches_read_only_loads)


def _l1_role(row: InstructionRow, device: Device) -> int:
    facts = device.l1
    if facts is None:
        return L1_BYPASS
    if makes_segments(device):
        return L1_READ if _is_texture_fetch(row, facts) else L1_BYPASS
    is_local = row.space == "local"
    is_cached = facts.caches_local if is_local else facts.caches_global_loads
    if row.kind == "load":
        if row.cache in _AROUND_L1:
            return L1_BYPASS
        if row.cache == "nc":
            is_cached |= facts.caches_read_only_loads
        return L1_READ if is_cached else L1_BYPASS
    if not is_cached:
        return L1_BYPASS
    is_kept = row.kind == "store" and (is_local or facts.write_allocate)
    return L1_UPDATE if is_kept else L1_EVICT


@dataclass(frozen=True, slots=True)
class SampledCount:
    """An estimated count with its standard error; `low` to `high` holds it with 95 % confidence."""

    value: float
    standard_error: float
    low: float
    high: float

    @property
    def relative_standard_error(self) -> float:
        """The standard error as a share of the value; 0 where that is 0."""
        return self.standard_error / self.value if self.value else 0.0


@dataclass(frozen=True)
class SampledTraffic:
    """`traffic` of the whole launch; `share` of the thread blocks that were simulated.

    DRAM transactions are those of `traffic`, the final write-back included.
    """

    traffic: TrafficResult
    dram_reads: SampledCount
    dram_writes: SampledCount
    share: float
