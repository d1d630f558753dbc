"""Counts and memory of a launch on a device, most of whose thread blocks are never simulated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.memory.cache import CacheState
from kernelcast.simcore.memory.contents.cache_contents import FirstContents
from kernelcast.simcore.memory.contents.warm_caches import warm_traffic
from kernelcast.simcore.memory.hierarchy import Latencies, SampledCount, SampledTraffic
from kernelcast.simcore.memory.pattern_wavefronts import PatternWavefronts
from kernelcast.simcore.memory.simulated_memory import MemoryResult
from kernelcast.simcore.memory.stateless_counts import StatelessCounts, stateless_counts
from kernelcast.simcore.memory.stream import TrafficSimulator
from kernelcast.simcore.sampling.census import Census
from kernelcast.simcore.sampling.choice import Choice, SampleSize, lasting_ratio
from kernelcast.simcore.sampling.extrapolation import IssueCounts
from kernelcast.simcore.sampling.pilot import Pilot, RowCounter, SampleSource, pilot_of
from kernelcast.simcore.sampling.plan import SamplePlan
from kernelcast.simcore.sampling.run import SampleSimulation
from kernelcast.traces.stream import AccessSink, GridPart
from kernelcast.traces.trace import Trace

__all__ = ["SampledDevice", "sample_memories", "scaled"]

_UNEVEN = 8
"""Times as long as most lasts a thread block that makes a launch uneven."""
_WANTED_ERROR = 0.025

Reals = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SampledDevice:
    """A device, and how many thread blocks of the launch an SM holds.

    `versions`: latencies of devices that are the same otherwise, this one's by default.
    """

    device: Device
    thread_blocks_per_sm: int
    versions: Sequence[Latencies] = ()

    @property
    def latencies(self) -> Sequence[Latencies]:
        """Latencies of all versions."""
        return self.versions or (Latencies.of(self.device),)

    @property
    def wave(self) -> int:
        """Thread blocks that the device holds at once."""
        return self.device.architecture.sm_count * self.thread_blocks_per_sm


def sample_memories(
    source: SampleSource,
    census: Census,
    devices: Sequence[SampledDevice],
    is_warm: bool = False,
    size: SampleSize | None = None,
) -> list[list[MemoryResult]]:
    """Estimates traffic and wavefronts of the whole launch from samples, by device and version.

    All of it is simulated where it makes too few accesses for samples. `is_warm`: the launch finds
    in L2 what an equal one has left; there may be one version then. What several devices need of
    the launch is executed once.
    """
    ahead = stateless_counts(census.trace.instructions, [item.device for item in devices])
    pilot = pilot_of(source, census.trace, list(dict.fromkeys(ahead)))
    launches = [
        _SampledLaunch(source, census, of, size or SampleSize(), pilot, counts)
        for of, counts in zip(devices, ahead, strict=True)
    ]
    found = _simulated(launches, [item.choice.plan() for item in launches], is_warm)
    larger = {number: item.larger() for number, item in enumerate(found)}
    again = {number: plan for number, plan in larger.items() if plan is not None}
    more = _simulated([launches[number] for number in again], list(again.values()), is_warm)
    chosen = dict(enumerate(found)) | dict(zip(again, more, strict=True))
    return [item.results for item in chosen.values()]


def _simulated(
    launches: Sequence[_SampledLaunch], plans: Sequence[SamplePlan], is_warm: bool
) -> list[_Sampled]:
    """Simulates each launch by its plan; those whose plans have the same parts together."""
    together: dict[tuple[GridPart, ...], list[int]] = {}
    for number, plan in enumerate(plans):
        together.setdefault(plan.parts, []).append(number)
    found: dict[int, _Sampled] = {}
    for parts, numbers in together.items():
        devices = [launches[number].of.device for number in numbers]
        own = stateless_counts(launches[0].counts.instructions, devices)
        simulations = [
            _Simulation(launches[number], plans[number], counts)
            for number, counts in zip(numbers, own, strict=True)
        ]
        sinks = dict.fromkeys(sink for simulation in simulations for sink in simulation.sinks)
        executed = launches[0].source.stream(parts, list(sinks))
        for number, simulation in zip(numbers, simulations, strict=True):
            found[number] = simulation.finish(executed, is_warm)
    return [found[number] for number in range(len(plans))]


@dataclass(frozen=True)
class _SampledLaunch:
    """A launch on a device; `ahead` is what the pilot's accesses say."""

    source: SampleSource
    census: Census
    of: SampledDevice
    size: SampleSize
    pilot: Pilot
    ahead: StatelessCounts

    @property
    def counts(self) -> Trace:
        """Counts of the whole launch."""
        return self.census.trace

    def simulator(
        self, left: CacheState | None = None, *, has_repeats: bool = False
    ) -> TrafficSimulator:
        """A new one, with what a launch has left in L2, None for nothing."""
        counts = self.counts
        return TrafficSimulator(
            counts.instructions,
            counts.warp_width,
            counts.warps_per_thread_block,
            self.of.device,
            self.of.thread_blocks_per_sm,
            left,
            has_repeats=has_repeats,
            versions=self.of.latencies,
        )

    @cached_property
    def choice(self) -> Choice:
        """Plans samples, from what some thread blocks do."""
        of = self.of
        return Choice(self.source, self.counts, self.pilot, of.device, of.wave, self.size)

    def warmed(self, sample: SampledTraffic) -> SampledTraffic:
        """The sample of a launch that finds what the last thread blocks of one have left."""
        thread_blocks = self.counts.thread_blocks
        start = min(thread_blocks, self.choice.start_waves() * self.of.wave)
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


@dataclass(frozen=True)
class _Sampled:
    """What a plan says of a launch, by version."""

    launch: _SampledLaunch
    plan: SamplePlan
    results: list[MemoryResult]

    def larger(self) -> SamplePlan | None:
        """A plan that says more, where this one says too little and there is one."""
        launch, plan = self.launch, self.plan
        if not launch.size.may_grow or plan.is_followed or _reach(self.results[0]) <= _WANTED_ERROR:
            return None
        if plan.has_times:
            return launch.choice.followed()
        # whole waves that scatter say little: a larger sample is worth its time, if there is one
        more = replace(launch.choice, size=launch.size.enlarged()).plan()
        return more if more.share > plan.share else None


class _Simulation:
    """A launch by its plan, on its device: `sinks` take the accesses of the plan's parts.

    So do `counts`, where the pilot does not tell enough.
    """

    def __init__(self, launch: _SampledLaunch, plan: SamplePlan, counts: StatelessCounts) -> None:
        self._launch, self._plan = launch, plan
        self._found = SampleSimulation(
            plan,
            launch.simulator(has_repeats=plan.is_followed),
            is_uneven=lasting_ratio(launch.counts) > _UNEVEN,
            versions=len(launch.of.latencies),
        )
        self._rows = RowCounter(len(launch.counts.instructions))
        self._stateless = launch.ahead
        self.sinks: list[AccessSink] = [self._found]
        if plan.has_times:
            self.sinks.append(self._rows)
        else:
            self._stateless = counts
            self.sinks.append(counts)

    def finish(self, executed: Trace, is_warm: bool) -> _Sampled:
        """Extrapolates for each version; `executed` counts the instructions of all parts."""
        launch, plan, pilot = self._launch, self._plan, self._launch.pilot
        counts, error = launch.counts, launch.census.relative_error
        if plan.has_times:
            whole = pilot.counts.classes.totals()[0].astype(np.float64)
            issued = counts.classes.totals()[0].astype(np.float64)
            issues = IssueCounts(issued, _issues_behind(self._rows, pilot), error)
        else:
            totals = executed.classes.totals()
            whole = totals[0].astype(np.float64)
            issues = IssueCounts.of(counts, totals, error)
        samples = self._found.finish(issues)
        if is_warm:
            samples = [launch.warmed(sample) for sample in samples]
        wavefronts = scaled(self._stateless.wavefronts, whole, issues.whole)
        results = [
            MemoryResult(
                sample.traffic,
                wavefronts,
                launch.of.thread_blocks_per_sm,
                sample if plan.share < 1.0 else None,
                self._stateless.atomics,
                FirstContents.EQUAL_LAUNCH if is_warm else FirstContents.NOTHING,
            )
            for sample in samples
        ]
        return _Sampled(launch, plan, results)


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
