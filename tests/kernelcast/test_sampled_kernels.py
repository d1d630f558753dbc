"""Samples of kernels of every kind beside an execution and simulation of all thread blocks."""

from __future__ import annotations

import os
from functools import cache

import pytest

from kernelcast.simcore.memory.hierarchy import SampledCount
from kernelcast.simcore.memory.simulated_memory import MemoryResult
from kernelcast.simcore.sampling import launch_sample
from kernelcast.simcore.sampling.launch_sample import _SampledLaunch
from kernelcast.simcore.sampling.plan import SamplePlan
from tests.kernelcast.sampled_kernels import CASES, exact, sampled

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

    def counted(launch: _SampledLaunch, plan: SamplePlan) -> launch_sample._Simulation:
        shares.append(plan.share)
        return simulation(launch, plan)

    monkeypatch.setattr(launch_sample, "_Simulation", counted)
    monkeypatch.setattr(launch_sample, "_WANTED_ERROR", 0.0)
    sampled(CASES[name], may_grow=True)
    assert len(shares) == simulations
    assert shares == sorted(set(shares))


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
