"""Accesses to shared and constant memory that compiled code counts instead of recording."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.engine.jit.codegen.memory.records import CountedAccess
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.trace import PatternCounts

__all__ = ["CountedAccesses"]

Ints = npt.NDArray[np.int64]


class CountedAccesses:
    """`table`, shape (stages, slots), is what compiled code adds to; `take` empties it."""

    def __init__(
        self, accesses: Sequence[CountedAccess], slots: int, width: int, stages: int
    ) -> None:
        self.table: Ints = np.zeros((stages, max(1, slots)), np.int64)
        offsets = list(dict.fromkeys(access.offsets for access in accesses))
        self.patterns = PatternTable(
            np.full(len(offsets), (1 << width) - 1, np.uint64),
            np.array(offsets, np.int64).reshape(-1, width),
        )
        self._pc, self._start, self._pattern = (
            np.zeros(self.table.shape[1], np.int32) for _ in range(3)
        )
        for access in accesses:
            own = slice(access.first_slot, access.first_slot + len(access.starts))
            self._pc[own] = access.pc
            self._start[own] = access.starts
            self._pattern[own] = offsets.index(access.offsets)

    def grow(self, stages: int) -> None:
        """Makes room for the counters of so many barrier stages."""
        more = np.zeros((stages - len(self.table), self.table.shape[1]), np.int64)
        self.table = np.concatenate((self.table, more))

    def take(self) -> PatternCounts:
        """What was counted since the last time; patterns are rows of `patterns`."""
        stage, slot = np.nonzero(self.table)
        count = self.table[stage, slot]
        self.table[stage, slot] = 0
        return PatternCounts(
            self._pc[slot], stage.astype(np.int32), self._start[slot], self._pattern[slot], count
        )
