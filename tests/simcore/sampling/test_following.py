"""Launches that are followed: each access once, windows all over, and what is left out counted."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.memory.levels import Counters
from kernelcast.simcore.memory.repeats import completed
from kernelcast.simcore.sampling.choice import Choice, SampleSize
from kernelcast.simcore.sampling.following import Following, follow_all, follow_some
from kernelcast.simcore.sampling.plan import Role
from kernelcast.simcore.sampling.windows import Timeline
from kernelcast.traces.stream import GridPart

DURATION = 1000
WAVE = 20


def following(thread_blocks: int) -> Following:
    return Following(Timeline(thread_blocks, WAVE, DURATION), turnover=600, window=8, period=5)


@pytest.mark.parametrize("thread_blocks", [20, 47, 200])
def test_a_launch_that_is_followed_whole_has_each_time_of_each_thread_block_once(
    thread_blocks: int,
) -> None:
    plan = follow_all(following(thread_blocks), 32)
    assert plan is not None
    seen = np.zeros((thread_blocks, DURATION), np.int64)
    for item in plan.intervals:
        seen[item.first : item.end, item.after : min(item.before, DURATION)] += 1
        assert item.leaves_out == (item.role is Role.COLD)
        assert item.period == 5
    assert (seen == 1).all()
    assert plan.share == pytest.approx(32 * 8 / (-(-thread_blocks // WAVE) * DURATION), rel=0.3)
    assert len(plan.halves()) == 4


def test_windows_that_would_fill_the_launch_are_none() -> None:
    assert follow_all(following(20), 100) is None
    assert follow_some(following(40), 100, 4) is None


def test_each_sample_is_warmed_up_for_a_turnover() -> None:
    how = following(2000)
    plan = follow_some(how, 200, 4)
    assert plan is not None
    times = [
        (start + item.after, start + min(item.before, DURATION), item)
        for item in plan.intervals
        for start in [item.first // WAVE * DURATION]
    ]
    assert all(one[1] <= other[0] for one, other in pairwise(times))
    for number in range(4):
        own = [entry for entry in times if entry[2].role is Role.MEASURED]
        own = [entry for entry in own if entry[2].sample == number]
        begin = own[0][0]
        warm_up = [one for one in times if one[2].role is Role.WARM_UP and begin - 600 <= one[0]]
        assert sum(one[1] - one[0] for one in warm_up if one[1] <= begin) == 600
        assert sum(one[1] - one[0] for one in own) == 200
        assert sum(one[1] - one[0] for one in own if not one[2].leaves_out) == 4 * 8
        assert all(one[2].leaves_out for one in warm_up)


class Watched:
    """Thread blocks that touch nothing, and how often each of their times was asked for."""

    def __init__(self) -> None:
        self.asked = np.zeros((10 * WAVE, DURATION), np.int64)

    def stream(self, parts: Sequence[GridPart], _sinks: object) -> None:
        for part in parts:
            self.asked[part.first : part.end, part.after : min(part.before, DURATION)] += 1


def test_a_turnover_that_takes_longer_asks_for_what_it_has_not_seen() -> None:
    source: Any = Watched()
    nothing: Any = None
    choice = Choice(source, nothing, nothing, load_device("a100-40gb"), WAVE, SampleSize())
    assert choice._turnover(Timeline(10 * WAVE, WAVE, DURATION), 150, 700.0) is None
    assert source.asked.max() == 1
    assert source.asked.sum() == 16 * 150 * WAVE  # from 150 on, doubled up to 4 x 700


def counts(requests: list[int], hits: list[int]) -> Counters:
    """Counters of rows (new, ...), (repeated, ...) with requests and hits in L1."""
    nothing = np.zeros(len(requests), np.int64)
    return Counters(*(nothing for _ in Counters._fields))._replace(
        requests=np.array(requests), l1_hits=np.array(hits)
    )


def test_what_is_left_out_counts_as_it_does_in_windows() -> None:
    window = counts([4, 10, 50, 0], [1, 30, 100, 0])  # 2 hits for each repeat of the first
    followed = counts([8, 20, 600, 5], [3, 60, 0, 0])
    found = completed([followed, window], [True, False])
    assert found[0].requests.tolist() == [608, 25]
    # the second instruction's repeats are in no window: they hit as its other accesses, three times
    assert found[0].l1_hits.tolist() == [3 + 600 * 2, 60 + 5 * 3]
    assert found[1].requests.tolist() == [54, 10]
    assert found[1].l1_hits.tolist() == [101, 30]
