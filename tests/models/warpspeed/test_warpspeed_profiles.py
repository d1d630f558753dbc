"""Model `warpspeed` for profiles: simulated or measured volumes in the place of estimated ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import ModelNotApplicable
from kernelcast.models import ModelOptions, needs_paths
from kernelcast.models.warpspeed.model import warpspeed
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.profile.profile import (
    InstructionCounts,
    KernelProfile,
    LaunchShape,
    MemoryTraffic,
    WorkType,
)

A100 = load_device("a100-40gb")
assert A100.measured is not None
assert A100.timing is not None
CELLS = float(1 << 27)
TRAFFIC = MemoryTraffic(
    dram_read_transactions=CELLS * 8 / 32,
    dram_write_transactions=CELLS * 8 / 32,
    global_load_requests=CELLS / 32,
    global_store_requests=CELLS / 32,
    global_load_sectors=CELLS * 8 / 32,
    global_store_sectors=CELLS * 8 / 32,
    l2_read_sectors=CELLS * 8 / 32,
    l2_write_sectors=CELLS * 8 / 32,
)
PROFILE = KernelProfile(
    kernel="copy",
    device="a100-40gb",
    origin="by hand",
    instructions=InstructionCounts(
        fma32=0.0,
        fma64=CELLS,
        fp32=0.0,
        fp64=0.0,
        integer=0.0,
        load_store=2 * CELLS,
        warp_instructions=CELLS,
    ),
    traffic=TRAFFIC,
    launch=LaunchShape((1 << 19, 1, 1), (256, 1, 1)),
)
OPTIONS = ModelOptions(work_type=WorkType.FP64)


def seconds(profile: KernelProfile, options: ModelOptions = OPTIONS) -> dict[str, float]:
    return {term.name: term.seconds for term in warpspeed(profile, A100, options).terms.parts}


def test_each_limiter_is_its_volume_over_its_rate() -> None:
    assert A100.measured is not None
    assert A100.timing is not None
    found = seconds(PROFILE)
    dram = 16 * CELLS / A100.measured.dram_bandwidth_bytes_per_s
    assert found["DRAM bandwidth"] == pytest.approx(dram)
    l2 = 16 * CELLS / A100.timing.l2_bandwidth_bytes_per_s
    assert found["L2 bandwidth"] == pytest.approx(l2)
    assert found["fp64 peak"] == pytest.approx(CELLS / A100.peak.fp64_flops_per_s)
    cycles = 2 * CELLS / 32 * 2  # a line of 128 bytes a cycle
    rate = A100.architecture.sm_count * A100.architecture.clock_hz
    assert found["L1 throughput"] == pytest.approx(cycles / rate)
    assert warpspeed(PROFILE, A100, OPTIONS).time_s == max(found.values())


@pytest.mark.parametrize(
    ("device", "stride", "cycles"),
    [
        ("a100-40gb", 1, 1),
        ("a100-40gb", 32, 32),
        ("a40", 1, 2),
        ("a40", 32, 32),
        ("rtx-a6000", 16, 16),
        ("gtx-480", 1, 2),
        ("gtx-480", 32, 64),
    ],
)
def test_l1_takes_as_long_as_its_banks_or_its_width(device: str, stride: int, cycles: int) -> None:
    """Words of a warp `stride` words apart: banks collide, or two cycles bring 128 bytes.

    Without banks each line comes as a whole.
    """
    target = load_device(device)
    text = f""".version 6.4
.target sm_50
.address_size 64
.visible .entry k(.param .u64 p) {{
  .reg .b64 %p, %o; .reg .b32 %t; .reg .f32 %x; .shared .b32 sum;
  ld.param.u64 %p, [p]; mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, {4 * stride};
  add.s64 %p, %p, %o; ld.global.f32 %x, [%p]; add.f32 %x, %x, %x; st.shared.f32 [sum], %x; ret;
}}"""
    words = np.ones(64 * stride, np.float32)
    trace = kc.load_ptx(text)["k"].run(
        grid=100, block=64, args=[words], devices=[device], record_paths=True
    )
    found = warpspeed(trace.profile(target), target, ModelOptions())
    (taken,) = (term.seconds for term in found.terms.parts if term.name == "L1 throughput")
    rate = target.architecture.sm_count * target.architecture.clock_hz
    assert taken == pytest.approx(200 * cycles / rate)


def test_paths_are_recorded_for_its_passes_of_l1() -> None:
    assert needs_paths("warpspeed")


def test_repeats_and_utilization_are_factors() -> None:
    once = warpspeed(PROFILE, A100, OPTIONS).time_s
    thrice = warpspeed(
        replace(PROFILE, repeats=3), A100, ModelOptions(work_type=WorkType.FP64, utilization=1.5)
    )
    assert thrice.time_s == pytest.approx(4.5 * once)


def test_the_work_type_picks_the_peak() -> None:
    assert "fp64 peak" not in seconds(PROFILE, ModelOptions(work_type=WorkType.FP32))


def test_requests_that_are_not_known_leave_l1_out() -> None:
    traffic = replace(TRAFFIC, global_load_requests=None)
    found = warpspeed(replace(PROFILE, traffic=traffic), A100, OPTIONS)
    assert "L1 throughput" not in {term.name for term in found.terms.parts}
    assert any("no limiter of L1" in text for text in found.assumptions)


def test_profiles_without_traffic_of_l2_are_refused() -> None:
    traffic = replace(TRAFFIC, l2_read_sectors=None)
    with pytest.raises(ModelNotApplicable, match="traffic between L2 and L1"):
        warpspeed(replace(PROFILE, traffic=traffic), A100, OPTIONS)


def test_devices_without_timing_are_refused() -> None:
    with pytest.raises(ModelNotApplicable, match=r"no section \[timing\]"):
        warpspeed(PROFILE, replace(A100, timing=None), OPTIONS)
