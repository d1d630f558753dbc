"""Which SM runs a thread block and when, and the order of all accesses that follows from it.

The first wave goes round the SMs, one thread block each, until all are full; then each thread block
that ends makes room for the next one, so that waves overlap. Time is counted in cycles of an SM
that issues at its full rate: with `w` resident warps and `s` schedulers a warp gets its turn every
w / s cycles. Warps of one SM thus progress together, and the trace's own time is all that it needs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.memory.compiled import compiled
from kernelcast.traces.trace import Trace

__all__ = ["DISPATCH_CYCLES", "Schedule", "access_order", "deal_thread_blocks"]

DISPATCH_CYCLES = 1
"""The work distributor launches one thread block a cycle: they never start all at once."""

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Schedule:
    """`sm` and `start_cycle` of each thread block, shape (thread blocks,)."""

    sm: Ints
    start_cycle: Ints
    cycles_per_instruction: int


def deal_thread_blocks(
    trace: Trace, sm_count: int, thread_blocks_per_sm: int, warp_schedulers: int
) -> Schedule:
    """A thread block lasts as long as the warp of it that issues most instructions."""
    resident_warps = thread_blocks_per_sm * trace.warps_per_thread_block
    turn = max(1, resident_warps // max(1, warp_schedulers))
    warps = trace.warp_time.reshape(trace.thread_blocks, trace.warps_per_thread_block)
    cycles = warps.max(axis=1).astype(np.int64) * turn
    sm, start = np.empty(len(cycles), np.int64), np.empty(len(cycles), np.int64)
    places = sm_count * thread_blocks_per_sm
    ends, heap = np.zeros(places, np.int64), np.arange(places, dtype=np.int64)
    _deal(cycles, sm_count, ends, heap, sm, start)
    return Schedule(sm, start, turn)


@compiled
def _deal(cycles: Ints, sm_count: int, ends: Ints, heap: Ints, sm: Ints, start: Ints) -> None:
    """Places are numbered round the SMs; `ends[p]` is when place p falls free.

    `heap` is a binary heap of the places, the next one to fall free on top; of two that fall free
    at once it is the lower one.
    """
    dispatched = -DISPATCH_CYCLES
    for thread_block in range(len(cycles)):
        place = heap[0]
        dispatched = max(ends[place], dispatched + DISPATCH_CYCLES)
        sm[thread_block] = place % sm_count
        start[thread_block] = dispatched
        ends[place] = dispatched + cycles[thread_block]
        _sift_down(heap, ends)


@compiled
def _sift_down(heap: Ints, ends: Ints) -> None:
    """Restores the heap after its top has got a later end."""
    at, place = 0, heap[0]
    while 2 * at + 1 < len(heap):
        below = 2 * at + 1
        if below + 1 < len(heap) and _is_earlier(heap[below + 1], heap[below], ends):
            below += 1
        if not _is_earlier(heap[below], place, ends):
            break
        heap[at] = heap[below]
        at = below
    heap[at] = place


@compiled
def _is_earlier(one: int, other: int, ends: Ints) -> bool:
    if ends[one] != ends[other]:
        return bool(ends[one] < ends[other])
    return one < other


def access_order(trace: Trace, schedule: Schedule) -> Ints:
    """Row numbers of `trace.accesses` in the order of time; ties go by warp, then by program."""
    warp = trace.accesses.warp
    cycle = trace.accesses.time.astype(np.int64)
    cycle *= schedule.cycles_per_instruction
    starts = np.repeat(schedule.start_cycle, trace.warps_per_thread_block)
    cycle += starts[warp]
    warps = len(starts)
    if len(cycle) and int(cycle.max()) >= np.iinfo(np.int64).max // warps:
        return np.lexsort((warp, cycle)).astype(np.int64, copy=False)
    cycle *= warps
    cycle += warp
    return np.argsort(cycle, kind="stable").astype(np.int64, copy=False)
