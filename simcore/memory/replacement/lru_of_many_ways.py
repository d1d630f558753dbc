"""LRU for sets of any size: of each slot the time of its last use, and its way."""

from __future__ import annotations

import numpy as np

from kernelcast.simcore.host.compiled import inlined
from kernelcast.simcore.memory.replacement.role import MAX_WAYS, WAY_BITS, Ints, Words
from kernelcast.simcore.memory.sets.way_search import lowest

__all__ = ["MOST_WAYS", "NAME", "cold", "insert", "touch", "victim"]

NAME = "lru"
MOST_WAYS = MAX_WAYS


def cold(ways: int, stride: int, sets: int) -> Ints:
    """The ways are victims in order; slots beyond them are never chosen."""
    way = np.arange(stride, dtype=np.int64)
    return np.tile(np.where(way < ways, way, np.iinfo(np.int64).max), sets)


@inlined
def touch(recency: Ints, first: int, stride: int, ways: int, way: int, clock: Ints) -> None:
    """Notes the time of this use of the way."""
    clock[0] += 1
    recency[np.uint64(first + way)] = (clock[0] << WAY_BITS) | way


insert = touch


@inlined
def victim(recency: Ints, first: int, stride: int, ways: int, random: Words) -> int:
    """The way whose last use is longest ago."""
    return lowest(recency, first, stride) & (MAX_WAYS - 1)
