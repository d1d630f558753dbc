"""The line whose last use is longest ago goes: of each set a word with its ways in that order.

A way is a hexadecimal digit, the last one used lowest.
"""

from __future__ import annotations

import numpy as np

from kernelcast.simcore.host.compiled import inlined
from kernelcast.simcore.memory.bitmask import ONE
from kernelcast.simcore.memory.replacement.role import Ints, Words
from kernelcast.simcore.memory.sets.way_search import trailing_zeros

__all__ = ["MOST_WAYS", "NAME", "cold", "insert", "touch", "victim"]

NAME = "lru"
MOST_WAYS = 16
"""The digits of a word."""


def cold(ways: int, stride: int, sets: int) -> Ints:
    """The ways are victims in order; digits beyond them are never chosen."""
    digits = [*range(ways - 1, -1, -1), *range(ways, MOST_WAYS)]
    word = sum(way << 4 * place for place, way in enumerate(digits))
    return np.full(sets, word, np.uint64).view(np.int64)


@inlined
def _to_front(digits: np.uint64, way: np.uint64) -> np.uint64:
    """Moves the digit `way` to the lowest place.

    The lowest zero of the difference finds it (Mycroft's test).
    """
    other = digits ^ (way * np.uint64(0x1111111111111111))
    zeros = (other - np.uint64(0x1111111111111111)) & ~other & np.uint64(0x8888888888888888)
    below = np.uint64(ONE << np.uint64(trailing_zeros(int(np.int64(zeros))) - 3)) - ONE
    up_to = (below << np.uint64(4)) | np.uint64(15)
    return np.uint64((digits & ~up_to) | ((digits & below) << np.uint64(4)) | way)


@inlined
def touch(recency: Ints, first: int, stride: int, ways: int, way: int, clock: Ints) -> None:
    """Moves the way to the front of its set's order."""
    at, used = np.uint64(first >> trailing_zeros(stride)), np.uint64(way)
    digits = np.uint64(recency[at])
    if digits & np.uint64(15) != used:
        recency[at] = np.int64(_to_front(digits, used))


insert = touch


@inlined
def victim(recency: Ints, first: int, stride: int, ways: int, random: Words) -> int:
    """The way whose last use is longest ago."""
    digits = np.uint64(recency[np.uint64(first >> trailing_zeros(stride))])
    return int(np.int64((digits >> np.uint64(4 * (ways - 1))) & np.uint64(15)))
