"""Trace x Device -> TimedKernel: pipelines, registers, passes and memory levels by instruction."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.errors import TraceFormatError
from kernelcast.simcore.device.banked_l1 import has_banked_l1
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.host.distinct import distinct
from kernelcast.simcore.host.shared_tables import Known, SharedTables
from kernelcast.simcore.memory.atomic_contention import atomic_passes, serialises_lanes
from kernelcast.simcore.memory.banks import are_paired, banked_wavefronts, constant_wavefronts
from kernelcast.simcore.memory.l1_passes import data_passes, tag_passes
from kernelcast.simcore.memory.native_accesses import NativeAccesses, native_accesses
from kernelcast.simcore.memory.simulated_memory import MemoryResult
from kernelcast.simcore.timing.kernel.asynchronous import joins_group, with_groups
from kernelcast.simcore.timing.kernel.idle_accesses import without_idle_accesses
from kernelcast.simcore.timing.kernel.instruction_sequences import with_native_sequences
from kernelcast.simcore.timing.kernel.machine_schedule import (
    is_scheduled,
    machine_schedule,
    scoreboards,
)
from kernelcast.simcore.timing.kernel.mbarrier_waits import with_parts_told_by_whole, without_tries
from kernelcast.simcore.timing.kernel.memory_levels import (
    is_bulk,
    memory_levels,
    memory_side_shares,
    sectors_per_piece,
)
from kernelcast.simcore.timing.kernel.pipelines import device_pipelines
from kernelcast.simcore.timing.kernel.scheduled_paths import scheduled_kernel
from kernelcast.simcore.timing.kernel.tensor_cycles import tensor_cycles
from kernelcast.simcore.timing.kernel.texture_passes import is_texel, texture_passes
from kernelcast.simcore.timing.kernel.timed_kernel import (
    MemoryLevels,
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


def timed_kernel(
    trace: Trace, device: Device, memory: MemoryResult, tables: SharedTables | None = None
) -> TimedKernel:
    """What the simulator is told of the trace's launch on `device`, whose memory did `memory`.

    What other GPUs have in common with this one is made once and kept in `tables`.
    TraceFormatError when the trace has no paths.
    """
    if trace.paths is None:
        reason = trace.no_paths or "they were not recorded"
        raise TraceFormatError(f"the trace holds no paths of warps: {reason}")
    rows, tables = trace.instructions, tables or SharedTables()
    pipeline = device_pipelines(rows, memory, device)
    recorded = Known(trace, (id(rows), id(trace.paths), id(trace.schedule)))
    arranged = tables.once(_arranged, recorded, Known(pipeline, pipeline))
    executed = tables.once(
        _executed,
        arranged,
        recorded,
        Known(pipeline, pipeline),
        *map(_known_by_content, tensor_cycles(rows, device)),
        Known(device, _facts_of_passes(rows, device)),
    )
    sector_bytes = device.l2.sector_bytes
    levels = memory_levels(trace, native_accesses(rows), memory.traffic, sector_bytes)
    atomic_cycles = _atomic_cycles(memory, device)
    schedule = machine_schedule(rows, timing_facts(device))
    pcs = executed.traced
    return replace(
        executed,
        levels=levels if pcs is None else levels.of(pcs),
        atomic_cycles=atomic_cycles if pcs is None or atomic_cycles is None else atomic_cycles[pcs],
        schedule=schedule if pcs is None or schedule is None else schedule.of(pcs),
        thread_blocks_per_sm=memory.thread_blocks_per_sm,
        sectors_per_piece=sectors_per_piece(memory.traffic, sector_bytes),
        memory_side=memory_side_shares(memory.traffic),
        longest=_longest(trace, trace.paths, device, memory, tables),
    )


def _facts_of_passes(rows: Sequence[InstructionRow], device: Device) -> Hashable:
    """All of a device that decides which passes accesses of these instructions take."""
    shared, constant, l1 = device.shared, device.constant, device.l1 or device.l2
    return (
        *(shared.banks, shared.bank_bytes, timing_facts(device).shared_paired_lanes),
        *(constant.words_per_pass, constant.word_bytes, device.architecture.warp_width),
        *(has_banked_l1(device), device.l1 is None, l1.line_bytes, device.l2.sector_bytes),
        *(device.coalescing, device.segments),
        device.atomics.shared_lane_passes if any(map(serialises_lanes, rows)) else None,
        device.texture if any(map(is_texel, rows)) else None,
    )


def _known_by_content(column: Floats) -> Known:
    """A column by pc, which is mostly 0."""
    places = np.flatnonzero(column)
    return Known(column, (len(column), places.tobytes(), column[places].tobytes()))


def _recorded_paths(trace: Trace) -> WarpPaths:
    assert trace.paths is not None, "timed_kernel refuses traces without paths"
    return trace.paths


def _told_paths(trace: Trace) -> WarpPaths:
    """The paths without what only says how an engine waited."""
    rows = trace.instructions
    return with_parts_told_by_whole(rows, without_tries(rows, _recorded_paths(trace)))


class _Arranged(NamedTuple):
    """A kernel with its events in their order, before it is known what they take.

    `event`: which one of the recorded paths each of them is, or is a part of.
    """

    kernel: TimedKernel
    event: npt.NDArray[np.intp]


def _arranged(trace: Trace, pipeline: tuple[Pipeline, ...]) -> _Arranged:
    """The kernel as all GPUs have it that execute its instructions by these pipelines."""
    rows, paths = trace.instructions, _told_paths(trace)
    reads, writes = scoreboards(rows) if is_scheduled(rows) else _registers(rows)
    # numbers of events go where what the events take would go
    numbers = np.arange(len(paths.pc), dtype=np.float64)
    kernel = TimedKernel(
        paths=paths,
        pipeline=pipeline,
        is_store=np.array([_is_store(row) for row in rows], np.bool_),
        reads=_padded(reads),
        writes=_padded(writes),
        wavefronts=numbers,
        ideal_wavefronts=numbers,
        levels=MemoryLevels.none(len(rows)),
        thread_blocks=trace.thread_blocks,
        thread_blocks_per_sm=0,
        warp_width=trace.warp_width,
        path_share=_share(trace, _recorded_paths(trace)),
        instructions=tuple(rows),
    )
    ordered = without_idle_accesses(scheduled_kernel(kernel, trace.schedule, trace.placed_regions))
    found = with_groups(with_counters(with_native_sequences(ordered)))
    return _Arranged(found, found.wavefronts.astype(np.intp))


def _executed(
    arranged: _Arranged,
    trace: Trace,
    pipeline: tuple[Pipeline, ...],
    tensor: Floats,
    tensor_latency: Floats,
    device: Device,
) -> TimedKernel:
    """The kernel with what its events take, before anything is known of its memory."""
    rows, paths = trace.instructions, _told_paths(trace)
    has_none = (tensor > 0.0) | is_bulk(rows)
    native = native_accesses(rows)
    passes, ideal = _wavefronts(rows, paths, pipeline, has_none, native, device)
    cycles = paths.lanes * tensor[paths.pc]
    texels = texture_passes(rows, paths, native, device)
    kernel, event = arranged
    latency = tensor_latency if kernel.traced is None else tensor_latency[kernel.traced]
    return replace(
        kernel,
        wavefronts=(np.maximum(passes, texels) + cycles)[event],
        ideal_wavefronts=(ideal + cycles)[event],
        tensor_latency=latency if tensor.any() else None,
    )


def _longest(
    trace: Trace, paths: WarpPaths, device: Device, memory: MemoryResult, tables: SharedTables
) -> TimedKernel | None:
    """The launch's longest thread block alone, where the sampled ones are much shorter."""
    if paths.longest is None:
        return None
    found = timed_kernel(replace(trace, paths=paths.longest), device, memory, tables)
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
