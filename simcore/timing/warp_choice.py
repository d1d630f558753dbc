"""Which warp a scheduler issues next, and when.

Schedulers pick greedily, then the oldest: the warp that issued last as long as it can, else the
oldest that can. Warps of that order spread out over their paths, so that some compute while others
wait; taking turns would bring them all to the same loads at once.
"""

from __future__ import annotations

import numpy as np

from kernelcast.simcore.memory.compiled import inlined
from kernelcast.simcore.timing.ready_warps import lowest, move_ready, soonest_pending
from kernelcast.simcore.timing.sm_program import word
from kernelcast.simcore.timing.sm_state import (
    DUE,
    FIRST_READY,
    LAST,
    LISTS,
    NEVER,
    PIPE,
    PRESENT,
    READY,
    TIED,
    SmState,
    warp_word,
)

__all__ = ["NO_WARP", "choose", "opening"]

NO_WARP = -1


@inlined
def opening(state: SmState, warp: int) -> int:
    """When the warp's operands and its pipe are both ready."""
    opens: int = max(
        state.warp[warp_word(warp, READY)],
        state.opens[np.uint64(state.warp[warp_word(warp, PIPE)])],
    )
    return opens


@inlined
def choose(state: SmState, scheduler: int, now: int) -> tuple[int, int, int]:
    """The warp to issue and its cycle: now, or when the first of them is ready; and since when a
    warp that could issue then has had its operands."""
    last = state.scheduler[word(scheduler, LAST)]
    if last >= 0 and opening(state, last) <= now:
        return last, now, now
    lists = scheduler * LISTS
    move_ready(state, scheduler, now)
    first = scheduler * state.room
    can_issue, soonest, tied = 0, NEVER, 0
    kinds = state.lists[np.uint64(lists + PRESENT)]
    while kinds != 0:
        kind = lists + lowest(kinds)
        kinds &= kinds - 1
        opens = state.opens[np.uint64(state.pipes[np.uint64(kind)])]
        if opens <= now:
            can_issue |= state.lists[np.uint64(kind)]
        elif opens < soonest:
            soonest, tied = opens, state.lists[np.uint64(kind)]
        elif opens == soonest:
            tied |= state.lists[np.uint64(kind)]
    if can_issue != 0:
        return state.order[np.uint64(first + lowest(can_issue))], now, now
    wait_for_pipe = tied
    soonest, tied = soonest_pending(state, scheduler, soonest, tied)
    if tied == 0:
        return NO_WARP, NEVER, NEVER
    warp = state.order[np.uint64(first + lowest(tied))]
    if tied & wait_for_pipe != 0 and now == state.scheduler[word(scheduler, DUE)]:
        # Slots before this cycle are accounted: it matters no more which warp came first.
        return warp, soonest, now
    if state.scheduler[word(scheduler, TIED)] != tied:
        state.scheduler[word(scheduler, TIED)] = tied
        state.scheduler[word(scheduler, FIRST_READY)] = _first_ready(state, first, tied)
    return warp, soonest, state.scheduler[word(scheduler, FIRST_READY)]


@inlined
def _first_ready(state: SmState, first: int, slots: int) -> int:
    """When the first warp of these slots had its operands."""
    since = NEVER
    while slots != 0:
        warp = state.order[np.uint64(first + lowest(slots))]
        slots &= slots - 1
        since = min(since, state.warp[warp_word(warp, READY)])
    return since
