"""Warp accesses as rows: the shapes of accesses are pooled, so a regular kernel needs few."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.traces.pattern_table import PatternTable

__all__ = ["LaneGroups", "PatternPool", "WarpRows", "warp_rows"]


class WarpRows:
    """The accesses of one instruction by warp.

    `warps`: positions of the warps in the batch; `active` (warps, width): which lanes take part;
    `first`: address of the first active lane; `offsets` (warps, width) relative to it, 0 where
    inactive. `active` is None when every lane of every warp takes part.
    """

    __slots__ = ("active", "first", "offsets", "warps")

    def __init__(
        self,
        warps: npt.NDArray[np.int64],
        active: npt.NDArray[np.bool_] | None,
        first: npt.NDArray[np.int64],
        offsets: npt.NDArray[Any],
    ) -> None:
        self.warps = warps
        self.active = active
        self.first = first
        self.offsets = offsets


class LaneGroups:
    """Active lanes by warp, the same for all accesses of a frame.

    `warps`: positions of the warps in the batch; `first`: position in the lane list of each warp's
    first active lane; `count`: its active lanes; `cell`: each lane's place in a (warps, width)
    matrix.
    """

    __slots__ = ("active", "cell", "count", "first", "warps")

    def __init__(self, lanes: npt.NDArray[np.intp], width: int) -> None:
        warp = lanes >> (width.bit_length() - 1)
        is_first = np.concatenate(([True], warp[1:] != warp[:-1]))
        self.first = np.flatnonzero(is_first)
        self.warps = warp[self.first]
        self.count = np.diff(self.first, append=len(lanes))
        row = np.repeat(np.arange(len(self.warps)), self.count)
        self.cell = row * width + (lanes & (width - 1))
        active = np.zeros(len(self.warps) * width, np.bool_)
        active[self.cell] = True
        self.active = active.reshape(-1, width)


def warp_rows(
    address: npt.NDArray[np.int64], groups: LaneGroups | None, batch_lanes: int, width: int
) -> WarpRows:
    """Groups lane addresses by warp; `groups` is None when all lanes of the batch take part."""
    if groups is None:
        grid = np.broadcast_to(address, (batch_lanes,)).reshape(-1, width)
        first = grid[:, 0].astype(np.int64)
        return WarpRows(np.arange(len(grid)), None, first, grid - grid[:, :1])
    address = np.broadcast_to(address, groups.cell.shape)
    first = address[groups.first].astype(np.int64)
    offsets = np.zeros(groups.active.size, np.int64)
    offsets[groups.cell] = address - np.repeat(first, groups.count)
    return WarpRows(groups.warps, groups.active, first, offsets.reshape(groups.active.shape))


class PatternPool:
    """Numbers the distinct (mask, offsets) rows in the order in which they are first seen.

    Rows are told apart by a 64-bit hash of their content: with random multipliers two of a
    million different rows collide with a chance below 1e-7.
    """

    def __init__(self, width: int) -> None:
        self._width = width
        random = np.random.default_rng(20170101)
        self._multipliers = random.integers(1, 2**63, width, np.uint64) | np.uint64(1)
        self._mask_multiplier = np.uint64(random.integers(1, 2**63)) | np.uint64(1)
        self._lane_bits = np.uint64(1) << np.arange(width, dtype=np.uint64)
        self._full_mask = np.uint64((1 << width) - 1)
        self._known: dict[int, int] = {}
        self._masks: list[np.uint64] = []
        self._offsets: list[npt.NDArray[np.int64]] = []

    def numbers(self, rows: WarpRows) -> npt.NDArray[np.int32]:
        """The pattern number of each row, shape (warps,)."""
        offsets, active = rows.offsets, rows.active
        differs = (offsets != offsets[0]).any(axis=1)
        if active is not None:
            differs |= (active != active[0]).any(axis=1)
        usual = self._number(offsets[0], None if active is None else active[0])
        numbers = np.full(len(offsets), usual, np.int32)
        rest = np.flatnonzero(differs)
        if len(rest):
            numbers[rest] = self._numbers(offsets[rest], None if active is None else active[rest])
        return numbers

    def table(self) -> PatternTable:
        """The distinct patterns in the order of their numbers."""
        offsets = np.stack(self._offsets) if self._offsets else np.zeros((0, self._width), np.int64)
        return PatternTable(np.array(self._masks, np.uint64), offsets)

    def _numbers(
        self, offsets: npt.NDArray[Any], active: npt.NDArray[np.bool_] | None
    ) -> npt.NDArray[np.int32]:
        if active is None:
            masks = np.full(len(offsets), self._full_mask)
        else:
            masks = (active * self._lane_bits).sum(axis=1, dtype=np.uint64)
        wide = offsets.astype(np.int64).view(np.uint64)
        hashes = (wide * self._multipliers).sum(axis=1, dtype=np.uint64)
        hashes += masks * self._mask_multiplier
        _, example, inverse = np.unique(hashes, return_index=True, return_inverse=True)
        numbers = np.array(
            [self._register(int(hashes[i]), masks[i], offsets[i]) for i in example], np.int32
        )
        return numbers[inverse]

    def _number(self, offsets: npt.NDArray[Any], active: npt.NDArray[np.bool_] | None) -> int:
        rows = None if active is None else active[None]
        return int(self._numbers(offsets[None], rows)[0])

    def _register(self, key: int, mask: np.uint64, offsets: npt.NDArray[Any]) -> int:
        number = self._known.get(key)
        if number is None:
            number = self._known[key] = len(self._masks)
            self._masks.append(mask)
            self._offsets.append(offsets.astype(np.int64))
        return number
