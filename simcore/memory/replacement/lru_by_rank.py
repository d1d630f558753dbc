"""LRU for sets of up to 255 ways: of each way how many others were used after its last use, a byte.

A set's ranks lie in one or a few lines of the processor's cache, where the times of all last uses
would take eight times as many.
"""

from __future__ import annotations

import numpy as np

from kernelcast.simcore.host.compiled import inlined
from kernelcast.simcore.memory.replacement.role import Ints, Words
from kernelcast.simcore.memory.sets.way_search import (
    BYTES_AT_ONCE,
    age_bytes,
    equal_bytes,
    trailing_zeros,
)

__all__ = ["MOST_WAYS", "NAME", "cold", "insert", "touch", "victim"]

NAME = "lru"
MOST_WAYS = 255
"""A byte's values, but for the one of slots that are not used."""
_UNUSED = 255
_RANKS_OF_WORD = 8
_WORD_SHIFT = 3


def cold(ways: int, stride: int, sets: int) -> Ints:
    """The ways are victims in order; slots beyond them are never chosen."""
    way = np.arange(stride)
    ranks = np.where(way < ways, ways - 1 - way, _UNUSED).astype(np.uint8)
    return np.tile(ranks, sets).view(np.int64)


@inlined
def touch(recency: Ints, first: int, stride: int, ways: int, way: int, clock: Ints) -> None:
    """Makes the way's rank 0, and those that were below it one more."""
    word, shift = np.uint64((first + way) >> _WORD_SHIFT), 8 * ((first + way) & 7)
    rank = (recency[word] >> shift) & 255
    if rank == 0:
        return
    for begin in range(first, first + ways, BYTES_AT_ONCE):
        age_bytes(recency, np.uint64(begin >> _WORD_SHIFT), rank)


insert = touch


@inlined
def victim(recency: Ints, first: int, stride: int, ways: int, random: Words) -> int:
    """The way of the highest rank."""
    begin = first
    same = equal_bytes(recency, np.uint64(begin >> _WORD_SHIFT), ways - 1)
    while same == 0:
        begin += BYTES_AT_ONCE
        same = equal_bytes(recency, np.uint64(begin >> _WORD_SHIFT), ways - 1)
    return int(begin - first + trailing_zeros(same))
