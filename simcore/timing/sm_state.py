"""What changes while an SM is simulated, as arrays that compiled functions work on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.memory.compiled import inlined
from kernelcast.simcore.timing.sm_machine import Machine
from kernelcast.simcore.timing.sm_program import (
    FETCH_LINE,
    KINDS,
    UNIT_IS_PARTITIONED,
    UNITS,
    UNLIMITED,
    WORDS,
    Program,
)
from kernelcast.simcore.timing.stall_reasons import REASON_COUNT, STATE_COUNT

__all__ = [
    "ACKNOWLEDGED",
    "ARRIVED",
    "BEGINS",
    "CANDIDATE",
    "CLOSED_BEFORE",
    "COMPLETED",
    "COUNT",
    "COUNTED",
    "DISPATCHED",
    "DRAM_CREDIT",
    "DRAM_FREE",
    "DRAM_SINCE",
    "DUE",
    "END",
    "FETCHED",
    "FETCHES",
    "FIRST",
    "FIRST_READY",
    "FIRST_ROW",
    "HEAD",
    "HEADS",
    "ISSUES",
    "L1_FREE",
    "L2_CREDIT",
    "L2_FREE",
    "L2_SINCE",
    "LAST",
    "LAST_CYCLE",
    "LINE",
    "LINE_READY",
    "LISTS",
    "LIVE",
    "LOADS",
    "LOAD_QUEUE",
    "NEVER",
    "NEXT_KIND",
    "NEXT_PC",
    "PAST_L1",
    "PAST_L2",
    "PIPE",
    "PLACE_AND_SCHEDULER",
    "POSITION",
    "PRESENT",
    "READY",
    "REASON_BITS",
    "REASON_MASK",
    "REQUEST_READY",
    "REQUEST_SECTORS",
    "RESIDENCE",
    "RESIDENT",
    "RESIDENT_FIRST",
    "SCHEDULER_BITS",
    "SCHEDULER_MASK",
    "SINCE",
    "SLOT",
    "SLOTS",
    "STORED",
    "STORES",
    "STORE_DONE",
    "STORE_QUEUE",
    "TAIL",
    "TIED",
    "TOTAL",
    "TURN",
    "WAITS",
    "WAKE",
    "WARP_BITS",
    "WARP_MASK",
    "WARP_WORDS",
    "WHY",
    "SmState",
    "new_state",
    "warp_word",
]

NEVER = 1 << 55
REASON_BITS = 5
REASON_MASK = (1 << REASON_BITS) - 1

L1_FREE, L2_FREE, DRAM_FREE, L2_SINCE, DRAM_SINCE, STORE_DONE, LOADS, STORES = range(8)
L2_CREDIT, DRAM_CREDIT = range(8, 10)
"""Clocks: when a level is free again, since when it has been busy without a pause, when the last
store is done; sectors that are on their way; idle cycles of the SM's share of a level."""
(
    DISPATCHED,
    COMPLETED,
    TOTAL,
    RESIDENT,
    RESIDENT_FIRST,
    LAST_CYCLE,
    ISSUES,
    FETCHES,
    TURN,
    LOAD_QUEUE,
    STORE_QUEUE,
    FIRST_ROW,
    RESIDENCE,
    HEADS,
) = range(14)
"""Counts: of thread blocks; the end of the last issue; of issues and fetched lines; the scheduler
whose turn it is; until when the queues are full; the account's first row for the present residence;
how long warps that have ended were resident, in all; from HEADS on head and tail of each ring."""

WARP_WORDS = 16
POSITION, END, NEXT_PC, NEXT_KIND, READY, WHY, PIPE, PLACE_AND_SCHEDULER = range(8)
SLOT, WAITS, LINE, COUNTED, CLOSED_BEFORE, ACKNOWLEDGED = range(8, 14)
SCHEDULER_BITS = 8
SCHEDULER_MASK = (1 << SCHEDULER_BITS) - 1
COUNT, LAST, CANDIDATE, WAKE, DUE, SINCE, TIED, FIRST_READY = range(8)
SLOTS = 64
"""Warps of a scheduler: one bit of a word each."""
LISTS = 32
PRESENT, HEAD, TAIL = range(KINDS, KINDS + 3)
WARP_BITS = 12
WARP_MASK = (1 << WARP_BITS) - 1
LIVE, ARRIVED, BEGINS, STORED, FIRST = range(5)
FETCHED, LINE_READY = range(2)
PAST_L1, PAST_L2 = range(2)
REQUEST_READY, REQUEST_SECTORS = range(2)

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class SmState(NamedTuple):
    """Tables have records of WORDS, found by `word`.

    `warp`: next event POSITION and END, the NEXT_PC and NEXT_KIND of the instruction that comes
    first from there on; its READY cycle, WHY not before, the PIPE that it needs; SLOT in the order
    of its scheduler; whether it WAITS at a barrier; LINE of code; COUNTED, up to when its cycles
    are; CLOSED_BEFORE, of its pipe when it began to wait for that; ACKNOWLEDGED, its stores; its
    place << SCHEDULER_BITS and scheduler, which take long to divide out. `registers` of all warps:
    cycle << REASON_BITS | reason.

    `scheduler`: COUNT of its warps, in `order` from the oldest on; LAST that issued; CANDIDATE to
    issue next at cycle WAKE, SINCE when one has had operands; slots up to DUE are accounted; of
    the slots TIED that can issue first, the FIRST_READY cycle, 0 where nobody has looked.
    `lists`, LISTS words of each scheduler, are bits by slot: by kind warps whose instruction of
    that kind has its operands; PRESENT are the kinds that have any. The others, but those at
    barriers, are `pending`: READY << WARP_BITS | warp in order from HEAD to TAIL, a ring of SLOTS
    of each scheduler. `pipes`, LISTS of each scheduler: by kind.
    `place` of a thread block: LIVE warps, ARRIVED at a barrier, BEGINS when it was dispatched,
    FIRST cycle of its warps, STORED when its stores are acknowledged. Of a pipe: `free`; `opens`,
    the cycle in which it is free; `closed`, cycles before that in which it could not be issued to.

    `requests` on their way, REQUEST_READY and REQUEST_SECTORS: a ring each for L2, DRAM, stores.
    `lines` of code: FETCHED as which one, LINE_READY. `missed` by pc: parts of lines that have not
    been asked for. `account`: slots, of shape (2, instructions + 1, reasons): in full and less than
    full residence; the last row is for no instruction. `warp_account`: cycles of warps,
    of shape (instructions + 1, states). `room` for warps, requests in a `ring`,
    `rows` of the account.
    """

    warp: Ints
    registers: Ints
    order: Ints
    scheduler: Ints
    lists: Ints
    pending: Ints
    pipes: Ints
    place: Ints
    free: Floats
    opens: Ints
    closed: Ints
    clocks: Floats
    counts: Ints
    requests: Floats
    lines: Ints
    missed: Floats
    account: Ints
    warp_account: Ints
    room: int
    ring: int
    rows: int


@inlined
def warp_word(warp: int, column: int) -> np.uint64:
    """Where the record of a warp has a column."""
    return np.uint64(warp * WARP_WORDS + column)


def new_state(
    program: Program, machine: Machine, thread_blocks: int, thread_blocks_per_sm: int
) -> SmState:
    """An SM before its first cycle, with room for `thread_blocks_per_sm` and work for all."""
    warps = thread_blocks_per_sm * program.warps
    schedulers, rows = machine.schedulers, program.instructions + 1
    pipes = (UNITS + KINDS) * schedulers
    ring = 2
    if machine.request_limit != UNLIMITED:
        while ring < machine.request_limit + 2:
            ring *= 2
    warp = np.zeros((warps, WARP_WORDS), np.int64)
    warp[:, READY], warp[:, LINE] = NEVER, -1
    numbers = np.arange(warps)
    places = numbers // program.warps << SCHEDULER_BITS
    warp[:, PLACE_AND_SCHEDULER] = places | (numbers % schedulers)
    scheduler = np.zeros((schedulers, WORDS), np.int64)
    scheduler[:, LAST], scheduler[:, CANDIDATE], scheduler[:, WAKE] = -1, -1, NEVER
    counts = np.zeros(HEADS + 6, np.int64)
    counts[TOTAL], counts[RESIDENT_FIRST] = thread_blocks, min(thread_blocks, thread_blocks_per_sm)
    lines = np.zeros((int(program.code[FETCH_LINE::WORDS].max()) + 1, WORDS), np.int64)
    lines[:, FETCHED] = -NEVER
    return SmState(
        warp=warp.ravel(),
        registers=np.zeros(warps * program.registers, np.int64),
        order=np.zeros(warps * schedulers, np.int64),
        scheduler=scheduler.ravel(),
        lists=np.zeros(schedulers * LISTS, np.int64),
        pending=np.zeros(schedulers * SLOTS, np.int64),
        pipes=_pipes(machine),
        place=np.zeros(thread_blocks_per_sm * WORDS, np.int64),
        free=np.zeros(pipes),
        opens=np.zeros(pipes, np.int64),
        closed=np.zeros(pipes, np.int64),
        clocks=np.zeros(10),
        counts=counts,
        requests=np.zeros(3 * ring * WORDS),
        lines=lines.ravel(),
        missed=np.zeros(rows * WORDS),
        account=np.zeros(2 * rows * REASON_COUNT, np.int64),
        warp_account=np.zeros(rows * STATE_COUNT, np.int64),
        room=warps,
        ring=ring,
        rows=rows,
    )


def _pipes(machine: Machine) -> Ints:
    """Which pipe a scheduler's instructions of a kind take."""
    schedulers = np.arange(machine.schedulers)
    pipes = np.zeros((machine.schedulers, LISTS), np.int64)
    own = machine.units[UNIT_IS_PARTITIONED::WORDS]
    for kind in range(UNITS):
        pipes[:, kind] = kind * machine.schedulers + schedulers * (own[kind] != 0.0)
    pipes[:, UNITS:KINDS] = UNITS * machine.schedulers - UNITS + np.arange(UNITS, KINDS)
    return pipes.ravel()
