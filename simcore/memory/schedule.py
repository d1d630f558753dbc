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

from kernelcast.simcore.host.compiled import compiled

__all__ = ["DISPATCH_CYCLES", "Dispatch", "WorkDistributor", "cycles_per_instruction"]

DISPATCH_CYCLES = 1
"""The work distributor launches one thread block a cycle: they never start all at once."""

Ints = npt.NDArray[np.int64]


def cycles_per_instruction(resident_warps: int, warp_schedulers: int) -> int:
    """How long a warp waits from one of its turns to the next when `resident_warps` share an SM."""
    return max(1, resident_warps // max(1, warp_schedulers))


@dataclass(frozen=True)
class Dispatch:
    """`sm` and `start_cycle` of consecutive thread blocks, shape (thread blocks,)."""

    sm: Ints
    start_cycle: Ints


class WorkDistributor:
    """Deals the thread blocks of one launch, in ascending order, to places on the SMs."""

    def __init__(self, sm_count: int, thread_blocks_per_sm: int) -> None:
        places = sm_count * thread_blocks_per_sm
        self._sm_count = sm_count
        self._ends: Ints = np.zeros(places, np.int64)
        self._heap: Ints = np.arange(places, dtype=np.int64)
        self._last_start = -DISPATCH_CYCLES

    def dispatch(self, cycles: Ints) -> Dispatch:
        """Deals the next thread blocks, which last `cycles` each."""
        sm, start = np.empty(len(cycles), np.int64), np.empty(len(cycles), np.int64)
        _deal(cycles, self._sm_count, self._last_start, self._ends, self._heap, sm, start)
        if len(start):
            self._last_start = int(start[-1])
        return Dispatch(sm, start)

    def wait_for_all(self) -> None:
        """Lets no thread block start before all that were dealt have ended."""
        self._ends[:] = self._ends.max()
        self._heap[:] = np.arange(len(self._heap))

    @property
    def next_start(self) -> int:
        """When the next thread block would start; no later one can start before."""
        return max(int(self._ends[self._heap[0]]), self._last_start + DISPATCH_CYCLES)


@compiled
def _deal(
    cycles: Ints, sm_count: int, last_start: int, ends: Ints, heap: Ints, sm: Ints, start: Ints
) -> None:
    """Places are numbered round the SMs; `ends[p]` is when place p falls free.

    `heap` is a binary heap of the places, the next one to fall free on top; of two that fall free
    at once it is the lower one.
    """
    dispatched = last_start
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
