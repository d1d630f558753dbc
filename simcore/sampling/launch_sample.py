"""Counts and memory of a launch on a device, most of whose thread blocks are never simulated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.memory.atomic_contention import ContentionCounter
from kernelcast.simcore.memory.cache import CacheState
from kernelcast.simcore.memory.contents.cache_contents import FirstContents
from kernelcast.simcore.memory.contents.warm_caches import warm_traffic
from kernelcast.simcore.memory.hierarchy import Latencies, SampledCount, SampledTraffic
from kernelcast.simcore.memory.pattern_wavefronts import PatternWavefronts, WavefrontCounter
from kernelcast.simcore.memory.simulated_memory import MemoryResult
from kernelcast.simcore.memory.stream import TrafficSimulator
from kernelcast.simcore.sampling.census import Census
from kernelcast.simcore.sampling.choice import Choice, SampleSize, lasting_ratio
from kernelcast.simcore.sampling.extrapolation import IssueCounts
from kernelcast.simcore.sampling.pilot import Pilot, RowCounter, SampleSource, pilot_of
from kernelcast.simcore.sampling.plan import SamplePlan
from kernelcast.simcore.sampling.run import SampleSimulation
from kernelcast.traces.stream import AccessSink, GridPart
from kernelcast.traces.trace import Trace

__all__ = ["sample_memories", "sample_memory", "scaled"]

_UNEVEN = 8
"""Times as long as most lasts a thread block that makes a launch uneven."""
_WANTED_ERROR = 0.025

Reals = npt.NDArray[np.float64]


def sample_memory(
    source: SampleSource,
    census: Census,
    device: Device,
    thread_blocks_per_sm: int,
    is_warm: bool = False,
    size: SampleSize | None = None,
) -> MemoryResult:
    """Estimates traffic and wavefronts of the whole launch from a sample.

    All of it is simulated where it makes too few accesses for samples. `is_warm`: the launch finds
    in L2 what an equal one has left.
    """
    versions = [Latencies.of(device)]
    at = source, census, device, thread_blocks_per_sm
    return sample_memories(*at, versions, is_warm, size)[0]


def sample_memories(
    source: SampleSource,
    census: Census,
    device: Device,
    thread_blocks_per_sm: int,
    versions: Sequence[Latencies],
    is_warm: bool = False,
    size: SampleSize | None = None,
) -> list[MemoryResult]:
    """`sample_memory` of devices that differ from `device` in their latencies only.

    With `is_warm` there may be one.
    """
    size = size or SampleSize()
    launch = _SampledLaunch(source, census, device, thread_blocks_per_sm, size, versions)
    plan = launch.choice.plan()
    found = launch.result(plan, is_warm)
    if not size.may_grow or plan.is_followed or _reach(found[0]) <= _WANTED_ERROR:
        return found
    if plan.has_times:
        followed = launch.choice.followed()
        return found if followed is None else launch.result(followed, is_warm)
    # whole waves that scatter say little: a larger sample is worth its time, if there is one
    more = replace(launch.choice, size=size.enlarged()).plan()
    return launch.result(more, is_warm) if more.share > plan.share else found


class _Stateless:
    """What no cache has a part in: wavefronts of shared memory, and contention of atomics."""

    def __init__(self, counts: Trace, device: Device) -> None:
        self.wavefronts = WavefrontCounter(counts.instructions, device)
        self.atomics = ContentionCounter(counts.instructions, device)
        self.sinks: tuple[AccessSink, ...] = self.wavefronts, self.atomics


@dataclass(frozen=True)
class _SampledLaunch:
    source: SampleSource
    census: Census
    device: Device
    thread_blocks_per_sm: int
    size: SampleSize
    versions: Sequence[Latencies]

    @property
    def counts(self) -> Trace:
        """Counts of the whole launch."""
        return self.census.trace

    @property
    def wave(self) -> int:
        """Thread blocks that the device holds at once."""
        return self.device.architecture.sm_count * self.thread_blocks_per_sm

    def simulator(
        self, left: CacheState | None = None, *, has_repeats: bool = False
    ) -> TrafficSimulator:
        """A new one, with what a launch has left in L2, None for nothing."""
        counts = self.counts
        return TrafficSimulator(
            counts.instructions,
            counts.warp_width,
            counts.warps_per_thread_block,
            self.device,
            self.thread_blocks_per_sm,
            left,
            has_repeats=has_repeats,
            versions=self.versions,
        )

    @cached_property
    def ahead(self) -> _Stateless:
        """What the pilot's accesses say."""
        return _Stateless(self.counts, self.device)

    @cached_property
    def choice(self) -> Choice:
        """Plans samples, from what some thread blocks do."""
        pilot = pilot_of(self.source, self.counts, self.ahead.sinks)
        return Choice(self.source, self.counts, pilot, self.device, self.wave, self.size)

    def result(self, plan: SamplePlan, is_warm: bool) -> list[MemoryResult]:
        """Simulates, and extrapolates for each version."""
        pilot = self.choice.pilot
        found = SampleSimulation(
            plan,
            self.simulator(has_repeats=plan.is_followed),
            is_uneven=lasting_ratio(self.counts) > _UNEVEN,
            versions=len(self.versions),
        )
        parts = [item.part for item in plan.intervals]
        if plan.has_times:
            stateless, rows = self.ahead, RowCounter(len(self.counts.instructions))
            self.source.stream(parts, [found, rows])
            whole = pilot.counts.classes.totals()[0].astype(np.float64)
            issues = IssueCounts(
                self.counts.classes.totals()[0].astype(np.float64),
                _issues_behind(rows, pilot),
                self.census.relative_error,
            )
        else:
            stateless = _Stateless(self.counts, self.device)
            executed = self.source.stream(parts, [found, *stateless.sinks])
            totals = executed.classes.totals()
            whole = totals[0].astype(np.float64)
            issues = IssueCounts.of(self.counts, totals, self.census.relative_error)
        samples = found.finish(issues)
        if is_warm:
            samples = [self._warmed(sample, self.choice) for sample in samples]
        wavefronts = scaled(stateless.wavefronts.totals, whole, issues.whole)
        return [
            MemoryResult(
                sample.traffic,
                wavefronts,
                self.thread_blocks_per_sm,
                sample if plan.share < 1.0 else None,
                stateless.atomics.found,
                FirstContents.EQUAL_LAUNCH if is_warm else FirstContents.NOTHING,
            )
            for sample in samples
        ]

    def _warmed(self, sample: SampledTraffic, choice: Choice) -> SampledTraffic:
        """The sample of a launch that finds what the last thread blocks of one have left."""
        thread_blocks = self.counts.thread_blocks
        start = min(thread_blocks, choice.start_waves() * self.wave)
        ending = self.simulator()
        ending.skip_to(thread_blocks - start)
        self.source.stream([GridPart(thread_blocks - start, thread_blocks)], [ending])
        ending.finish()

        def replay(sinks: Sequence[AccessSink]) -> None:
            self.source.stream([GridPart(0, start)], sinks)

        cold = sample.traffic
        warm = warm_traffic(cold, ending.left, self.simulator, replay)
        return replace(
            sample,
            traffic=warm,
            dram_reads=_moved(
                sample.dram_reads, warm.dram_read_transactions - cold.dram_read_transactions
            ),
            dram_writes=_moved(
                sample.dram_writes, warm.dram_write_transactions - cold.dram_write_transactions
            ),
        )


def _moved(count: SampledCount, by: float) -> SampledCount:
    return replace(
        count,
        value=max(0.0, count.value + by),
        low=max(0.0, count.low + by),
        high=max(0.0, count.high + by),
    )


def _reach(found: MemoryResult) -> float:
    """Half the interval of DRAM reads as a share of them."""
    if found.sample is None or not found.sample.dram_reads.value:
        return 0.0
    reads = found.sample.dram_reads
    return (reads.high - reads.value) / reads.value


def _issues_behind(rows: RowCounter, pilot: Pilot) -> Reals:
    """Issues that made the accesses counted, at some times of thread blocks."""
    per_issue = pilot.requests_per_issue
    return np.divide(rows.rows, per_issue, out=np.zeros(len(per_issue)), where=per_issue > 0)


def scaled(totals: PatternWavefronts, some: Reals, whole: Reals) -> PatternWavefronts:
    """Scales totals of some thread blocks to all, by how often each instruction issues."""
    factor = np.divide(whole, some, out=np.zeros_like(whole), where=some > 0)
    requests, taken, ideal = (
        np.rint(column * factor).astype(np.int64)
        for column in (totals.requests, totals.taken, totals.ideal)
    )
    stages = None if totals.stages is None else totals.stages.scaled(factor)
    return PatternWavefronts(requests, taken, ideal, stages)
