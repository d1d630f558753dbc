"""A kernel as the arrays that the compiled simulator reads.

Instructions have the kinds below; the first eleven, those of functional units, are the first eleven
of `Pipeline`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.host.compiled import inlined
from kernelcast.simcore.host.shared_tables import SharedTables
from kernelcast.simcore.timing.kernel.component import Component
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel, timing_facts
from kernelcast.simcore.timing.walk.event_rows import event_rows
from kernelcast.simcore.timing.walk.missed_lines import miss_columns, traffic_columns
from kernelcast.simcore.timing.walk.phase_cells import phase_cells
from kernelcast.simcore.timing.walk.result_cycles import results, scalar_loads, sooner
from kernelcast.simcore.timing.walk.warps_in_pieces import pieces_of_a_warp
from kernelcast.traces.issue_control import SCOREBOARDS
from kernelcast.traces.warp_paths import WarpPaths

__all__ = [
    "ADDRESS",
    "AFTER",
    "ARRIVE",
    "AWAIT",
    "BANK_READS",
    "BARRIER",
    "BRANCH",
    "BULK",
    "BYTES",
    "COMMIT",
    "COMMITTED",
    "CONSTANT",
    "DRAM_SECTORS",
    "EXIT",
    "FENCE",
    "FETCH_AHEAD",
    "FETCH_LINE",
    "FETCH_LINE_BYTES",
    "KIND",
    "KINDS",
    "L1_MISSES",
    "L2_MISSES",
    "L2_SECTORS",
    "L2_WEIGHT",
    "LATENCY",
    "LOAD",
    "MEET",
    "MISSED_SECTORS",
    "MORE",
    "NONE",
    "PASSES",
    "PIECE_SECTORS",
    "PIPELINES",
    "PIPE_REASON",
    "READS",
    "RECONVERGE",
    "RESULT",
    "SECTORS_OF_DRAM",
    "SHARED",
    "SOONER",
    "SOURCE",
    "SOURCES",
    "STALL",
    "STORE",
    "TARGET",
    "TENSOR",
    "TURN_AT_L1",
    "TURN_AT_L2",
    "UNITS",
    "UNIT_CYCLES",
    "UNIT_IS_PARTITIONED",
    "UNIT_TURNS",
    "UNLIMITED",
    "WARP_PIECES",
    "WORDS",
    "YIELDS",
    "KernelArrays",
    "kernel_arrays",
    "kind_word",
    "records",
    "word",
]

UNITS = 11
TENSOR = UNITS - 1
SHARED, CONSTANT, LOAD, STORE, BARRIER = range(UNITS, UNITS + 5)
FENCE, BRANCH, RECONVERGE, EXIT, NONE = range(BARRIER + 1, BARRIER + 6)
COMMIT, MEET, ARRIVE, AWAIT, BULK = range(NONE + 1, NONE + 6)
"""Kinds with phases: commits, barriers, other arrivals, waiting looks, copies in bulk."""
KINDS = BULK + 1
WORDS = 8
SOURCES = 4
KIND, SOURCE, TARGET, MORE, FETCH_LINE = 0, 1, 1 + SOURCES, 2 + SOURCES, 3 + SOURCES
L1_MISSES, MISSED_SECTORS, L2_MISSES, TURN_AT_L1, TURN_AT_L2 = range(5)
PASSES, RESULT, COMMITTED = range(5, 8)
L2_SECTORS, DRAM_SECTORS, L2_WEIGHT, PIECE_SECTORS, SECTORS_OF_DRAM = range(5)
SOONER, WARP_PIECES = range(5, 7)
STALL, READS, YIELDS, ADDRESS, BANK_READS = range(5)
UNIT_TURNS, BYTES = BANK_READS + 2, BANK_READS + 3
UNIT_CYCLES, UNIT_IS_PARTITIONED = range(2)
LATENCY, AFTER, PIPE_REASON = range(3)
UNLIMITED = -1.0

FETCH_LINE_BYTES = 128
FETCH_AHEAD = 8
"""Lines of machine code that are on their way at a time: Huerta et al. 2025 (arXiv:2503.20481) find
a stream buffer of that size to fit. The first ones are there as a launch begins: the launch
overhead, measured with empty kernels, contains them."""
PIPELINES = tuple(Pipeline)
_KIND: dict[Pipeline, int] = {
    **{pipeline: kind for kind, pipeline in enumerate(PIPELINES[:UNITS])},
    Pipeline.SHARED: SHARED,
    Pipeline.CONSTANT: CONSTANT,
    Pipeline.GLOBAL: LOAD,
    Pipeline.BARRIER: BARRIER,
    Pipeline.FENCE: FENCE,
    Pipeline.BRANCH: BRANCH,
    Pipeline.RECONVERGENCE: RECONVERGE,
    Pipeline.EXIT: EXIT,
    Pipeline.WAIT: EXIT,
    Pipeline.COMMIT: COMMIT,
    Pipeline.NONE: NONE,
}

_HAS_PASSES = np.isin(np.arange(KINDS), (TENSOR, SHARED, CONSTANT, LOAD, STORE, ARRIVE, AWAIT))
"""Whether each kind has rows by passes."""

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Column = npt.NDArray[np.int32]


@inlined
def word(row: int, column: int) -> np.uint64:
    """Where a record of a table has a column; unsigned, which needs no check for the last rows."""
    return np.uint64(row * WORDS + column)


@inlined
def kind_word(kind: int, column: int) -> np.uint64:
    """Where a table of columns by kind has one of a kind."""
    return np.uint64(column * KINDS + kind)


def records(columns: Sequence[npt.NDArray[Any]]) -> Floats:
    """A table of records with these columns, as compiled functions read it."""
    table = np.zeros((len(columns[0]), WORDS))
    for number, column in enumerate(columns):
        table[:, number] = column
    return table.ravel()


class KernelArrays(NamedTuple):
    """A kernel in arrays.

    A row is an instruction with the passes of its access: of a pc there are as many rows as its
    accesses took different passes, one after the other from `first_row[pc]` on.

    `code` by row: KIND; the registers from SOURCE on must be ready, TARGET is written; FETCH_LINE
    of its native code. Where there are more, MORE is the place in `operands` of the two ends that
    follow it, of sources and of targets, and of what lies before them. Missing ones are register
    `registers` - 2, always ready, and the last, which nobody reads.

    `traffic` by row: the columns of `miss_columns`; PASSES of an access, or cycles of a tensor
    unit; cycles until the RESULT of a tensor operation, or those for which a request occupies the
    busiest address of atomics; COMMITTED, where in `operands` the number
    of registers stands that a commit is for, and these.

    `moved` by row: the columns of `traffic_columns`, by how much SOONER than from L1 a load has its
    data from a scalar cache, and WARP_PIECES, `pieces_of_a_warp`.

    `schedule` by row, where `is_scheduled`: cycles that the warp's next instruction STALLs; the
    register that is ready when the operands have been read, from READS; whether it YIELDS; ADDRESS
    of the code; from BANK_READS on registers read of each bank; UNIT_TURNS; its length in BYTES.

    `event_phases` and `phase_...` are those of PhaseCells, `phases` the most of a thread block. By
    event `event_row`, and `event_turn`, those of the same pc that the warp had before. Warp w of
    recorded thread block i has the events from `begin[i * warps + w]` to the same of `end`; equal
    paths have the same events. `order`: which recorded one the SM gets first, second, ..., from the
    start again after the last.
    """

    code: Ints
    traffic: Floats
    moved: Floats
    operands: Ints
    schedule: Ints
    is_scheduled: bool
    begin: Ints
    end: Ints
    order: Ints
    event_row: npt.NDArray[np.int32]
    first_row: Ints
    event_turn: npt.NDArray[np.int32]
    event_phases: npt.NDArray[np.int32]
    phase_lists: Ints
    phase_first: Ints
    phase_needs: Ints
    phases: int
    rows: int
    warps: int
    registers: int


def kernel_arrays(
    kernel: TimedKernel,
    device: Device,
    without: frozenset[Component] = frozenset(),
    tables: SharedTables | None = None,
) -> KernelArrays:
    """The arrays of a kernel, with as much of the machine as `without` leaves.

    Those that are in `tables` already are not made again.
    """
    timing, tables = timing_facts(device), tables or SharedTables()
    kinds = tables.once(_kinds, kernel.pipeline).copy()
    kinds[(kinds == LOAD) & kernel.is_store] = STORE
    kinds, is_told = _with_phases(kinds, kernel.paths, without)
    cells = tables.once(phase_cells, kernel.paths, is_told)
    used = max(kernel.reads.max(initial=-1), kernel.writes.max(initial=-1))
    registers = int(max(used, -1 if kernel.schedule is None else SCOREBOARDS - 1)) + 3
    is_counted = kernel.schedule is not None
    code, operands, committed = tables.once(
        _code, kernel.reads, kernel.writes, is_counted, kinds, registers
    )
    lines = _addresses(kernel, kinds, timing.instruction_bytes) // FETCH_LINE_BYTES
    is_global = (kinds == LOAD) | (kinds == STORE)
    events = tables.once(
        event_rows,
        kernel.paths,
        kernel.wavefronts,
        np.where(is_global, kernel.levels.bytes_per_lane, 0.0),
        timing.l1_wavefront_bytes,
        _HAS_PASSES[kinds],
        len(cells.of_event) > 0,
    )
    row_pc = events.row_pc
    by_pc = *miss_columns(kernel.levels, device), results(kernel, without), committed
    traffic = [column[row_pc] for column in by_pc]
    pieces = tables.once(pieces_of_a_warp, kernel.paths, len(kinds))
    traffic_by_pc = traffic_columns(kernel.levels, kernel.is_store, device)
    is_scalar = tables.once(scalar_loads, kernel.instructions, len(kinds))
    moved_by_pc = *traffic_by_pc, sooner(is_scalar, timing, without), pieces
    moved = [column[row_pc] for column in moved_by_pc]
    code_rows = code[row_pc]
    code_rows[:, FETCH_LINE] = lines[row_pc]
    return KernelArrays(
        code=code_rows.ravel(),
        traffic=records([*traffic[:PASSES], events.row_passes, *traffic[PASSES:]]),
        moved=records(moved),
        operands=operands,
        schedule=_schedule(kernel, kinds, registers, without)[row_pc].ravel(),
        is_scheduled=is_counted,
        begin=events.begin,
        end=events.end,
        order=np.arange(len(kernel.paths.thread_blocks)),
        event_row=events.row,
        first_row=np.searchsorted(row_pc, np.arange(len(kinds))),
        event_turn=events.turn,
        event_phases=cells.of_event,
        phase_lists=cells.lists,
        phase_first=cells.first,
        phase_needs=cells.needs,
        phases=cells.most,
        rows=len(row_pc),
        warps=kernel.paths.warps_per_thread_block,
        registers=registers,
    )


def _kinds(pipelines: Sequence[Pipeline]) -> npt.NDArray[np.int8]:
    return np.array([_KIND[pipeline] for pipeline in pipelines], np.int8)


def _with_phases(
    kinds: npt.NDArray[np.int8], paths: WarpPaths, without: frozenset[Component]
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.bool_]]:
    """Kinds of what waits for phases or takes part in them, and by pc what does the latter.

    Without barriers warps wait for copies and commits only.
    """
    table, has_barriers = paths.phases, Component.BARRIER not in without
    tells, waits = np.zeros(len(kinds), np.bool_), np.zeros(len(kinds), np.bool_)
    tells[paths.pc[table.event[~table.is_wait]]] = True
    waits[paths.pc[table.event[table.is_wait]]] = True
    found, is_barrier = kinds.copy(), kinds == BARRIER
    found[waits & ~is_barrier] = AWAIT
    found[tells & (kinds == LOAD)] = BULK
    if has_barriers:
        found[tells & (kinds != LOAD) & (kinds != COMMIT)] = ARRIVE
        found[(tells | waits) & is_barrier] = MEET
    return found, (found > NONE) & (found != AWAIT)


def _code(
    reads_of: Column,
    writes_of: Column,
    is_counted: bool,
    kinds: npt.NDArray[np.int8],
    registers: int,
) -> tuple[Ints, Ints, Ints]:
    """The records of all pcs, the operands that do not fit them, and where commits' are.

    An instruction that issues waits for what it writes as well, but not for scoreboards, which
    count; a commit waits for nothing.
    """
    ready, unread = registers - 2, registers - 1
    code = np.zeros((len(kinds), WORDS), np.int64)
    committed = np.zeros(len(kinds), np.int64)
    operands = [0]
    for pc, (record, kind, reads, writes) in enumerate(
        zip(code, kinds, reads_of, writes_of, strict=True)
    ):
        if kind == COMMIT:
            committed[pc], found = len(operands), reads[reads >= 0].tolist()
            operands += [len(found), *found]
            reads = reads[:0]
        targets = writes[writes >= 0].tolist()
        sources = [*reads[reads >= 0].tolist(), *(() if is_counted or kind == NONE else targets)]
        more_sources, more_targets = sources[SOURCES:], targets[1:]
        record[KIND], record[TARGET] = kind, targets[0] if targets else unread
        record[SOURCE : SOURCE + SOURCES] = (sources + [ready] * SOURCES)[:SOURCES]
        if more_sources or more_targets:
            record[MORE] = at = len(operands)
            end = at + 2 + len(more_sources)
            operands += [end, end + len(more_targets), *more_sources, *more_targets]
    return code, np.array(operands, np.int64), committed


def _addresses(
    kernel: TimedKernel, kinds: npt.NDArray[np.int8], instruction_bytes: float
) -> Floats:
    """Where the code of each pc begins, in bytes; of a source form what it takes in its order."""
    if kernel.schedule is not None:
        return kernel.schedule.address.astype(np.float64)
    native = np.maximum(np.cumsum(kinds != NONE) - 1, 0)
    places: Floats = native * float(instruction_bytes)
    return places


def _schedule(
    kernel: TimedKernel,
    kinds: npt.NDArray[np.int8],
    registers: int,
    without: frozenset[Component],
) -> Ints:
    """The records of all pcs, empty for code that no assembler has scheduled.

    Without what an instruction waits for at its own, the next one follows in the next cycle.
    """
    table = np.zeros((len(kinds), WORDS), np.int64)
    schedule = kernel.schedule
    if schedule is None:
        return table
    table[:, STALL] = schedule.stall_cycles
    for component, chosen in (
        (Component.ARITHMETIC_LATENCY, kinds < UNITS),
        (Component.BRANCH, (kinds == BRANCH) | (kinds == RECONVERGE)),
        (Component.FENCE, kinds == FENCE),
    ):
        if component in without:
            table[chosen, STALL] = 1
    table[:, READS] = np.where(schedule.read < 0, registers - 1, schedule.read)
    table[:, YIELDS] = schedule.yields
    table[:, ADDRESS] = schedule.address
    table[:, BANK_READS : BANK_READS + 2] = schedule.bank_reads
    table[:, UNIT_TURNS] = schedule.unit_turns
    table[:, BYTES] = schedule.bytes
    return table
