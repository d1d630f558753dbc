"""Samples of launches whose caches remember long: what happens between windows is followed.

What L2 holds at some time comes from many more accesses than can be simulated. Most of them repeat
what their thread block asked for a moment before, and change nothing there: a stretch of time is
followed without them, at a small part of the cost. Short windows have them, and tell how often
they hit; all else is counted all along.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kernelcast.simcore.sampling.plan import Interval, Role, SamplePlan, sample_offset
from kernelcast.simcore.sampling.windows import Timeline

__all__ = ["Following", "follow_all", "follow_some"]

_HALVES_OF_ALL = 4
"""Samples that the windows of a launch make which is followed whole."""
_WINDOWS = 4
"""Each sample has as many, two in each half."""


@dataclass(frozen=True, slots=True)
class Following:
    """Times in instructions of a warp: how long L2 takes to turn over, and a `window` lasts.

    In a `period` a load repeats others of its thread block.
    """

    timeline: Timeline
    turnover: int
    window: int
    period: int

    def stretch(
        self, begin: int, end: int, role: Role, sample: int = 0, half: int = 0
    ) -> Iterator[Interval]:
        """What is followed from one time to another."""
        for item in self.timeline.pieces(begin, end, role, sample, half):
            yield replace(item, period=self.period, leaves_out=True)

    def whole(
        self, begin: int, end: int, role: Role, sample: int = 0, half: int = 0
    ) -> Iterator[Interval]:
        """What is simulated from one time to another."""
        for item in self.timeline.pieces(begin, end, role, sample, half):
            yield replace(item, period=self.period)

    def plan(self, intervals: list[Interval]) -> SamplePlan:
        """The plan of those intervals that last."""
        kept = tuple(item for item in intervals if item.before > item.after)
        return SamplePlan(self.timeline.thread_blocks, kept, self.timeline.duration)


def follow_all(how: Following, windows: int, seed: int = 0) -> SamplePlan | None:
    """Follows the whole launch, with so many windows; None where these would fill it."""
    stratum = how.timeline.end / windows
    if stratum < 2 * how.window:
        return None
    intervals: list[Interval] = []
    reached = 0
    for number in range(windows):
        offset = sample_offset(number, seed) * (stratum - how.window)
        begin = max(reached, int(number * stratum + offset))
        end = min(how.timeline.end, begin + how.window)
        intervals += how.stretch(reached, begin, Role.COLD)
        sample, half = divmod(number * 2 * _HALVES_OF_ALL // windows, 2)
        intervals += how.whole(begin, end, Role.MEASURED, sample, half)
        reached = end
    intervals += how.stretch(reached, how.timeline.end, Role.COLD)
    return how.plan(intervals)


def follow_some(how: Following, measured: int, samples: int, seed: int = 0) -> SamplePlan | None:
    """Follows the start, and so many samples; None where strata are too short for them.

    Each lasts for a turnover, and is then measured for `measured` instructions.
    """
    length = how.turnover + measured
    stratum = (how.timeline.end - length) / samples
    if stratum < length or measured < 2 * _WINDOWS * how.window:
        return None
    intervals = [*how.whole(0, how.window, Role.COLD), *how.stretch(how.window, length, Role.COLD)]
    for number in range(samples):
        begin = int(length + number * stratum + sample_offset(number, seed) * (stratum - length))
        first = begin + how.turnover
        intervals += how.stretch(begin, first, Role.WARM_UP)
        intervals += _measured(how, first, measured, number)
    return how.plan(intervals)


def _measured(how: Following, first: int, measured: int, sample: int) -> Iterator[Interval]:
    """Windows at equal distances, and what lies before each."""
    for window in range(_WINDOWS):
        half = 2 * window // _WINDOWS
        begin = first + measured * window // _WINDOWS
        end = first + measured * (window + 1) // _WINDOWS
        yield from how.stretch(begin, end - how.window, Role.MEASURED, sample, half)
        yield from how.whole(end - how.window, end, Role.MEASURED, sample, half)
