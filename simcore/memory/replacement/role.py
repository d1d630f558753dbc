"""What a replacement policy is: four functions of a module, and two facts.

The cache keeps for each policy one array, `recency`, and reads none of it. Ways of a cold set fill
in order, which is no policy's business; from then on every new line takes the way of a victim.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["MAX_WAYS", "RANDOM_SEED", "Policy"]

WAY_BITS = 20
MAX_WAYS = 1 << WAY_BITS
"""The most ways of a set, whatever the policy."""
RANDOM_SEED = 0x9E3779B97F4A7C15
"""Any nonzero word; fixed, so that a simulation repeats exactly."""

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


class Policy(Protocol):
    """A module that has these names; `touch`, `insert` and `victim` are `inlined` functions.

    A set is the slots from `first` on, `stride` of them, of which the first `ways` are used.
    `clock` is one word of the cache that counts what a policy counts, `random` its dice.
    """

    NAME: str
    """How device files call it."""
    MOST_WAYS: int
    """The most ways of a set; of two policies of one name the first with room is taken."""

    def cold(self, ways: int, stride: int, sets: int) -> Ints:
        """`recency` of a cache of empty sets."""

    def touch(
        self, recency: Ints, first: int, stride: int, ways: int, way: int, clock: Ints
    ) -> None:
        """A line that was there, in `way`, has been used."""

    def insert(
        self, recency: Ints, first: int, stride: int, ways: int, way: int, clock: Ints
    ) -> None:
        """A new line has come into `way`."""

    def victim(self, recency: Ints, first: int, stride: int, ways: int, random: Words) -> int:
        """The way of a full set whose line goes."""
