"""Which thread blocks of a grid are simulated so that they stand for all.

The start of the grid is measured as it is, with cold caches. The rest is cut into equal strata; in
each a run of thread blocks is simulated, first to fill the caches with what they would hold there,
then to be measured.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from kernelcast.traces.stream import ALWAYS, GridPart
from kernelcast.traces.trace import InstructionRow, ThreadBlockClasses
from kernelcast.traces.warp_paths import GOLDEN

__all__ = [
    "DEFAULT_SHARE",
    "Interval",
    "Role",
    "SamplePlan",
    "plan_sample",
    "sample_offset",
    "whole_grid",
]

DEFAULT_SHARE = 0.1
"""The largest share of the grid's thread blocks that is simulated."""
_MOST_SAMPLES, _FEWEST_SAMPLES = 12, 8
_MOST_MEASURED_WAVES = 8
_MOST_COVER = 4
_MOST_UNMEASURED = 0.01
"""The largest share of accesses that no sample measures and that has no part in the error."""
_KINDS = ("load", "store", "atomic")
_SPACES = ("global", "generic", "local")

Classes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


class Role(Enum):
    """What an interval is simulated for.

    COVER: thread blocks with an instruction that no other interval executes.
    """

    COLD = "cold start"
    WARM_UP = "warm-up"
    MEASURED = "measured"
    COVER = "cover"


@dataclass(frozen=True, slots=True)
class Interval:
    """Thread blocks `first` to `end`, the latter excluded, `after` and `before` such times.

    `sample`: number of the sample that it is measured for, in its first or second `half`. With a
    `period`, so many instructions, loads that repeat others are told apart (`GridPart`), and left
    out with `leaves_out`.
    """

    first: int
    end: int
    role: Role
    sample: int = 0
    half: int = 0
    after: int = 0
    before: int = ALWAYS
    period: int = 0
    leaves_out: bool = False

    @property
    def thread_blocks(self) -> int:
        """The number of thread blocks in the interval."""
        return self.end - self.first

    @property
    def part(self) -> GridPart:
        """What an engine makes the accesses of."""
        return GridPart(
            *(self.first, self.end, self.after, self.before), self.period, self.leaves_out
        )

    @property
    def is_cold(self) -> bool:
        """Whether the launch starts with this interval."""
        return self.role is Role.COLD

    @property
    def is_measured(self) -> bool:
        """Whether the interval's traffic is part of the estimate; warm-up is not."""
        return self.role in (Role.COLD, Role.MEASURED)


@dataclass(frozen=True, slots=True)
class SamplePlan:
    """Disjoint intervals in the order in which a device comes to them, the cold start first.

    Each sample is a warm-up and two measured halves; where the halves differ, the warm-up was too
    short, and the error grows accordingly. `duration`: instructions that a warp issues in all,
    where intervals have times.
    """

    thread_blocks: int
    intervals: tuple[Interval, ...]
    duration: int = ALWAYS

    @property
    def share(self) -> float:
        """The share of the launch that is simulated with all of its accesses."""
        whole = (item for item in self.intervals if not item.leaves_out)
        return sum(map(self._blocks, whole)) / self.thread_blocks

    @property
    def parts(self) -> tuple[GridPart, ...]:
        """What an engine makes the accesses of."""
        return tuple(item.part for item in self.intervals)

    @property
    def has_times(self) -> bool:
        """Whether thread blocks are simulated at some times only."""
        return any(not item.part.is_whole for item in self.intervals)

    @property
    def is_followed(self) -> bool:
        """Whether loads that repeat others are told apart."""
        return any(item.period for item in self.intervals)

    def _blocks(self, item: Interval) -> float:
        share = (min(item.before, self.duration) - item.after) / self.duration
        return item.thread_blocks * share

    def halves(self) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
        """Positions of the intervals of both measured halves of each sample.

        A sample of one half has it twice.
        """
        found: dict[int, tuple[list[int], list[int]]] = {}
        for position, item in enumerate(self.intervals):
            if item.role is Role.MEASURED:
                found.setdefault(item.sample, ([], []))[item.half].append(position)
        return tuple(
            (tuple(first or second), tuple(second or first)) for first, second in found.values()
        )


def whole_grid(thread_blocks: int) -> SamplePlan:
    """The cold start reaches to the end: nothing is left to extrapolate."""
    return SamplePlan(thread_blocks, (Interval(0, thread_blocks, Role.COLD),))


def plan_sample(
    grid: tuple[int, int, int],
    wave: int,
    warm_up_waves: int,
    classes: ThreadBlockClasses,
    instructions: Sequence[InstructionRow],
    share: float = DEFAULT_SHARE,
    seed: int = 0,
) -> SamplePlan | None:
    """Plans a sample of at most `share` of the grid.

    None where that is too little for eight samples or where they miss too much of what is accessed.
    `wave`: thread blocks resident on the device at once; `warm_up_waves`: how many of them turn
    over the L2. `classes` are those of the whole grid.
    """
    thread_blocks = grid[0] * grid[1] * grid[2]
    warm_up = wave * max(1, warm_up_waves)
    cold = warm_up + wave
    budget, rest = int(share * thread_blocks) - cold, thread_blocks - cold
    accesses = [row.pc for row in instructions if row.kind in _KINDS and row.space in _SPACES]
    issues = classes.warp_issues[:, accesses]
    for reserve in (0, _MOST_COVER * wave):
        for samples, measured in _sizes(budget - reserve, rest, warm_up, wave, grid[0]):
            places = _places(cold, rest / samples, samples, warm_up + measured, wave, seed)
            sampled = (
                item
                for number, first in enumerate(places)
                for item in _sample(number, first, warm_up, measured)
            )
            intervals = (Interval(0, cold, Role.COLD), *sampled)
            cover = _cover(intervals, wave, classes.of_thread_block, issues)
            plan = SamplePlan(thread_blocks, tuple(sorted([*intervals, *cover], key=_first)))
            if plan.share <= share and len(cover) <= _MOST_COVER:
                missed = _unmeasured(plan, classes.of_thread_block, issues)
                if missed <= _MOST_UNMEASURED:
                    return plan
    return None


def _first(interval: Interval) -> int:
    return interval.first


def _sizes(budget: int, rest: int, warm_up: int, wave: int, row: int) -> Iterator[tuple[int, int]]:
    """(samples, thread blocks measured in each), the best first.

    Strata of the `rest` leave a wave of room to move a sample. What repeats with the rows of the
    grid, and with how waves lie in them, is measured as often as it occurs where a sample is a
    whole number of its periods.
    """
    for period in (math.lcm(row, wave), row, 1):
        for samples in range(_MOST_SAMPLES, _FEWEST_SAMPLES - 1, -1):
            room = min(budget // samples, rest // samples - wave)
            most = min(room - warm_up, _MOST_MEASURED_WAVES * wave)
            length = most - most % period
            if length >= wave:
                yield samples, length


def _places(
    cold: int, stratum: float, samples: int, length: int, wave: int, seed: int
) -> list[int]:
    """Where each sample starts: one a stratum, where the whole launch would start a wave."""
    slack = stratum - length - wave
    firsts = (
        cold + number * stratum + sample_offset(number, seed) * slack for number in range(samples)
    )
    return [math.ceil(first / wave) * wave for first in firsts]


def sample_offset(number: int, seed: int) -> float:
    """Where in its stratum a sample lies, from 0 to 1: in step with nothing that repeats."""
    if seed:
        return float(np.random.default_rng((seed, number)).random())
    return ((number + 0.5) * GOLDEN) % 1.0


def _sample(number: int, first: int, warm_up: int, measured: int) -> Iterator[Interval]:
    begin, end = first + warm_up, first + warm_up + measured
    half = begin + measured // 2
    yield Interval(first, begin, Role.WARM_UP)
    if half > begin:
        yield Interval(begin, half, Role.MEASURED, number, 0)
    yield Interval(half, end, Role.MEASURED, number, 1)


def _cover(
    intervals: Iterable[Interval], wave: int, of_thread_block: Classes, issues: Ints
) -> list[Interval]:
    """A wave for each access that none of the intervals executes, where its first one is."""
    known = sorted(intervals, key=_first)
    found: list[Interval] = []
    while True:
        missing = np.asarray(np.any(issues, axis=0)) & ~_executed(known, of_thread_block, issues)
        if not missing.any():
            return found
        lacking = np.flatnonzero(issues[:, int(np.argmax(missing))])
        first = int(np.argmax(np.isin(of_thread_block, lacking)))
        following = [item.first for item in known if item.first > first]
        end = min([first + wave, len(of_thread_block), *following])
        found.append(Interval(first, end, Role.COVER))
        known = sorted([*known, found[-1]], key=_first)


def _executed(
    intervals: Iterable[Interval], of_thread_block: Classes, issues: Ints
) -> npt.NDArray[np.bool_]:
    """Which accesses the thread blocks of the intervals issue, shape (accesses,)."""
    ran = np.zeros(len(issues), np.bool_)
    for item in intervals:
        ran[of_thread_block[item.first : item.end]] = True
    return np.asarray(np.any(issues[ran], axis=0))


def _unmeasured(plan: SamplePlan, of_thread_block: Classes, issues: Ints) -> float:
    """The share of the grid's accesses that are of instructions which no sample measures."""
    measured = [item for item in plan.intervals if item.role is Role.MEASURED]
    totals = np.bincount(of_thread_block, minlength=len(issues)) @ issues
    missed = totals[~_executed(measured, of_thread_block, issues)].sum()
    return float(missed / max(1, totals.sum()))
