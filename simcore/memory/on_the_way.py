"""Which accesses come so soon after another one that they find its data still on their way.

The cache simulation has no time but the order of accesses, on SMs that never stall. Warps that wait
for the same data stay together, so that accesses at one instruction of several warps are taken to
be at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.host.compiled import compiled
from kernelcast.simcore.memory.cache import CacheState

__all__ = [
    "STEP_BITS",
    "LateHits",
    "count_late",
    "cycle_of",
    "joins_store",
    "late_hits",
    "note_store",
    "stamp",
]

STEP_BITS = 24
_STORES_TOGETHER = 8
"""Stores to one line that a warp makes within so many instructions reach L2 as one."""
_STEPS_TOGETHER = 4
"""Warps that wait for the same data are at most so many instructions apart."""


Ints = npt.NDArray[np.int64]


class LateHits(NamedTuple):
    """Hits of a cache that find sectors on their way for `cycles`, shape (versions,).

    GPUs that differ in these cycles alone, as those of other clocks, are versions of one. `hits`,
    shape (instructions * versions,): of each instruction those of all versions.
    """

    cycles: Ints
    hits: Ints


def late_hits(cycles: Sequence[int], instructions: int) -> LateHits:
    """None yet, of versions whose sectors are on their way for so many `cycles`."""
    return LateHits(np.array(cycles, np.int64), np.zeros(instructions * len(cycles), np.int64))


@compiled
def stamp(cycle: int, step: int) -> int:
    """An access of cycle `cycle` that is the instruction `step` of its warp, in one word."""
    return (cycle << STEP_BITS) | (step & ((1 << STEP_BITS) - 1))


@compiled
def cycle_of(stamp: int) -> int:
    """The cycle of an access with that stamp."""
    return stamp >> STEP_BITS


@compiled
def count_late(late: LateHits, row: int, cache: CacheState, slot: int, now: int, hits: int) -> None:
    """Counts hits of instruction `row`, stamped `now`, where they come before what they hit.

    The cycles are of an SM that never stalls. A warp that is further on than the one that asked
    for the data may have waited for them already.
    """
    then: int = cache.arrivals[np.uint64(slot)]
    steps = (1 << STEP_BITS) - 1
    behind = (then & steps) - (now & steps)
    if not 0 <= behind < _STEPS_TOGETHER:
        return
    waited = (now >> STEP_BITS) - (then >> STEP_BITS)
    versions = len(late.cycles)
    for version in range(versions):
        if waited < late.cycles[version]:
            late.hits[np.uint64(row * versions + version)] += hits


@compiled
def joins_store(cache: CacheState, slot: int, sm: int, now: int) -> bool:
    """Whether a store to the slot follows another one from the same warps so soon.

    What L1 still holds of the first one goes to L2 together with the second.
    """
    then: int = cache.stores[np.uint64(slot)]
    if then >> STEP_BITS != sm:
        return False
    steps = (1 << STEP_BITS) - 1
    after = (now & steps) - (then & steps)
    return 0 < after <= _STORES_TOGETHER


@compiled
def note_store(cache: CacheState, slot: int, sm: int, now: int) -> None:
    """Remembers a store to the slot: its SM, and which instruction of its warp it is."""
    cache.stores[np.uint64(slot)] = (sm << STEP_BITS) | (now & ((1 << STEP_BITS) - 1))
