"""Trace x Device -> TimedKernel: pipelines, registers, passes and memory levels by instruction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.errors import TraceFormatError
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.host.distinct import distinct
from kernelcast.simcore.memory.atomic_contention import atomic_passes, serialises_lanes
from kernelcast.simcore.memory.banks import are_paired, banked_wavefronts, constant_wavefronts
from kernelcast.simcore.memory.hierarchy import TrafficResult
from kernelcast.simcore.memory.l1_passes import data_passes, tag_passes
from kernelcast.simcore.memory.levels import Counters
from kernelcast.simcore.memory.native_accesses import NativeAccesses, native_accesses
from kernelcast.simcore.memory.simulated_memory import MemoryResult
from kernelcast.simcore.timing.kernel.amd_rows import is_scalar_load
from kernelcast.simcore.timing.kernel.asynchronous import joins_group, with_groups
from kernelcast.simcore.timing.kernel.idle_accesses import without_idle_accesses
from kernelcast.simcore.timing.kernel.instruction_sequences import with_native_sequences
from kernelcast.simcore.timing.kernel.machine_schedule import machine_schedule, scoreboards
from kernelcast.simcore.timing.kernel.mbarrier_waits import with_parts_told_by_whole, without_tries
from kernelcast.simcore.timing.kernel.pipelines import BULK_COPY, device_pipelines
from kernelcast.simcore.timing.kernel.scheduled_paths import scheduled_kernel
from kernelcast.simcore.timing.kernel.tensor_cycles import tensor_cycles
from kernelcast.simcore.timing.kernel.texture_passes import texture_passes
from kernelcast.simcore.timing.kernel.timed_kernel import (
    MemoryLevels,
    MemorySideShares,
    Pipeline,
    TimedKernel,
    timing_facts,
)
from kernelcast.simcore.timing.kernel.wait_counters import with_counters
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.trace import InstructionRow, PatternCounts, Trace
from kernelcast.traces.warp_paths import NO_PATTERN, WarpPaths

__all__ = ["shared_returns", "timed_kernel"]

_STARTS = 16
_NO_REGISTER = -1

Floats = npt.NDArray[np.float64]
Columns = list[tuple[int, ...]]


def timed_kernel(trace: Trace, device: Device, memory: MemoryResult) -> TimedKernel:
    """What the simulator is told of the trace's launch on `device`, whose memory did `memory`.

    TraceFormatError when the trace has no paths.
    """
    if trace.paths is None:
        reason = trace.no_paths or "they were not recorded"
        raise TraceFormatError(f"the trace holds no paths of warps: {reason}")
    rows = trace.instructions
    longest = _longest(trace, trace.paths, device, memory)
    paths = with_parts_told_by_whole(rows, without_tries(rows, trace.paths))
    native = native_accesses(rows)
    tensor, tensor_latency = tensor_cycles(rows, device)
    has_none = (tensor > 0.0) | _is_bulk(rows)
    pipeline = device_pipelines(rows, memory, device)
    is_store = np.array([_is_store(row) for row in rows], np.bool_)
    schedule = machine_schedule(rows, timing_facts(device))
    reads, writes = _registers(rows) if schedule is None else scoreboards(rows)
    passes, ideal = _wavefronts(rows, paths, pipeline, has_none, native, device)
    cycles = paths.lanes * tensor[paths.pc]
    texels = texture_passes(rows, paths, native, device)
    kernel = TimedKernel(
        paths=paths,
        pipeline=pipeline,
        is_store=is_store,
        reads=_padded(reads),
        writes=_padded(writes),
        wavefronts=np.maximum(passes, texels) + cycles,
        ideal_wavefronts=ideal + cycles,
        levels=_levels(trace, native, memory.traffic, device.l2.sector_bytes),
        thread_blocks=trace.thread_blocks,
        thread_blocks_per_sm=memory.thread_blocks_per_sm,
        warp_width=trace.warp_width,
        tensor_latency=tensor_latency if tensor.any() else None,
        atomic_cycles=_atomic_cycles(memory, device),
        path_share=_share(trace, trace.paths),
        instructions=tuple(rows),
        schedule=schedule,
        sectors_per_piece=_sectors_per_piece(memory.traffic, device.l2.sector_bytes),
        memory_side=_memory_side(memory.traffic),
        longest=longest,
    )
    scheduled = scheduled_kernel(kernel, trace.schedule, trace.placed_regions)
    ordered = without_idle_accesses(scheduled)
    return with_groups(with_counters(with_native_sequences(ordered)))


def _longest(
    trace: Trace, paths: WarpPaths, device: Device, memory: MemoryResult
) -> TimedKernel | None:
    """The launch's longest thread block alone, where the sampled ones are much shorter."""
    if paths.longest is None:
        return None
    found = timed_kernel(replace(trace, paths=paths.longest), device, memory)
    issues = trace.classes.warp_issues[trace.classes.of_thread_block[paths.longest.thread_blocks]]
    return replace(found, path_share=len(paths.longest.pc) / max(1, int(issues.sum())))


def _atomic_cycles(memory: MemoryResult, device: Device) -> Floats | None:
    if memory.atomics is None or not memory.atomics.requests.any():
        return None
    return memory.atomics.cycles_per_request(device.atomics.address_cycles)


def _is_store(row: InstructionRow) -> bool:
    return row.kind == "store" or (row.kind == "atomic" and not row.writes)


def _registers(rows: Sequence[InstructionRow]) -> tuple[Columns, Columns]:
    """A wide access reads and writes for those that it swallows, which write nothing any more.

    What asynchronous copies and products bring is waited for with their groups.
    """
    reads, writes = [row.reads for row in rows], [row.writes for row in rows]
    for row in rows:
        if joins_group(row):
            reads[row.pc] = tuple(set(row.reads) - set(row.writes))
            writes[row.pc] = ()
    for row in rows:
        if row.is_native and row.merged_into != row.pc:
            reads[row.merged_into] = (*reads[row.merged_into], *row.reads)
            writes[row.merged_into] = (*writes[row.merged_into], *row.writes)
            writes[row.pc] = ()
    return [_once(item) for item in reads], [_once(item) for item in writes]


def _once(registers: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(registers))


def _padded(columns: Columns) -> npt.NDArray[np.int32]:
    most = max(1, *(len(item) for item in columns))
    table = np.full((len(columns), most), _NO_REGISTER, np.int32)
    for row, registers in zip(table, columns, strict=True):
        row[: len(registers)] = registers
    return table


def _share(trace: Trace, paths: WarpPaths) -> float:
    """Events over those of as many average thread blocks."""
    issued = float(trace.classes.totals()[0].sum()) * len(paths.thread_blocks)
    return len(paths.pc) * trace.thread_blocks / issued if issued else 1.0


def _wavefronts(
    instructions: Sequence[InstructionRow],
    paths: WarpPaths,
    pipeline: Sequence[Pipeline],
    has_none: npt.NDArray[np.bool_],
    native: NativeAccesses,
    device: Device,
) -> tuple[Floats, Floats]:
    """Passes that accesses take, and passes without conflicts.

    `has_none` by pc: whether it is no access that passes L1 or banks for a warp.
    """
    wavefronts: Floats = np.ones(len(paths.pc), np.float64)
    wavefronts[has_none[paths.pc]] = 0.0
    fewest = wavefronts.copy()
    for kind in (Pipeline.SHARED, Pipeline.CONSTANT, Pipeline.GLOBAL):
        chosen = np.array([item is kind for item in pipeline], np.bool_) & ~has_none
        events = np.flatnonzero(chosen[paths.pc] & (paths.pattern != NO_PATTERN))
        rows, row_of_event = _distinct(paths, events)
        passes, ideal = _passes(kind, rows, paths.patterns, native, device)
        if kind is Pipeline.SHARED:
            returns = shared_returns(rows, paths.patterns, native, device)
            returns[np.array([_is_store(row) for row in instructions], np.bool_)[rows.pc]] = 0
            turns = atomic_passes(rows, paths.patterns, native, device)
            turns[~np.array([serialises_lanes(row) for row in instructions])[rows.pc]] = 0
            ideal = np.maximum(ideal, returns)
            passes = np.maximum(np.maximum(passes, returns), turns)
        passes = passes[row_of_event]
        if kind is Pipeline.GLOBAL:
            where = paths.pc[events], paths.address[events], paths.pattern[events]
            passes = np.maximum(passes, tag_passes(*where, paths.patterns, native, device))
        wavefronts[events] = passes
        fewest[events] = np.minimum(ideal[row_of_event], passes)
    return wavefronts, fewest


def _passes(
    kind: Pipeline,
    rows: PatternCounts,
    patterns: PatternTable,
    native: NativeAccesses,
    device: Device,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """What depends on pattern and start only, and what is left of it without conflicts."""
    match kind:
        case Pipeline.SHARED:
            found = banked_wavefronts(rows, patterns, native, device)
        case Pipeline.CONSTANT:
            found = constant_wavefronts(rows, patterns, native, device.constant)
        case _:
            passes = data_passes(rows, patterns, native, device)
            return passes, passes
    return found.taken, found.ideal


def _distinct(
    paths: WarpPaths, events: npt.NDArray[np.intp]
) -> tuple[PatternCounts, npt.NDArray[np.intp]]:
    """The accesses that differ in instruction, start or pattern, and which one each event is."""
    start = paths.address[events] % _STARTS
    key = (paths.pc[events].astype(np.int64) << 36) | (start << 32) | paths.pattern[events]
    _, example, inverse = distinct(key)
    chosen = events[example]
    none = np.zeros(len(chosen), np.int32)
    rows = PatternCounts(
        paths.pc[chosen],
        none,
        start[example].astype(np.int32),
        paths.pattern[chosen],
        np.ones(len(chosen), np.int64),
    )
    return rows, inverse


def _levels(
    trace: Trace, native: NativeAccesses, traffic: TrafficResult, sector_bytes: int
) -> MemoryLevels:
    """The simulated hit rates and sectors of each instruction.

    DRAM counts in bytes, so that what a transaction fetches beside a sector is not lost; nor is
    what L1 fetches beside it, where its sectors are longer than those of L2. A copy in bulk asks
    for all of its sectors at once, and nothing of it passes registers.
    """
    counts = traffic.by_instruction
    is_bulk = _is_bulk(trace.instructions)
    requests = np.where(is_bulk, trace.classes.totals()[0], counts.requests)
    served = counts.l1_hits + counts.l2_reads
    asked = np.maximum(np.maximum(counts.sectors, counts.l1_reads), served)
    kept = counts.l1_hits + counts.merged_writes
    below = asked - kept
    dram = counts.dram_reads * traffic.transaction_bytes + _written(traffic)
    return MemoryLevels(
        sectors=_ratio(asked * traffic.sector_bytes, requests * sector_bytes),
        ideal_sectors=_ratio(counts.ideal_sectors * traffic.sector_bytes, requests * sector_bytes),
        l1_hits=_ratio(kept, asked),
        l2_hits=1.0 - _ratio(dram, below * traffic.sector_bytes),
        bytes_per_lane=np.where(is_bulk, 0.0, native.bytes / _lanes_of(trace)),
        l1_pending=_ratio(counts.l1_pending, asked),
        l2_waits=_l2_waits(counts, 1.0 - _ratio(dram, below * traffic.sector_bytes)),
        partial_writes=_partial_writes(counts, below),
    )


def _sectors_per_piece(traffic: TrafficResult, sector_bytes: int) -> float:
    """Sectors that DRAM moves for each piece that it begins; infinite where it moves nothing.

    Pieces of what stays in L2 are not written.
    """
    counts = traffic.by_instruction
    made = int(counts.dram_writes.sum())
    written = min(1.0, traffic.writes.evicted / made) if made else 0.0
    pieces = int(counts.read_pieces.sum()) + written * int(counts.written_pieces.sum())
    moved = float((counts.dram_reads * traffic.transaction_bytes + _written(traffic)).sum())
    return moved / sector_bytes / pieces if pieces else math.inf


def _memory_side(traffic: TrafficResult) -> MemorySideShares:
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


def _l2_waits(counts: Counters, l2_hits: Floats) -> Floats:
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


def _is_bulk(rows: Sequence[InstructionRow]) -> npt.NDArray[np.bool_]:
    return np.array([row.opcode == BULK_COPY for row in rows], np.bool_)


def _ratio(part: npt.NDArray[Any], whole: npt.NDArray[Any]) -> Floats:
    """0 where there is nothing of the whole."""
    shares: Floats = np.zeros(len(whole), np.float64)
    np.divide(part, whole, out=shares, where=whole > 0)
    return shares


_REGISTER_BYTES = 4


def shared_returns(
    rows: PatternCounts, patterns: PatternTable, native: NativeAccesses, device: Device
) -> npt.NDArray[np.int64]:
    """Passes of one load of each row, shape (rows,): each hands on a word of every bank.

    A broadcast, which the banks serve at once, still fills registers of every lane. Where
    `shared_paired_lanes` is 2, data return once for two lanes of one address when all lanes have
    such a neighbour, the next one or the one after that.
    """
    timing, width = timing_facts(device), patterns.offsets.shape[1]
    registers = -(-native.bytes[rows.pc] // _REGISTER_BYTES)
    returned = registers * _REGISTER_BYTES * width
    if timing.shared_paired_lanes == 2:
        returned = np.where(are_paired(patterns)[rows.pattern], -(-returned // 2), returned)
    passes: npt.NDArray[np.int64] = -(-returned // (device.shared.banks * device.shared.bank_bytes))
    return np.maximum(passes, 1)
