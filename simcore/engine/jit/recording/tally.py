"""Counters of thread blocks as they come in: classes of thread blocks that counted the same."""

from __future__ import annotations

import threading

import numpy as np
import numpy.typing as npt

__all__ = ["ClassTally"]

Ints = npt.NDArray[np.int64]


class ClassTally:
    """Thread blocks are told apart by a 64-bit hash of their counters."""

    def __init__(self, thread_blocks: int, counters: int) -> None:
        random = np.random.default_rng(20170101)
        self._multipliers = random.integers(1, 2**63, counters, np.int64) | 1
        self._class_of = np.zeros(thread_blocks, np.int32)
        self._known: dict[int, int] = {}
        self._rows: list[Ints] = []
        self._first: list[int] = []
        self._lock = threading.Lock()

    def add(self, first: int, counts: Ints, repeats: npt.NDArray[np.uint8]) -> None:
        """`counts`, shape (thread blocks, counters), of thread blocks from `first` on.

        `repeats`, shape (thread blocks,): not 0 where a row is known to be as the one before.
        """
        starts = np.flatnonzero(repeats == 0)
        lengths = np.diff(starts, append=len(counts))
        hashes = (counts[starts] * self._multipliers).sum(axis=1)
        values, example, inverse = _distinct(hashes)
        numbers = np.empty(len(values), np.int32)
        with self._lock:
            for position, value in enumerate(values.tolist()):
                number = self._known.setdefault(value, len(self._rows))
                row = int(starts[example[position]])
                thread_block = first + row
                if number == len(self._rows):
                    self._rows.append(counts[row].copy())
                    self._first.append(thread_block)
                self._first[number] = min(self._first[number], thread_block)
                numbers[position] = number
        self._class_of[first : first + len(counts)] = np.repeat(numbers[inverse], lengths)

    def classes(self) -> tuple[npt.NDArray[np.int32], Ints]:
        """(class of each thread block, counters by class), numbered by their first thread block."""
        order = np.argsort(self._first)
        number = np.empty(len(order), np.int32)
        number[order] = np.arange(len(order), dtype=np.int32)
        return number[self._class_of], np.stack(self._rows)[order]


def _distinct(hashes: Ints) -> tuple[Ints, Ints, Ints]:
    """(values, position of each one's first occurrence, value of each hash), as np.unique."""
    if (hashes == hashes[0]).all():
        return hashes[:1], np.zeros(1, np.int64), np.zeros(len(hashes), np.int64)
    values, example, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    return values, example, inverse.reshape(-1)
