"""Which way of a full set a new line takes. A policy is one function and one line in each place.

`stamps` holds the time of each way's last use; `random_state` is one 64-bit word per cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.memory.compiled import compiled

__all__ = ["POLICIES", "RANDOM_SEED", "choose_way", "needs_stamps"]

RANDOM_SEED = 0x9E3779B97F4A7C15
"""Any nonzero word; fixed, so that a simulation repeats exactly."""

_LRU = 0
_RANDOM = 1
POLICIES: Mapping[str, int] = MappingProxyType({"lru": _LRU, "random": _RANDOM})
"""The names that a device file may use."""

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


@compiled
def needs_stamps(policy: int) -> bool:
    """Whether the policy looks at when a line was used."""
    return policy != _RANDOM


@compiled
def _least_recently_used(stamps: Ints, at_set: int) -> int:
    oldest = stamps[at_set, 0]
    for way in range(stamps.shape[1]):  # a minimum without branches, then its place: vectorises
        oldest = min(oldest, stamps[at_set, way])
    way = 0
    while stamps[at_set, way] != oldest:
        way += 1
    return way


@compiled
def _random(ways: int, random_state: Words) -> int:
    """Uniform over the ways, from Marsaglia's xorshift64 (J. Stat. Software 8(14), 2003)."""
    word = random_state[0]
    word ^= word << np.uint64(13)
    word ^= word >> np.uint64(7)
    word ^= word << np.uint64(17)
    random_state[0] = word
    drawn = np.int64(word >> np.uint64(33))
    if ways & (ways - 1) == 0:  # a mask is many times faster than a division
        return int(drawn & (ways - 1))
    return int(drawn % ways)


@compiled
def choose_way(policy: int, stamps: Ints, at_set: int, random_state: Words) -> int:
    """The way of the set `at_set` to evict; `stamps` has shape (sets, ways)."""
    if policy == _RANDOM:
        return _random(stamps.shape[1], random_state)
    return _least_recently_used(stamps, at_set)
