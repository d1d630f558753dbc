"""Collects what a run does and makes the Trace of it.

Counts are kept by thread block and basic block; an instruction's counts follow from its basic
block's, except under a guard predicate, where lanes are counted one by one.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.engine.recording.patterns import PatternPool, WarpRows
from kernelcast.simcore.isa.analysis.instruction_rows import basic_block_of_each_pc
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.trace import AccessTable, PatternCounts, ThreadBlockClasses

__all__ = ["BatchCounts", "Recorder", "TraceRecorder"]

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Lanes = npt.NDArray[np.intp] | None
"""Positions in the batch, ascending; None for every lane."""


class Recorder(Protocol):
    """What is told of a batch while it runs: whole instructions and basic blocks."""

    def record_run(
        self, basic_block: int, mask: npt.NDArray[np.bool_] | None, stages: Ints, issued: Ints
    ) -> None:
        """Records that the lanes of `mask`, None for all, begin `basic_block`.

        `stages` and `issued`: of each thread block its stage, and how many of its warps issue.
        """

    def record_guard(self, pc: int, lanes: Lanes, chosen: npt.NDArray[np.intp]) -> None:
        """Records that of `lanes` only those at the positions `chosen` execute instruction `pc`."""

    def record_access(self, pc: int, rows: WarpRows, warps: Ints, time: Ints, stage: Ints) -> None:
        """Records an access to global or local memory.

        Per row: its warp's number in the launch, time and stage.
        """

    def record_pattern(self, pc: int, rows: WarpRows, stage: Ints) -> None:
        """An access to shared or constant memory."""


class BatchCounts:
    """Executions in one batch of thread blocks, and each warp's clock and barrier stage."""

    def __init__(self, thread_blocks: int, basic_blocks: int, instructions: int, warps: int):
        self.warp_issues: Ints = np.zeros((thread_blocks, basic_blocks), np.int64)
        self.lane_executions: Ints = np.zeros((thread_blocks, basic_blocks), np.int64)
        self.guarded_off: dict[int, Ints] = {}
        self.later_arrivals: dict[int, Ints] = {}
        self.pairs_agree = True
        self.thread_blocks = thread_blocks
        self.instructions = instructions
        self.warp_time = np.zeros(thread_blocks * warps, np.int64)
        self.stage = np.zeros(thread_blocks, np.int64)

    def count_guarded_off(self, pc: int, lanes_off: Ints) -> None:
        """Lanes of each thread block where the guard of instruction `pc` was false."""
        if pc not in self.guarded_off:
            self.guarded_off[pc] = np.zeros(self.thread_blocks, np.int64)
        self.guarded_off[pc] += lanes_off

    def count_later_arrivals(self, pc: int | None, waiting: Mask, coming: Mask) -> None:
        """Warps whose lanes come to `pc` where others of theirs wait; none count without a pc."""
        if pc is None:
            return
        come, wait = (
            mask.reshape(len(self.warp_time), -1).any(axis=1) for mask in (coming, waiting)
        )
        known = self.later_arrivals.setdefault(pc, np.zeros(self.thread_blocks, np.int64))
        known += (come & wait).reshape(self.thread_blocks, -1).sum(axis=1)


class TraceRecorder:
    """A Recorder of one launch."""

    def __init__(self, kernel: Kernel, width: int, warps_per_thread_block: int) -> None:
        self._block_of_pc = basic_block_of_each_pc(kernel)
        self._pool = PatternPool(width)
        self._warps = warps_per_thread_block
        self._columns: list[list[npt.NDArray[Any]]] = [[] for _ in range(6)]
        self._pattern_counts: Counter[tuple[int, int, int, int]] = Counter()
        self._classes: dict[bytes, int] = {}
        self._class_rows: list[tuple[Ints, Ints, Ints]] = []
        self._class_of: list[npt.NDArray[np.int32]] = []
        self._warp_times: list[npt.NDArray[np.int32]] = []
        self._stages: dict[int, Ints] = {}
        self._basic_blocks = len(kernel.blocks)
        self.pairs_agree = True

    def record_run(
        self, basic_block: int, mask: npt.NDArray[np.bool_] | None, stages: Ints, issued: Ints
    ) -> None:
        """Counts issues by stage; the other counts are the batch's own."""
        low = int(stages[0])
        if (stages == low).all():
            self._stage_row(low)[basic_block] += int(issued.sum())
            return
        for stage in np.unique(stages):
            warps = int(issued[stages == stage].sum())
            if warps:
                self._stage_row(int(stage))[basic_block] += warps

    def record_guard(self, pc: int, lanes: Lanes, chosen: npt.NDArray[np.intp]) -> None:
        """Nothing: the batch counts the lanes of each thread block."""

    def record_access(self, pc: int, rows: WarpRows, warps: Ints, time: Ints, stage: Ints) -> None:
        """A row of the table for each warp."""
        columns: tuple[npt.NDArray[Any], ...] = (
            np.full(len(rows.warps), pc, np.int32),
            warps.astype(np.int32),
            time.astype(np.int32),
            stage.astype(np.int32),
            rows.first,
            self._pool.numbers(rows),
        )
        for column, values in zip(self._columns, columns, strict=True):
            column.append(values)

    def record_pattern(self, pc: int, rows: WarpRows, stage: Ints) -> None:
        """Only how often the access had which shape."""
        key = (stage << 4) | (rows.first & 15)
        combined = (key << 32) | self._pool.numbers(rows)
        if (combined == combined[0]).all():
            values, counts = combined[:1], np.array([len(combined)])
        else:
            values, counts = np.unique(combined, return_counts=True)
        for value, count in zip(values.tolist(), counts.tolist(), strict=True):
            where = (pc, value >> 36, (value >> 32) & 15, value & 0xFFFFFFFF)
            self._pattern_counts[where] += count

    def finish_batch(self, counts: BatchCounts) -> None:
        """Sorts the batch's thread blocks into classes of equal counts."""
        guarded = sorted(counts.guarded_off)
        columns = [counts.warp_issues, counts.lane_executions]
        columns += [counts.guarded_off[pc][:, None] for pc in guarded]
        columns += [came[:, None] for _, came in sorted(counts.later_arrivals.items())]
        rows = np.concatenate(columns, axis=1)
        if (rows == rows[0]).all():
            example, inverse = np.zeros(1, np.intp), np.zeros(len(rows), np.intp)
        else:
            _, example, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        numbers = np.array([self._class_number(counts, int(i), guarded) for i in example], np.int32)
        self._class_of.append(numbers[inverse.reshape(-1)])
        self._warp_times.append(counts.warp_time.astype(np.int32))
        self.pairs_agree &= counts.pairs_agree

    def classes(self) -> ThreadBlockClasses:
        """The classes of thread blocks of the launch, joined from its batches."""
        issues, lanes, later = (np.stack(rows) for rows in zip(*self._class_rows, strict=True))
        numbers = np.concatenate(self._class_of)
        return ThreadBlockClasses(numbers, issues, lanes, later if later.any() else None)

    def stage_warp_issues(self) -> Ints:
        """Warp instructions issued by stage and pc, shape (stages, instructions)."""
        stages = max(self._stages, default=0) + 1
        table = np.zeros((stages, self._basic_blocks), np.int64)
        for stage, row in self._stages.items():
            table[stage] = row
        return table[:, self._block_of_pc]

    def warp_time(self) -> npt.NDArray[np.int32]:
        """Instructions that each warp issued, shape (warps,)."""
        return np.concatenate(self._warp_times)

    def accesses(self) -> AccessTable:
        """The accesses recorded so far, as one table; they are handed over, not kept."""
        kinds = (np.int32, np.int32, np.int32, np.int32, np.int64, np.int32)
        joined = []
        for position, kind in enumerate(kinds):
            parts, self._columns[position] = self._columns[position], []
            joined.append(np.concatenate(parts).astype(kind) if parts else np.zeros(0, kind))
        pc, warp, time, stage, address, pattern = joined
        return AccessTable(pc, warp, time, stage, address, pattern)

    def pattern_counts(self) -> PatternCounts:
        """How often each (pc, stage, start, pattern) occurred, in ascending order."""
        ordered = sorted(self._pattern_counts.items())
        keys = np.array([key for key, _ in ordered], np.int64).reshape(-1, 4)
        pc, stage, start, pattern = (keys[:, i].astype(np.int32) for i in range(4))
        count = np.array([value for _, value in ordered], np.int64)
        return PatternCounts(pc, stage, start, pattern, count)

    def patterns(self) -> PatternTable:
        """The distinct access patterns of the launch."""
        return self._pool.table()

    def _stage_row(self, stage: int) -> Ints:
        if stage not in self._stages:
            self._stages[stage] = np.zeros(self._basic_blocks, np.int64)
        return self._stages[stage]

    def _class_number(self, counts: BatchCounts, thread_block: int, guarded: list[int]) -> int:
        issues = counts.warp_issues[thread_block, self._block_of_pc]
        lanes = counts.lane_executions[thread_block, self._block_of_pc]
        for pc in guarded:
            lanes[pc] -= counts.guarded_off[pc][thread_block]
        later = np.zeros_like(issues)
        for pc, came in counts.later_arrivals.items():
            later[pc] = came[thread_block]
        key = issues.tobytes() + lanes.tobytes() + later.tobytes()
        if key not in self._classes:
            self._classes[key] = len(self._class_rows)
            self._class_rows.append((issues, lanes, later))
        return self._classes[key]
