"""An estimate below the roofline's lower bound says so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.cross_check import contradictions
from kernelcast.models import ModelOptions
from kernelcast.simcore.profile.profile import KernelProfile

DEVICE = kc.device("v100-pcie")
COPY = """
    .version 8.0
    .target sm_70
    .address_size 64
    .visible .entry copy(.param .u64 a, .param .u64 b) {
        .reg .b32 %r<5>; .reg .b64 %rd<6>; .reg .f32 %f<2>;
        ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];
        mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
        mad.lo.u32 %r4, %r2, %r3, %r1; mul.wide.u32 %rd3, %r4, 4;
        add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;
        ld.global.f32 %f1, [%rd4]; add.f32 %f1, %f1, %f1; st.global.f32 [%rd5], %f1; ret;
    }
"""


@pytest.fixture(scope="module")
def profile() -> KernelProfile:
    words = [np.zeros(2560 * 256, np.float32) for _ in range(2)]
    trace = kc.load_ptx(COPY)["copy"].run(grid=2560, block=256, args=words, devices=[DEVICE])
    return trace.profile(DEVICE)


@pytest.mark.parametrize("model", ["interval", "quantitative-roofline", "roofline", "warpspeed"])
def test_models_that_agree_say_nothing(profile: KernelProfile, model: str) -> None:
    assert kc.estimate(profile, model).contradictions == ()


def test_an_estimate_below_the_bound_is_told_with_both_times(profile: KernelProfile) -> None:
    """DRAM of a thousandth of the bandwidth for the roofline only."""
    found = kc.estimate(profile)
    slow = replace(DEVICE, dram=replace(DEVICE.dram, bandwidth_bytes_per_s=1e9))
    (line,) = contradictions(found, profile, slow, ModelOptions())
    traffic_bytes = profile.traffic.within_launch.dram_bytes
    assert f"{1e3 * traffic_bytes / 1e9:.3f} ms (memory: DRAM bandwidth)" in line
    assert "interval estimates" in line
    shown = str(replace(found, contradictions=(line,))).splitlines()
    assert shown[1] == "  models contradict each other"
    assert line in shown[2]


def test_a_bound_that_does_not_apply_contradicts_nothing(profile: KernelProfile) -> None:
    found = kc.estimate(profile)
    assert contradictions(found, profile, DEVICE, ModelOptions(work_type=kc.WorkType.INT)) == ()
