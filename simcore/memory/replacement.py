"""Which way of a full set a new line takes.

`recency` is what the policy knows of past uses. Up to 16 ways: of each set a word with its ways, a
hexadecimal digit each, the last one used lowest. More ways: of each slot the time of its last use,
and its way. Random: nothing; `random_state` is one 64-bit word per cache.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.host.compiled import compiled
from kernelcast.simcore.memory.bitmask import ONE
from kernelcast.simcore.memory.way_search import lowest, trailing_zeros

__all__ = [
    "MAX_WAYS",
    "POLICIES",
    "RANDOM_SEED",
    "choose_way",
    "first_recency",
    "policy",
    "use_way",
]

RANDOM_SEED = 0x9E3779B97F4A7C15
"""Any nonzero word; fixed, so that a simulation repeats exactly."""
POLICIES = ("lru", "random")
"""The names that a device file may use."""
_LIST_LRU, _STAMP_LRU, _RANDOM = 0, 1, 2
_DIGITS = 16
_WAY_BITS = 20
MAX_WAYS = 1 << _WAY_BITS

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


def policy(name: str, ways: int) -> int:
    """How the compiled code calls a policy of POLICIES."""
    if name == "random":
        return _RANDOM
    return _LIST_LRU if ways <= _DIGITS else _STAMP_LRU


def first_recency(of_policy: int, ways: int, stride: int, sets: int) -> Ints:
    """Recency words of cold sets: ways fill in order, slots beyond `ways` are never chosen."""
    if of_policy == _LIST_LRU:
        digits = [*range(ways - 1, -1, -1), *range(ways, _DIGITS)]
        word = sum(way << 4 * place for place, way in enumerate(digits))
        return np.full(sets, word, np.uint64).view(np.int64)
    if of_policy == _STAMP_LRU:
        way = np.arange(stride, dtype=np.int64)
        return np.tile(np.where(way < ways, way, np.iinfo(np.int64).max), sets)
    return np.zeros(1, np.int64)


@compiled
def _to_front(digits: np.uint64, way: np.uint64) -> np.uint64:
    """Moves the digit `way` to the lowest place.

    The lowest zero of the difference finds it (Mycroft's test).
    """
    other = digits ^ (way * np.uint64(0x1111111111111111))
    zeros = (other - np.uint64(0x1111111111111111)) & ~other & np.uint64(0x8888888888888888)
    below = np.uint64(ONE << np.uint64(trailing_zeros(int(np.int64(zeros))) - 3)) - ONE
    up_to = (below << np.uint64(4)) | np.uint64(15)
    return np.uint64((digits & ~up_to) | ((digits & below) << np.uint64(4)) | way)


@compiled
def use_way(of_policy: int, recency: Ints, first: int, stride: int, way: int, clock: Ints) -> None:
    """Notes the use of a way of the set that begins at slot `first`."""
    if of_policy == _LIST_LRU:
        at, used = np.uint64(first >> trailing_zeros(stride)), np.uint64(way)
        digits = np.uint64(recency[at])
        if digits & np.uint64(15) != used:
            recency[at] = np.int64(_to_front(digits, used))
    elif of_policy == _STAMP_LRU:
        clock[0] += 1
        recency[np.uint64(first + way)] = (clock[0] << _WAY_BITS) | way


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
def choose_way(
    of_policy: int, recency: Ints, first: int, stride: int, ways: int, random_state: Words
) -> int:
    """The way to evict of the set that begins at slot `first`; empty ways come first for LRU."""
    if of_policy == _RANDOM:
        return _random(ways, random_state)
    if of_policy == _LIST_LRU:
        digits = np.uint64(recency[np.uint64(first >> trailing_zeros(stride))])
        return int(np.int64((digits >> np.uint64(4 * (ways - 1))) & np.uint64(15)))
    return lowest(recency, first, stride) & (MAX_WAYS - 1)
