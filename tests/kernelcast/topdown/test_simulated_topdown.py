"""The analysis of a simulation divides lost slots as warps were stalled, as profilers do."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from micro_kernel import Step, micro_kernel

from kernelcast.models.topdown import ApplicationTopDown
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.profile.derived import DerivedInputs
from kernelcast.simcore.profile.profile import KernelProfile
from kernelcast.simcore.profile.timed import timed_warps
from kernelcast.simcore.timing.kernel.stall_reasons import StallReason
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel
from kernelcast.simcore.timing.launch.launch_timing import launch_timing
from kernelcast.topdown_analysis.simulated import simulated_topdown
from kernelcast.workload.file import load_workload

SAXPY = Path(__file__).parents[3] / "examples" / "saxpy" / "saxpy.toml"
TURING = "quadro-rtx-4000"
MEMORY_THEN_ARITHMETIC = [
    Step(Pipeline.GLOBAL, (9,), (1,), sectors=1.0, l2_hits=1.0),
    *[Step(Pipeline.FP32, (1,), (1,)) for _ in range(20)],
]


@cache
def recorded() -> KernelProfile:
    trace = load_workload(SAXPY).run("small", devices=(TURING,), record_paths=True)
    return trace.profile(load_device(TURING))


def analysed(kernel: TimedKernel, device: Device) -> ApplicationTopDown:
    inputs = DerivedInputs(given={timed_warps: kernel})
    return simulated_topdown(replace(recorded(), inputs=inputs), device)


def test_lost_slots_are_divided_as_warps_wait() -> None:
    """24 warps whose arithmetic fills in for their loads.

    The next one to issue waits for arithmetic, but warps spend more cycles with their loads.
    """
    device = load_device(TURING)
    kernel = micro_kernel(MEMORY_THEN_ARITHMETIC, 100, 24, device.architecture.sm_count)
    found, timing = analysed(kernel, device).total, launch_timing(kernel, device)
    waited = timing.warp_stalls
    total = sum(waited.values())
    lost = 4 - timing.issued / timing.full_cycles
    for part, reason in (
        ("L2", StallReason.L2_LATENCY),
        ("Fixed Latency", StallReason.EXECUTION_DEPENDENCY),
    ):
        assert found[part].ipc == pytest.approx(lost * waited[reason] / total)
    slots = timing.stalls
    assert waited[StallReason.L2_LATENCY] > 2 * waited[StallReason.EXECUTION_DEPENDENCY]
    assert slots[StallReason.L2_LATENCY] < slots[StallReason.EXECUTION_DEPENDENCY]


def test_slots_without_a_warp_are_no_part_but_told() -> None:
    """One warp on one of four schedulers: three quarters of the slots have none."""
    device = load_device(TURING)
    kernel = micro_kernel(MEMORY_THEN_ARITHMETIC, 100, 1, device.architecture.sm_count)
    found = analysed(kernel, device)
    assert [part.name for part in found.total.parts] == [
        *("Retire", "Divergence", "Frontend", "Backend")
    ]
    assert any(item.startswith("75% of the slots had no warp") for item in found.assumptions)
    assert found.total["Backend"].percent > 90


def test_hot_lines_are_shares_of_the_cycles_of_warps() -> None:
    profile = recorded()
    timed = profile.derived(timed_warps)
    assert timed is not None
    device = load_device(TURING)
    timing, lines = (
        launch_timing(timed, device),
        simulated_topdown(profile, device),
    )
    stalled = sum(timing.warp_stalls.values()) / timing.resident_warp_cycles
    assert sum(line.percent for line in lines.hot_lines) == pytest.approx(100 * stalled, rel=0.05)
