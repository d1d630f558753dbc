"""Sample plans: disjoint, within the share, out of step with rows, and nothing left uncovered."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelcast.simcore.sampling.plan import Interval, Role, SamplePlan, plan_sample
from kernelcast.traces.trace import InstructionRow, ThreadBlockClasses

ROWS = tuple(
    InstructionRow(pc, kind, kind, "", 0, kind, 0, space, 4, merged_into=pc)
    for pc, (kind, space) in enumerate(
        [("load", "global"), ("store", "global"), ("compute", ""), ("load", "shared")]
    )
)


def classes_of(thread_blocks: int, rare: dict[int, int] | None = None) -> ThreadBlockClasses:
    """All execute the load; thread blocks of `rare` also the instruction that it names."""
    issues = np.zeros((1 + len(ROWS), len(ROWS)), np.int64)
    issues[:, 0] = 2
    issues[1 + np.arange(len(ROWS)), np.arange(len(ROWS))] += 1
    of_thread_block = np.zeros(thread_blocks, np.int32)
    for thread_block, pc in (rare or {}).items():
        of_thread_block[thread_block] = 1 + pc
    used, numbers = np.unique(of_thread_block, return_inverse=True)
    return ThreadBlockClasses(numbers.astype(np.int32), issues[used], 32 * issues[used])


def samples(plan: SamplePlan) -> list[tuple[int, int, int]]:
    """(start, start of what is measured, end) of each sample."""
    found = []
    for position, item in enumerate(plan.intervals):
        if item.role is Role.WARM_UP:
            first, second = plan.intervals[position + 1 : position + 3]
            assert (item.end, first.end) == (first.first, second.first)
            found.append((item.first, first.first, second.end))
    return found


@given(
    columns=st.integers(1, 300),
    rows=st.integers(1, 400),
    wave=st.integers(1, 200),
    warm_up=st.integers(0, 10),
    share=st.sampled_from([0.02, 0.1, 0.3, 1.0]),
)
def test_plans_hold_what_they_promise(
    columns: int, rows: int, wave: int, warm_up: int, share: float
) -> None:
    size = columns * rows
    plan = plan_sample((columns, rows, 1), wave, warm_up, classes_of(size), ROWS, share)
    if plan is None:
        # eight samples of a wave each, with warm-ups, do not fit the share or have no room to move
        warm = max(1, warm_up) * wave
        left = size - warm - wave
        assert (int(share * size) - warm - wave) // 8 < warm + wave or left // 8 < warm + 2 * wave
        return
    assert plan.share <= share
    assert plan.intervals[0] == Interval(0, (max(1, warm_up) + 1) * wave, Role.COLD)
    assert all(one.end <= other.first for one, other in pairwise(plan.intervals))
    assert all(item.thread_blocks > 0 for item in plan.intervals)
    assert plan.intervals[-1].end <= size


@pytest.mark.parametrize("columns", [1, 24, 100, 128])
def test_samples_spread_and_start_with_waves_at_other_places_of_rows(columns: int) -> None:
    size, wave = 100 * 1280, 40
    plan = plan_sample((columns, size // columns, 1), wave, 3, classes_of(size), ROWS)
    assert plan is not None
    found = samples(plan)
    assert 8 <= len(found) <= 12
    stratum = (size - plan.intervals[0].end) / len(found)
    for number, (start, begin, end) in enumerate(found):
        assert start % wave == 0
        assert begin - start == 3 * wave
        assert end - begin >= wave
        assert number * stratum <= start - plan.intervals[0].end
        assert end - plan.intervals[0].end <= (number + 1) * stratum
    steps = {after - before for (before, _, _), (after, _, _) in pairwise(found)}
    assert len(steps) > 1
    if columns > wave:
        assert len({start % columns for start, _, _ in found}) > 2


def test_measured_lengths_are_whole_rows_and_waves_where_both_fit() -> None:
    plan = plan_sample((30, 10000, 1), 40, 2, classes_of(300_000), ROWS)
    assert plan is not None
    assert {(end - begin) % 120 for _, begin, end in samples(plan)} == {0}
    plan = plan_sample((30, 400, 1), 40, 2, classes_of(12_000), ROWS, 0.14)
    assert plan is not None
    assert {(end - begin) % 30 for _, begin, end in samples(plan)} == {0}


def test_an_access_that_no_sample_executes_is_covered() -> None:
    size, wave = 50_000, 40
    plain = plan_sample((size, 1, 1), wave, 1, classes_of(size), ROWS)
    assert plain is not None
    ends = [item.end for item in plain.intervals]
    rare = ends[3] + 100
    assert not any(item.first <= rare < item.end for item in plain.intervals)
    plan = plan_sample((size, 1, 1), wave, 1, classes_of(size, {rare: 1}), ROWS)
    assert plan is not None
    cover = [item for item in plan.intervals if item.role is Role.COVER]
    assert [item.first for item in cover] == [rare]
    assert not cover[0].is_measured


@pytest.mark.parametrize(("stores", "is_planned"), [(900, True), (1100, False)])
def test_accesses_that_no_sample_measures_must_be_few(stores: int, is_planned: bool) -> None:
    """Two loads in each thread block; all the stores are in the last one."""
    size = 50_000
    issues = np.array([[2, 0, 0, 0], [2, stores, 0, 0]])
    of_thread_block = np.zeros(size, np.int32)
    of_thread_block[-1] = 1
    classes = ThreadBlockClasses(of_thread_block, issues, 32 * issues)
    plan = plan_sample((size, 1, 1), 40, 1, classes, ROWS, 0.02)
    assert (plan is not None) == is_planned
    if plan is not None:
        assert plan.intervals[-1] == Interval(size - 1, size, Role.COVER)
        assert plan.share <= 0.02


@pytest.mark.parametrize("pc", [2, 3])
def test_what_makes_no_traffic_needs_no_cover(pc: int) -> None:
    plan = plan_sample((50_000, 1, 1), 40, 1, classes_of(50_000, {20_001: pc}), ROWS)
    assert plan is not None
    assert all(item.role is not Role.COVER for item in plan.intervals)


def test_small_grids_are_run_in_full() -> None:
    assert plan_sample((1000, 1, 1), 40, 1, classes_of(1000), ROWS) is None
    assert plan_sample((100_000, 1, 1), 40, 100, classes_of(100_000), ROWS) is None
