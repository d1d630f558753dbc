"""Which warps of a scheduler have their operands: sets of bits, the oldest warp the lowest."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelcast.simcore.host.compiled import inlined, intrinsic, unlikely
from kernelcast.simcore.timing.walk.kernel_arrays import KINDS
from kernelcast.simcore.timing.walk.packed_words import entry_cycle, entry_warp, ring_entry
from kernelcast.simcore.timing.walk.sm_reads import (
    pipe_opens,
    slots_of_kind,
    warp_bit,
    warp_counted,
    warp_kind,
    warp_pipe,
)
from kernelcast.simcore.timing.walk.sm_state import (
    BY_KIND,
    END_OF_RING,
    HEAD,
    PENDING,
    PRESENT,
    RING_WORDS,
    TAIL,
    SmState,
    scheduler_word,
)
from kernelcast.simcore.timing.walk.warp_account import begin_wait_for_pipe

__all__ = [
    "close_gap",
    "list_pending",
    "list_ready",
    "lowest",
    "move_ready",
    "soonest_pending",
    "soonest_ready",
    "unlist_warp",
]


def _emit_trailing_zeros(_typing: Any, _bits: Any) -> Any:
    from numba import types

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
def list_ready(state: SmState, scheduler: int, warp: int, begins: int) -> None:
    """Enters a warp that has its operands, and waits for its pipe from cycle `begins` on."""
    begin_wait_for_pipe(state, warp, begins)
    kind = warp_kind(state, warp)
    bit = warp_bit(state, warp)
    state.scheduler[scheduler_word(scheduler, BY_KIND + kind)] |= bit
    state.scheduler[scheduler_word(scheduler, PRESENT)] |= 1 << kind


@inlined
def _pending(scheduler: int, at: int) -> np.uint64:
    """Where the ring of a scheduler has the entry `at`."""
    return scheduler_word(scheduler, PENDING + (at & RING_WORDS - 1))


@inlined
def list_pending(state: SmState, scheduler: int, warp: int, ready: int) -> None:
    """Enters a warp that has its operands at cycle `ready`.

    The ring is kept in order by moving the entries on the shorter side; END_OF_RING is behind the
    last one.
    """
    table, entry = state.scheduler, ring_entry(ready, warp)
    head, tail = table[scheduler_word(scheduler, HEAD)], table[scheduler_word(scheduler, TAIL)]
    if entry < table[_pending(scheduler, (head + tail) >> 1)]:
        at = head - 1
        table[scheduler_word(scheduler, HEAD)] = at
        following = table[_pending(scheduler, at + 1)]
        while unlikely(following < entry):
            table[_pending(scheduler, at)] = following
            at += 1
            following = table[_pending(scheduler, at + 1)]
    else:
        at = tail
        table[scheduler_word(scheduler, TAIL)] = at + 1
        table[_pending(scheduler, at + 1)] = END_OF_RING
        before = table[_pending(scheduler, at - 1)]
        while unlikely(before > entry):
            table[_pending(scheduler, at)] = before
            at -= 1
            before = table[_pending(scheduler, at - 1)]
    table[_pending(scheduler, at)] = entry


@inlined
def move_ready(state: SmState, scheduler: int, now: int) -> None:
    """Moves pending warps that have their operands by now."""
    table = state.scheduler
    head = table[scheduler_word(scheduler, HEAD)]
    entry = table[_pending(scheduler, head)]
    if entry_cycle(entry) > now:
        return
    while True:
        warp = entry_warp(entry)
        begins = max(entry_cycle(entry), warp_counted(state, warp))
        list_ready(state, scheduler, warp, begins)
        head += 1
        entry = table[_pending(scheduler, head)]
        if entry_cycle(entry) > now:
            break
    table[scheduler_word(scheduler, HEAD)] = head


@inlined
def soonest_ready(state: SmState, scheduler: int) -> int:
    """When the first pending warp has its operands."""
    head = state.scheduler[scheduler_word(scheduler, HEAD)]
    ready: int = entry_cycle(state.scheduler[_pending(scheduler, head)])
    return ready


@inlined
def soonest_pending(state: SmState, scheduler: int, soonest: int, tied: int) -> tuple[int, int]:
    """The first cycle in which a warp can issue, and the bits of those that can.

    These are `soonest` and `tied`, unless pending ones come before or at the same time.
    """
    table = state.scheduler
    at = table[scheduler_word(scheduler, HEAD)]
    entry = table[_pending(scheduler, at)]
    while unlikely(entry_cycle(entry) <= soonest):
        warp = entry_warp(entry)
        opens = max(entry_cycle(entry), pipe_opens(state, warp_pipe(state, warp)))
        bit = warp_bit(state, warp)
        if opens < soonest:
            soonest, tied = opens, bit
        elif opens == soonest:
            tied |= bit
        at += 1
        entry = table[_pending(scheduler, at)]
    return soonest, tied


@inlined
def unlist_warp(state: SmState, scheduler: int, warp: int, kind: int) -> None:
    """Takes out a warp that is ready, as it issues an instruction of that kind."""
    bit = warp_bit(state, warp)
    left = slots_of_kind(state, scheduler, kind) & ~bit
    state.scheduler[scheduler_word(scheduler, BY_KIND + kind)] = left
    # Without a branch, which would be foreseen as often as not.
    state.scheduler[scheduler_word(scheduler, PRESENT)] &= ~((1 if left == 0 else 0) << kind)


@inlined
def close_gap(state: SmState, scheduler: int, slot: int) -> None:
    """Moves the bits above a slot that is free down by one."""
    below = (1 << slot) - 1
    for kind in range(KINDS):
        bits = slots_of_kind(state, scheduler, kind)
        # An arithmetic shift brings in copies of the highest bit.
        above = (bits >> 1) & ((1 << 63) - 1)
        state.scheduler[scheduler_word(scheduler, BY_KIND + kind)] = (bits & below) | (
            above & ~below
        )
