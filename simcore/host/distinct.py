"""Distinct words among many of which few differ, which `np.unique` finds by sorting them all."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.host.compiled import compiled

__all__ = ["Distinct", "distinct"]

_PLACE_BITS = 14
_PLACES = 1 << _PLACE_BITS
_MOST = _PLACES // 2
_FREE = -1

Ints = npt.NDArray[np.int64]


class Distinct(NamedTuple):
    """`values` ascend; `example`: where each comes first. `number`: which of them each word is."""

    values: npt.NDArray[Any]
    example: Ints
    number: Ints


@compiled
def _numbered(words: Ints, places: Ints, example: Ints, number: Ints) -> int:
    """Numbers words in the order in which they appear; how many differ, or -1 for too many.

    `places` is a hash table of numbers with linear probing.
    """
    found = 0
    for at in range(len(words)):
        word = words[np.uint64(at)]
        mixed = np.uint64(word) * np.uint64(0x9E3779B97F4A7C15)
        place = mixed >> np.uint64(64 - _PLACE_BITS)
        while True:
            known = places[place]
            if known == _FREE:
                if found == len(example):
                    return -1
                places[place] = known = found
                example[np.uint64(found)] = at
                found += 1
                break
            if words[np.uint64(example[np.uint64(known)])] == word:
                break
            place = (place + np.uint64(1)) & np.uint64(_PLACES - 1)
        number[np.uint64(at)] = known
    return found


def distinct(words: npt.NDArray[Any]) -> Distinct:
    """Finds the distinct ones of words of 8 bytes, shape (n,), and which each word is.

    Floats are compared by their bits and ordered by their values.
    """
    bits = np.ascontiguousarray(words).view(np.int64)
    number = np.empty(len(bits), np.int64)
    example = np.empty(_MOST, np.int64)
    found = int(_numbered(bits, np.full(_PLACES, _FREE, np.int64), example, number))
    if found < 0:
        return Distinct(*np.unique(words, return_index=True, return_inverse=True))
    values = words[example[:found]]
    order = np.argsort(values, kind="stable")
    place = np.empty(found, np.int64)
    place[order] = np.arange(found)
    return Distinct(values[order], example[order], place[number])
