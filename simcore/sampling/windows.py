"""Samples of launches whose thread blocks are long: at some times only, in some waves.

Thread blocks of a wave start together and do alike, so that at any time they are at the same place
of their loops. A sample follows them from one time to another, first for as long as the caches take
to turn over, then to be measured. Samples are drawn from all that the launch does, one a stratum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.sampling.plan import Interval, Role, SamplePlan, sample_offset
from kernelcast.traces.stream import ALWAYS

__all__ = ["Timeline", "plan_windows"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Timeline:
    """Waves of `wave` thread blocks that last `duration` each, of `thread_blocks` in all.

    A time is what has passed since the launch began, in instructions of a warp.
    """

    thread_blocks: int
    wave: int
    duration: int

    @property
    def waves(self) -> float:
        """Waves of the launch, with a fraction for the last one."""
        return self.thread_blocks / self.wave

    def time_of(self, waves: float) -> int:
        """When so many waves are done; what is left of the grid lasts as long as a wave."""
        whole = int(waves)
        last = min(1.0, self.waves - whole)
        return int((whole + (waves - whole) / max(last, 1e-9)) * self.duration)

    @property
    def end(self) -> int:
        """When the launch ends."""
        return -(-self.thread_blocks // self.wave) * self.duration

    def pieces(
        self, begin: int, end: int, role: Role, sample: int = 0, half: int = 0
    ) -> Iterator[Interval]:
        """What happens from one time to another, wave by wave."""
        for wave in range(max(0, begin) // self.duration, -(-min(end, self.end) // self.duration)):
            start = wave * self.duration
            first = wave * self.wave
            last = min(self.thread_blocks, first + self.wave)
            before = end - start if end < start + self.duration else ALWAYS
            yield Interval(first, last, role, sample, half, max(0, begin - start), before)


def plan_windows(
    timeline: Timeline, warm_up: float, measured: float, samples: int, seed: int = 0
) -> SamplePlan | None:
    """Plans samples that warm up, and are measured, for such parts of a wave.

    Where the grid does not fill the last wave they take longer for as much work. None where strata
    are too short for them.
    """
    start = warm_up + measured
    stratum = (timeline.waves - start) / samples
    if stratum < start:
        return None
    intervals = [*timeline.pieces(0, timeline.time_of(start), Role.COLD)]
    reached = start
    for number in range(samples):
        slack = sample_offset(number, seed) * (stratum - start)
        begin = start + number * stratum + slack
        place, reached = begin + warm_up, begin + start
        times = [timeline.time_of(at) for at in (begin, place, place + measured / 2, reached)]
        intervals += timeline.pieces(times[0], times[1], Role.WARM_UP)
        intervals += timeline.pieces(times[1], times[2], Role.MEASURED, number, 0)
        intervals += timeline.pieces(times[2], times[3], Role.MEASURED, number, 1)
    kept = tuple(item for item in intervals if item.before > item.after)
    return SamplePlan(timeline.thread_blocks, kept, timeline.duration)


def with_cover(
    plan: SamplePlan, timeline: Timeline, times: Sequence[tuple[int, int]]
) -> SamplePlan:
    """The plan with what happens in a wave at such times (first, last) as well, not measured."""
    period = max((item.period for item in plan.intervals), default=0)
    wave = timeline.thread_blocks // timeline.wave // 2
    start = wave * timeline.duration
    more = [
        replace(item, period=period)
        for first, last in times
        for item in timeline.pieces(start + first, start + last + 1, Role.COVER)
    ]
    return SamplePlan(plan.thread_blocks, (*plan.intervals, *more), plan.duration)
