"""Samples of launches whose caches remember long: what happens between windows is followed.

What L2 holds at some time comes from many more accesses than can be simulated. Most of them repeat
what their thread block asked for a moment before, and change nothing there: a stretch of time is
followed without them, at a small part of the cost. What DRAM moves is counted all along, what asks
for L1 and L2 in short windows without a gap.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kernelcast.simcore.sampling.plan import Interval, Role, SamplePlan, sample_offset
from kernelcast.simcore.sampling.windows import Timeline

__all__ = ["Following", "follow_all", "follow_some"]

_PERIODS = 256
"""Of the time in which L2 turns over: a line's last use is known to one of them."""
_WINDOWS = 4
"""Of a sample: two in each half."""


@dataclass(frozen=True, slots=True)
class Following:
    """How long, in instructions of a warp, L2 takes to turn over, and how long windows last."""

    turnover: int
    window: int

    @property
    def period(self) -> int:
        """In which a thread block asks once only for a sector."""
        return max(1, self.turnover // _PERIODS)


def follow_all(timeline: Timeline, how: Following, windows: int, seed: int = 0) -> SamplePlan | None:
    """Follows the whole launch, with so many windows; None where these would fill it."""
    stratum = timeline.end / windows
    if stratum < 2 * how.window:
        return None
    intervals: list[Interval] = []
    reached = 0
    for number in range(windows):
        offset = sample_offset(number, seed) * (stratum - how.window)
        begin = max(reached, int(number * stratum + offset))
        end = min(timeline.end, begin + how.window)
        intervals += timeline.pieces(reached, begin, Role.COLD, period=how.period)
        sample = number * _WINDOWS // windows
        half = number * 2 * _WINDOWS // windows % 2
        intervals += timeline.pieces(begin, end, Role.MEASURED, sample, half)
        reached = end
    intervals += timeline.pieces(reached, timeline.end, Role.COLD, period=how.period)
    return _planned(timeline, intervals)


def follow_some(
    timeline: Timeline, how: Following, measured: int, samples: int, seed: int = 0
) -> SamplePlan | None:
    """Follows the start, and so many samples; None where strata are too short for them.

    Each lasts for a turnover, and is then measured for `measured` instructions.
    """
    length = how.turnover + measured
    stratum = (timeline.end - length) / samples
    if stratum < length or measured < 2 * _WINDOWS * how.window:
        return None
    intervals = [*timeline.pieces(0, how.window, Role.COLD)]
    intervals += timeline.pieces(how.window, length, Role.COLD, period=how.period)
    for number in range(samples):
        begin = int(length + number * stratum + sample_offset(number, seed) * (stratum - length))
        first = begin + how.turnover
        intervals += timeline.pieces(begin, first, Role.WARM_UP, period=how.period)
        intervals += _measured(timeline, how, first, measured, number)
    return _planned(timeline, intervals)


def _measured(
    timeline: Timeline, how: Following, first: int, measured: int, sample: int
) -> Iterator[Interval]:
    """Windows at equal distances, and what lies before each."""
    for window in range(_WINDOWS):
        half = 2 * window // _WINDOWS
        begin = first + measured * window // _WINDOWS
        end = first + measured * (window + 1) // _WINDOWS
        at = end - how.window
        yield from timeline.pieces(begin, at, Role.MEASURED, sample, half, how.period)
        yield from timeline.pieces(at, end, Role.MEASURED, sample, half)


def _planned(timeline: Timeline, intervals: list[Interval]) -> SamplePlan:
    kept = tuple(item for item in intervals if item.before > item.after)
    return SamplePlan(timeline.thread_blocks, kept, timeline.duration)
