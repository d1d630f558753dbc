"""Simulates the intervals of a plan one after the other, and extrapolates."""

from __future__ import annotations

from typing import Protocol

from kernelcast.errors import TraceFormatError
from kernelcast.simcore.memory.hierarchy import SampledTraffic, TrafficResult
from kernelcast.simcore.memory.levels import Counters
from kernelcast.simcore.sampling.extrapolation import IssueCounts, extrapolate
from kernelcast.simcore.sampling.plan import Interval, SamplePlan
from kernelcast.traces.stream import AccessBatch

__all__ = ["SampleSimulation", "SkippingSimulator"]


class SkippingSimulator(Protocol):
    """A memory simulator that can leave thread blocks out; caches stay as they are."""

    def accept(self, batch: AccessBatch) -> None:
        """Simulates a batch of consecutive thread blocks."""

    def skip_to(self, thread_block: int, *, as_first_wave: bool = False) -> None:
        """Makes the next batch begin with `thread_block`, which may have come already."""

    def traffic_so_far(self, version: int = 0) -> TrafficResult:
        """The memory traffic, of a version, of the thread blocks that were simulated until now."""

    def finish(self, version: int = 0) -> TrafficResult:
        """The traffic, of a version, with the write-back at the end; no batch may follow."""


class SampleSimulation:
    """An AccessSink for the thread blocks of the plan's intervals, in their order.

    No batch may reach over the end of an interval; `simulator` must be cold and has so many
    `versions`. `is_uneven`: thread blocks may last so long that they are counted where they began,
    not where they end.
    """

    def __init__(
        self,
        plan: SamplePlan,
        simulator: SkippingSimulator,
        *,
        is_uneven: bool = False,
        versions: int = 1,
    ) -> None:
        self._plan = plan
        self._simulator = simulator
        self._versions = range(versions)
        self._parts: list[list[Counters]] = []
        self._before: list[Counters] = []
        self._is_uneven = is_uneven
        self._reached = plan.intervals[0].first
        self._simulated = 0

    def accept(self, batch: AccessBatch) -> None:
        """Takes the next batch; TraceFormatError for one out of its turn."""
        interval = self._plan.intervals[len(self._parts)]
        if self._reached >= interval.end:
            interval = self._next()
        first, end = batch.first_thread_block, batch.first_thread_block + batch.thread_blocks
        if first != self._reached or end > interval.end:
            raise TraceFormatError(
                f"thread blocks {first} to {end} where those of the sample from "
                f"{self._reached} to {interval.end} were expected"
            )
        if first != self._simulated:
            self._skip_to(first)
        self._simulator.accept(batch)
        self._reached = self._simulated = end

    def finish(self, issues: IssueCounts) -> list[SampledTraffic]:
        """Traffic of the whole launch by version; TraceFormatError when intervals are missing."""
        # the last interval has what was held back for thread blocks that might come before it
        finished = [self._simulator.finish(version) for version in self._versions]
        self._close()
        return [
            extrapolate(self._plan, parts, whole, issues)
            for whole, *parts in zip(finished, *self._parts, strict=True)
        ]

    def _next(self) -> Interval:
        """Closes an interval; uneven thread blocks end before those of another role begin."""
        last, following = self._plan.intervals[len(self._parts) : len(self._parts) + 2]
        is_apart = following.first != self._reached
        if (self._is_uneven and last.role is not following.role) or (
            is_apart and (self._is_uneven or self._plan.has_times)
        ):
            self._skip_to(following.first)
            self._simulated = following.first
        self._close()
        self._reached = following.first
        return following

    def _skip_to(self, thread_block: int) -> None:
        # a wave that is looked at again is as much in step as it was
        self._simulator.skip_to(thread_block, as_first_wave=self._plan.has_times)

    def _close(self) -> None:
        """The counts of the interval that is complete."""
        counts = [self._simulator.traffic_so_far(item).by_instruction for item in self._versions]
        before = self._before
        self._parts.append(
            [_difference(*pair) for pair in zip(counts, before, strict=True)] if before else counts
        )
        self._before = counts


def _difference(later: Counters, earlier: Counters) -> Counters:
    return Counters(*(a - b for a, b in zip(later, earlier, strict=True)))
