"""Accesses to shared and constant memory that compiled code counts instead of recording."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.engine.jit.codegen.memory.records import CountedAccess
from kernelcast.simcore.host.compiled import compiled
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.trace import PatternCounts

__all__ = ["CountedAccesses"]

Ints = npt.NDArray[np.int64]
Column = npt.NDArray[np.int32]


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
        used = int(np.count_nonzero(self.table))
        pc, stage, start, pattern = (np.empty(used, np.int32) for _ in range(4))
        taken = PatternCounts(pc, stage, start, pattern, np.empty(used, np.int64))
        facts = _Facts(self._pc, self._start, self._pattern)
        _take(self.table, facts, _Taken(pc, stage, start, pattern, taken.count))
        return taken


class _Facts(NamedTuple):
    """What a slot of the table counts."""

    pc: Column
    start: Column
    pattern: Column


class _Taken(NamedTuple):
    """The columns of what was counted."""

    pc: Column
    stage: Column
    start: Column
    pattern: Column
    often: Ints


@compiled
def _take(table: Ints, facts: _Facts, taken: _Taken) -> None:
    """Moves what is not zero, stage after stage."""
    at = 0
    for stage in range(table.shape[0]):
        for slot in range(table.shape[1]):
            count = table[stage, slot]
            if count:
                taken.pc[at] = facts.pc[slot]
                taken.stage[at] = stage
                taken.start[at] = facts.start[slot]
                taken.pattern[at] = facts.pattern[slot]
                taken.often[at] = count
                table[stage, slot] = 0
                at += 1
