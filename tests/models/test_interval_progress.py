"""What model `interval` tells whoever waits for it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from micro_kernel import Step, micro_kernel

from kernelcast.models import ModelOptions
from kernelcast.models.interval import model, relief
from kernelcast.models.interval.expected import expected_walks_s
from kernelcast.progress import stages_told_to
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.profile.derived import DerivedInputs
from kernelcast.simcore.profile.profile import (
    InstructionCounts,
    KernelProfile,
    LaunchShape,
    MemoryTraffic,
)
from kernelcast.simcore.profile.timed import timed_warps
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel
from kernelcast.simcore.timing.launch.launch_timing import launch_timing

DEVICE = load_device("v100-pcie")
SMS = DEVICE.architecture.sm_count
_COUNTS = InstructionCounts(
    fma32=0.0, fma64=0.0, fp32=0.0, fp64=0.0, integer=0.0, load_store=0.0, warp_instructions=1.0
)


def _profile(kernel: TimedKernel) -> KernelProfile:
    return KernelProfile(
        kernel="k",
        device=DEVICE.name,
        origin="by hand",
        instructions=_COUNTS,
        traffic=MemoryTraffic(dram_read_transactions=1.0, dram_write_transactions=0.0),
        launch=LaunchShape((kernel.thread_blocks, 1, 1), (32, 1, 1)),
        inputs=DerivedInputs(given={timed_warps: kernel}),
    )


@pytest.mark.parametrize(("seconds", "ending"), [(2.0, ""), (1e4, ", 10000 s to be expected")])
def test_walk_and_advice_tell_how_far_they_are_and_how_long_they_take(
    seconds: float, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = micro_kernel([Step(Pipeline.FP32, (0,), (0,))], 100, 1, SMS)
    for module in (model, relief):
        monkeypatch.setattr(module, "expected_walks_s", lambda *_given: seconds)
    told = list[tuple[str, float]]()
    with stages_told_to(lambda *stage: told.append(stage)):
        model.interval(_profile(kernel), DEVICE, ModelOptions())
    assert {name for name, _ in told} == {f"walk{ending}", f"advice{ending}"}
    for stage in ("walk", "advice"):
        shares = [share for name, share in told if name.startswith(stage)]
        assert shares[0] == 0.0
        assert shares[-1] == 1.0


def test_the_expected_time_grows_with_what_is_walked() -> None:
    chain = [Step(Pipeline.FP32, (0,), (0,))]
    short, long = (micro_kernel(chain, trips, 1, SMS) for trips in (1000, 100_000))
    once = expected_walks_s(short, DEVICE, 1, 4_000_000)
    assert expected_walks_s(long, DEVICE, 1, 4_000_000) == pytest.approx(100 * once)
    assert expected_walks_s(short, DEVICE, 100, 4_000_000) > once
    many = replace(short, thread_blocks=SMS * 10**9)
    timing = launch_timing(many, DEVICE)
    expected = expected_walks_s(many, DEVICE, 1, 4_000_000)
    assert timing.simulated_instructions <= expected * 12e6 <= 1000 * timing.simulated_instructions
