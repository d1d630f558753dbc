"""Samples of kernels of every kind beside an execution and simulation of all thread blocks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest

from kernelcast.execution.memory_simulation import alike, resident_launch
from kernelcast.simcore.device.resident_launch import ResidentLaunch
from kernelcast.simcore.engine.jit.runtime.run import SlicedLaunch
from kernelcast.simcore.isa.analysis.instruction_rows import instruction_rows
from kernelcast.simcore.launch.launch import Limits
from kernelcast.simcore.memory.hierarchy import SampledCount
from kernelcast.simcore.memory.simulated_memory import MemoryResult
from kernelcast.simcore.memory.stateless_counts import StatelessCounts
from kernelcast.simcore.sampling import launch_sample
from kernelcast.simcore.sampling.census import Census
from kernelcast.simcore.sampling.choice import SampleSize
from kernelcast.simcore.sampling.launch_sample import (
    SampledDevice,
    _SampledLaunch,
    sample_memories,
)
from kernelcast.simcore.sampling.pilot import SampleSource
from kernelcast.simcore.sampling.plan import SamplePlan
from kernelcast.traces.stream import AccessSink, GridPart
from kernelcast.traces.trace import Trace
from tests.kernelcast.sampled_kernels import CASES, exact, sampled, small_machine

_all_of = cache(lambda name: exact(CASES[name]))


def counts(found: MemoryResult, whole: MemoryResult) -> list[tuple[SampledCount, int]]:
    """(sampled, exact) DRAM reads and writes."""
    assert found.sample is not None
    return [
        (found.sample.dram_reads, whole.traffic.dram_read_transactions),
        (found.sample.dram_writes, whole.traffic.dram_write_transactions),
    ]


@pytest.mark.parametrize("name", CASES)
def test_the_stated_interval_has_what_all_thread_blocks_do(name: str) -> None:
    found = sampled(CASES[name])
    for count, whole in counts(found, _all_of(name)):
        assert count.low <= whole <= count.high


@pytest.mark.parametrize("name", CASES)
def test_a_sample_that_may_grow_is_near(name: str) -> None:
    found, whole = sampled(CASES[name], may_grow=True).traffic, _all_of(name).traffic
    for count in ("dram_read_transactions", "dram_write_transactions"):
        assert getattr(found, count) == pytest.approx(getattr(whole, count), rel=0.02)


@pytest.mark.parametrize(("name", "simulations"), [("power-law spmv", 1), ("stencil", 2)])
def test_a_sample_that_cannot_grow_is_simulated_once(
    name: str, simulations: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first sample of the sparse product has as large a share as one may have."""
    shares: list[float] = []
    simulation = launch_sample._Simulation

    def counted(
        launch: _SampledLaunch, plan: SamplePlan, counts: StatelessCounts
    ) -> launch_sample._Simulation:
        shares.append(plan.share)
        return simulation(launch, plan, counts)

    monkeypatch.setattr(launch_sample, "_Simulation", counted)
    monkeypatch.setattr(launch_sample, "_WANTED_ERROR", 0.0)
    sampled(CASES[name], may_grow=True)
    assert len(shares) == simulations
    assert shares == sorted(set(shares))


def test_what_atomics_take_parts_devices_only_where_there_are_atomics() -> None:
    machine = small_machine()
    slower = replace(machine, atomics=replace(machine.atomics, request_cycles=2.0))
    both = [ResidentLaunch(device, 4) for device in (machine, slower)]
    kernel, _ = CASES["stencil"].make()
    rows = instruction_rows(kernel)
    assert alike(both, rows) == [[0, 1]]
    assert alike(both, [*rows, replace(rows[0], kind="atomic")]) == [[0], [1]]


class Watched:
    """A launch that remembers what was asked of it."""

    def __init__(self, source: SampleSource) -> None:
        self._source = source
        self.asked: list[tuple[GridPart, ...]] = []

    def stream(self, parts: Sequence[GridPart], sinks: Sequence[AccessSink]) -> Trace:
        """Executes the parts."""
        self.asked.append(tuple(parts))
        return self._source.stream(parts, sinks)


def test_devices_whose_samples_have_the_same_parts_share_an_execution() -> None:
    """A launch of three times the accesses of a sample is simulated whole, on both machines."""
    kernel, launch = CASES["product that is followed"].make()
    sliced = SlicedLaunch(kernel, launch, 32, Limits())
    census = Census(sliced.counts(None))
    machine = small_machine()
    l2s = [replace(machine.l2, capacity_bytes=size << 20) for size in (1, 8)]
    devices = [replace(machine, l2=l2) for l2 in l2s]
    both = [SampledDevice(*resident_launch(kernel, launch, device)) for device in devices]
    size = SampleSize(4e5, may_grow=False)
    watched = Watched(sliced)
    together = sample_memories(watched, census, both, size=size)
    apart = [sample_memories(sliced, census, [device], size=size)[0] for device in both]
    whole = (GridPart(0, launch.thread_blocks),)
    assert watched.asked.count(whole) == 1
    reads = [
        [found.traffic.dram_read_transactions for (found,) in each] for each in (together, apart)
    ]
    assert reads[0] == reads[1]
    assert together[0][0].sample is None


if os.environ.get("KERNELCAST_TESTS") == "all":

    @pytest.mark.parametrize("name", CASES)
    def test_the_interval_holds_for_95_of_100_seeds(name: str) -> None:
        held = [0, 0]
        for seed in range(1, 101):
            for which, (count, whole) in enumerate(
                counts(sampled(CASES[name], seed), _all_of(name))
            ):
                held[which] += count.low <= whole <= count.high
        assert min(held) >= 95
