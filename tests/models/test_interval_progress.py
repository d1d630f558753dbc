"""What model `interval` tells whoever waits for it, or for the time alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from micro_kernel import Step, micro_kernel

from kernelcast.defaults import only_time
from kernelcast.errors import KernelcastError
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


def test_an_estimate_that_is_not_explained_has_the_same_time_and_bars() -> None:
    load = [Step(Pipeline.GLOBAL, (0,), (1,), l2_hits=0.5), Step(Pipeline.FP32, (1,), (2,))]
    profile = _profile(micro_kernel(load, 20, 8, SMS * 40 + 3, 4))
    whole = model.interval(profile, DEVICE, ModelOptions())
    told = list[str]()
    with stages_told_to(lambda stage, _share: told.append(stage)):
        brief = model.interval(profile, DEVICE, ModelOptions(own={"explained": "no"}))
    assert set(told) == {"walk"}
    assert brief.bottleneck == brief.terms.bottleneck.name
    assert (brief.gain, brief.gain_text, brief.causes, brief.advice) == (None, "", (), ())
    assert whole.gain is not None
    reasons = ("bottleneck", "gain", "gain_text", "causes", "advice")
    assert replace(brief, **{name: getattr(whole, name) for name in reasons}) == whole
    assert model.interval(profile, DEVICE, ModelOptions(own={"explained": "yes"})) == whole


def test_explained_is_yes_or_no() -> None:
    profile = _profile(micro_kernel([Step(Pipeline.FP32)], 1))
    with pytest.raises(KernelcastError, match="explained is yes or no, not 'maybe'"):
        model.interval(profile, DEVICE, ModelOptions(own={"explained": "maybe"}))


def test_only_models_that_explain_are_told_not_to() -> None:
    assert only_time(None, DEVICE) == {"explained": "no"}
    assert only_time("interval", DEVICE) == {"explained": "no"}
    assert only_time("roofline", DEVICE) == {}
