"""Which warps of a scheduler have their operands: sets of bits, the oldest warp the lowest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from kernelcast.simcore.memory.compiled import inlined
from kernelcast.simcore.timing.sm_program import KINDS
from kernelcast.simcore.timing.sm_state import (
    HEAD,
    LISTS,
    NEVER,
    NEXT_KIND,
    PIPE,
    PRESENT,
    READY,
    SLOT,
    SLOTS,
    TAIL,
    WARP_BITS,
    WARP_MASK,
    SmState,
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
    lists = scheduler * LISTS
    state.lists[np.uint64(lists + kind)] |= 1 << state.warp[warp_word(warp, SLOT)]
    state.lists[np.uint64(lists + PRESENT)] |= 1 << kind


@inlined
def _list_pending(state: SmState, scheduler: int, entry: int) -> None:
    """Keeps the ring in order, by moving the entries on the shorter side."""
    lists, ring = scheduler * LISTS, scheduler * SLOTS
    head, tail = state.lists[np.uint64(lists + HEAD)], state.lists[np.uint64(lists + TAIL)]
    middle = state.pending[np.uint64(ring + ((head + tail) // 2 & SLOTS - 1))]
    if head != tail and entry < middle:
        at = head - 1
        state.lists[np.uint64(lists + HEAD)] = at
        following = state.pending[np.uint64(ring + (at + 1 & SLOTS - 1))]
        while following < entry:
            state.pending[np.uint64(ring + (at & SLOTS - 1))] = following
            at += 1
            following = state.pending[np.uint64(ring + (at + 1 & SLOTS - 1))]
    else:
        at = tail
        state.lists[np.uint64(lists + TAIL)] = at + 1
        while at > head and state.pending[np.uint64(ring + (at - 1 & SLOTS - 1))] > entry:
            state.pending[np.uint64(ring + (at & SLOTS - 1))] = state.pending[
                np.uint64(ring + (at - 1 & SLOTS - 1))
            ]
            at -= 1
    state.pending[np.uint64(ring + (at & SLOTS - 1))] = entry


@inlined
def move_ready(state: SmState, scheduler: int, now: int) -> None:
    """Moves pending warps that have their operands by now."""
    lists, ring = scheduler * LISTS, scheduler * SLOTS
    head, tail = state.lists[np.uint64(lists + HEAD)], state.lists[np.uint64(lists + TAIL)]
    while head != tail:
        entry = state.pending[np.uint64(ring + (head & SLOTS - 1))]
        if entry >> WARP_BITS > now:
            break
        _list_ready(state, scheduler, entry & WARP_MASK)
        head += 1
    state.lists[np.uint64(lists + HEAD)] = head


@inlined
def soonest_pending(state: SmState, scheduler: int, soonest: int, tied: int) -> tuple[int, int]:
    """The first cycle in which a warp can issue, and the bits of those that can: `soonest` and
    `tied`, unless pending ones come before or at the same time."""
    lists, ring = scheduler * LISTS, scheduler * SLOTS
    for at in range(state.lists[np.uint64(lists + HEAD)], state.lists[np.uint64(lists + TAIL)]):
        entry = state.pending[np.uint64(ring + (at & SLOTS - 1))]
        if entry >> WARP_BITS > soonest:
            break
        warp = entry & WARP_MASK
        pipe_opens = state.opens[np.uint64(state.warp[warp_word(warp, PIPE)])]
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
    lists = scheduler * LISTS
    kind = state.warp[warp_word(warp, NEXT_KIND)]
    left = state.lists[np.uint64(lists + kind)] & ~(1 << state.warp[warp_word(warp, SLOT)])
    state.lists[np.uint64(lists + kind)] = left
    if left == 0:
        state.lists[np.uint64(lists + PRESENT)] &= ~(1 << kind)


@inlined
def close_gap(state: SmState, scheduler: int, slot: int) -> None:
    """Moves the bits above a slot that is free down by one."""
    lists = scheduler * LISTS
    below = (1 << slot) - 1
    for at in range(lists, lists + KINDS):
        bits = state.lists[np.uint64(at)]
        # An arithmetic shift brings in copies of the highest bit.
        above = (bits >> 1) & ((1 << 63) - 1)
        state.lists[np.uint64(at)] = (bits & below) | (above & ~below)
