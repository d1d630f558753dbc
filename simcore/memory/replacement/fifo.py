"""The line that came first goes, however often it was used: the ways of a set take turns."""

from __future__ import annotations

import numpy as np

from kernelcast.simcore.host.compiled import inlined
from kernelcast.simcore.memory.replacement.role import MAX_WAYS, Ints, Words

__all__ = ["MOST_WAYS", "NAME", "cold", "insert", "touch", "victim"]

NAME = "fifo"
MOST_WAYS = MAX_WAYS


def cold(ways: int, stride: int, sets: int) -> Ints:
    """`recency` of empty sets; the first slot of each set holds the way whose turn it is."""
    return np.zeros(stride * sets, np.int64)


@inlined
def touch(recency: Ints, first: int, stride: int, ways: int, way: int, clock: Ints) -> None:
    """Uses do not matter."""


@inlined
def insert(recency: Ints, first: int, stride: int, ways: int, way: int, clock: Ints) -> None:
    """Makes the next way the one whose turn it is."""
    recency[np.uint64(first)] = way + 1 if way + 1 < ways else 0


@inlined
def victim(recency: Ints, first: int, stride: int, ways: int, random: Words) -> int:
    """The way whose turn it is."""
    return int(recency[np.uint64(first)])
