"""The choice of a sample: whole waves where these are short, some times of waves where not."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.sampling.following import Following, follow_all, follow_some
from kernelcast.simcore.sampling.footprint import Footprint, turnover_waves
from kernelcast.simcore.sampling.pilot import Pilot, SampleSource
from kernelcast.simcore.sampling.plan import Role, SamplePlan, plan_sample, whole_grid
from kernelcast.simcore.sampling.turnovers import Turnovers
from kernelcast.simcore.sampling.windows import Timeline, plan_windows, with_cover
from kernelcast.traces.stream import GridPart
from kernelcast.traces.trace import Trace

__all__ = ["Choice", "SampleSize", "lasting_ratio"]

_MOST_SHARE = 0.4
_FEWEST_WAVES = 2
"""The cold start alone has as many."""
_SAMPLES, _FEWEST_SAMPLES = 8, 4
_ENLARGED = 4
_IN_STEP = 1.5
"""How much longer than most a thread block may last of those that are in step."""
_TURNOVERS = 1.25
"""Capacities of L2 that a warm-up touches."""
_FOLLOWED = 30
"""Accesses that are followed at most for each that is simulated: each takes so much less time."""
_SIMULATED_AT_ONCE = 3
"""Times the accesses up to which a launch is simulated rather than followed: that takes little
longer, has no error, and several devices share what they ask of the launch."""
_INSTRUCTIONS_PER_ACCESS = 32
"""Instructions that are executed, most of them left out of slices, while an access is followed."""
_PERIODS_OF_L1, _PERIODS_OF_L2 = 8, 128
"""A cache's turnover has so many periods: last uses of its lines are known to one of them."""
_SHORT_WINDOWS, _SHORTEST_WINDOW = 32, 16
"""Windows among what is followed, and instructions that one has at least."""
_FEWEST_SHARE = 1 / 32
"""The least part of what is simulated that a sample has for its warm-up, or to be measured."""


def lasting_ratio(counts: Trace) -> float:
    """How many times as long as most of the thread blocks the longest one lasts."""
    lasts = counts.warp_time.reshape(-1, counts.warps_per_thread_block).max(axis=1)
    return float(lasts.max(initial=0) / max(1.0, float(np.median(lasts))))


@dataclass(frozen=True)
class SampleSize:
    """`accesses` that are simulated at most, about; `seed` of where samples lie."""

    accesses: float = 8e6
    seed: int = 0
    may_grow: bool = True

    def enlarged(self) -> SampleSize:
        """What is simulated where a first sample says too little."""
        return replace(self, accesses=_ENLARGED * self.accesses, may_grow=False)


@dataclass(frozen=True)
class Choice:
    """Plans the sample of a launch on a device that holds `wave` thread blocks at once."""

    source: SampleSource
    counts: Trace
    pilot: Pilot
    device: Device
    wave: int
    size: SampleSize

    @property
    def accesses(self) -> float:
        """Accesses of the launch; a scattered one counts as often as it takes to simulate."""
        return self.pilot.accesses(self.counts) * self.pilot.quarter_lines

    def plan(self) -> SamplePlan:
        """The plan of the least error that simulates no more accesses than wanted, if one does."""
        thread_blocks = self.counts.thread_blocks
        if self.accesses <= self.size.accesses:
            return whole_grid(thread_blocks)
        share = self.size.accesses / self.accesses
        of_wave = self.accesses * self.wave / thread_blocks
        waves = self.size.accesses / of_wave
        if waves > 2 * _SAMPLES:
            plan = self._of_waves(self._warm_up_waves(), share)
            if plan is not None:
                return plan
        plan = self._of_times() or self.followed()
        if plan is not None:
            return plan
        if thread_blocks >= _FEWEST_WAVES * self.wave:
            for warm_up in (self._warm_up_waves(), 1):
                for most in (share, 0.1, 0.2, _MOST_SHARE):
                    plan = self._of_waves(warm_up, most)
                    if plan is not None:
                        return plan
        return whole_grid(thread_blocks)

    def start_waves(self) -> int:
        """Waves after which L2 has other contents than at first."""
        return 1 if self.counts.thread_blocks <= self.wave else 2 * self._warm_up_waves()

    def _of_waves(self, warm_up: int, share: float) -> SamplePlan | None:
        counts = self.counts
        if share < _MOST_SHARE / 1000 or _FEWEST_WAVES * self.wave > counts.thread_blocks:
            return None
        return plan_sample(
            *(counts.grid, self.wave, warm_up, counts.classes, counts.instructions),
            *(min(share, _MOST_SHARE), self.size.seed),
        )

    def _of_times(self) -> SamplePlan | None:
        """Windows of time, if what L2 holds at one follows from a time shortly before."""
        if lasting_ratio(self.counts) > _IN_STEP:
            return None
        timeline = Timeline(self.counts.thread_blocks, self.wave, self.pilot.duration)
        accesses_per_time = self.accesses / timeline.waves / timeline.duration
        affordable = self.size.accesses / accesses_per_time
        least = max(2, int(_FEWEST_SHARE * affordable))
        warm_up = self._turnover(timeline, least, affordable / (_FEWEST_SAMPLES + 1))
        if warm_up is None:
            return None
        for samples in range(_SAMPLES, _FEWEST_SAMPLES - 1, -1):
            measured = int(affordable / (samples + 1)) - warm_up
            if measured >= max(least, warm_up // 4) or samples == _FEWEST_SAMPLES:
                measured = max(least, measured, warm_up // 4)
                lengths = warm_up / timeline.duration, measured / timeline.duration
                plan = plan_windows(timeline, *lengths, samples, self.size.seed)
                if plan is not None:
                    return with_cover(plan, timeline, self._missing_times(plan))
        return None

    def followed(self) -> SamplePlan | None:
        """A plan that follows what lies between short windows; None where it would take too long.

        Thread blocks must be in step.
        """
        if lasting_ratio(self.counts) > _IN_STEP:
            return None
        timeline = Timeline(self.counts.thread_blocks, self.wave, self.pilot.duration)
        affordable = int(_FOLLOWED * self.size.accesses / self._work() * timeline.end)
        is_whole = affordable >= timeline.end
        most = timeline.duration if is_whole else affordable // _FEWEST_SAMPLES
        turnovers = Turnovers(self.source, self.device, timeline)
        l2 = turnovers.of_l2(_TURNOVERS, most)
        if l2 is None and not is_whole:
            return None
        l2, l1 = l2 or most, turnovers.of_l1(most)
        window = int(self.size.accesses / self.accesses * timeline.end / _SHORT_WINDOWS)
        window = max(_SHORTEST_WINDOW, min(window, timeline.duration // _SHORT_WINDOWS))
        period = max(1, min(l1 // _PERIODS_OF_L1, l2 // _PERIODS_OF_L2))
        how = Following(timeline, l2, window, period)
        if is_whole and self.accesses <= _SIMULATED_AT_ONCE * self.size.accesses:
            return whole_grid(self.counts.thread_blocks)
        if is_whole:
            plan = follow_all(how, _SHORT_WINDOWS, self.size.seed)
        else:
            samples = max(_FEWEST_SAMPLES, min(_SAMPLES, affordable // (2 * l2) - 1))
            measured = min(l2, max(affordable // (samples + 1) - l2, l2 // 4))
            plan = follow_some(how, measured, samples, self.size.seed)
        return plan and with_cover(plan, timeline, self._missing_times(plan))

    def _work(self) -> float:
        """What following the launch takes, in accesses: those to caches and what lies between."""
        issues = float(self.counts.classes.totals()[0].sum())
        return self.pilot.accesses(self.counts) + issues / _INSTRUCTIONS_PER_ACCESS

    def _turnover(self, timeline: Timeline, least: int, most: float) -> int | None:
        """How long thread blocks of a wave take to touch more than L2 holds, None for too long."""
        wanted = _TURNOVERS * self.device.l2.capacity_bytes
        start = timeline.time_of(timeline.waves / 2)
        footprint = Footprint(self.device.l2.sector_bytes)
        reached, length = start, least
        while length <= 4 * most:
            pieces = timeline.pieces(reached, start + length, Role.WARM_UP)
            self.source.stream([item.part for item in pieces], [footprint])
            if footprint.touched_bytes >= wanted:
                return max(1, int(length * min(1.0, 1.1 * wanted / footprint.touched_bytes)))
            reached, length = start + length, 2 * length
        return None

    def _missing_times(self, plan: SamplePlan) -> list[tuple[int, int]]:
        """When accesses happen that no interval has, for each the first time and what follows."""
        seen = np.zeros(len(self.pilot.time), np.bool_)
        for item in plan.intervals:
            if item.leaves_out:
                continue
            seen |= (self.pilot.time >= item.after) & (self.pilot.time < item.before)
        found: list[tuple[int, int]] = []
        while True:
            have = np.unique(self.pilot.pc[seen])
            missing = ~np.isin(self.pilot.pc, have)
            if not missing.any():
                return sorted(found)
            first = int(self.pilot.time[missing].min())
            last = first + plan.duration // 64
            found.append((first - plan.duration // 64, last))
            seen |= (self.pilot.time >= first) & (self.pilot.time <= last)

    def _warm_up_waves(self) -> int:
        sizes = []
        footprint = Footprint(self.device.l2.sector_bytes)
        for first in (0, self.wave):
            self.source.stream([GridPart(first, first + self.wave)], [footprint])
            sizes.append(footprint.touched_bytes)
        return turnover_waves(sizes[0], sizes[1], self.device.l2.capacity_bytes)
