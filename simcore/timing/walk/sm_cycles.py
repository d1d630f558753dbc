"""The compiled walk of one SM from issue to issue."""

from __future__ import annotations

import math

from kernelcast.simcore.host.compiled import compiled, inlined, noinline, unlikely
from kernelcast.simcore.timing.kernel.stall_reasons import ISSUED, StallReason
from kernelcast.simcore.timing.walk.kernel_arrays import (
    BARRIER,
    LATENCY,
    LOAD,
    NONE,
    PASSES,
    RESULT,
    SHARED,
    STORE,
    TENSOR,
    UNIT_CYCLES,
    UNIT_TURNS,
    KernelArrays,
    kind_word,
    word,
)
from kernelcast.simcore.timing.walk.memory_requests import load, store
from kernelcast.simcore.timing.walk.packed_words import pack
from kernelcast.simcore.timing.walk.phase_issue import issue_with_phases
from kernelcast.simcore.timing.walk.pipe_use import access_shared, use_pipe
from kernelcast.simcore.timing.walk.ready_warps import (
    list_pending,
    list_ready,
    lowest,
    move_ready,
    unlist_warp,
)
from kernelcast.simcore.timing.walk.scheduled_issue import (
    earliest_next,
    note_reads,
    read_banks,
    turn_away,
)
from kernelcast.simcore.timing.walk.scheduling_policy import (
    NO_WARP,
    can_issue,
    choose,
    expect,
    look_ahead,
)
from kernelcast.simcore.timing.walk.sm_machine import Machine
from kernelcast.simcore.timing.walk.sm_reads import (
    scheduler_candidate,
    scheduler_count,
    scheduler_due,
    scheduler_since,
    scheduler_wake,
    warp_bit,
    warp_counted,
    warp_in_order,
    warp_kind,
    warp_pipe,
    warp_place,
    warp_position,
    warp_ready,
    warp_row,
)
from kernelcast.simcore.timing.walk.sm_state import (
    ACKNOWLEDGED,
    ARRIVED,
    CANDIDATE,
    COMPLETED,
    DISPATCHED,
    DUE,
    LAST,
    LAST_CYCLE,
    NEVER,
    NOW,
    READY,
    RESIDENT,
    RESIDENT_FIRST,
    STORED,
    TIED,
    TURN,
    WAITS,
    WAKE,
    WHY,
    WOKEN,
    SmState,
    as_one,
    scheduler_word,
    warp_word,
)
from kernelcast.simcore.timing.walk.stall_account import (
    account_row,
    credit,
    lose_idle_slots,
    lose_slots,
    pipe_reason,
)
from kernelcast.simcore.timing.walk.warp_account import (
    begin_wait_for_pipe,
    count_issue,
    count_wait,
)
from kernelcast.simcore.timing.walk.warp_progress import (
    ENDED,
    advance,
    leave_slots,
    meet_or_end,
    note_residence,
    retire,
    start_thread_block,
    write_registers,
)

__all__ = ["settle", "walk"]

_EXECUTION = StallReason.EXECUTION_DEPENDENCY.code
_CONSTANT = StallReason.CONSTANT_DEPENDENCY.code
_BARRIER = StallReason.BARRIER.code
_STORED = StallReason.L2_LATENCY.code  # only AMD's code waits for stores, in a counter


@inlined
def _result(
    kernel: KernelArrays,
    machine: Machine,
    state: SmState,
    warp: int,
    row: int,
    kind: int,
    now: int,
) -> int:
    """Runs an instruction with a result; when that is ready, packed."""
    if kind > STORE:
        return pack(now, _EXECUTION)
    pipe = warp_pipe(state, warp)
    if kind < TENSOR:
        cycles = machine.units[kind_word(kind, UNIT_CYCLES)]
        longer = 0.0
        if kernel.is_scheduled:
            longer = cycles * (kernel.schedule[word(row, UNIT_TURNS)] - 1)
            cycles = max(cycles + longer, read_banks(kernel, state, warp, row, now))
        use_pipe(machine, state, pipe, now, cycles)
        return pack(now + machine.kinds[kind_word(kind, LATENCY)] + int(longer), _EXECUTION)
    passes = kernel.traffic[word(row, PASSES)]
    if unlikely(kind == TENSOR):
        use_pipe(machine, state, pipe, now, passes * machine.units[kind_word(kind, UNIT_CYCLES)])
        return pack(now + int(kernel.traffic[word(row, RESULT)]), _EXECUTION)
    if kind == SHARED:
        return access_shared(kernel, machine, state, pipe, row, now)
    if kind == LOAD:
        return load(kernel, machine, state, warp, row, passes, now)
    if kind == STORE:
        stored = store(kernel, machine, state, warp, row, passes, now)
        place = warp_place(state, warp)
        state.place[word(place, STORED)] = max(state.place[word(place, STORED)], stored)
        state.warp[warp_word(warp, ACKNOWLEDGED)] = stored
        return pack(stored, _STORED)
    cycles = passes * machine.constant_cycles
    begins = use_pipe(machine, state, pipe, now, cycles) + cycles - 1.0
    return pack(math.ceil(begins) + machine.constant_latency, _CONSTANT)


@inlined
def _issue(
    kernel: KernelArrays,
    machine: Machine,
    state: SmState,
    scheduler: int,
    warp: int,
    row: int,
    kind: int,
    now: int,
) -> int:
    """Issues an instruction of the warp; when the one behind it has its operands, or ENDED."""
    if unlikely(kind > NONE):
        return issue_with_phases(kernel, machine, state, scheduler, warp, row, kind, now)
    ready = _result(kernel, machine, state, warp, row, kind, now)
    write_registers(kernel, state, warp * kernel.registers, row, ready)
    if kernel.is_scheduled:
        note_reads(kernel, machine, state, warp, row, kind, now)
    if unlikely(kind == BARRIER) and machine.waits_at_barriers:
        state.warp[warp_word(warp, READY)] = NEVER
        state.warp[warp_word(warp, WHY)] = _BARRIER
        state.warp[warp_word(warp, WAITS)] = 1
        place = warp_place(state, warp)
        state.place[word(place, ARRIVED)] += 1
    else:
        position = warp_position(state, warp) + 1
        earliest = earliest_next(kernel, machine, state, warp, row, kind, now)
        following = advance(kernel, machine, state, scheduler, warp, position, earliest)
        if not unlikely(following == ENDED):
            return following
        retire(machine, state, warp)
        place = warp_place(state, warp)
    meet_or_end(kernel, machine, state, place, now, now + machine.issue_cycles)
    return ENDED


@inlined
def _issue_together(
    kernel: KernelArrays,
    machine: Machine,
    state: SmState,
    scheduler: int,
    warp: int,
    row: int,
    kind: int,
    now: int,
) -> None:
    """Issues up to `machine.issues` independent instructions of the warp in one cycle.

    The first is of that row and kind. What others of the scheduler issue in the cycle shares its
    slot where the machine has it so. Slots that are left over wait for what the next instruction
    waits for.
    """
    state.scheduler[scheduler_word(scheduler, LAST)] = warp_bit(state, warp)
    state.scheduler[scheduler_word(scheduler, TIED)] = 0
    slots = 1 if scheduler_due(state, scheduler) <= now else 0
    unused = now + 1 if machine.shares_slots else now + machine.slot_cycles
    state.scheduler[scheduler_word(scheduler, DUE)] = unused
    unlist_warp(state, scheduler, warp, kind)
    left = machine.issues
    while True:
        credit(state, account_row(state, row), ISSUED, slots)
        ready = _issue(kernel, machine, state, scheduler, warp, row, kind, now)
        left -= 1
        if not unlikely(left > 0) or ready == ENDED or not can_issue(state, warp, now):
            break
        row, kind = warp_row(state, warp), warp_kind(state, warp)
    if kernel.is_scheduled:
        turn_away(kernel, state, scheduler, row)
    if not unlikely(ready == ENDED):
        after = now + machine.slot_cycles
        if ready <= after:
            list_ready(state, scheduler, warp, after)
        else:
            list_pending(state, scheduler, warp, ready)
    if unlikely(left > 0):
        leave_slots(machine, state, warp, row, ready, left, now)


@inlined
def _serve(kernel: KernelArrays, machine: Machine, state: SmState, scheduler: int) -> None:
    """Issues at the present cycle, or finds out when the scheduler can."""
    now = state.counts[NOW]
    move_ready(state, scheduler, now)
    warp = scheduler_candidate(state, scheduler)
    since = scheduler_since(state, scheduler)
    if warp < 0 or not can_issue(state, warp, now):
        warp, opens, since = choose(state, scheduler, now)
        if opens > now:
            expect(machine, state, scheduler, warp, opens, since)
            return
    row, kind = warp_row(state, warp), warp_kind(state, warp)
    account, reason = account_row(state, row), pipe_reason(machine, state, kind)
    due = scheduler_due(state, scheduler)
    if due < now:
        lose_slots(machine, state, warp, account, reason, since, due, now)
    count_issue(machine, state, warp, account, reason, now)
    after = now + machine.slot_cycles
    state.scheduler[scheduler_word(scheduler, CANDIDATE)] = NO_WARP
    state.scheduler[scheduler_word(scheduler, WAKE)] = after
    state.counts[LAST_CYCLE] = now + machine.issue_cycles
    _issue_together(kernel, machine, state, scheduler, warp, row, kind, now)
    look_ahead(machine, state, scheduler, after)


@noinline
def _begin(kernel: KernelArrays, machine: Machine, state: SmState) -> None:
    """Fills the SM with its first thread blocks."""
    places = state.counts[RESIDENT_FIRST]
    state.counts[RESIDENT] = places
    for place in range(places):
        start_thread_block(kernel, machine, state, place, 0, 0)


@inlined
def _count_warps(machine: Machine, state: SmState, scheduler: int, until: int) -> None:
    """Counts what the scheduler's warps have done up to a cycle."""
    move_ready(state, scheduler, until)
    for at in range(scheduler_count(state, scheduler)):
        warp = warp_in_order(state, scheduler, at)
        count_wait(machine, state, warp, until)
        ready = warp_ready(state, warp)
        begin_wait_for_pipe(state, warp, max(ready, warp_counted(state, warp)))


@compiled
def settle(kernel: KernelArrays, machine: Machine, state: SmState) -> int:
    """Attributes all slots and counts all warps up to the end of the last issue, which it returns.

    What a warp waits for behind that is not known yet, so that an account is settled once, not
    where a walk only stops to go on.
    """
    until: int = state.counts[LAST_CYCLE]
    for scheduler in range(machine.schedulers):
        _count_warps(machine, state, scheduler, until)
        warp, _, since = choose(state, scheduler, until)
        if warp < 0 and scheduler_count(state, scheduler) > 0:
            warp = warp_in_order(state, scheduler, 0)
        due = scheduler_due(state, scheduler)
        if due < until and warp < 0:
            lose_idle_slots(kernel, machine, state, due, until)
        elif due < until:
            account = account_row(state, warp_row(state, warp))
            reason = pipe_reason(machine, state, warp_kind(state, warp))
            lose_slots(machine, state, warp, account, reason, since, due, until)
        state.scheduler[scheduler_word(scheduler, DUE)] = until
        state.scheduler[scheduler_word(scheduler, WAKE)] = max(
            scheduler_wake(state, scheduler),
            scheduler_due(state, scheduler),
        )
    return until


@inlined
def _wake(state: SmState, scheduler: int) -> int:
    wake: int = scheduler_wake(state, scheduler)
    return wake


@inlined
def _first_wake(machine: Machine, state: SmState) -> tuple[int, int]:
    """The next cycle in which a scheduler may issue, and the bits of those that may.

    Four at a time and without branches, which would be foreseen as often as not.
    """
    first, those = NEVER, 0
    for at in range(0, machine.schedulers, 4):
        a, b = _wake(state, at), _wake(state, at + 1)
        c, d = _wake(state, at + 2), _wake(state, at + 3)
        soonest = min(min(a, b), min(c, d))
        bits = (a == soonest) | (b == soonest) << 1 | (c == soonest) << 2 | (d == soonest) << 3
        those = (0 if soonest < first else those) | (bits << at if soonest <= first else 0)
        first = min(first, soonest)
    return first, those


@inlined
def _next_turn(machine: Machine, turn: int) -> int:
    return turn + 1 if turn + 1 < machine.schedulers else 0


@inlined
def _still_to_come(machine: Machine, state: SmState, scheduler: int, turn: int, now: int) -> int:
    """The bits of schedulers that may issue in cycle `now` and come after this one in it."""
    those = 0
    served = (scheduler - turn) % machine.schedulers
    for other in range(machine.schedulers):
        comes = (other - turn) % machine.schedulers
        if comes > served and scheduler_wake(state, other) == now:
            those |= 1 << other
    return those


@compiled
def walk(
    completed: int, before: int, kernel: KernelArrays, machine: Machine, state: SmState
) -> None:
    """Goes on until so many thread blocks have ended, or up to a cycle, or to the end.

    Schedulers of one cycle take turns to be first: a turn is a cycle in which one of them chooses,
    or the end of an issue. `settle` ends the account.
    """
    state = as_one(state)
    if state.counts[DISPATCHED] == 0:
        _begin(kernel, machine, state)
    note_residence(state)
    turn = state.counts[TURN]
    while state.counts[COMPLETED] < completed:
        now, those = _first_wake(machine, state)
        if now >= before:
            break
        if state.counts[NOW] < state.counts[LAST_CYCLE] < now:
            turn = _next_turn(machine, turn)
        state.counts[NOW] = now
        while those != 0:
            at_turn = those & -(1 << turn)
            scheduler = lowest(at_turn if at_turn != 0 else those)
            those &= ~(1 << scheduler)
            _serve(kernel, machine, state, scheduler)
            if unlikely(state.counts[WOKEN] <= now):
                state.counts[WOKEN] = NEVER
                those = _still_to_come(machine, state, scheduler, turn, now)
        turn = _next_turn(machine, turn)
    state.counts[TURN] = turn
