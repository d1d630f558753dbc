"""Warps from one event of their paths to the next; barriers; thread blocks that come and go."""

from __future__ import annotations

import numpy as np

from kernelcast.simcore.host.compiled import inlined, noinline, unlikely
from kernelcast.simcore.timing.kernel.stall_reasons import StallReason
from kernelcast.simcore.timing.walk.kernel_arrays import (
    FETCH_LINE,
    KIND,
    MORE,
    NONE,
    SOURCE,
    SOURCES,
    TARGET,
    WORDS,
    KernelArrays,
    word,
)
from kernelcast.simcore.timing.walk.packed_words import cycle_of, pack, reason_of
from kernelcast.simcore.timing.walk.phase_waits import begin_phases
from kernelcast.simcore.timing.walk.ready_warps import close_gap, list_pending, list_ready, lowest
from kernelcast.simcore.timing.walk.sm_machine import Machine
from kernelcast.simcore.timing.walk.sm_reads import (
    pipe_of_kind,
    scheduler_candidate,
    scheduler_count,
    scheduler_due,
    scheduler_wake,
    warp_bit,
    warp_counted,
    warp_end,
    warp_in_order,
    warp_kind,
    warp_line,
    warp_place,
    warp_position,
    warp_reason,
    warp_row,
    warp_scheduler,
    warp_waits,
)
from kernelcast.simcore.timing.walk.sm_state import (
    ACKNOWLEDGED,
    ARRIVED,
    BEGINS,
    BIT,
    CANDIDATE,
    COMPLETED,
    COUNT,
    COUNTED,
    DISPATCHED,
    END,
    FETCHED,
    FETCHES,
    FIRST,
    FIRST_ROW,
    LAST,
    LAST_CYCLE,
    LINE,
    LINE_READY,
    LIVE,
    NEXT_DISPATCH,
    NEXT_KIND,
    NEXT_ROW,
    NUMBER,
    ORDER,
    PIPE,
    POSITION,
    READY,
    RESIDENT,
    RESIDENT_FIRST,
    STORED,
    TIED,
    TOTAL,
    VACATED,
    WAITS,
    WAKE,
    WHY,
    WOKEN,
    SmState,
    scheduler_word,
    warp_word,
)
from kernelcast.simcore.timing.walk.stall_account import account_row, aligned, credit, pipe_reason
from kernelcast.simcore.timing.walk.warp_account import count_wait, end_residence

__all__ = [
    "ENDED",
    "advance",
    "leave_slots",
    "meet_or_end",
    "note_residence",
    "retire",
    "send",
    "start_thread_block",
    "wake",
    "write_registers",
]

ENDED = -1
"""A cycle that stands for the end of the path: there are no more events."""

_EXECUTION = StallReason.EXECUTION_DEPENDENCY.code
_BARRIER = StallReason.BARRIER.code
_FETCH = StallReason.INSTRUCTION_FETCH.code
_LAUNCH = StallReason.THREAD_BLOCK_LAUNCH.code


@inlined
def _is_missing(machine: Machine, state: SmState, line: int) -> bool:
    newer = state.counts[FETCHES] - state.lines[word(line, FETCHED)]
    is_gone: bool = newer >= machine.fetch_lines
    return is_gone


@inlined
def _fetched(
    kernel: KernelArrays, machine: Machine, state: SmState, warp: int, row: int, to: int
) -> int:
    """When the line of code of `row` is there. The cache replaces the one that it fetched first.

    Lines behind it are asked for before they are needed: all with one that is missing, then one for
    each that is come to.
    """
    line = kernel.code[word(row, FETCH_LINE)]
    if warp_line(state, warp) == line:
        return to
    state.warp[warp_word(warp, LINE)] = line
    ready = cycle_of(to) + machine.fetch_latency
    first, count = line + machine.fetch_ahead, 1
    if _is_missing(machine, state, line):
        first, count = line, machine.fetch_ahead
    elif machine.fetch_ahead == 1:
        count = 0
    for ahead in range(first, min(first + count, len(state.lines) // WORDS)):
        if _is_missing(machine, state, ahead):
            state.counts[FETCHES] += 1
            state.lines[word(ahead, FETCHED)] = state.counts[FETCHES]
            state.lines[word(ahead, LINE_READY)] = ready
    return max(to, pack(state.lines[word(line, LINE_READY)], _FETCH))


@inlined
def _operands_ready(
    kernel: KernelArrays, state: SmState, registers: int, row: int, ready: int
) -> int:
    """When all that an instruction waits for is ready, packed `ready` at the soonest."""
    for source in range(SOURCE, SOURCE + SOURCES):
        register = kernel.code[word(row, source)]
        ready = max(ready, state.registers[np.uint64(registers + register)])
    more = kernel.code[word(row, MORE)]
    if unlikely(more != 0):
        for at in range(more + 2, kernel.operands[np.uint64(more)]):
            register = kernel.operands[np.uint64(at)]
            ready = max(ready, state.registers[np.uint64(registers + register)])
    return ready


@inlined
def write_registers(
    kernel: KernelArrays, state: SmState, registers: int, row: int, ready: int
) -> None:
    """Sets when the results of an instruction are ready, packed; `registers`: the warp's first.

    A scoreboard is free when all that hold it are done.
    """
    target = np.uint64(registers + kernel.code[word(row, TARGET)])
    before = state.registers[target]
    state.registers[target] = max(before, ready) if kernel.is_scheduled else ready
    more = kernel.code[word(row, MORE)]
    if unlikely(more != 0):
        ends = kernel.operands[np.uint64(more)], kernel.operands[np.uint64(more + 1)]
        for at in range(ends[0], ends[1]):
            state.registers[np.uint64(registers + kernel.operands[np.uint64(at)])] = ready


@inlined
def advance(
    kernel: KernelArrays,
    machine: Machine,
    state: SmState,
    scheduler: int,
    warp: int,
    position: int,
    earliest: int,
) -> int:
    """Finds when the warp's next instruction from `position` on can issue; ENDED if there is none.

    The cycle is packed, and `earliest` at the soonest. Folded instructions on the way only hand on
    when their operands are ready.
    """
    end = warp_end(state, warp)
    registers = warp * kernel.registers
    while True:
        if unlikely(position == end):
            return ENDED
        row = kernel.event_row[np.uint64(position)]
        kind = kernel.code[word(row, KIND)]
        if not unlikely(kind == NONE):
            break
        write_registers(
            kernel, state, registers, row, _operands_ready(kernel, state, registers, row, 0)
        )
        position += 1
    state.warp[warp_word(warp, POSITION)] = position
    ready = _operands_ready(kernel, state, registers, row, earliest)
    if unlikely(machine.fetch_lines > 0):
        ready = _fetched(kernel, machine, state, warp, row, ready)
    state.warp[warp_word(warp, NEXT_ROW)] = row
    state.warp[warp_word(warp, NEXT_KIND)] = kind
    state.warp[warp_word(warp, READY)] = cycle_of(ready)
    state.warp[warp_word(warp, WHY)] = reason_of(ready)
    state.warp[warp_word(warp, PIPE)] = pipe_of_kind(state, scheduler, kind)
    return cycle_of(ready)


@inlined
def _look_again(state: SmState, scheduler: int) -> None:
    """Drops what a scheduler has chosen already for its issue of the present cycle.

    Its warps are others now, so it chooses again at the end of the issue.
    """
    due = scheduler_due(state, scheduler)
    has_chosen = scheduler_candidate(state, scheduler) >= 0
    if has_chosen and due == state.counts[LAST_CYCLE]:
        state.scheduler[scheduler_word(scheduler, CANDIDATE)] = -1
        state.scheduler[scheduler_word(scheduler, WAKE)] = due


@inlined
def retire(machine: Machine, state: SmState, warp: int) -> None:
    """Takes a warp out of its scheduler's order."""
    end_residence(machine, state, warp)
    scheduler = warp_scheduler(state, warp)
    _look_again(state, scheduler)
    slot = lowest(warp_bit(state, warp))
    for at in range(slot, scheduler_count(state, scheduler) - 1):
        younger = warp_in_order(state, scheduler, at + 1)
        state.scheduler[scheduler_word(scheduler, ORDER + at)] = younger
        state.warp[warp_word(younger, BIT)] = 1 << at
    close_gap(state, scheduler, slot)
    state.scheduler[scheduler_word(scheduler, COUNT)] -= 1
    state.scheduler[scheduler_word(scheduler, CANDIDATE)] = -1
    state.scheduler[scheduler_word(scheduler, LAST)] = 0
    state.scheduler[scheduler_word(scheduler, TIED)] = 0
    state.place[word(warp_place(state, warp), LIVE)] -= 1


@inlined
def send(
    kernel: KernelArrays, machine: Machine, state: SmState, warp: int, position: int, earliest: int
) -> None:
    """Lets a warp that its scheduler does not expect go on from `position`, or retires it."""
    scheduler = warp_scheduler(state, warp)
    ready = advance(kernel, machine, state, scheduler, warp, position, earliest)
    if ready == ENDED:
        retire(machine, state, warp)
    else:
        wake(machine, state, scheduler, warp, ready)


@inlined
def wake(machine: Machine, state: SmState, scheduler: int, warp: int, ready: int) -> None:
    """Lists a warp that its scheduler does not expect, with its operands at cycle `ready`."""
    _look_again(state, scheduler)
    at = aligned(machine, max(ready, scheduler_due(state, scheduler)))
    state.counts[WOKEN] = min(state.counts[WOKEN], at)
    state.scheduler[scheduler_word(scheduler, WAKE)] = min(scheduler_wake(state, scheduler), at)
    if ready <= 0:
        list_ready(state, scheduler, warp, warp_counted(state, warp))
    else:
        list_pending(state, scheduler, warp, ready)


@inlined
def note_residence(state: SmState) -> None:
    """The account has rows apart for when fewer thread blocks than at first are left."""
    counts = state.counts
    is_full = counts[DISPATCHED] < counts[TOTAL] or counts[RESIDENT] == counts[RESIDENT_FIRST]
    counts[FIRST_ROW] = 0 if is_full else state.rows


@noinline
def start_thread_block(
    kernel: KernelArrays, machine: Machine, state: SmState, place: int, ended: int, first: int
) -> None:
    """Fills a place that was free at cycle `ended` with warps that begin at cycle `first`.

    A thread block of which no warp has an event ends at once, and the next one takes its place.
    """
    while state.counts[DISPATCHED] < state.counts[TOTAL]:
        first = max(first, int(state.clocks[NEXT_DISPATCH]))
        state.clocks[NEXT_DISPATCH] = first + machine.dispatch_cycles
        recorded = kernel.order[np.uint64(state.counts[DISPATCHED] % len(kernel.order))]
        path = recorded * kernel.warps
        number = state.counts[DISPATCHED] * kernel.warps
        if kernel.phases > 0:
            begin_phases(kernel, state, place, recorded)
        state.counts[DISPATCHED] += 1
        state.place[word(place, LIVE)] = kernel.warps
        state.place[word(place, ARRIVED)] = 0
        state.place[word(place, BEGINS)] = ended
        state.place[word(place, STORED)] = 0
        state.place[word(place, FIRST)] = first
        for warp in range(place * kernel.warps, (place + 1) * kernel.warps):
            position = kernel.begin[np.uint64(path)]
            state.warp[warp_word(warp, END)] = kernel.end[np.uint64(path)]
            path += 1
            state.warp[warp_word(warp, NUMBER)] = number
            number += 1
            state.warp[warp_word(warp, WAITS)] = 0
            state.warp[warp_word(warp, LINE)] = -1
            state.warp[warp_word(warp, COUNTED)] = first
            state.warp[warp_word(warp, ACKNOWLEDGED)] = 0
            for register in range(warp * kernel.registers, (warp + 1) * kernel.registers):
                state.registers[np.uint64(register)] = 0
            scheduler = warp_scheduler(state, warp)
            slot = scheduler_count(state, scheduler)
            state.scheduler[scheduler_word(scheduler, ORDER + slot)] = warp
            state.warp[warp_word(warp, BIT)] = 1 << slot
            state.scheduler[scheduler_word(scheduler, COUNT)] += 1
            send(kernel, machine, state, warp, position, pack(first, _LAUNCH))
        if state.place[word(place, LIVE)] > 0:
            note_residence(state)
            return
        state.counts[COMPLETED] += 1
        ended, first = first, first + machine.launch_cycles
        state.place[word(place, VACATED)] = ended
    state.counts[RESIDENT] -= 1
    note_residence(state)


@noinline
def _open_barrier(
    kernel: KernelArrays, machine: Machine, state: SmState, place: int, now: int
) -> None:
    """Sends the warps of a thread block on that wait at a barrier."""
    state.place[word(place, ARRIVED)] = 0
    opens = pack(now + machine.barrier_latency, _BARRIER)
    for warp in range(place * kernel.warps, (place + 1) * kernel.warps):
        if warp_waits(state, warp) == 1:
            count_wait(machine, state, warp, now)
            state.warp[warp_word(warp, WAITS)] = 0
            position = warp_position(state, warp) + 1
            send(kernel, machine, state, warp, position, opens)


@inlined
def meet_or_end(
    kernel: KernelArrays, machine: Machine, state: SmState, place: int, now: int, ends: int
) -> None:
    """Opens a barrier when all live warps are there; replaces a thread block without any.

    Called when a warp came to a barrier at cycle `now` or ended; the thread block is free at cycle
    `ends`.
    """
    if 0 < state.place[word(place, LIVE)] == state.place[word(place, ARRIVED)]:
        _open_barrier(kernel, machine, state, place, now)
    if state.place[word(place, LIVE)] == 0:
        state.counts[COMPLETED] += 1
        state.place[word(place, VACATED)] = ends
        ends = max(ends, state.place[word(place, STORED)])
        start_thread_block(kernel, machine, state, place, ends, ends + machine.launch_cycles)


@inlined
def leave_slots(
    machine: Machine, state: SmState, warp: int, row: int, ready: int, left: int, now: int
) -> None:
    """Attributes slots behind an instruction that no other joined.

    The next one of the warp has its operands at cycle `ready`.
    """
    reason = _EXECUTION
    if ready != ENDED:
        row = warp_row(state, warp)
        reason = warp_reason(state, warp)
        if ready <= now:
            reason = pipe_reason(machine, state, warp_kind(state, warp))
    credit(state, account_row(state, row), reason, left)
