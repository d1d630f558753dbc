"""Any line goes, each as likely as the others; nothing is kept but the state of the dice."""

from __future__ import annotations

import numpy as np

from kernelcast.simcore.host.compiled import inlined
from kernelcast.simcore.memory.replacement.role import MAX_WAYS, Ints, Words

__all__ = ["MOST_WAYS", "NAME", "cold", "insert", "touch", "victim"]

NAME = "random"
MOST_WAYS = MAX_WAYS


def cold(ways: int, stride: int, sets: int) -> Ints:
    """One word that nobody reads."""
    return np.zeros(1, np.int64)


@inlined
def touch(recency: Ints, first: int, stride: int, ways: int, way: int, clock: Ints) -> None:
    """Uses do not matter."""


insert = touch


@inlined
def victim(recency: Ints, first: int, stride: int, ways: int, random: Words) -> int:
    """Uniform over the ways, from Marsaglia's xorshift64 (J. Stat. Software 8(14), 2003)."""
    word = random[0]
    word ^= word << np.uint64(13)
    word ^= word >> np.uint64(7)
    word ^= word << np.uint64(17)
    random[0] = word
    drawn = np.int64(word >> np.uint64(33))
    if ways & (ways - 1) == 0:  # a mask is many times faster than a division
        return int(drawn & (ways - 1))
    return int(drawn % ways)
