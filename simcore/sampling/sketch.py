"""The memory of a launch from the accesses of a few thread blocks, and how much memory it has.

Their accesses are simulated as if they ran alone, and scaled to the launch: that tells what each
instruction asks for, and what L1 does for it. What other thread blocks have brought to L2 by then
they cannot tell. No byte is read from DRAM twice instead, and what is written goes there as far as
L2 does not hold it in the end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device.device import CacheFacts, Device
from kernelcast.simcore.device.resident_launch import ResidentLaunch
from kernelcast.simcore.memory.hierarchy import TrafficResult, WriteBacks
from kernelcast.simcore.memory.levels import Counters
from kernelcast.simcore.memory.simulated_memory import MemoryResult, SimulatedMemory
from kernelcast.simcore.sampling.launch_sample import scaled
from kernelcast.traces.stream import AccessBatch
from kernelcast.traces.trace import AccessTable, InstructionRow, PatternCounts, Trace
from kernelcast.traces.warp_paths import NO_PATTERN, WarpPaths

__all__ = ["sketched_memory"]

_CACHED = ("global", "generic", "local")
_STARTS = 16

Reals = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def sketched_memory(
    trace: Trace, paths: WarpPaths, resident: ResidentLaunch, launch_bytes: int
) -> MemoryResult:
    """What a launch with these counts and paths does, whose buffers have so many bytes."""
    found = _alone(trace.instructions, paths, trace.warp_width, resident)
    some = np.bincount(paths.pc, minlength=len(trace.instructions)).astype(np.float64)
    whole = trace.classes.totals()[0].astype(np.float64)
    return replace(
        found,
        traffic=_of_launch(found.traffic, _over(whole, some), resident.device, launch_bytes),
        wavefronts=scaled(found.wavefronts, some, whole),
        notes=("DRAM is read once for each byte of the buffers at most",),
    )


def _alone(
    rows: Sequence[InstructionRow],
    paths: WarpPaths,
    warp_width: int,
    resident: ResidentLaunch,
) -> MemoryResult:
    """What the recorded thread blocks do to memory when nobody else runs."""
    memory = SimulatedMemory(rows, warp_width, paths.warps_per_thread_block, resident)
    lengths = np.diff(paths.start)
    warp = np.repeat(np.arange(len(lengths)), lengths)
    time = np.arange(len(paths.pc)) - paths.start[warp]
    is_access = (paths.pattern != NO_PATTERN) & (paths.lanes > 0)
    is_cached = np.array([row.space in _CACHED for row in rows], np.bool_)[paths.pc]
    memory.accept(
        AccessBatch(
            0,
            len(paths.thread_blocks),
            _accesses(paths, warp, time, is_access & is_cached),
            paths.patterns,
            lengths.astype(np.int32),
            _pattern_counts(paths, is_access & ~is_cached),
        )
    )
    (found,) = memory.finish()
    return found


def _accesses(
    paths: WarpPaths, warp: npt.NDArray[np.int64], time: npt.NDArray[np.int64], chosen: Flags
) -> AccessTable:
    return AccessTable(
        pc=paths.pc[chosen],
        warp=warp[chosen].astype(np.int32),
        time=time[chosen].astype(np.int32),
        stage=np.zeros(int(chosen.sum()), np.int32),
        address=paths.address[chosen],
        pattern=paths.pattern[chosen],
    )


def _pattern_counts(paths: WarpPaths, chosen: Flags) -> PatternCounts:
    keys = np.stack((paths.pc, paths.address % _STARTS, paths.pattern))[:, chosen]
    distinct, counts = np.unique(keys, axis=1, return_counts=True)
    pc, start, pattern = distinct.astype(np.int32)
    return PatternCounts(pc, np.zeros(len(pc), np.int32), start, pattern, counts)


def _of_launch(
    traffic: TrafficResult, factor: Reals, device: Device, launch_bytes: int
) -> TrafficResult:
    """The traffic of all thread blocks, each of whose instructions does the same."""
    columns = [np.rint(column * factor) for column in traffic.by_instruction]
    counts = Counters(*(column.astype(np.int64) for column in columns))
    read = int(counts.dram_reads.sum()) * traffic.transaction_bytes
    share = min(1.0, launch_bytes / read) if read else 1.0
    kept = np.rint((1.0 - share) * (counts.l2_reads - counts.l2_read_hits)).astype(np.int64)
    counts = counts._replace(
        l2_read_hits=counts.l2_read_hits + kept,
        l2_pending=counts.l2_pending + kept,
        dram_reads=np.rint(share * counts.dram_reads).astype(np.int64),
        read_pieces=np.rint(share * counts.read_pieces).astype(np.int64),
        memory_side_hits=np.rint(share * counts.memory_side_hits).astype(np.int64),
    )
    made = int(counts.dram_writes.sum())
    brought = (int(counts.dram_reads.sum()), made)
    left = round(made * _kept_dirty(device.l2, *(traffic.transaction_bytes * n for n in brought)))
    writes = WriteBacks(made - left, left=left)
    return replace(traffic, by_instruction=counts, writes=writes)


def _kept_dirty(l2: CacheFacts, read_bytes: int, written_bytes: int) -> float:
    """The share of what is written that L2 still has at the end of a stream of reads and writes.

    What SMs read in the partition of the others is there twice. The last of it is kept; where L2
    replaces at random, lines that were there when it was full are kept as often as none of those
    that come later takes their place.
    """
    brought = read_bytes * (2.0 - 1.0 / l2.partitions) + written_bytes
    over, capacity = brought - l2.capacity_bytes, l2.capacity_bytes
    if over <= 0.0:
        return 1.0
    if l2.replacement != "random":
        return capacity / brought
    early, fades = capacity / brought, math.exp(-over / capacity)
    return early * fades + (1.0 - early) * (1.0 - fades) * capacity / over


def _over(whole: Reals, some: Reals) -> Reals:
    return np.divide(whole, some, out=np.zeros_like(whole), where=some > 0)
