"""The interval model: terms add up to the simulated time, advice has figures, counts a bound."""

from __future__ import annotations

from dataclasses import replace

import pytest
from micro_kernel import Step, micro_kernel

from kernelcast.errors import ModelNotApplicable
from kernelcast.models import ModelOptions, get_model, needs_paths
from kernelcast.models.estimate import Estimate, Term
from kernelcast.models.interval.advice import REMEDIES
from kernelcast.models.interval.model import interval
from kernelcast.models.interval.relief import Relief, _smallest
from kernelcast.models.interval.shares import SHARES
from kernelcast.models.interval.spread import premises
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.profile.derived import DerivedInputs
from kernelcast.simcore.profile.profile import (
    InstructionCounts,
    KernelProfile,
    LaunchShape,
    MemoryTraffic,
    Occupancy,
    OccupancyLimiter,
)
from kernelcast.simcore.profile.timed import timed_warps
from kernelcast.simcore.timing.kernel.component import Component
from kernelcast.simcore.timing.kernel.stall_reasons import StallReason
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel
from kernelcast.simcore.timing.launch.launch_timing import launch_timing

DEVICE = load_device("v100-pcie")
COUNTS = InstructionCounts(
    fma32=0.0,
    fma64=0.0,
    fp32=3.2e9,
    fp64=0.0,
    integer=0.0,
    load_store=0.0,
    warp_instructions=1e8,
)
PROFILE = KernelProfile(
    kernel="k",
    device="v100-pcie",
    origin="by hand",
    instructions=COUNTS,
    traffic=MemoryTraffic(dram_read_transactions=1e6, dram_write_transactions=0.0),
    launch=LaunchShape((1000, 1, 1), (256, 1, 1)),
)
STREAM = micro_kernel(
    [
        Step(Pipeline.GLOBAL, (0,), (1,)),
        Step(Pipeline.FP32, (1, 2), (2,)),
        Step(Pipeline.BARRIER),
        Step(Pipeline.BRANCH, (2,)),
    ],
    trips=20,
    warps=8,
    thread_blocks=80 * 40 + 3,
    thread_blocks_per_sm=4,
)


def run(kernel: TimedKernel | None, device: Device = DEVICE, **options: float) -> Estimate:
    return interval(timed(kernel), device, ModelOptions(**options))  # type: ignore[arg-type]


def timed(kernel: TimedKernel | None) -> KernelProfile:
    return replace(PROFILE, inputs=DerivedInputs(given={timed_warps: kernel}))


def of_facts(kernel: TimedKernel, device: Device) -> tuple[float, float]:
    """The shortest and the longest time with facts that are off."""
    times = [launch_timing(kernel, item).seconds for item in premises(device)]
    return min(times), max(times)


def leaves(term: Term) -> list[Term]:
    return [leaf for part in term.parts for leaf in leaves(part)] or [term]


@pytest.mark.parametrize("name", ["v100-pcie", "gtx-480", "mi210", "quadro-rtx-4000"])
def test_terms_add_up_to_the_simulated_time(name: str) -> None:
    device = load_device(name)
    found = run(STREAM, device)
    assert found.time_s == pytest.approx(launch_timing(STREAM, device).seconds, rel=1e-9)
    assert sum(leaf.seconds for leaf in leaves(found.terms)) == pytest.approx(found.time_s)
    assert found.time_low_s <= found.time_s <= found.time_high_s
    assert found.time_low_s < found.time_high_s
    assert {part.name for part in found.terms.parts} >= {"issue", "launch"}


def test_every_reason_belongs_to_one_term() -> None:
    reasons = [reason for share in SHARES for reason in share.reasons]
    assert sorted(reason.code for reason in reasons) == [reason.code for reason in StallReason]


def test_every_component_of_a_term_has_a_remedy() -> None:
    assert set(REMEDIES) == set(Component)
    assert {part for share in SHARES for part in share.components} <= set(REMEDIES)


@pytest.mark.parametrize(
    ("step", "bottleneck", "term"),
    [
        (Step(Pipeline.FP64, (0,), (1,)), "double precision", "fp64 units"),
        (Step(Pipeline.GLOBAL, (0,), (0,), sectors=1), "memory latency", "DRAM latency"),
        (
            Step(Pipeline.SHARED, (0,), (1,), passes=16, ideal_passes=16),
            "shared-memory bandwidth",
            "shared memory",
        ),
        (Step(Pipeline.FENCE), "fences", "fences"),
    ],
)
def test_the_bottleneck_is_what_the_kernel_is_made_of(
    step: Step, bottleneck: str, term: str
) -> None:
    device = load_device("quadro-rtx-4000")
    warps = 16 if step.pipeline in (Pipeline.FP64, Pipeline.SHARED) else 1
    found = run(micro_kernel([step], 3000, warps, device.architecture.sm_count), device)
    assert found.bottleneck == bottleneck
    assert f"without {bottleneck} " in str(found.advice[0])
    assert found.causes[0].startswith(f"{bottleneck}: ")
    assert found.terms.bottleneck.name == term


def test_advice_is_ranked_by_what_a_simulation_gains() -> None:
    found = run(STREAM)
    gains = [float(str(item).rsplit(", ", 1)[1].split()[0]) for item in found.advice]
    assert gains == pytest.approx([item.gain for item in found.advice], abs=0.005)
    assert gains
    assert gains[1:] == sorted(gains[1:], reverse=True)
    assert found.gain == pytest.approx(gains[0], abs=0.005)
    assert min(gains) > 1.0
    without = launch_timing(STREAM, DEVICE, frozenset((Component.DRAM_BANDWIDTH,))).seconds
    lines = [str(item) for item in found.advice if "without DRAM bandwidth " in str(item)]
    assert f"{launch_timing(STREAM, DEVICE).seconds / without:.2f} times" in lines[-1]


def test_repeats_and_utilization_scale_the_time() -> None:
    once = run(STREAM)
    thrice = interval(replace(timed(STREAM), repeats=3), DEVICE, ModelOptions())
    assert thrice.time_s == pytest.approx(3 * once.time_s)
    assert run(STREAM, utilization=1.5).time_s == pytest.approx(1.5 * once.time_s)


def test_what_was_assumed_is_said() -> None:
    part = replace(STREAM, paths=replace(STREAM.paths, is_complete=False), path_share=0.25)
    found = run(part)
    assert any("25%" in line for line in found.assumptions)
    assert any("recorded thread blocks stand for" in line for line in found.assumptions)


def test_counts_alone_give_the_slowest_throughput() -> None:
    """1e8 warp instructions on 80 SMs of 4 schedulers; 3.2e9 operations on 64 lanes each."""
    assert DEVICE.timing is not None
    found = run(None)
    clock, sms = DEVICE.architecture.clock_hz, DEVICE.architecture.sm_count
    issue, fp32 = 1e8 / (4 * sms) / clock, 3.2e9 / (64 * sms) / clock
    assert found.time_s == pytest.approx(max(issue, fp32) + DEVICE.timing.launch_overhead_s)
    assert found.bottleneck == "fp32 units"
    overhead_s = DEVICE.timing.launch_overhead_s
    assert found.time_low_s == pytest.approx(fp32 / 1.1 + 0.75 * overhead_s)
    assert found.time_high_s > (issue + fp32) / 0.9 + 1.25 * overhead_s
    assert any("no paths of warps" in line for line in found.assumptions)


@pytest.mark.parametrize("name", ["v100-pcie", "mi210"])
def test_the_clock_of_computation_and_the_bandwidth_of_memory_may_be_a_tenth_off(name: str) -> None:
    device = load_device(name)
    assert device.timing is not None
    overhead_s, width = device.timing.launch_overhead_s, device.architecture.warp_width
    sms, per_sm = device.architecture.sm_count, 2
    computation, loads = [Step(Pipeline.FP32, (0,))] * 8, [Step(Pipeline.GLOBAL, (), (0,))]
    for code, longest in (computation, 1 / 0.9), (loads, 1.25 / 0.9):
        kernel = micro_kernel(code, 500, 16, per_sm * sms, per_sm, width)
        busy_s = launch_timing(kernel, device).seconds - overhead_s
        low_s, high_s = of_facts(kernel, device)
        assert low_s == pytest.approx(busy_s / 1.1 + 0.75 * overhead_s, rel=0.01)
        assert high_s >= (busy_s / 0.9 + 1.25 * overhead_s) * 0.99
        assert high_s <= (busy_s * longest + 1.25 * overhead_s) * 1.01


def test_passes_of_shared_memory_follow_the_clock() -> None:
    """The GTX 960's measured throughput says how many bytes a pass has."""
    device = load_device("gtx-960")
    step = Step(Pipeline.SHARED, (0,), passes=2, ideal_passes=2)
    kernel = micro_kernel([step] * 8, 500, 16, 16, 2)
    found = run(kernel, device)
    assert found.bottleneck == "shared-memory bandwidth"
    low_s, high_s = of_facts(kernel, device)
    assert low_s < found.time_s / 1.09
    assert high_s > found.time_s * 1.1


def test_the_latency_of_memory_may_be_a_quarter_off() -> None:
    """A chase through DRAM, a load after the other: 0.75 / 1.1 and 1.25 / 0.9 of the time."""
    chase = Step(Pipeline.GLOBAL, (0,), (0,), sectors=1)
    kernel = micro_kernel([chase], 3000, 1, 1)
    found = run(kernel)
    low_s, high_s = of_facts(kernel, load_device(found.device))
    assert low_s == pytest.approx(found.time_s * 0.75 / 1.1, rel=0.02)
    assert high_s == pytest.approx(found.time_s * 1.25 / 0.9, rel=0.02)


def test_loads_of_few_warps_take_their_latency() -> None:
    """One load of each of 8 warps an SM on its way: requests x latency / warps."""
    occupancy = Occupancy(1, 8, 0.125, OccupancyLimiter.GRID, (), 32, False, 1.0)
    traffic = replace(PROFILE.traffic, global_load_requests=1e7)
    profile = replace(PROFILE, occupancy=occupancy, traffic=traffic)
    found = interval(profile, DEVICE, ModelOptions())
    assert DEVICE.timing is not None
    cycles = 1e7 * DEVICE.timing.dram_latency_cycles / (8 * DEVICE.architecture.sm_count)
    expected = DEVICE.seconds(cycles) + DEVICE.timing.launch_overhead_s
    assert found.time_s == pytest.approx(expected)
    assert found.bottleneck == "memory latency"


def test_why_there_are_no_paths_is_said() -> None:
    found = interval(replace(PROFILE, not_timed="it spins"), DEVICE, ModelOptions())
    assert any("it spins" in line for line in found.assumptions)


def test_it_refuses_what_it_cannot_know() -> None:
    with pytest.raises(ModelNotApplicable, match="timing facts"):
        run(STREAM, replace(DEVICE, timing=None))
    idle = replace(COUNTS, fp32=0.0, warp_instructions=0.0)
    traffic = MemoryTraffic(dram_read_transactions=0.0, dram_write_transactions=0.0)
    with pytest.raises(ModelNotApplicable, match="neither"):
        interval(replace(PROFILE, instructions=idle, traffic=traffic), DEVICE, ModelOptions())


def test_it_is_in_the_registry_and_asks_for_paths() -> None:
    assert get_model("interval") is interval
    assert needs_paths("interval")


def test_shares_of_units_are_rated_as_nvprof_does() -> None:
    """Loads of shared memory that keep its pipe busy: 10; half as many slots of fp32: 5."""
    steps = [Step(Pipeline.SHARED, (8,), (i,)) for i in range(8)]
    steps += [Step(Pipeline.FP32, (8,), (16 + i,)) for i in range(8)]
    device = replace(DEVICE, architecture=replace(DEVICE.architecture, sm_count=1))
    found = run(micro_kernel(steps, 200, 16, 1), device)
    assert found["shared_utilization"] == 10
    assert found["single_precision_fu_utilization"] == 5
    with pytest.raises(KeyError):
        found["dram_utilization"]


def test_parts_that_all_lose_time_leave_the_least_loss() -> None:
    """Anomalies of the schedule may make a launch slower without any of its parts."""
    slower = [Relief((Component.ISSUE,), 1.2, 1.0), Relief((Component.BARRIER,), 1.1, 1.0)]
    assert _smallest(slower) is slower[1]
