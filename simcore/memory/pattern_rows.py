"""The patterns that pending accesses refer to: found again by content, or copied for one access.

Regular kernels repeat few patterns in all batches, whichever tables these come with; irregular ones
have a pattern of its own for each access, for which looking it up would be in vain.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.host.compiled import compiled
from kernelcast.simcore.memory.traversal import Patterns
from kernelcast.traces.pattern_table import PatternTable

__all__ = ["KEPT_ROWS", "SINGLE_USE", "PatternRows"]

KEPT_ROWS = 1 << 12
"""Patterns that many accesses may share have numbers below this."""
SINGLE_USE = -1
"""Stands for a pattern that each access copies."""
_ROWS_FOR_RARE = KEPT_ROWS // 4
_SLOTS = 4 * KEPT_ROWS
_FREE = -1

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Column = npt.NDArray[np.int32]


class PatternRows:
    """Rows of lane masks and offsets, the kept ones first, then one for each single use.

    `sorts_lanes`: the offsets of single uses ascend, whichever lanes they are of.
    """

    def __init__(self, warp_width: int, sorts_lanes: bool) -> None:
        self._sorts_lanes = sorts_lanes
        self.lanes: Words = np.empty(KEPT_ROWS, np.uint64)
        self.offsets: Ints = np.empty((KEPT_ROWS, warp_width), np.int64)
        self._kept = 0
        self._slots: Ints = np.full(_SLOTS, _FREE, np.int64)
        odd = np.random.default_rng(0).integers(0, 1 << 62, warp_width + 1) * 2 + 1
        self._weights: Words = odd.astype(np.uint64)

    @property
    def table(self) -> Patterns:
        """All rows as the traversal reads them."""
        return Patterns(self.lanes, self.offsets, KEPT_ROWS, self._sorts_lanes)

    @property
    def is_full(self) -> bool:
        """Whether no room is left for patterns that many accesses use."""
        return self._kept == KEPT_ROWS

    def numbers(self, patterns: PatternTable, used: Column) -> Ints:
        """Numbers the table's patterns: the kept row that equals it, or SINGLE_USE.

        `used`: the pattern of each access. What an access uses alone is kept only where there is
        plenty of room, and not looked up in long tables.
        """
        numbers: Ints = np.zeros(len(patterns.mask), np.int64)
        _count_uses(used, numbers)
        self._kept = _number(
            patterns.mask,
            patterns.offsets,
            self._weights,
            self._kept,
            self._slots,
            self.lanes,
            self.offsets,
            numbers,
        )
        return numbers

    def keep_only(self, rows: Ints) -> None:
        """Forgets all kept rows but these, which get the numbers 0, 1, ..."""
        self.lanes[: len(rows)] = self.lanes[rows]
        self.offsets[: len(rows)] = self.offsets[rows]
        self._kept = len(rows)
        self._slots[:] = _FREE
        _enter(self._weights, self._kept, self._slots, self.lanes, self.offsets)

    def make_room(self, single_uses: int) -> None:
        """Room for so many single uses in all."""
        wanted = KEPT_ROWS + single_uses
        if wanted <= len(self.lanes):
            return
        room, width = 2 * wanted, self.offsets.shape[1]
        lanes, offsets = np.empty(room, np.uint64), np.empty((room, width), np.int64)
        lanes[: len(self.lanes)], offsets[: len(self.lanes)] = self.lanes, self.offsets
        self.lanes, self.offsets = lanes, offsets

    def sort_lanes(self, first: int, end: int) -> None:
        """Sorts the offsets of the single uses from `first` to `end` where that is wanted.

        Those of lanes that take no part are 0 like that of the first that does. Coalescing sorts
        what is not in order; NumPy does it many times faster for all at once, in 32 bits.
        """
        if not self._sorts_lanes:
            return
        offsets = self.offsets[KEPT_ROWS + first : KEPT_ROWS + end]
        if not len(offsets):
            return
        if max(int(offsets.max()), -int(offsets.min())) >> 31:
            offsets.sort(axis=1)
            return
        narrow = offsets.astype(np.int32)
        narrow.sort(axis=1)
        offsets[:] = narrow


@compiled
def _count_uses(used: Column, uses: Ints) -> None:
    for pattern in used:
        uses[np.uint64(pattern)] += 1


@compiled
def _first_place(mask: np.uint64, offsets: Ints, weights: Words) -> np.uint64:
    """Where the search for a pattern begins: a sum of products, which vectorises."""
    width = len(offsets)
    total = mask * weights[width]
    for lane in range(width):
        total += np.uint64(offsets[lane]) * weights[lane]
    total ^= total >> np.uint64(32)
    total *= np.uint64(0x9E3779B97F4A7C15)
    return np.uint64((total >> np.uint64(40)) & np.uint64(_SLOTS - 1))


@compiled
def _find(
    mask: np.uint64, offsets: Ints, weights: Words, slots: Ints, lanes: Words, kept_offsets: Ints
) -> np.uint64:
    """The slot that holds the pattern, or the free one where it belongs."""
    at = _first_place(mask, offsets, weights)
    while slots[at] != _FREE:
        row = np.uint64(slots[at])
        if lanes[row] == mask:
            differences = 0
            for lane in range(len(offsets)):
                differences += kept_offsets[row, lane] != offsets[lane]
            if differences == 0:
                break
        at = np.uint64((at + np.uint64(1)) & np.uint64(_SLOTS - 1))
    return at


@compiled
def _number(
    masks: Words,
    offsets: Ints,
    weights: Words,
    kept: int,
    slots: Ints,
    lanes: Words,
    kept_offsets: Ints,
    numbers: Ints,
) -> int:
    """Replaces the uses in `numbers` by row numbers; how many rows are kept then."""
    is_long = len(numbers) > _ROWS_FOR_RARE
    for pattern in range(len(numbers)):
        uses = numbers[pattern]
        if uses == 0:
            continue
        numbers[pattern] = SINGLE_USE
        if uses == 1 and is_long:
            continue
        at = _find(masks[pattern], offsets[pattern], weights, slots, lanes, kept_offsets)
        if slots[at] == _FREE:
            if kept == KEPT_ROWS or (uses == 1 and kept >= _ROWS_FOR_RARE):
                continue
            slots[at] = kept
            lanes[kept] = masks[pattern]
            for lane in range(offsets.shape[1]):
                kept_offsets[kept, lane] = offsets[pattern, lane]
            kept += 1
        numbers[pattern] = slots[at]
    return kept


@compiled
def _enter(weights: Words, kept: int, slots: Ints, lanes: Words, offsets: Ints) -> None:
    """Makes the kept rows be found again."""
    for row in range(kept):
        slots[_find(lanes[row], offsets[row], weights, slots, lanes, offsets)] = row
