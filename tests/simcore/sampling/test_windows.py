"""Windows of time: in order, as long as asked for, and all over what a launch does."""

from __future__ import annotations

from itertools import pairwise

import pytest

from kernelcast.simcore.sampling.plan import Interval, Role, SamplePlan
from kernelcast.simcore.sampling.windows import Timeline, plan_windows, with_cover
from kernelcast.traces.stream import ALWAYS

DURATION = 1000


def begin_and_end(timeline: Timeline, item: Interval) -> tuple[int, int]:
    start = item.first // timeline.wave * timeline.duration
    return start + item.after, start + min(item.before, timeline.duration)


def planned(thread_blocks: int, wave: int, warm_up: float = 0.02) -> tuple[Timeline, SamplePlan]:
    timeline = Timeline(thread_blocks, wave, DURATION)
    plan = plan_windows(timeline, warm_up, 0.04, 8)
    assert plan is not None
    return timeline, plan


@pytest.mark.parametrize(("thread_blocks", "wave"), [(20, 20), (36, 20), (1000, 20), (5, 20)])
def test_windows_follow_each_other(thread_blocks: int, wave: int) -> None:
    if thread_blocks < wave / 2:
        assert plan_windows(Timeline(thread_blocks, wave, DURATION), 0.02, 0.04, 8) is None
        return
    timeline, plan = planned(thread_blocks, wave)
    times = [begin_and_end(timeline, item) for item in plan.intervals]
    assert all(one[1] <= other[0] for one, other in pairwise(times))
    assert times[-1][1] <= timeline.end
    assert plan.intervals[0].role is Role.COLD
    assert [len(half) > 0 for pair in plan.halves() for half in pair] == [True] * 16
    assert plan.has_times


def test_as_much_work_is_measured_where_the_grid_does_not_fill_a_wave() -> None:
    timeline, plan = planned(30, 20)
    work = [
        sum(
            (stop - start) * plan.intervals[place].thread_blocks
            for half in pair
            for place in half
            for start, stop in [begin_and_end(timeline, plan.intervals[place])]
        )
        for pair in plan.halves()
    ]
    assert max(work) == pytest.approx(min(work), rel=0.1)
    assert work[0] == pytest.approx(0.04 * DURATION * 20, rel=0.1)


def test_a_window_that_two_waves_share_has_the_end_of_one_and_the_start_of_the_other() -> None:
    pieces = list(Timeline(60, 20, DURATION).pieces(900, 1100, Role.MEASURED))
    assert [(item.first, item.end, item.after, item.before) for item in pieces] == [
        (0, 20, 900, ALWAYS),
        (20, 40, 0, 100),
    ]


def test_times_that_no_window_has_are_covered() -> None:
    timeline, plan = planned(1000, 20)
    more = with_cover(plan, timeline, [(990, 999)]).intervals[len(plan.intervals) :]
    assert [(item.role, item.first, item.after, item.before) for item in more] == [
        (Role.COVER, 500, 990, ALWAYS)
    ]
