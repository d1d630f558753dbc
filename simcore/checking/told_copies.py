"""Copies that an mbarrier is told of, which are done once its phase is seen to end.

`cp.async.mbarrier.arrive` tells it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kernelcast.simcore.checking.records import Shadow
from kernelcast.simcore.isa.ir.mbarrier_words import PHASE_SHIFT

__all__ = ["ToldCopies"]


class ToldCopies:
    """What the mbarriers of the thread block that runs at one place were told of."""

    def __init__(self, shadow: Shadow) -> None:
        self._groups = shadow.groups
        self._block = -1
        self._told: dict[tuple[int, int], list[tuple[int, int, int]]] = {}

    def tell(
        self,
        block: int,
        rows: Iterable[int],
        places: Sequence[tuple[int, int]],
        words: Iterable[int],
    ) -> None:
        """Threads, by rows of `groups`, tell mbarriers of all that they have begun."""
        if block != self._block:
            self._block, self._told = block, {}
        for row, place, word in zip(rows, places, words, strict=True):
            self._groups[row, 0] += 1
            told = int(row), int(self._groups[row, 0]), word >> PHASE_SHIFT & 1
            self._told.setdefault(place, []).append(told)

    def look(self, block: int, place: tuple[int, int], word: int) -> None:
        """A thread sees the word of an mbarrier."""
        if block != self._block or place not in self._told:
            return
        parity = word >> PHASE_SHIFT & 1
        left = []
        for row, group, begun in self._told[place]:
            if begun == parity:
                left.append((row, group, begun))
            else:
                self._groups[row, 1] = max(int(self._groups[row, 1]), group)
        self._told[place] = left
