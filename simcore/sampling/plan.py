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

from kernelcast.simcore.isa.analysis.slices import Slice, address_slice, control_slice
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.traces.trace import InstructionRow, ThreadBlockClasses
from kernelcast.traces.warp_paths import GOLDEN

__all__ = [
    "DEFAULT_SHARE",
    "FEWEST_THREADS",
    "Interval",
    "Role",
    "SamplePlan",
    "plan_sample",
    "whole_grid",
    "why_not_sampled",
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
    """Thread blocks `first` to `end`, the latter excluded."""

    first: int
    end: int
    role: Role

    @property
    def thread_blocks(self) -> int:
        """The number of thread blocks in the interval."""
        return self.end - self.first

    @property
    def is_measured(self) -> bool:
        """Whether the interval's traffic is part of the estimate; warm-up is not."""
        return self.role in (Role.COLD, Role.MEASURED)


@dataclass(frozen=True, slots=True)
class SamplePlan:
    """Disjoint intervals in ascending order, the cold start first.

    Each sample is a warm-up and two measured halves; where the halves differ, the warm-up was too
    short, and the error grows accordingly.
    """

    thread_blocks: int
    intervals: tuple[Interval, ...]

    @property
    def share(self) -> float:
        """The share of the grid that is simulated."""
        return sum(item.thread_blocks for item in self.intervals) / self.thread_blocks


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
            places = _places(cold, rest / samples, samples, warm_up + measured, wave)
            sampled = (item for first in places for item in _sample(first, warm_up, measured))
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


def _places(cold: int, stratum: float, samples: int, length: int, wave: int) -> list[int]:
    """Where each sample starts: one a stratum, where the whole launch would start a wave."""
    slack = stratum - length - wave
    firsts = (
        cold + number * stratum + ((number + 0.5) * GOLDEN) % 1.0 * slack
        for number in range(samples)
    )
    return [math.ceil(first / wave) * wave for first in firsts]


def _sample(first: int, warm_up: int, measured: int) -> Iterator[Interval]:
    begin, end = first + warm_up, first + warm_up + measured
    half = begin + measured // 2
    yield Interval(first, begin, Role.WARM_UP)
    if half > begin:
        yield Interval(begin, half, Role.MEASURED)
    yield Interval(half, end, Role.MEASURED)


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


FEWEST_THREADS = 10**8
"""Smaller launches are simulated in full: that takes seconds, and has no error."""


def why_not_sampled(
    kernel: Kernel, threads: int, fewest_threads: int = FEWEST_THREADS
) -> str | None:
    """Half a sentence why the launch must be run in full; None when it may be sampled.

    Thread blocks that are left out write nothing, so no path and no address may depend on memory.
    """
    if threads < fewest_threads:
        return f"{threads:,} threads are fewer than {fewest_threads:,}"
    for what, part in (
        ("which instructions run", control_slice(kernel)),
        ("where memory is accessed", address_slice(kernel)),
    ):
        if not part.is_static:
            return f"{what} depends on {_culprit(kernel, part)}"
    return None


def _culprit(kernel: Kernel, part: Slice) -> str:
    pc = min(part.loads or part.clocks)
    instruction = next(item for item in kernel.instructions if item.pc == pc)
    what = "data that" if part.loads else "the clock, which"
    return f"{what} {instruction.mnemonic} reads at {instruction.span.place}"
