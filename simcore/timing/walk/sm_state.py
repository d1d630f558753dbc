"""What changes while an SM is simulated, as arrays that compiled functions work on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.host.compiled import inlined
from kernelcast.simcore.timing.walk.kernel_arrays import (
    ARRIVE,
    AWAIT,
    FETCH_AHEAD,
    FETCH_LINE,
    KINDS,
    SHARED,
    UNIT_IS_PARTITIONED,
    UNITS,
    UNLIMITED,
    WORDS,
    KernelArrays,
)
from kernelcast.simcore.timing.walk.phase_cells import CELL_WORDS
from kernelcast.simcore.timing.walk.sm_machine import Machine

__all__ = [
    "ACCOUNT_WORDS",
    "ACKNOWLEDGED",
    "ADDRESS_FREE",
    "ADDRESS_SINCE",
    "ARRIVED",
    "BEGINS",
    "BIT",
    "BY_KIND",
    "CANDIDATE",
    "CLOSED",
    "CLOSED_BEFORE",
    "COMPLETED",
    "COUNT",
    "COUNTED",
    "DISPATCHED",
    "DRAM_CREDIT",
    "DRAM_FREE",
    "DRAM_LAST",
    "DRAM_LOAD",
    "DRAM_SINCE",
    "DUE",
    "END",
    "END_OF_RING",
    "FETCHED",
    "FETCHES",
    "FIRST",
    "FIRST_READY",
    "FIRST_ROW",
    "HEAD",
    "L1_FREE",
    "L2_CREDIT",
    "L2_FREE",
    "L2_SINCE",
    "LAST",
    "LAST_CYCLE",
    "LINE",
    "LINE_READY",
    "LIVE",
    "LOADS",
    "LOAD_QUEUE",
    "NEVER",
    "NEXT_DISPATCH",
    "NEXT_KIND",
    "NEXT_ROW",
    "NOW",
    "NUMBER",
    "OPENS",
    "ORDER",
    "PENDING",
    "PIPE",
    "PIPES",
    "PLACE_AND_SCHEDULER",
    "POSITION",
    "PRESENT",
    "READY",
    "REQUEST_READY",
    "REQUEST_SECTORS",
    "RESIDENCE",
    "RESIDENT",
    "RESIDENT_FIRST",
    "RINGS",
    "RING_WORDS",
    "SCHEDULER_BITS",
    "SCHEDULER_MASK",
    "SINCE",
    "SLOTS",
    "STATES",
    "STORED",
    "STORES",
    "STORE_DONE",
    "STORE_QUEUE",
    "TAIL",
    "TIED",
    "TOTAL",
    "TURN",
    "VACATED",
    "WAITS",
    "WAKE",
    "WARP_WORDS",
    "WHY",
    "WOKEN",
    "SmState",
    "account_word",
    "common_pipe",
    "copied",
    "new_state",
    "pipe_word",
    "request_word",
    "scheduler_word",
    "warp_word",
]

NEVER = 1 << 50

L1_FREE, L2_FREE, DRAM_FREE, L2_SINCE, DRAM_SINCE, STORE_DONE, LOADS, STORES = range(8)
L2_CREDIT, DRAM_CREDIT, ADDRESS_FREE, ADDRESS_SINCE, NEXT_DISPATCH = range(8, 13)
DRAM_LOAD, DRAM_LAST = range(13, 15)
"""Clocks: when a level is free again, since when it has been busy without a pause, when the last
store is done; sectors that are on their way; idle cycles of the SM's share of a level; the busiest
address of atomics as a level; when the next thread block can begin at the soonest; how busy
DRAM has been of late, from 0 to 1, and when that was last looked at."""
(
    DISPATCHED,
    COMPLETED,
    TOTAL,
    RESIDENT,
    RESIDENT_FIRST,
    LAST_CYCLE,
    FETCHES,
    TURN,
    LOAD_QUEUE,
    STORE_QUEUE,
    FIRST_ROW,
    RESIDENCE,
    WOKEN,
    NOW,
    RINGS,
) = range(15)
"""Counts: of thread blocks; the end of the last issue; of fetched lines; the scheduler whose turn
it is; until when the queues are full; the account's first row for the present residence; how long
warps that have ended were resident, in all; the first cycle for which a scheduler was woken by
another; the cycle of the walk; from RINGS on head and tail of each ring."""

WARP_WORDS = 16
POSITION, END, NEXT_ROW, NEXT_KIND, READY, WHY, PIPE, PLACE_AND_SCHEDULER = range(8)
BIT, WAITS, LINE, COUNTED, CLOSED_BEFORE, ACKNOWLEDGED, NUMBER = range(8, 15)
SCHEDULER_BITS = 8
SCHEDULER_MASK = (1 << SCHEDULER_BITS) - 1
SLOTS = 64
"""Warps of a scheduler: one bit of a word each."""
COUNT, LAST, CANDIDATE, WAKE, DUE, SINCE, TIED, FIRST_READY, PRESENT, HEAD, TAIL = range(11)
BY_KIND = 11
PIPES = BY_KIND + KINDS
PENDING = PIPES + KINDS
RING_WORDS = 2 * SLOTS
ORDER = PENDING + RING_WORDS
SCHEDULER_WORDS = ORDER + SLOTS
END_OF_RING = (1 << 63) - 1
LIVE, ARRIVED, BEGINS, STORED, FIRST, VACATED = range(6)
FETCHED, LINE_READY = range(2)
REQUEST_READY, REQUEST_SECTORS, REQUEST_WORDS = range(3)
OPENS, CLOSED, PIPE_WORDS = range(3)
STATES = 40
"""Where the states of warps begin in a row of the account, behind the slots."""
ACCOUNT_WORDS = 2 * STATES
SCHEDULERS = 64
"""The most of an SM."""
_SCHEDULERS_AT = 64
_PIPES_AT = _SCHEDULERS_AT + SCHEDULERS * SCHEDULER_WORDS
_WARPS_AT = _PIPES_AT + SCHEDULERS * (UNITS + KINDS) * PIPE_WORDS
_ACCOUNT_AT = _WARPS_AT + SCHEDULERS * SLOTS * WARP_WORDS
"""Where the tables begin that are one array."""

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class SmState(NamedTuple):
    """The state of one SM in tables of records.

    Records are found by `word` or by the function of their name, and lie together as they are used:
    the simulator is as fast as the processor's first-level cache.

    `warp`: next event POSITION and END, the NEXT_ROW and NEXT_KIND of the instruction that comes
    first from there on; its READY cycle, WHY not before, the PIPE that it needs; the BIT of its
    place in the order of its scheduler; what it WAITS for, 1 at a barrier; LINE of code; COUNTED,
    up to when its cycles are; CLOSED_BEFORE, of its pipe when it began to wait for that;
    ACKNOWLEDGED, its stores; its NUMBER among those of all thread blocks; its place <<
    SCHEDULER_BITS and scheduler, which take long to divide out. `registers` of all warps: cycle <<
    REASON_BITS | reason.

    `scheduler`: COUNT of its warps, from ORDER on the oldest first; LAST that issued, a bit;
    CANDIDATE to issue next at cycle WAKE, SINCE when one has had operands; slots up to DUE are
    accounted; of the slots TIED that can issue first, the FIRST_READY cycle, 0 where nobody has
    looked. From BY_KIND on bits by slot: the warps whose instruction of that kind has its operands;
    PRESENT are the kinds that have any. The others, but those at barriers, are PENDING: READY <<
    WARP_BITS | warp in order from HEAD to TAIL, a ring with END_OF_RING behind them. From PIPES on
    the pipe of each kind.

    `place` of a thread block: LIVE warps, ARRIVED at a barrier, BEGINS when it was dispatched,
    FIRST cycle of its warps, STORED when its stores are acknowledged, VACATED when the last warp of
    the one before it ended. Of a pipe: when it is `free`; `banks`: when each bank of
    registers is free, two for each scheduler; in `pipe` the cycle in which it OPENS, and CLOSED,
    cycles before that in which it was not open.

    `requests` on their way, REQUEST_READY and REQUEST_SECTORS: a ring each for L2, DRAM, stores.
    `lines` of code: FETCHED as which one, LINE_READY. `account`: of shape (2, rows, ACCOUNT_WORDS),
    in full and less than full residence, slots by reason and from STATES on cycles of warps; the
    last of the `rows` is for no instruction. `phase`: by place and cell the events LEFT and
    PHASE_READY (see PhaseCells). `ring`: how many requests fit. `counts_warps`: whether states of
    warps are counted. `warp`, `scheduler`, `pipe`,
    `counts` and `account` are one array, in which their functions find them.
    """

    warp: Ints
    registers: Ints
    scheduler: Ints
    pipe: Ints
    free: Floats
    banks: Floats
    place: Ints
    clocks: Floats
    counts: Ints
    requests: Floats
    lines: Ints
    account: Ints
    phase: Ints
    ring: int
    rows: int
    counts_warps: bool


@inlined
def warp_word(warp: int, column: int) -> np.uint64:
    """Where the record of a warp has a column."""
    return np.uint64(_WARPS_AT + warp * WARP_WORDS + column)


@inlined
def scheduler_word(scheduler: int, column: int) -> np.uint64:
    """Where the record of a scheduler has a column."""
    return np.uint64(_SCHEDULERS_AT + scheduler * SCHEDULER_WORDS + column)


@inlined
def pipe_word(pipe: int, column: int) -> np.uint64:
    """Where the record of a pipe, named by its first word, has a column."""
    return np.uint64(_PIPES_AT + pipe + column)


@inlined
def common_pipe(machine: Machine, kind: int) -> int:
    """The pipe of instructions that are for no unit, one for all schedulers."""
    return (UNITS * machine.schedulers - UNITS + kind) * PIPE_WORDS


@inlined
def request_word(number: int, column: int) -> np.uint64:
    """Where the record of a request has a column."""
    return np.uint64(number * REQUEST_WORDS + column)


@inlined
def account_word(row: int, column: int) -> np.uint64:
    """Where a row of the account has a column."""
    return np.uint64(_ACCOUNT_AT + row * ACCOUNT_WORDS + column)


def new_state(
    kernel: KernelArrays,
    machine: Machine,
    thread_blocks: int,
    thread_blocks_per_sm: int,
    counts_warps: bool,
) -> SmState:
    """An SM before its first cycle, with room for `thread_blocks_per_sm` and work for all."""
    warps = thread_blocks_per_sm * kernel.warps
    schedulers, rows = machine.schedulers, kernel.rows + 1
    pipes = (UNITS + KINDS) * schedulers
    ring = 2
    if machine.request_limit != UNLIMITED:
        while ring < machine.request_limit + 2:
            ring *= 2
    words = np.zeros(_ACCOUNT_AT + 2 * rows * ACCOUNT_WORDS, np.int64)
    warp = warp_records(words)[:warps]
    warp[:, READY], warp[:, LINE] = NEVER, -1
    numbers = np.arange(warps)
    places = numbers // kernel.warps << SCHEDULER_BITS
    warp[:, PLACE_AND_SCHEDULER] = places | (numbers % schedulers)
    scheduler = scheduler_records(words)[:schedulers]
    scheduler[:, CANDIDATE], scheduler_records(words)[:, WAKE] = -1, NEVER
    scheduler[:, PIPES : PIPES + KINDS] = _pipes(machine)
    scheduler[:, PENDING] = END_OF_RING
    words[TOTAL], words[RESIDENT_FIRST] = thread_blocks, min(thread_blocks, thread_blocks_per_sm)
    lines = np.zeros((int(kernel.code[FETCH_LINE::WORDS].max()) + 1, WORDS), np.int64)
    lines[:, FETCHED] = -NEVER
    lines[: FETCH_AHEAD if kernel.is_scheduled else 0, FETCHED] = 0
    return SmState(
        warp=words,
        registers=np.zeros(warps * kernel.registers, np.int64),
        scheduler=words,
        pipe=words,
        free=np.zeros(pipes * PIPE_WORDS),
        banks=np.zeros(2 * schedulers),
        place=np.zeros(thread_blocks_per_sm * WORDS, np.int64),
        clocks=np.zeros(15),
        counts=words,
        requests=np.zeros(3 * ring * REQUEST_WORDS),
        lines=lines.ravel(),
        account=words,
        phase=np.zeros(thread_blocks_per_sm * kernel.phases * CELL_WORDS, np.int64),
        ring=ring,
        rows=rows,
        counts_warps=counts_warps,
    )


def copied(state: SmState) -> SmState:
    """A state of its own that is equal."""
    tables = {id(table): table for table in state if isinstance(table, np.ndarray)}
    copies = {name: table.copy() for name, table in tables.items()}
    return SmState._make(copies.get(id(table), table) for table in state)


def scheduler_records(words: Ints) -> Ints:
    """Shape (SCHEDULERS, SCHEDULER_WORDS)."""
    return words[_SCHEDULERS_AT:_PIPES_AT].reshape(-1, SCHEDULER_WORDS)


def warp_records(words: Ints) -> Ints:
    """Shape (SCHEDULERS x SLOTS, WARP_WORDS)."""
    return words[_WARPS_AT:_ACCOUNT_AT].reshape(-1, WARP_WORDS)


def account_records(words: Ints) -> Ints:
    """Shape (2, rows, ACCOUNT_WORDS)."""
    return words[_ACCOUNT_AT:].reshape(2, -1, ACCOUNT_WORDS)


@inlined
def as_one(state: SmState) -> SmState:
    """The state with tables that share an array known to do so.

    From here on it takes one register.
    """
    words = state.warp
    return SmState(
        words,
        state.registers,
        words,
        words,
        state.free,
        state.banks,
        state.place,
        state.clocks,
        words,
        state.requests,
        state.lines,
        words,
        state.phase,
        state.ring,
        state.rows,
        state.counts_warps,
    )


def _pipes(machine: Machine) -> Ints:
    """Which pipe instructions of a kind take, shape (schedulers, KINDS)."""
    schedulers = np.arange(machine.schedulers)
    pipes = np.zeros((machine.schedulers, KINDS), np.int64)
    own = machine.units.reshape(-1, KINDS)[UNIT_IS_PARTITIONED]
    for kind in range(UNITS):
        pipes[:, kind] = kind * machine.schedulers + schedulers * (own[kind] != 0.0)
    pipes[:, UNITS:KINDS] = UNITS * machine.schedulers - UNITS + np.arange(UNITS, KINDS)
    pipes[:, [ARRIVE, AWAIT]] = pipes[:, [SHARED]]
    return pipes * PIPE_WORDS
