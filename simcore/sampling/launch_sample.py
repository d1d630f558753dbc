"""Counts and memory of a launch on a device, most of whose thread blocks are never simulated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

import numpy as np

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.memory.atomic_contention import ContentionCounter
from kernelcast.simcore.memory.cache_contents import FirstContents
from kernelcast.simcore.memory.hierarchy import SampledCount, SampledTraffic
from kernelcast.simcore.memory.pattern_wavefronts import PatternWavefronts, WavefrontCounter
from kernelcast.simcore.memory.simulated_memory import MemoryResult
from kernelcast.simcore.memory.stream import TrafficSimulator
from kernelcast.simcore.memory.warm_caches import warm_traffic
from kernelcast.simcore.sampling.footprint import Footprint, turnover_waves
from kernelcast.simcore.sampling.plan import SamplePlan, plan_sample, whole_grid
from kernelcast.simcore.sampling.run import SampleSimulation
from kernelcast.traces.stream import AccessSink
from kernelcast.traces.trace import Trace

__all__ = ["SampleSource", "sample_memory"]

_SHARES = (0.03, 0.1, 0.2, 0.4)
"""Shares of the grid to sample; where one gives too few samples, the next is tried."""
_FEWEST_WAVES = 2
"""The cold start alone has as many."""


class SampleSource(Protocol):
    """A launch that makes the accesses of any of its thread blocks.

    `ranges` are pairs of first thread block and end, ascending; no batch is of two of them.
    """

    def stream(self, ranges: Sequence[tuple[int, int]], sinks: Sequence[AccessSink]) -> None:
        """Executes the thread blocks of all ranges (first, end); the sinks get their accesses."""


def sample_memory(
    source: SampleSource,
    counts: Trace,
    device: Device,
    thread_blocks_per_sm: int,
    is_warm: bool = False,
) -> MemoryResult:
    """Estimates traffic and wavefronts of the whole launch from a sample.

    All of it is simulated where the grid is too small for samples. `counts`: the exact instruction
    counts of the whole grid. `is_warm`: the launch finds in L2 what an equal one has left.
    """
    wave = device.architecture.sm_count * thread_blocks_per_sm
    plan = _plan(source, counts, device, wave)
    simulators = partial(
        TrafficSimulator,
        *(counts.instructions, counts.warp_width, counts.warps_per_thread_block),
        *(device, thread_blocks_per_sm),
    )
    simulation = SampleSimulation(plan, simulators(), counts.classes)
    wavefronts = WavefrontCounter(counts.instructions, device)
    atomics = ContentionCounter(counts.instructions, device)
    sinks: tuple[AccessSink, ...] = simulation, wavefronts, atomics
    source.stream([(item.first, item.end) for item in plan.intervals], sinks)
    sample = simulation.finish()
    if is_warm:
        start = min(counts.thread_blocks, _start_waves(source, counts, device, wave) * wave)
        sample = _warmed(sample, source, counts.thread_blocks, start, simulators)
    scaled = _scaled(wavefronts.totals, plan, counts)
    is_sampled = plan.share < 1.0
    return MemoryResult(
        sample.traffic,
        scaled,
        thread_blocks_per_sm,
        sample if is_sampled else None,
        atomics.found,
        FirstContents.EQUAL_LAUNCH if is_warm else FirstContents.NOTHING,
    )


def _start_waves(source: SampleSource, counts: Trace, device: Device, wave: int) -> int:
    """Waves after which L2 has other contents than at first."""
    if counts.thread_blocks <= wave:
        return 1
    return 2 * _warm_up_waves(source, wave, device)


def _warmed(
    sample: SampledTraffic,
    source: SampleSource,
    thread_blocks: int,
    start: int,
    simulators: Callable[..., TrafficSimulator],
) -> SampledTraffic:
    """The sample of a launch that finds what the last `start` thread blocks of one have left."""
    ending = simulators()
    ending.skip_to(thread_blocks - start)
    source.stream([(thread_blocks - start, thread_blocks)], [ending])
    ending.finish()
    cold = sample.traffic
    warm = warm_traffic(
        cold, ending.left, simulators, lambda sinks: source.stream([(0, start)], sinks)
    )
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


def _plan(source: SampleSource, counts: Trace, device: Device, wave: int) -> SamplePlan:
    if _FEWEST_WAVES * wave > counts.thread_blocks:
        return whole_grid(counts.thread_blocks)
    warm_up = _warm_up_waves(source, wave, device)
    for share in _SHARES:
        plan = plan_sample(counts.grid, wave, warm_up, counts.classes, counts.instructions, share)
        if plan is not None:
            return plan
    return whole_grid(counts.thread_blocks)


def _warm_up_waves(source: SampleSource, wave: int, device: Device) -> int:
    sizes = []
    footprint = Footprint(device.l2.sector_bytes)
    for first in (0, wave):
        source.stream([(first, first + wave)], [footprint])
        sizes.append(footprint.touched_bytes)
    return turnover_waves(sizes[0], sizes[1], device.l2.capacity_bytes)


def _scaled(totals: PatternWavefronts, plan: SamplePlan, counts: Trace) -> PatternWavefronts:
    """Scales totals from the plan's thread blocks to all, by how often each instruction issues."""
    classes = counts.classes
    sampled = np.zeros(len(classes.warp_issues), np.int64)
    for item in plan.intervals:
        own = classes.of_thread_block[item.first : item.end]
        sampled += np.bincount(own, minlength=len(sampled))
    some = (sampled @ classes.warp_issues).astype(np.float64)
    whole = classes.totals()[0].astype(np.float64)
    factor = np.divide(whole, some, out=np.zeros_like(whole), where=some > 0)
    requests, taken, ideal = (
        np.rint(column * factor).astype(np.int64)
        for column in (totals.requests, totals.taken, totals.ideal)
    )
    stages = None if totals.stages is None else totals.stages.scaled(factor)
    return PatternWavefronts(requests, taken, ideal, stages)
