"""Counts of shared and constant accesses of many batches, added up."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernelcast.traces.pattern_numbers import PatternNumbers
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.trace import PatternCounts

__all__ = ["PatternTally"]

_FEW_ROWS = 1 << 16


class PatternTally:
    """Adds up counts of the same instruction, stage, start and pattern."""

    def __init__(self) -> None:
        self._numbers = PatternNumbers()
        self._parts: list[PatternCounts] = []
        self._rows = 0
        self._most_rows = _FEW_ROWS

    def add(self, counts: PatternCounts, patterns: PatternTable) -> None:
        """`counts` number patterns within `patterns`."""
        if not len(counts):
            return
        number = self._numbers.of(patterns, counts.pattern)
        self._parts.append(
            PatternCounts(counts.pc, counts.stage, counts.start, number, counts.count)
        )
        self._rows += len(counts)
        if self._rows > self._most_rows:
            self._parts = [summed(self._parts)]
            self._rows = len(self._parts[0])
            self._most_rows = max(_FEW_ROWS, 2 * self._rows)

    def counts(self, numbers: PatternNumbers) -> PatternCounts:
        """The sums, with patterns numbered by `numbers`, the same however batches were cut."""
        if not self._parts:
            return PatternCounts.empty()
        patterns = self._numbers.table()
        order = np.argsort(numbers.hashes(patterns)).astype(np.int32)
        number_of = np.empty(len(order), np.int32)
        number_of[order] = numbers.of(patterns, order)
        total = summed(self._parts)
        pattern = number_of[total.pattern]
        return summed([PatternCounts(total.pc, total.stage, total.start, pattern, total.count)])


def summed(parts: list[PatternCounts]) -> PatternCounts:
    """One row for each (pc, stage, start, pattern), rising."""
    keys = [
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("pc", "stage", "start", "pattern")
    ]
    count = np.concatenate([part.count for part in parts])
    order = np.lexsort(keys[::-1])
    rows = [key[order] for key in keys]
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = np.logical_or.reduce([row[1:] != row[:-1] for row in rows])
    first = np.flatnonzero(is_first)
    pc, stage, start, pattern = (row[first] for row in rows)
    sums: npt.NDArray[np.int64] = np.add.reduceat(count[order], first) if len(first) else count
    return PatternCounts(pc, stage, start, pattern, sums)
