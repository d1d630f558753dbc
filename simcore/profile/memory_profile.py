"""Memory traffic, shared-memory use and hot spots of a profile, from simulated counts by pc."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.memory.hierarchy import TrafficResult
from kernelcast.simcore.memory.pattern_wavefronts import PatternWavefronts
from kernelcast.simcore.profile.profile import HotSpot, MemoryTraffic, SharedMemoryUse
from kernelcast.traces.trace import InstructionRow, Trace

__all__ = ["HOT_SPOTS", "hot_spots", "memory_traffic", "shared_memory_use"]

HOT_SPOTS = 10
_GLOBAL_SPACES = ("global", "generic")

Ints = npt.NDArray[np.int64]


def memory_traffic(trace: Trace, result: TrafficResult) -> MemoryTraffic:
    """Every level in transactions of the DRAM's size."""
    counts = result.by_instruction
    units = result.sector_bytes / result.transaction_bytes

    def total(column: Ints, kind: str) -> float:
        chosen = [
            row.pc for row in trace.instructions if row.kind == kind and row.space in _GLOBAL_SPACES
        ]
        return float(column[chosen].sum())

    return MemoryTraffic(
        dram_read_transactions=float(result.dram_read_transactions),
        dram_write_transactions=float(result.dram_write_transactions),
        left_write_transactions=float(result.left_writes),
        memory_side_hits=float(result.memory_side_hits),
        sector_bytes=result.transaction_bytes,
        global_load_requests=total(counts.requests, "load"),
        global_store_requests=total(counts.requests, "store"),
        global_load_sectors=total(counts.sectors, "load") * units,
        global_store_sectors=total(counts.sectors, "store") * units,
        l1_read_sectors=float(counts.l1_reads.sum()) * units,
        l1_hit_sectors=float(counts.l1_hits.sum()) * units,
        l2_read_sectors=float(counts.l2_reads.sum()) * units,
        l2_read_hit_sectors=float(counts.l2_read_hits.sum()) * units,
        l2_write_sectors=float((counts.l2_writes - counts.merged_writes).sum()) * units,
        l2_atomic_sectors=float(np.minimum(counts.l2_reads, counts.l2_writes).sum()) * units,
        requested_load_bytes=total(counts.requested_bytes, "load"),
        requested_store_bytes=total(counts.requested_bytes, "store"),
        global_load_transactions=total(counts.transactions, "load"),
        global_store_transactions=total(counts.transactions, "store"),
    )


def shared_memory_use(trace: Trace, wavefronts: PatternWavefronts) -> SharedMemoryUse:
    """An atomic loads and stores."""

    def total(column: Ints, belongs: Callable[[InstructionRow], bool]) -> float:
        return float(column[[row.pc for row in trace.instructions if belongs(row)]].sum())

    def loads(row: InstructionRow) -> bool:
        return row.space != "const" and row.kind in ("load", "atomic")

    def stores(row: InstructionRow) -> bool:
        return row.space != "const" and row.kind in ("store", "atomic")

    def lost(kind: str) -> float:
        return total(
            wavefronts.taken - wavefronts.ideal,
            lambda row: row.space != "const" and row.kind == kind,
        )

    def constants(row: InstructionRow) -> bool:
        return row.space == "const"

    return SharedMemoryUse(
        load_requests=total(wavefronts.requests, loads),
        load_wavefronts=total(wavefronts.taken, loads),
        store_requests=total(wavefronts.requests, stores),
        store_wavefronts=total(wavefronts.taken, stores),
        constant_requests=total(wavefronts.requests, constants),
        constant_wavefronts=total(wavefronts.taken, constants),
        ideal_wavefronts=total(wavefronts.ideal, loads) + total(wavefronts.ideal, stores),
        atomic_wavefronts=total(wavefronts.taken, lambda row: loads(row) and stores(row)),
        load_conflicts=lost("load"),
        store_conflicts=lost("store"),
    )


def hot_spots(
    trace: Trace, result: TrafficResult, wavefronts: PatternWavefronts
) -> tuple[HotSpot, ...]:
    """The instructions that cost memory most: by DRAM transactions, or by wavefronts lost.

    `transactions` are sectors asked of the first level, or wavefronts.
    """
    found = [*_traffic_spots(trace, result), *_conflict_spots(trace, wavefronts)]
    found.sort(key=lambda item: (-item[0], -item[1].transactions, item[1].pc))
    return tuple(spot for _, spot in found[:HOT_SPOTS])


def _traffic_spots(trace: Trace, result: TrafficResult) -> Iterator[tuple[int, HotSpot]]:
    counts = result.by_instruction
    for row in trace.instructions:
        pc = row.pc
        if counts.sectors[pc]:
            cost = int(counts.dram_reads[pc] + counts.dram_writes[pc])
            amounts = (counts.requests[pc], counts.sectors[pc], counts.ideal_sectors[pc])
            yield cost, _spot(row, amounts)


def _conflict_spots(trace: Trace, wavefronts: PatternWavefronts) -> Iterator[tuple[int, HotSpot]]:
    for row in trace.instructions:
        pc = row.pc
        lost = int(wavefronts.taken[pc] - wavefronts.ideal[pc])
        if lost:
            amounts = (wavefronts.requests[pc], wavefronts.taken[pc], wavefronts.ideal[pc])
            yield lost, _spot(row, amounts)


def _spot(row: InstructionRow, amounts: tuple[np.int64, np.int64, np.int64]) -> HotSpot:
    requests, transactions, ideal = (float(amount) for amount in amounts)
    return HotSpot(
        pc=row.pc,
        mnemonic=row.mnemonic,
        place=f"{row.file}:{row.line}" if row.line else "",
        origin_place=f"{row.origin_file}:{row.origin_line}" if row.origin_line else "",
        requests=requests,
        transactions=transactions,
        ideal_transactions=ideal,
    )
