"""Instruction counts from the streams of single warps, by thread block and barrier stage."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kernelcast.traces.trace import ThreadBlockClasses

__all__ = ["WarpStreams"]

Ints = npt.NDArray[np.int64]
_NO_CLASS = -1


class WarpStreams:
    """Collects warps, thread block by thread block; instructions go by numbers as they turn up."""

    def __init__(self, thread_blocks: int, warps_per_thread_block: int) -> None:
        self._warps = warps_per_thread_block
        self.warp_time = np.zeros(thread_blocks * warps_per_thread_block, np.int32)
        self._class_of = np.full(thread_blocks, _NO_CLASS, np.int32)
        self._classes: dict[tuple[bytes, bytes], int] = {}
        self._streams: dict[int, Sequence[int]] = {}
        self.pairs_agree = True
        self._issues: Ints = np.zeros(0, np.int64)
        self._lanes: Ints = np.zeros(0, np.int64)
        self._stages: dict[int, Ints] = defaultdict(lambda: np.zeros(0, np.int64))
        self._steps: Ints = np.zeros(0, np.int64)
        self._starts: set[int] = set()
        self._previous: Sequence[int] = ()

    def is_recorded(self, thread_block: int) -> bool:
        """Whether the thread block's counts are there."""
        return bool(self._class_of[thread_block] != _NO_CLASS)

    def has_warp(self, warp: int) -> bool:
        """Whether `warp` of the thread block that is being collected is there already."""
        return warp in self._streams

    @property
    def missing_thread_blocks(self) -> int:
        """The number of thread blocks without counts."""
        return int((self._class_of == _NO_CLASS).sum())

    @property
    def missing_warps(self) -> int:
        """Warps of the present thread block that have no stream yet."""
        return self._warps - len(self._streams)

    def add_warp(
        self, warp: int, number: int, issued: Sequence[int], lanes: Sequence[int], stages: Ints
    ) -> None:
        """`warp` of the thread block is warp `number` of the launch.

        `issued`: instructions in order; `lanes`: active ones of each; `stages`: barriers before it.
        """
        self._streams[warp] = issued
        self.warp_time[number] = len(issued)
        if not issued:
            return
        stream = np.array(issued, np.int64)
        self._issues = _sum(self._issues, np.bincount(stream))
        self._lanes = _sum(self._lanes, np.bincount(stream, np.array(lanes)).astype(np.int64))
        for stage in range(int(stages[-1]) + 1):
            self._stages[stage] = _sum(self._stages[stage], np.bincount(stream[stages == stage]))
        if issued != self._previous:  # neighbouring warps often take the same path
            self._steps = np.union1d(self._steps, (stream[:-1] << 32) | stream[1:])
            self._starts.add(issued[0])
        self._previous = issued

    def finish_thread_block(self, thread_block: int) -> None:
        """All of its warps have been added."""
        # Numbers rise as instructions turn up: equal counts make equal bytes up to the last one.
        used = int(np.flatnonzero(self._issues)[-1]) + 1 if len(self._issues) else 0
        key = self._issues[:used].tobytes(), self._lanes[:used].tobytes()
        self._class_of[thread_block] = self._classes.setdefault(key, len(self._classes))
        self.pairs_agree &= all(
            self._streams[warp] == self._streams[warp + 1] for warp in range(0, self._warps - 1, 2)
        )
        self._streams = {}
        self._issues = self._lanes = np.zeros(0, np.int64)

    def classes(self, pc_of: npt.NDArray[np.int32]) -> ThreadBlockClasses:
        """The classes of thread blocks, with counts by pc."""
        issues = [np.frombuffer(key[0], np.int64) for key in self._classes]
        lanes = [np.frombuffer(key[1], np.int64) for key in self._classes]
        return ThreadBlockClasses(self._class_of, _renamed(issues, pc_of), _renamed(lanes, pc_of))

    def stage_warp_issues(self, pc_of: npt.NDArray[np.int32]) -> Ints:
        """Warp instructions issued by stage and pc, shape (stages, instructions)."""
        return _renamed([self._stages[stage] for stage in range(len(self._stages))], pc_of)

    def basic_blocks(self, pc_of: npt.NDArray[np.int32], ends: npt.NDArray[np.bool_]) -> Ints:
        """Number of each pc's basic block, as far as the streams show them.

        `ends`: instructions that end one, by pc.
        """
        before, after = pc_of[self._steps >> 32], pc_of[self._steps & 0xFFFFFFFF]
        falls = after == before + 1
        begins = np.zeros(len(pc_of) + 1, np.bool_)
        begins[[0, *pc_of[list(self._starts)]]] = True
        begins[after[~falls]] = True
        begins[before[~falls] + 1] = True
        begins[1:] |= ends
        return np.cumsum(begins[:-1]) - 1


def _sum(total: Ints, more: Ints) -> Ints:
    """Elementwise; the shorter one counts as padded with zeros."""
    if len(more) > len(total):
        total, more = more.copy(), total
    total[: len(more)] += more
    return total


def _renamed(rows: Sequence[Ints], pc_of: npt.NDArray[np.int32]) -> Ints:
    """Rows by number, each as long as it needs, as a matrix by pc."""
    table = np.zeros((len(rows), len(pc_of)), np.int64)
    for row, values in zip(table, rows, strict=True):
        row[pc_of[: len(values)]] = values
    return table
