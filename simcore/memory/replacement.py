"""Which way of a full set a new line takes. A policy is one function and one line in each place.

`stamps` holds the time of each way's last use; `random_state` is one 64-bit word per cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.memory.compiled import compiled

__all__ = ["POLICIES", "RANDOM_SEED", "choose_way"]

RANDOM_SEED = 0x9E3779B97F4A7C15
"""Any nonzero word; fixed, so that a simulation repeats exactly."""

_LRU = 0
_RANDOM = 1
POLICIES: Mapping[str, int] = MappingProxyType({"lru": _LRU, "random": _RANDOM})
"""The names that a device file may use."""

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


@compiled
def _least_recently_used(stamps: Ints) -> int:
    oldest = stamps[0]
    for stamp in stamps:  # a minimum without branches, then its place: what vectorises
        oldest = min(oldest, stamp)
    way = 0
    while stamps[way] != oldest:
        way += 1
    return way


@compiled
def _random(stamps: Ints, random_state: Words) -> int:
    """Uniform over the ways, from Marsaglia's xorshift64 (J. Stat. Software 8(14), 2003)."""
    word = random_state[0]
    word ^= word << np.uint64(13)
    word ^= word >> np.uint64(7)
    word ^= word << np.uint64(17)
    random_state[0] = word
    return int(np.int64((word >> np.uint64(33)) % np.uint64(len(stamps))))


@compiled
def choose_way(policy: int, stamps: Ints, random_state: Words) -> int:
    """The way of the set to evict; `stamps` are those of the set."""
    if policy == _RANDOM:
        return _random(stamps, random_state)
    return _least_recently_used(stamps)
