"""Warps from one event of their paths to the next; barriers; thread blocks that come and go."""

from __future__ import annotations

import numpy as np

from kernelcast.simcore.memory.compiled import inlined
from kernelcast.simcore.timing.sm_machine import Machine
from kernelcast.simcore.timing.sm_program import (
    FETCH_LINE,
    KIND,
    NONE,
    READS_AT,
    UNIT_IS_PARTITIONED,
    UNITS,
    WRITES_AT,
    Program,
    word,
)
from kernelcast.simcore.timing.sm_state import (
    ARRIVED,
    BEGINS,
    CANDIDATE,
    COMPLETED,
    COUNT,
    DISPATCHED,
    DUE,
    END,
    FETCHED,
    FETCHES,
    LAST,
    LINE,
    LINE_READY,
    LIVE,
    PIPE,
    PLACE_AND_SCHEDULER,
    POSITION,
    READY,
    REASON_BITS,
    REASON_MASK,
    RESIDENT,
    SCHEDULER_BITS,
    SCHEDULER_MASK,
    STORED,
    TOTAL,
    WAITS,
    WAKE,
    WHY,
    SmState,
)
from kernelcast.simcore.timing.stall_account import aligned
from kernelcast.simcore.timing.stall_reasons import StallReason

__all__ = ["advance", "meet_or_end", "pack", "retire", "start_thread_block"]

_BARRIER = StallReason.BARRIER.code
_FETCH = StallReason.INSTRUCTION_FETCH.code
_LAUNCH = StallReason.THREAD_BLOCK_LAUNCH.code


@inlined
def pack(cycle: int, reason: int) -> int:
    """A cycle and what is waited for until then, comparable by the cycle."""
    return (cycle << REASON_BITS) | reason


@inlined
def _fetched(
    program: Program, machine: Machine, state: SmState, warp: int, pc: int, to: int
) -> int:
    """When the line of code of `pc` is there. The cache replaces the line that it fetched first."""
    line = program.code[word(pc, FETCH_LINE)]
    if state.warp[word(warp, LINE)] == line:
        return to
    state.warp[word(warp, LINE)] = line
    fetches = state.counts[FETCHES]
    if fetches - state.lines[word(line, FETCHED)] >= machine.fetch_lines:
        state.counts[FETCHES] = fetches + 1
        state.lines[word(line, FETCHED)] = fetches + 1
        state.lines[word(line, LINE_READY)] = (to >> REASON_BITS) + machine.fetch_latency
    return max(to, pack(state.lines[word(line, LINE_READY)], _FETCH))


@inlined
def advance(program: Program, machine: Machine, state: SmState, warp: int, earliest: int) -> bool:
    """Finds when the warp's next instruction can issue, packed `earliest` at the soonest.

    Folded instructions on the way only hand on when their operands are ready. False at the end.
    """
    position, end = state.warp[word(warp, POSITION)], state.warp[word(warp, END)]
    registers = warp * program.registers
    pc = 0
    while position < end:
        pc = program.event_pc[np.uint64(position)]
        if program.code[word(pc, KIND)] != NONE:
            break
        ready = 0
        for at in range(program.code[word(pc, READS_AT)], program.code[word(pc, WRITES_AT)]):
            ready = max(
                ready, state.registers[np.uint64(registers + program.operands[np.uint64(at)])]
            )
        for at in range(program.code[word(pc, WRITES_AT)], program.code[word(pc + 1, READS_AT)]):
            state.registers[np.uint64(registers + program.operands[np.uint64(at)])] = ready
        position += 1
    state.warp[word(warp, POSITION)] = position
    if position == end:
        return False
    ready = earliest
    for at in range(program.code[word(pc, READS_AT)], program.code[word(pc + 1, READS_AT)]):
        ready = max(ready, state.registers[np.uint64(registers + program.operands[np.uint64(at)])])
    if machine.fetch_lines > 0:
        ready = _fetched(program, machine, state, warp, pc, ready)
    state.warp[word(warp, READY)] = ready >> REASON_BITS
    state.warp[word(warp, WHY)] = ready & REASON_MASK
    kind = program.code[word(pc, KIND)]
    pipe = UNITS * machine.schedulers - UNITS + kind
    if kind < UNITS:
        pipe = kind * machine.schedulers
        if machine.units[word(kind, UNIT_IS_PARTITIONED)] != 0.0:
            pipe += state.warp[word(warp, PLACE_AND_SCHEDULER)] & SCHEDULER_MASK
    state.warp[word(warp, PIPE)] = pipe
    return True


@inlined
def retire(program: Program, machine: Machine, state: SmState, warp: int) -> None:
    """Takes a warp out of its scheduler's order."""
    scheduler = state.warp[word(warp, PLACE_AND_SCHEDULER)] & SCHEDULER_MASK
    room = state.room
    first = scheduler * room
    at = first
    while state.order[np.uint64(at)] != warp:
        at += 1
    last = first + state.scheduler[word(scheduler, COUNT)] - 1
    while at < last:
        state.order[np.uint64(at)] = state.order[np.uint64(at + 1)]
        at += 1
    state.scheduler[word(scheduler, COUNT)] -= 1
    state.scheduler[word(scheduler, CANDIDATE)] = -1
    state.scheduler[word(scheduler, LAST)] = -1
    state.place[word(state.warp[word(warp, PLACE_AND_SCHEDULER)] >> SCHEDULER_BITS, LIVE)] -= 1


@inlined
def _wake(machine: Machine, state: SmState, warp: int) -> None:
    scheduler = state.warp[word(warp, PLACE_AND_SCHEDULER)] & SCHEDULER_MASK
    at = aligned(machine, max(state.warp[word(warp, READY)], state.scheduler[word(scheduler, DUE)]))
    state.scheduler[word(scheduler, WAKE)] = min(state.scheduler[word(scheduler, WAKE)], at)


@inlined
def start_thread_block(
    program: Program, machine: Machine, state: SmState, place: int, ended: int, first: int
) -> None:
    """Fills a place that was free at cycle `ended` with warps that begin at cycle `first`.

    A thread block of which no warp has an event ends at once, and the next one takes its place.
    """
    recorded = program.thread_blocks
    room = state.room
    while state.counts[DISPATCHED] < state.counts[TOTAL]:
        path = state.counts[DISPATCHED] % recorded * program.warps
        state.counts[DISPATCHED] += 1
        state.place[word(place, LIVE)] = program.warps
        state.place[word(place, ARRIVED)] = 0
        state.place[word(place, BEGINS)] = ended
        state.place[word(place, STORED)] = 0
        for warp in range(place * program.warps, (place + 1) * program.warps):
            state.warp[word(warp, POSITION)] = program.start[np.uint64(path)]
            state.warp[word(warp, END)] = program.start[np.uint64(path + 1)]
            path += 1
            state.warp[word(warp, WAITS)] = 0
            state.warp[word(warp, LINE)] = -1
            for register in range(warp * program.registers, (warp + 1) * program.registers):
                state.registers[np.uint64(register)] = 0
            scheduler = state.warp[word(warp, PLACE_AND_SCHEDULER)] & SCHEDULER_MASK
            state.order[np.uint64(scheduler * room + state.scheduler[word(scheduler, COUNT)])] = (
                warp
            )
            state.scheduler[word(scheduler, COUNT)] += 1
            if advance(program, machine, state, warp, pack(first, _LAUNCH)):
                _wake(machine, state, warp)
            else:
                retire(program, machine, state, warp)
        if state.place[word(place, LIVE)] > 0:
            return
        state.counts[COMPLETED] += 1
        ended, first = first, first + machine.launch_cycles
    state.counts[RESIDENT] -= 1


@inlined
def meet_or_end(
    program: Program, machine: Machine, state: SmState, place: int, now: int, ends: int
) -> None:
    """After a warp came to a barrier at cycle `now` or ended: opens the barrier when all live warps
    are there, and replaces the thread block, free at cycle `ends`, when none is left."""
    if 0 < state.place[word(place, LIVE)] == state.place[word(place, ARRIVED)]:
        state.place[word(place, ARRIVED)] = 0
        opens = pack(now + machine.barrier_latency, _BARRIER)
        for warp in range(place * program.warps, (place + 1) * program.warps):
            if state.warp[word(warp, WAITS)] != 0:
                state.warp[word(warp, WAITS)] = 0
                state.warp[word(warp, POSITION)] += 1
                if advance(program, machine, state, warp, opens):
                    _wake(machine, state, warp)
                else:
                    retire(program, machine, state, warp)
    if state.place[word(place, LIVE)] == 0:
        state.counts[COMPLETED] += 1
        ends = max(ends, state.place[word(place, STORED)])
        start_thread_block(program, machine, state, place, ends, ends + machine.launch_cycles)
