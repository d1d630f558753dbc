"""Warp paths from streams that are read warp by warp."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.warp_paths import MOST_EVENTS, NO_PATTERN, WarpPaths, sampled_thread_blocks

__all__ = ["CollectedPaths"]


class CollectedPaths:
    """Collects the warps of the sampled thread blocks; others are refused by `wants`.

    Instructions go by numbers that `paths` renames. Each warp may be so long that all have room.
    """

    def __init__(self, thread_blocks: int, threads: int, warps_per_thread_block: int) -> None:
        self._warps = warps_per_thread_block
        self._numbers = sampled_thread_blocks(thread_blocks, threads, warps_per_thread_block)
        warps = (self._numbers[:, None] * self._warps + np.arange(self._warps)).reshape(-1)
        self._place = {warp: place for place, warp in enumerate(warps.tolist())}
        self._most = MOST_EVENTS // len(warps)
        self._streams: dict[int, tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]] = {}
        self._accesses: list[tuple[int, int, int, int]] = []
        self._is_complete = True

    def wants(self, warp: int) -> bool:
        """`warp` is a number in the launch."""
        return warp in self._place

    def add_access(self, warp: int, time: int, address: int, pattern: int) -> None:
        """Adds an access by the `time`-th instruction of the warp."""
        if time < self._most:
            self._accesses.append((self._place[warp], time, address, pattern))

    def add_warp(self, warp: int, issued: Sequence[int], lanes: Sequence[int]) -> None:
        """All instructions of the warp in order, and how many lanes take part in each."""
        self._is_complete &= len(issued) <= self._most
        self._streams[self._place[warp]] = (
            np.array(issued[: self._most], np.int64),
            np.array(lanes[: self._most], np.uint8),
        )

    def paths(self, pc_of: npt.NDArray[np.int32], patterns: PatternTable) -> WarpPaths:
        """The paths of all warps; of an access to several address spaces the first part counts."""
        streams = [self._streams[place] for place in range(len(self._place))]
        start = np.cumsum([0, *(len(issued) for issued, _ in streams)], dtype=np.int64)
        events = int(start[-1])
        pattern, address = np.full(events, NO_PATTERN, np.int32), np.zeros(events, np.int64)
        rows = np.array(self._accesses[::-1], np.int64).reshape(-1, 4)
        at = start[rows[:, 0]] + rows[:, 1]
        address[at], pattern[at] = rows[:, 2], rows[:, 3]
        return WarpPaths(
            thread_blocks=self._numbers,
            warps_per_thread_block=self._warps,
            start=start,
            pc=pc_of[np.concatenate([issued for issued, _ in streams])],
            lanes=np.concatenate([lanes for _, lanes in streams]),
            pattern=pattern,
            address=address,
            patterns=patterns,
            is_complete=self._is_complete,
        )
