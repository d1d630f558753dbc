"""Accesses of warps that are told lane by lane, as the columns of a trace."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.trace import AccessTable, PatternCounts

__all__ = ["WarpAccesses"]

_PHASES = 16
_COLUMNS = 5


class WarpAccesses:
    """Collects accesses; instructions go by numbers that `accesses` and `pattern_counts` rename."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._pattern_of: dict[tuple[int, tuple[int, ...]], int] = {}
        self._where = array("i")
        self._address = array("q")
        self._counts: Counter[tuple[int, int, int, int]] = Counter()

    def pattern(self, lanes: Sequence[int], addresses: Sequence[int]) -> int:
        """The number of the pattern in which `lanes`, rising, point to `addresses`."""
        first = addresses[0]
        mask = sum(1 << lane for lane in lanes)
        key = mask, tuple(address - first for address in addresses)
        return self._pattern_of.setdefault(key, len(self._pattern_of))

    def add(
        self, instruction: int, warp: int, time: int, stage: int, address: int, pattern: int
    ) -> None:
        """Adds an access to global or local memory; `address` is that of the first active lane."""
        self._where.extend((instruction, warp, time, stage, pattern))
        self._address.append(address)

    def count(self, instruction: int, stage: int, address: int, pattern: int) -> None:
        """Counts an access to shared or constant memory."""
        self._counts[instruction, stage, address % _PHASES, pattern] += 1

    def accesses(self, pc_of: npt.NDArray[np.int32]) -> AccessTable:
        """The accesses to global and local memory, in the order in which they were added."""
        rows = np.array(self._where, np.int32).reshape(-1, _COLUMNS)
        instruction, warp, time, stage, pattern = (rows[:, i].copy() for i in range(_COLUMNS))
        address = np.array(self._address, np.int64)
        return AccessTable(pc_of[instruction], warp, time, stage, address, pattern)

    def pattern_counts(self, pc_of: npt.NDArray[np.int32]) -> PatternCounts:
        """The counts of shared and constant accesses, in ascending order."""
        ordered = sorted((int(pc_of[key[0]]), *key[1:], n) for key, n in self._counts.items())
        rows = np.array(ordered, np.int64).reshape(-1, 5)
        pc, stage, start, pattern = (rows[:, i].astype(np.int32) for i in range(4))
        return PatternCounts(pc, stage, start, pattern, rows[:, 4].copy())

    def patterns(self) -> PatternTable:
        """The distinct patterns of all accesses."""
        masks = np.array([mask for mask, _ in self._pattern_of], np.uint64)
        offsets = np.zeros((len(masks), self._width), np.int64)
        for row, (mask, relative) in zip(offsets, self._pattern_of, strict=True):
            row[[lane for lane in range(self._width) if mask >> lane & 1]] = relative
        return PatternTable(masks, offsets)
