"""Which warp a scheduler issues next, and when.

Schedulers pick greedily, then the oldest: the warp that issued last as long as it can, else the
oldest that can. Warps of that order spread out over their paths, so that some compute while others
wait; taking turns would bring them all to the same loads at once.
"""

from __future__ import annotations

from kernelcast.simcore.host.compiled import inlined, unlikely
from kernelcast.simcore.timing.walk.ready_warps import lowest, soonest_pending, soonest_ready
from kernelcast.simcore.timing.walk.sm_machine import Machine
from kernelcast.simcore.timing.walk.sm_reads import (
    pipe_of_kind,
    pipe_opens,
    scheduler_due,
    scheduler_first_ready,
    scheduler_kinds,
    scheduler_last,
    scheduler_tied,
    slots_of_kind,
    warp_in_order,
    warp_kind,
    warp_pipe,
    warp_ready,
)
from kernelcast.simcore.timing.walk.sm_state import (
    CANDIDATE,
    FIRST_READY,
    NEVER,
    SINCE,
    TIED,
    WAKE,
    SmState,
    scheduler_word,
)
from kernelcast.simcore.timing.walk.stall_account import aligned

__all__ = ["NO_WARP", "can_issue", "choose", "expect", "look_ahead"]

NO_WARP = -1


@inlined
def can_issue(state: SmState, warp: int, now: int) -> bool:
    """Whether the warp's operands and its pipe are both ready."""
    if warp_ready(state, warp) > now:
        return False
    is_open: bool = pipe_opens(state, warp_pipe(state, warp)) <= now
    return is_open


@inlined
def choose(state: SmState, scheduler: int, now: int) -> tuple[int, int, int]:
    """Chooses the warp to issue, its cycle, and since when a warp could have issued.

    The cycle is now, or when the first of them is ready; the last is since when a warp that could
    issue then has had its operands. Those ready by now have been moved.
    """
    table = state.scheduler
    able, soonest, tied = 0, NEVER, 0
    kinds = scheduler_kinds(state, scheduler)
    while unlikely(kinds != 0):
        kind = lowest(kinds)
        kinds &= kinds - 1
        opens = pipe_opens(state, pipe_of_kind(state, scheduler, kind))
        waiting = slots_of_kind(state, scheduler, kind)
        # Without branches, which would be foreseen as often as not.
        is_open = opens <= now
        able |= waiting if is_open else 0
        opens = NEVER if is_open else opens
        waiting = 0 if is_open else waiting
        tied = (0 if opens < soonest else tied) | (waiting if opens <= soonest else 0)
        soonest = min(soonest, opens)
    if able != 0:
        last = able & scheduler_last(state, scheduler)
        slot = lowest(last if last != 0 else able)
        return warp_in_order(state, scheduler, slot), now, now
    wait_for_pipe = tied
    soonest, tied = soonest_pending(state, scheduler, soonest, tied)
    if tied == 0:
        return NO_WARP, NEVER, NEVER
    warp = warp_in_order(state, scheduler, lowest(tied))
    if tied & wait_for_pipe != 0 and now == scheduler_due(state, scheduler):
        # Slots before this cycle are accounted: it matters no more which warp came first.
        return warp, soonest, now
    if scheduler_tied(state, scheduler) != tied:
        table[scheduler_word(scheduler, TIED)] = tied
        table[scheduler_word(scheduler, FIRST_READY)] = _first_ready(state, scheduler, tied)
    return warp, soonest, scheduler_first_ready(state, scheduler)


@inlined
def look_ahead(machine: Machine, state: SmState, scheduler: int, after: int) -> None:
    """Chooses already what the scheduler would choose at the end of the issue, cycle `after`.

    Only if no other scheduler can change that by its issues: it is the choice of one among pipes of
    its own. What is pending for another pipe may be issued later than it seems, never sooner.
    """
    present = scheduler_kinds(state, scheduler)
    if present & ~machine.own_kinds != 0 or soonest_ready(state, scheduler) <= after:
        return
    warp, opens, since = choose(state, scheduler, after)
    if since == after and machine.own_kinds >> warp_kind(state, warp) & 1 != 0:
        expect(machine, state, scheduler, warp, opens, since)


@inlined
def expect(
    machine: Machine, state: SmState, scheduler: int, warp: int, opens: int, since: int
) -> None:
    """Notes what the scheduler issues next."""
    state.scheduler[scheduler_word(scheduler, CANDIDATE)] = warp
    state.scheduler[scheduler_word(scheduler, SINCE)] = since
    state.scheduler[scheduler_word(scheduler, WAKE)] = aligned(machine, opens)


@inlined
def _first_ready(state: SmState, scheduler: int, slots: int) -> int:
    """When the first warp of these slots had its operands."""
    since = NEVER
    while unlikely(slots != 0):
        warp = warp_in_order(state, scheduler, lowest(slots))
        slots &= slots - 1
        since = min(since, warp_ready(state, warp))
    return since
