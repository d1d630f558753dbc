"""Counts of a lattice of thread blocks beside those of all."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from kernelcast.simcore.sampling.census import Census, lattice_census
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.stream import GridPart
from kernelcast.traces.trace import (
    AccessTable,
    InstructionRow,
    PatternCounts,
    ResourceNeeds,
    ThreadBlockClasses,
    Trace,
)

ROW = InstructionRow(0, "load", "load", "", 0, "load", 0, "global", 4, merged_into=0)
Work = Callable[[int, int, int], int]


@dataclass
class Counted:
    """A launch whose thread block (x, y, z) issues one instruction `work(x, y, z)` times."""

    grid: tuple[int, int, int]
    work: Work

    def of(self, number: int) -> int:
        x, y, _ = self.grid
        return self.work(number % x, number // x % y, number // (x * y))

    def counts_of(self, parts: Sequence[GridPart]) -> Trace:
        issues = [self.of(number) for part in parts for number in range(part.first, part.end)]
        values, classes = np.unique(issues, return_inverse=True)
        rows = values.reshape(-1, 1).astype(np.int64)
        return Trace(
            kernel="k",
            grid=self.grid,
            thread_block=(32, 1, 1),
            warp_width=32,
            resources=ResourceNeeds(8, 0),
            instructions=(ROW,),
            classes=ThreadBlockClasses(classes.astype(np.int32), rows, 32 * rows),
            stage_warp_issues=np.array([[sum(issues)]]),
            warp_time=np.array(issues, np.int32),
            patterns=PatternTable.empty(32),
            accesses=AccessTable.empty(),
            pattern_counts=PatternCounts.empty(),
            engine="jit",
            elapsed_s=0.0,
            has_memory=False,
        )

    @property
    def total(self) -> int:
        return sum(self.of(number) for number in range(math.prod(self.grid)))


def census(grid: tuple[int, int, int], work: Work, most: int, seed: int = 0) -> Census:
    def weight(trace: Trace) -> np.ndarray:
        return trace.classes.warp_issues[:, 0].astype(np.float64)

    return lattice_census(Counted(grid, work), grid, most, weight, seed)


@pytest.mark.parametrize("grid", [(5000, 1, 1), (90, 70, 1), (20, 30, 25), (7, 1, 900)])
def test_bounds_at_the_ends_of_axes_are_exact(grid: tuple[int, int, int]) -> None:
    def work(x: int, y: int, z: int) -> int:
        ends = [at in (0, size - 1) for at, size in zip((x, y, z), grid, strict=True)]
        return 10 + 3 * ends[0] + 5 * ends[1] + 7 * ends[2]

    found = census(grid, work, 600)
    assert found.share < 0.5
    assert found.relative_error == 0.0
    assert found.trace.classes.totals()[0][0] == Counted(grid, work).total
    assert found.trace.warp_time.sum() == Counted(grid, work).total
    assert found.trace.stage_warp_issues.sum() == Counted(grid, work).total


def test_all_of_a_small_grid_is_counted() -> None:
    found = census((4, 3, 2), lambda x, y, z: 1 + x + 10 * y + 100 * z, 64)
    assert found.share == 1.0
    assert (
        found.trace.classes.totals()[0][0]
        == Counted((4, 3, 2), lambda x, y, z: 1 + x + 10 * y + 100 * z).total
    )


@pytest.mark.parametrize("seed", range(5))
def test_a_trend_is_within_the_stated_error(seed: int) -> None:
    def work(x: int, y: int, _: int) -> int:
        return 1 + max(0, y - x)

    found = census((120, 120, 1), work, 400, seed)
    whole = Counted((120, 120, 1), work).total
    assert 0 < found.relative_error < 0.1
    assert abs(found.trace.classes.totals()[0][0] / whole - 1) < 3 * found.relative_error
