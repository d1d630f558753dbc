"""The compiled walk of one SM from issue to issue."""

from __future__ import annotations

import math

import numpy as np

from kernelcast.simcore.memory.compiled import compiled, inlined
from kernelcast.simcore.timing.memory_requests import load, store
from kernelcast.simcore.timing.outlined import outlined
from kernelcast.simcore.timing.ready_warps import list_warp, move_ready, unlist_warp
from kernelcast.simcore.timing.sm_machine import Machine
from kernelcast.simcore.timing.sm_program import (
    AFTER,
    AFTER_REASON,
    BARRIER,
    LATENCY,
    LOAD,
    PASSES,
    RESULT,
    SHARED,
    STORE,
    TENSOR,
    UNIT_CYCLES,
    UNITS,
    Program,
    word,
)
from kernelcast.simcore.timing.sm_state import (
    ACKNOWLEDGED,
    ARRIVED,
    CANDIDATE,
    COMPLETED,
    COUNT,
    DISPATCHED,
    DUE,
    LAST,
    LAST_CYCLE,
    NEVER,
    NEXT_KIND,
    NEXT_ROW,
    ORDER,
    PIPE,
    PLACE_AND_SCHEDULER,
    POSITION,
    READY,
    RESIDENT,
    RESIDENT_FIRST,
    SCHEDULER_BITS,
    SINCE,
    STORED,
    TIED,
    TURN,
    WAITS,
    WAKE,
    WHY,
    SmState,
    scheduler_word,
    warp_word,
)
from kernelcast.simcore.timing.stall_account import aligned, credit, lose_slots, pipe_reason
from kernelcast.simcore.timing.stall_reasons import ISSUED, StallReason
from kernelcast.simcore.timing.warp_account import (
    begin_wait_for_pipe,
    close_pipe,
    count_issue,
    count_wait,
)
from kernelcast.simcore.timing.warp_choice import NO_WARP, choose, opening
from kernelcast.simcore.timing.warp_progress import (
    advance,
    meet_or_end,
    note_residence,
    pack,
    retire,
    start_thread_block,
    write_registers,
)

__all__ = ["walk"]

_EXECUTION = StallReason.EXECUTION_DEPENDENCY.code
_SHARED = StallReason.SHARED_DEPENDENCY.code
_CONSTANT = StallReason.CONSTANT_DEPENDENCY.code
_BARRIER = StallReason.BARRIER.code


@inlined
def _use(machine: Machine, state: SmState, pipe: int, at: int, cycles: float) -> float:
    """When an instruction of cycle `at` begins in its pipe, which is then taken for `cycles`.

    It opens to the issue in whose cycles it becomes free.
    """
    begins: float = max(state.free[np.uint64(pipe)], float(at))
    state.free[np.uint64(pipe)] = begins + cycles
    next_issue = at + machine.issue_cycles
    close_pipe(state, pipe, next_issue, int(begins + cycles) - machine.issue_cycles + 1)
    return begins


@inlined
def _result(
    program: Program, machine: Machine, state: SmState, warp: int, row: int, kind: int, now: int
) -> int:
    """Runs an instruction with a result; when that is ready, packed."""
    pipe = state.warp[warp_word(warp, PIPE)]
    if kind == TENSOR:
        cycles = program.traffic[word(row, PASSES)] * machine.units[word(kind, UNIT_CYCLES)]
        _use(machine, state, pipe, now, cycles)
        return pack(now + int(program.traffic[word(row, RESULT)]), _EXECUTION)
    if kind < UNITS or kind > STORE:
        _use(machine, state, pipe, now, machine.units[word(kind, UNIT_CYCLES)])
        return pack(now + machine.kinds[word(kind, LATENCY)], _EXECUTION)
    passes = program.traffic[word(row, PASSES)]
    if kind == SHARED:
        cycles = passes * machine.shared_cycles
        begins = _use(machine, state, pipe, now, cycles) + max(cycles - 1.0, 0.0)
        return pack(math.ceil(begins) + machine.shared_latency, _SHARED)
    if kind == LOAD:
        return load(program, machine, state, row, passes, now)
    if kind == STORE:
        stored = store(program, machine, state, row, passes, now)
        place = state.warp[warp_word(warp, PLACE_AND_SCHEDULER)] >> SCHEDULER_BITS
        state.place[word(place, STORED)] = max(state.place[word(place, STORED)], stored)
        state.warp[warp_word(warp, ACKNOWLEDGED)] = stored
        return pack(now, _EXECUTION)
    cycles = passes * machine.constant_cycles
    begins = _use(machine, state, pipe, now, cycles) + cycles - 1.0
    return pack(math.ceil(begins) + machine.constant_latency, _CONSTANT)


@inlined
def _earliest_next(machine: Machine, kind: int, now: int) -> int:
    """When the warp may issue again whatever it reads, packed."""
    return pack(now + machine.kinds[word(kind, AFTER)], machine.kinds[word(kind, AFTER_REASON)])


@inlined
def _issue(program: Program, machine: Machine, state: SmState, warp: int, now: int) -> bool:
    """Issues the warp's next instruction; whether the warp has another one that may follow."""
    row, kind = state.warp[warp_word(warp, NEXT_ROW)], state.warp[warp_word(warp, NEXT_KIND)]
    ready = _result(program, machine, state, warp, row, kind, now)
    registers = warp * program.registers
    write_registers(program, state, registers, row, ready)
    place = state.warp[warp_word(warp, PLACE_AND_SCHEDULER)] >> SCHEDULER_BITS
    if kind == BARRIER and machine.waits_at_barriers:
        (
            state.warp[warp_word(warp, READY)],
            state.warp[warp_word(warp, WHY)],
            state.warp[warp_word(warp, WAITS)],
        ) = NEVER, _BARRIER, 1
        state.place[word(place, ARRIVED)] += 1
    else:
        state.warp[warp_word(warp, POSITION)] += 1
        if advance(program, machine, state, warp, _earliest_next(machine, kind, now)):
            return True
        retire(machine, state, warp)
    meet_or_end(program, machine, state, place, now, now + machine.issue_cycles)
    return False


@inlined
def _issue_together(
    program: Program, machine: Machine, state: SmState, scheduler: int, warp: int, now: int
) -> None:
    """Issues up to `machine.issues` independent instructions of the warp in one cycle.

    Slots that are left over wait for what the next instruction waits for.
    """
    used, goes_on, row = 0, True, 0
    state.scheduler[scheduler_word(scheduler, LAST)] = warp
    move_ready(state, scheduler, now)
    unlist_warp(state, scheduler, warp)
    state.scheduler[scheduler_word(scheduler, TIED)] = 0
    count_issue(machine, state, warp, now)
    while used < machine.issues and goes_on and opening(state, warp) <= now:
        row = state.warp[warp_word(warp, NEXT_ROW)]
        credit(state, row, ISSUED, 1)
        used += 1
        goes_on = _issue(program, machine, state, warp, now)
    if goes_on:
        list_warp(state, scheduler, warp, now + machine.issue_cycles)
    if used == machine.issues:
        return
    reason = _EXECUTION
    if goes_on:
        row = state.warp[warp_word(warp, NEXT_ROW)]
        reason = state.warp[warp_word(warp, WHY)]
        if state.warp[warp_word(warp, READY)] <= now:
            reason = pipe_reason(machine, state, state.warp[warp_word(warp, NEXT_KIND)])
    credit(state, row, reason, machine.issues - used)


@inlined
def _serve(program: Program, machine: Machine, state: SmState, scheduler: int, now: int) -> None:
    """Issues at cycle `now`, or finds out when the scheduler can."""
    warp, opens = state.scheduler[scheduler_word(scheduler, CANDIDATE)], now
    since = state.scheduler[scheduler_word(scheduler, SINCE)]
    if warp < 0 or opening(state, warp) > now:
        warp, opens, since = choose(state, scheduler, now)
    if opens > now:
        state.scheduler[scheduler_word(scheduler, CANDIDATE)] = warp
        state.scheduler[scheduler_word(scheduler, SINCE)] = since
        state.scheduler[scheduler_word(scheduler, WAKE)] = (
            NEVER if opens >= NEVER else aligned(machine, opens)
        )
        return
    lose_slots(program, machine, state, scheduler, warp, since, now)
    after = now + machine.issue_cycles
    state.scheduler[scheduler_word(scheduler, CANDIDATE)] = NO_WARP
    state.scheduler[scheduler_word(scheduler, DUE)] = after
    state.scheduler[scheduler_word(scheduler, WAKE)] = after
    state.counts[LAST_CYCLE] = after
    _issue_together(program, machine, state, scheduler, warp, now)


@outlined
def _begin(program: Program, machine: Machine, state: SmState) -> None:
    """Fills the SM with its first thread blocks."""
    places = state.counts[RESIDENT_FIRST]
    state.counts[RESIDENT] = places
    for place in range(places):
        start_thread_block(program, machine, state, place, 0, 0)


@inlined
def _count_warps(machine: Machine, state: SmState, scheduler: int, until: int) -> None:
    """Counts what the scheduler's warps have done up to a cycle."""
    move_ready(state, scheduler, until)
    for at in range(state.scheduler[scheduler_word(scheduler, COUNT)]):
        warp = state.scheduler[scheduler_word(scheduler, ORDER + at)]
        count_wait(machine, state, warp, until)
        begin_wait_for_pipe(state, warp)


@outlined
def _settle(program: Program, machine: Machine, state: SmState) -> int:
    """Attributes all slots and counts all warps up to the last issue; its end."""
    until: int = state.counts[LAST_CYCLE]
    for scheduler in range(machine.schedulers):
        _count_warps(machine, state, scheduler, until)
        warp, _, since = choose(state, scheduler, until)
        if warp < 0 and state.scheduler[scheduler_word(scheduler, COUNT)] > 0:
            warp = state.scheduler[scheduler_word(scheduler, ORDER)]
        lose_slots(program, machine, state, scheduler, warp, since, until)
        state.scheduler[scheduler_word(scheduler, WAKE)] = max(
            state.scheduler[scheduler_word(scheduler, WAKE)],
            state.scheduler[scheduler_word(scheduler, DUE)],
        )
    return until


@inlined
def _first_wake(machine: Machine, state: SmState) -> int:
    """The next cycle in which a scheduler may issue."""
    first: int = state.scheduler[scheduler_word(0, WAKE)]
    for scheduler in range(1, machine.schedulers):
        first = min(first, state.scheduler[scheduler_word(scheduler, WAKE)])
    return first


@compiled
def walk(program: Program, machine: Machine, state: SmState, completed: int, before: int) -> int:
    """Goes on until so many thread blocks have ended, or up to a cycle, or to the end.

    Schedulers of one cycle take turns to be first. All slots are attributed up to the end of the
    last issue, which is returned.
    """
    if state.counts[DISPATCHED] == 0:
        _begin(program, machine, state)
    note_residence(state)
    schedulers = machine.schedulers
    turn = state.counts[TURN]
    while state.counts[COMPLETED] < completed:
        now = _first_wake(machine, state)
        if now >= before:
            break
        scheduler = turn
        for _ in range(schedulers):
            if state.scheduler[scheduler_word(scheduler, WAKE)] == now:
                _serve(program, machine, state, scheduler, now)
            scheduler = scheduler + 1 if scheduler + 1 < schedulers else 0
        turn = turn + 1 if turn + 1 < schedulers else 0
    state.counts[TURN] = turn
    return _settle(program, machine, state)
