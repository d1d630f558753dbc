"""Simulates the intervals of a plan one after the other, and extrapolates."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from kernelcast.simcore.memory.hierarchy import TrafficResult
from kernelcast.simcore.memory.levels import Counters
from kernelcast.simcore.sampling.extrapolation import SampledTraffic, extrapolate
from kernelcast.simcore.sampling.plan import SamplePlan
from kernelcast.traces.stream import AccessBatch
from kernelcast.traces.trace import ThreadBlockClasses

__all__ = ["Batches", "SkippingSimulator", "simulate_sample"]

Batches = Callable[[int, int], Iterable[AccessBatch]]
"""(first, end) -> the accesses of these thread blocks, in ascending order."""


class SkippingSimulator(Protocol):
    """A memory simulator that can leave thread blocks out; caches stay as they are."""

    def accept(self, batch: AccessBatch) -> None: ...
    def skip_to(self, thread_block: int) -> None: ...
    def traffic_so_far(self) -> TrafficResult: ...
    def finish(self) -> TrafficResult: ...


def simulate_sample(
    plan: SamplePlan, simulator: SkippingSimulator, batches: Batches, classes: ThreadBlockClasses
) -> SampledTraffic:
    """Traffic of the whole launch from the plan's intervals; `simulator` must be cold."""
    parts: list[Counters] = []
    before: Counters | None = None
    reached = 0
    for interval in plan.intervals:
        if interval.first != reached:
            simulator.skip_to(interval.first)
        for batch in batches(interval.first, interval.end):
            simulator.accept(batch)
        reached = interval.end
        counts = simulator.traffic_so_far().by_instruction
        parts.append(counts if before is None else _difference(counts, before))
        before = counts
    return extrapolate(plan, parts, simulator.finish(), classes)


def _difference(later: Counters, earlier: Counters) -> Counters:
    return Counters(*(a - b for a, b in zip(later, earlier, strict=True)))
