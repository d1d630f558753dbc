"""What global accesses take at each level, from the traffic that the memory simulation counted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.memory.hierarchy import TrafficResult
from kernelcast.simcore.memory.levels import Counters
from kernelcast.simcore.memory.native_accesses import NativeAccesses
from kernelcast.simcore.timing.kernel.amd_rows import is_scalar_load
from kernelcast.simcore.timing.kernel.pipelines import BULK_COPY
from kernelcast.simcore.timing.kernel.timed_kernel import MemoryLevels, MemorySideShares
from kernelcast.traces.trace import InstructionRow, Trace

__all__ = ["is_bulk", "l2_waits", "memory_levels", "memory_side_shares", "sectors_per_piece"]

Floats = npt.NDArray[np.float64]


def memory_levels(
    trace: Trace, native: NativeAccesses, traffic: TrafficResult, sector_bytes: int
) -> MemoryLevels:
    """The simulated hit rates and sectors of each instruction.

    DRAM counts in bytes, so that what a transaction fetches beside a sector is not lost; nor is
    what L1 fetches beside it, where its sectors are longer than those of L2. A copy in bulk asks
    for all of its sectors at once, and nothing of it passes registers.
    """
    counts = traffic.by_instruction
    in_bulk = is_bulk(trace.instructions)
    requests = np.where(in_bulk, trace.classes.totals()[0], counts.requests)
    served = counts.l1_hits + counts.l2_reads
    asked = np.maximum(np.maximum(counts.sectors, counts.l1_reads), served)
    kept = counts.l1_hits + counts.merged_writes
    below = asked - kept
    dram = counts.dram_reads * traffic.transaction_bytes + _written(traffic)
    return MemoryLevels(
        sectors=_ratio(asked * traffic.sector_bytes, requests * sector_bytes),
        lines=_ratio(counts.l2_lines, counts.requests),
        pieces=_ratio(counts.pieces, counts.requests),
        ideal_sectors=_ratio(counts.ideal_sectors * traffic.sector_bytes, requests * sector_bytes),
        l1_hits=_ratio(kept, asked),
        l2_hits=1.0 - _ratio(dram, below * traffic.sector_bytes),
        bytes_per_lane=np.where(in_bulk, 0.0, native.bytes / _lanes_of(trace)),
        l1_pending=_ratio(counts.l1_pending, asked),
        l2_waits=l2_waits(counts, 1.0 - _ratio(dram, below * traffic.sector_bytes)),
        partial_writes=_partial_writes(counts, below),
    )


def sectors_per_piece(traffic: TrafficResult, sector_bytes: int) -> float:
    """Sectors that DRAM moves for each piece that it begins; infinite where it moves nothing.

    Pieces of what stays in L2 are not written.
    """
    counts = traffic.by_instruction
    made = int(counts.dram_writes.sum())
    written = min(1.0, traffic.writes.evicted / made) if made else 0.0
    pieces = int(counts.read_pieces.sum()) + written * int(counts.written_pieces.sum())
    moved = float((counts.dram_reads * traffic.transaction_bytes + _written(traffic)).sum())
    return moved / sector_bytes / pieces if pieces else math.inf


def memory_side_shares(traffic: TrafficResult) -> MemorySideShares:
    """What the cache between L2 and DRAM has of what moves there."""
    counts, hits = traffic.by_instruction, traffic.memory_side_hits
    reads = int(counts.dram_reads.sum())
    if not hits or not reads:
        return MemorySideShares()
    moved = float((counts.dram_reads * traffic.transaction_bytes + _written(traffic)).sum())
    return MemorySideShares(
        min(1.0, hits * traffic.transaction_bytes / moved), min(1.0, hits / reads)
    )


def _lanes_of(trace: Trace) -> Floats:
    """Lanes for which an instruction moves data once, by pc: all of a warp for a scalar load."""
    is_scalar = [is_scalar_load(row) for row in trace.instructions]
    return np.where(is_scalar, float(trace.warp_width), 1.0)


def l2_waits(counts: Counters, l2_hits: Floats) -> Floats:
    """The share of sectors past L1 that wait for DRAM, by pc.

    Of stores, and of atomics that find all that they read, it is what they make DRAM write.
    """
    missing = counts.l2_reads - counts.l2_read_hits + counts.l2_pending
    waits = np.where(missing > 0, _ratio(missing, counts.l2_reads), 1.0 - l2_hits)
    found: Floats = np.clip(waits, 0.0, 1.0)
    return found


def _partial_writes(counts: Counters, below: npt.NDArray[Any]) -> Floats:
    """The share of sectors past L1 that stay incomplete when stores are merged, by pc."""
    first = np.maximum(counts.partial_writes, 0)
    left = int(counts.partial_writes.sum()) / max(1, int(first.sum()))
    return _ratio(first, below) * max(0.0, left)


def _written(traffic: TrafficResult) -> Floats:
    """Bytes written to DRAM in the launch, by pc.

    Several of the writes that it made necessary may go in one transaction, and some stay in L2.
    What is written beyond them was left dirty by launches before: it goes with the accesses that
    brought something else to L2.
    """
    counts = traffic.by_instruction
    own = min(traffic.writes.evicted, int(counts.dram_writes.sum()))
    others = traffic.writes.evicted - own
    brought = counts.dram_reads + counts.dram_writes
    found: Floats = np.add(
        counts.dram_writes * _bytes_each(own, counts.dram_writes, traffic),
        brought * _bytes_each(others, brought, traffic),
    )
    return found


def _bytes_each(transactions: int, counts: npt.NDArray[np.int64], traffic: TrafficResult) -> float:
    """Bytes of so many transactions for each of what `counts` count; 0 where that is nothing."""
    all_ = int(counts.sum())
    return transactions * traffic.transaction_bytes / all_ if all_ else 0.0


def is_bulk(rows: Sequence[InstructionRow]) -> npt.NDArray[np.bool_]:
    """Whether each instruction is a copy in bulk."""
    return np.array([row.opcode == BULK_COPY for row in rows], np.bool_)


def _ratio(part: npt.NDArray[Any], whole: npt.NDArray[Any]) -> Floats:
    """0 where there is nothing of the whole."""
    shares: Floats = np.zeros(len(whole), np.float64)
    np.divide(part, whole, out=shares, where=whole > 0)
    return shares
