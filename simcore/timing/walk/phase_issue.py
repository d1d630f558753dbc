"""Instructions that take part in phases of barriers and mbarriers, and those that wait for them.

A warp takes part when it issues, a copy in bulk when its last sector has come from L2 or DRAM, a
commit when what it is for is done. A look that finds its phase open holds its warp up and is issued
once more when the phase has ended, as `try_wait` suspends a thread (PTX ISA 9.0, "mbarrier"). The
wait is charged to what came last: to the level of memory of a copy, else to the barrier; Nsight
Compute has no stall reason of its own for mbarriers (Kernel Profiling Guide, "Warp Stall Reasons").
"""

from __future__ import annotations

import numpy as np

from kernelcast.simcore.host.compiled import compiled, inlined, noinline
from kernelcast.simcore.timing.kernel.stall_reasons import StallReason
from kernelcast.simcore.timing.walk.kernel_arrays import (
    ARRIVE,
    AWAIT,
    BULK,
    COMMIT,
    COMMITTED,
    MEET,
    KernelArrays,
    word,
)
from kernelcast.simcore.timing.walk.memory_requests import copy_in_bulk
from kernelcast.simcore.timing.walk.packed_words import cycle_of, pack, reason_of
from kernelcast.simcore.timing.walk.phase_cells import CELL_WORDS, LEFT, LIST_HEAD, PHASE_READY
from kernelcast.simcore.timing.walk.phase_waits import NOT_YET, end_phases, phases_ended
from kernelcast.simcore.timing.walk.pipe_use import access_shared
from kernelcast.simcore.timing.walk.scheduled_issue import earliest_next
from kernelcast.simcore.timing.walk.sm_machine import Machine
from kernelcast.simcore.timing.walk.sm_reads import (
    scheduler_wake,
    warp_pipe,
    warp_place,
    warp_position,
    warp_scheduler,
    warp_waits,
)
from kernelcast.simcore.timing.walk.sm_state import (
    LAST_CYCLE,
    NEVER,
    READY,
    WAITS,
    WHY,
    SmState,
    warp_word,
)
from kernelcast.simcore.timing.walk.warp_account import count_wait
from kernelcast.simcore.timing.walk.warp_progress import (
    ENDED,
    advance,
    meet_or_end,
    retire,
    send,
    wake,
    write_registers,
)

__all__ = ["issue_with_phases", "let_one_go"]

_AWAITING, _MEETING = 2, 3
"""What a warp WAITS for: phases before it issues its look again, or behind a barrier."""
_BARRIER = StallReason.BARRIER.code


@inlined
def _hold(state: SmState, warp: int, ended: int, waits: int) -> None:
    """Lets a warp wait until its phases have `ended`, packed."""
    state.warp[warp_word(warp, READY)] = cycle_of(ended)
    state.warp[warp_word(warp, WHY)] = reason_of(ended)
    state.warp[warp_word(warp, WAITS)] = waits if ended == NOT_YET else 0


@noinline
def _go_on(
    kernel: KernelArrays, machine: Machine, state: SmState, warp: int, ended: int, now: int
) -> None:
    """Sends a warp on whose phases have ended."""
    if warp_waits(state, warp) == _AWAITING:
        _hold(state, warp, ended, 0)
        scheduler = warp_scheduler(state, warp)
        wake(machine, state, scheduler, warp, cycle_of(ended))
        return
    count_wait(machine, state, warp, now)
    state.warp[warp_word(warp, WAITS)] = 0
    opens = pack((cycle_of(ended)) + machine.barrier_latency, _BARRIER)
    send(kernel, machine, state, warp, warp_position(state, warp) + 1, opens)


@noinline
def _send_on(kernel: KernelArrays, machine: Machine, state: SmState, place: int, now: int) -> None:
    """Sends on all warps of a thread block whose phases have ended."""
    for warp in range(place * kernel.warps, (place + 1) * kernel.warps):
        if warp_waits(state, warp) >= _AWAITING:
            ended = phases_ended(kernel, state, warp)
            if ended != NOT_YET:
                _go_on(kernel, machine, state, warp, ended, now)


@noinline
def _take_part(
    kernel: KernelArrays, machine: Machine, state: SmState, warp: int, done: int, now: int
) -> None:
    """Counts an event, `done` then, in its phases."""
    place = warp_place(state, warp)
    at = kernel.event_phases[np.uint64(warp_position(state, warp))]
    is_over = False
    for entry in range(at + LIST_HEAD, at + LIST_HEAD + kernel.phase_lists[np.uint64(at)]):
        number = kernel.phase_lists[np.uint64(entry)]
        cell = (place * kernel.phases + number) * CELL_WORDS
        left = state.phase[np.uint64(cell + LEFT)] - 1
        state.phase[np.uint64(cell + LEFT)] = left
        before = state.phase[np.uint64(cell + PHASE_READY)]
        state.phase[np.uint64(cell + PHASE_READY)] = max(before, done)
        if left == 0:
            is_over = True
    if is_over:
        _send_on(kernel, machine, state, place, now)


@noinline
def _done(
    kernel: KernelArrays,
    machine: Machine,
    state: SmState,
    warp: int,
    row: int,
    kind: int,
    now: int,
) -> int:
    """When an instruction has done its part, packed."""
    if kind == BULK:
        return copy_in_bulk(kernel, machine, state, warp, row, now)
    done = pack(now, _BARRIER)
    if kind == COMMIT:
        first = int(kernel.traffic[word(row, COMMITTED)]) + 1
        for at in range(first, first + kernel.operands[np.uint64(first - 1)]):
            register = warp * kernel.registers + kernel.operands[np.uint64(at)]
            done = max(done, state.registers[np.uint64(register)])
    return done


@noinline
def issue_with_phases(
    kernel: KernelArrays,
    machine: Machine,
    state: SmState,
    scheduler: int,
    warp: int,
    row: int,
    kind: int,
    now: int,
) -> int:
    """Issues an instruction with phases.

    Returns when the one behind it, or a look again, has its operands, or ENDED where that is not
    known or there is none.
    """
    if kind in (ARRIVE, AWAIT):
        pipe = warp_pipe(state, warp)
        came = access_shared(kernel, machine, state, pipe, row, now)
        write_registers(kernel, state, warp * kernel.registers, row, came)
    earliest = earliest_next(kernel, machine, state, warp, row, kind, now)
    if kind == AWAIT:
        ended = phases_ended(kernel, state, warp)
        if cycle_of(ended) > now:
            _hold(state, warp, ended, _AWAITING)
            return ENDED if ended == NOT_YET else cycle_of(ended)
    else:
        done = _done(kernel, machine, state, warp, row, kind, now)
        _take_part(kernel, machine, state, warp, done, now)
    if kind == MEET:
        ended = phases_ended(kernel, state, warp)
        if ended == NOT_YET:
            _hold(state, warp, ended, _MEETING)
            return ENDED
        if ended > 0:
            opens = pack((cycle_of(ended)) + machine.barrier_latency, _BARRIER)
            earliest = max(earliest, opens)
    position = warp_position(state, warp) + 1
    following = advance(kernel, machine, state, scheduler, warp, position, earliest)
    if following != ENDED:
        return following
    retire(machine, state, warp)
    place = warp_place(state, warp)
    meet_or_end(kernel, machine, state, place, now, now + machine.issue_cycles)
    return ENDED


@compiled
def let_one_go(kernel: KernelArrays, machine: Machine, state: SmState) -> bool:
    """Breaks a deadlock by ending the phases of the first waiting warp; whether there was one.

    Warps may wait for one another when parts of a warp are on ways of their own, so that nobody can
    issue any more.
    """
    for scheduler in range(machine.schedulers):
        if scheduler_wake(state, scheduler) < NEVER:
            return False
    now = state.counts[LAST_CYCLE]
    for warp in range(len(state.registers) // kernel.registers):
        if warp_waits(state, warp) >= _AWAITING:
            end_phases(kernel, state, warp, pack(now, _BARRIER))
            place = warp_place(state, warp)
            _send_on(kernel, machine, state, place, now)
            return True
    return False
