"""Which warps of a scheduler have their operands: sets of bits, the oldest warp the lowest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from kernelcast.simcore.memory.compiled import inlined
from kernelcast.simcore.timing.sm_program import KINDS
from kernelcast.simcore.timing.sm_state import (
    BY_KIND,
    HEAD,
    NEVER,
    NEXT_KIND,
    OPENS,
    PENDING,
    PIPE,
    PRESENT,
    READY,
    SLOT,
    SLOTS,
    TAIL,
    WARP_BITS,
    WARP_MASK,
    SmState,
    pipe_word,
    scheduler_word,
    warp_word,
)
from kernelcast.simcore.timing.warp_account import begin_wait_for_pipe

__all__ = ["close_gap", "list_warp", "lowest", "move_ready", "soonest_pending", "unlist_warp"]


def _emit_trailing_zeros(_typing: Any, _bits: Any) -> Any:
    def emit(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], context.get_constant(types.boolean, True))

    return types.int64(types.int64), emit


_trailing_zeros: Any = intrinsic(_emit_trailing_zeros)


@inlined
def lowest(bits: int) -> int:
    """The number of the lowest bit that is set; at least one is."""
    number: int = _trailing_zeros(bits)
    return number


@inlined
def list_warp(state: SmState, scheduler: int, warp: int, by: int) -> None:
    """Enters a warp: ready if it has its operands by cycle `by`, before which nobody asks."""
    ready = state.warp[warp_word(warp, READY)]
    if ready <= by:
        _list_ready(state, scheduler, warp)
    elif ready < NEVER:
        _list_pending(state, scheduler, ready << WARP_BITS | warp)


@inlined
def _list_ready(state: SmState, scheduler: int, warp: int) -> None:
    begin_wait_for_pipe(state, warp)
    kind = state.warp[warp_word(warp, NEXT_KIND)]
    bit = 1 << state.warp[warp_word(warp, SLOT)]
    state.scheduler[scheduler_word(scheduler, BY_KIND + kind)] |= bit
    state.scheduler[scheduler_word(scheduler, PRESENT)] |= 1 << kind


@inlined
def _pending(scheduler: int, at: int) -> np.uint64:
    """Where the ring of a scheduler has the entry `at`."""
    return scheduler_word(scheduler, PENDING + (at & SLOTS - 1))


@inlined
def _list_pending(state: SmState, scheduler: int, entry: int) -> None:
    """Keeps the ring in order, by moving the entries on the shorter side."""
    table = state.scheduler
    head, tail = table[scheduler_word(scheduler, HEAD)], table[scheduler_word(scheduler, TAIL)]
    if head != tail and entry < table[_pending(scheduler, (head + tail) // 2)]:
        at = head - 1
        table[scheduler_word(scheduler, HEAD)] = at
        following = table[_pending(scheduler, at + 1)]
        while following < entry:
            table[_pending(scheduler, at)] = following
            at += 1
            following = table[_pending(scheduler, at + 1)]
    else:
        at = tail
        table[scheduler_word(scheduler, TAIL)] = at + 1
        while at > head and table[_pending(scheduler, at - 1)] > entry:
            table[_pending(scheduler, at)] = table[_pending(scheduler, at - 1)]
            at -= 1
    table[_pending(scheduler, at)] = entry


@inlined
def move_ready(state: SmState, scheduler: int, now: int) -> None:
    """Moves pending warps that have their operands by now."""
    table = state.scheduler
    head, tail = table[scheduler_word(scheduler, HEAD)], table[scheduler_word(scheduler, TAIL)]
    while head != tail:
        entry = table[_pending(scheduler, head)]
        if entry >> WARP_BITS > now:
            break
        _list_ready(state, scheduler, entry & WARP_MASK)
        head += 1
    table[scheduler_word(scheduler, HEAD)] = head


@inlined
def soonest_pending(state: SmState, scheduler: int, soonest: int, tied: int) -> tuple[int, int]:
    """The first cycle in which a warp can issue, and the bits of those that can: `soonest` and
    `tied`, unless pending ones come before or at the same time."""
    table = state.scheduler
    head, tail = table[scheduler_word(scheduler, HEAD)], table[scheduler_word(scheduler, TAIL)]
    for at in range(head, tail):
        entry = table[_pending(scheduler, at)]
        if entry >> WARP_BITS > soonest:
            break
        warp = entry & WARP_MASK
        pipe_opens = state.pipe[pipe_word(state.warp[warp_word(warp, PIPE)], OPENS)]
        opens = max(entry >> WARP_BITS, pipe_opens)
        bit = 1 << state.warp[warp_word(warp, SLOT)]
        if opens < soonest:
            soonest, tied = opens, bit
        elif opens == soonest:
            tied |= bit
    return soonest, tied


@inlined
def unlist_warp(state: SmState, scheduler: int, warp: int) -> None:
    """Takes out a warp that is ready, as it issues."""
    kind = state.warp[warp_word(warp, NEXT_KIND)]
    bit = 1 << state.warp[warp_word(warp, SLOT)]
    left = state.scheduler[scheduler_word(scheduler, BY_KIND + kind)] & ~bit
    state.scheduler[scheduler_word(scheduler, BY_KIND + kind)] = left
    if left == 0:
        state.scheduler[scheduler_word(scheduler, PRESENT)] &= ~(1 << kind)


@inlined
def close_gap(state: SmState, scheduler: int, slot: int) -> None:
    """Moves the bits above a slot that is free down by one."""
    below = (1 << slot) - 1
    for kind in range(KINDS):
        bits = state.scheduler[scheduler_word(scheduler, BY_KIND + kind)]
        # An arithmetic shift brings in copies of the highest bit.
        above = (bits >> 1) & ((1 << 63) - 1)
        state.scheduler[scheduler_word(scheduler, BY_KIND + kind)] = (bits & below) | (
            above & ~below
        )
