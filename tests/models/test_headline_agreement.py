"""Headline, causes, advice and `topdown` of a kernel say the same, and nothing gains more.

What is gained is simulated again here, for every part, whether it seems to matter or not.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from micro_kernel import Step, micro_kernel

from kernelcast.models import ModelOptions
from kernelcast.models.estimate import Estimate
from kernelcast.models.interval.model import interval
from kernelcast.models.interval.model_error import model_error
from kernelcast.models.interval.relief import NOTABLE, OF_KERNEL, Relief, reliefs
from kernelcast.models.interval.spread import premises
from kernelcast.report.records import estimates_record
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.profile.derived import DerivedInputs
from kernelcast.simcore.profile.profile import (
    InstructionCounts,
    KernelProfile,
    LaunchShape,
    MemoryTraffic,
)
from kernelcast.simcore.profile.timed import timed_warps
from kernelcast.simcore.timing.kernel.component import Component
from kernelcast.simcore.timing.kernel.relieved_kernel import is_burdened_by
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel
from kernelcast.simcore.timing.launch.launch_timing import launch_timing
from kernelcast.topdown_analysis.simulated import simulated_topdown
from kernelcast.validation.workload_suite import SUITE
from kernelcast.workload.file import load_workload
from tests.drawn_cases import ALL_CASES
from tests.simcore.random_timing_kernels import DEVICES, random_kernel

_COUNTS = InstructionCounts(
    fma32=0.0,
    fma64=0.0,
    fp32=0.0,
    fp64=0.0,
    integer=0.0,
    load_store=0.0,
    warp_instructions=1.0,
)
WORKLOADS = (
    "dynamic_programming/needle",
    "dynamic_programming/lud_diagonal",
    "graph/bfs_frontier",
    "learning/backprop_forward",
    "physics/srad_update",
    "rodinia/particle_normalise",
)


def profile_of(kernel: TimedKernel, device: Device) -> KernelProfile:
    return KernelProfile(
        kernel="k",
        device=device.name,
        origin="by hand",
        instructions=_COUNTS,
        traffic=MemoryTraffic(dram_read_transactions=1.0, dram_write_transactions=0.0),
        launch=LaunchShape((kernel.thread_blocks, 1, 1), (256, 1, 1)),
        inputs=DerivedInputs(given={timed_warps: kernel}),
    )


def check(profile: KernelProfile, kernel: TimedKernel, device: Device) -> Estimate:
    """The estimate, of which all parts that name a bottleneck name the same."""
    found = interval(profile, device, ModelOptions())
    assert found.gain is not None
    assert f"limited by {found.bottleneck}: {found.gain_text} (" in found.headline
    assert found.causes[0].startswith(f"{found.bottleneck}: {found.gain_text}")
    assert f"without {found.bottleneck} " in str(found.advice[0])
    assert found.advice[0].gain == found.gain
    topdown = simulated_topdown(profile, device)
    assert topdown.bottleneck == f"{found.bottleneck}: {found.gain_text}"
    (record,) = estimates_record("k", [found])["estimates"]
    assert record["bottleneck"] == found.bottleneck
    assert record["gain"] == record["advice"][0]["gain"] == found.gain
    assert record["cycles"] / record["clock_hz"] == pytest.approx(
        found.time_s - launch_timing(kernel, device).overhead_s
    )
    check_gains(reliefs(kernel, device, launch_timing(kernel, device)), kernel, device)
    check_bars(found, kernel, device)
    return found


def check_gains(found: tuple[Relief, ...], kernel: TimedKernel, device: Device) -> None:
    """Nothing saves more than what is named, as it is ranked; several save thrice as much."""
    total_s = launch_timing(kernel, device).seconds
    first = found[0]
    left_s = launch_timing(kernel, device, frozenset(first.components)).seconds
    assert first.gain == pytest.approx(total_s / left_s, rel=1e-9)
    saved = {
        part: total_s - launch_timing(kernel, device, frozenset((part,))).seconds
        for part in Component
        if is_burdened_by(part, kernel, device)
    }
    if len(first.components) > 1:
        assert 3 * max(saved.values()) < first.saved_s * (1 + 1e-9)
        return
    of_machine = [saved_s for part, saved_s in saved.items() if part not in OF_KERNEL]
    if first.components[0] in OF_KERNEL:
        assert first.saved_s >= 0.5 * max(of_machine) - 1e-12
    else:
        assert first.saved_s == pytest.approx(max(of_machine))
    listed = {relief.components[0] for relief in found if len(relief.components) == 1}
    waves = {Component.TAIL, Component.IMBALANCE}
    for part, saved_s in saved.items():
        if part not in waves and saved_s > (NOTABLE + 1e-6) * total_s:
            assert part in listed, part


def check_bars(found: Estimate, kernel: TimedKernel, device: Device) -> None:
    """The bars hold every time that was simulated for them, and the model's error."""
    error = model_error()
    assert error.low <= 1.0 <= error.high
    assert found.coverage == error.coverage
    times = [launch_timing(kernel, item).seconds for item in (device, *premises(device))]
    assert found.time_low_s == pytest.approx(min(error.low * found.time_s, *times))
    assert found.time_high_s == pytest.approx(max(error.high * found.time_s, *times))


@settings(max_examples=100 if ALL_CASES else 24)
@given(st.integers(0, 5000))
@example(36)
@example(1)
@example(101)
def test_random_kernels(seed: int) -> None:
    name, kernel = random_kernel(seed, (1, 3))
    check(profile_of(kernel, DEVICES[name]), kernel, DEVICES[name])


@pytest.mark.drawn(5)
@pytest.mark.parametrize("device", ["gtx-1070", "quadro-rtx-4000"])
@pytest.mark.parametrize("name", WORKLOADS)
def test_kernels_of_the_suite(name: str, device: str) -> None:
    target = load_device(device)
    profile = load_workload(SUITE / f"{name}.toml").run("small", record_paths=True).profile(target)
    kernel = profile.derived(timed_warps)
    assert kernel is not None
    check(profile, kernel, target)


def test_a_slower_clock_that_comes_out_faster_is_inside() -> None:
    """Whatever the order of the four versions of a device, the bars hold all of them."""
    device = load_device("v100-pcie")
    kernel = micro_kernel([Step(Pipeline.GLOBAL, (0,), (1,))], 20, 8, 80 * 40 + 3, 4)
    fast, slow, faster_clock, slower_clock = premises(device)
    clocks = [item.architecture.clock_hz for item in (fast, faster_clock, slower_clock, slow)]
    nominal = device.architecture.clock_hz
    assert clocks == pytest.approx([1.1 * nominal, 1.1 * nominal, 0.9 * nominal, 0.9 * nominal])
    assert slower_clock.dram == device.dram
    assert slower_clock.timing == device.timing
    found = interval(profile_of(kernel, device), device, ModelOptions())
    for item in (fast, slow, faster_clock, slower_clock, replace(device)):
        assert found.time_low_s <= launch_timing(kernel, item).seconds <= found.time_high_s
