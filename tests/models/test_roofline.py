"""The roofline of Williams et al. in closed form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from kernelcast.errors import ModelNotApplicable
from kernelcast.models import ModelOptions
from kernelcast.models.roofline import roofline
from kernelcast.simcore.device import Device, PeakThroughput
from kernelcast.simcore.profile import InstructionCounts, KernelProfile, MemoryTraffic, WorkType

MeasuredDevice = Callable[[str], Device]


def profile(fp32: float, fp64: float, transactions: float) -> KernelProfile:
    return KernelProfile(
        kernel="k",
        device="gtx-480",
        origin="by hand",
        instructions=InstructionCounts(
            fma32=fp32 / 2,
            fma64=fp64 / 2,
            fp32=fp32,
            fp64=fp64,
            integer=10.0,
            load_store=10.0,
            warp_instructions=1e9,
        ),
        traffic=MemoryTraffic(transactions, 0.0),
        repeats=2,
    )


@pytest.fixture
def device(measured_device: MeasuredDevice) -> Device:
    """2e12 and 1e11 flop/s, 2e11 B/s."""
    known = measured_device("GTX-480")
    dram = replace(known.dram, bandwidth_bytes_per_s=2e11)
    return replace(known, peak=PeakThroughput(2e12, 1e11), dram=dram, measured=None)


@pytest.mark.parametrize(
    ("fp32", "fp64", "transactions", "time_s", "bound"),
    [
        (2e9, 0.0, 1e6, 2 * 3e9 / 2e12, "compute: floating-point peak"),
        (2e9, 0.0, 1e9, 2 * 3.2e10 / 2e11, "memory: DRAM bandwidth"),
        (2e9, 2e9, 1e6, 2 * 3e9 / 1e11, "compute: floating-point peak"),
        (0.0, 0.0, 1e9, 2 * 3.2e10 / 2e11, "memory: DRAM bandwidth"),
        (2e9, 0.0, 0.0, 2 * 3e9 / 2e12, "compute: floating-point peak"),
    ],
)
def test_time_is_the_longer_of_flops_and_bytes(
    fp32: float, fp64: float, transactions: float, time_s: float, bound: str, device: Device
) -> None:
    found = roofline(profile(fp32, fp64, transactions), device, ModelOptions())
    assert found.time_s == pytest.approx(time_s)
    assert found.bottleneck == bound
    assert found.time_low_s == found.time_s
    memory, compute = found.terms.parts
    assert found.time_high_s == pytest.approx(memory.seconds + compute.seconds)


def test_parameters(device: Device) -> None:
    found = roofline(profile(2e9, 0.0, 1e6), device, ModelOptions())
    assert found["W"] == 6e9
    assert found["Q"] == 6.4e7
    assert found["I"] == 6e9 / 6.4e7
    assert found["ridge"] == 10
    assert found["attainable"] == 2e12
    low = roofline(profile(2e6, 0.0, 1e6), device, ModelOptions())
    assert low["attainable"] == pytest.approx(2e11 * 6e6 / 6.4e7)


def test_options(device: Device) -> None:
    plain = roofline(profile(2e9, 1.0, 1e6), device, ModelOptions())
    assert plain["K_type"] == "fp64"
    single = roofline(profile(2e9, 1.0, 1e6), device, ModelOptions(WorkType.FP32, 2.0))
    assert single["K_type"] == "fp32"
    assert single.time_s == pytest.approx(2 * 6e9 / 2e12)


def test_kernel_without_flops_has_only_the_bandwidth_roof(device: Device) -> None:
    found = roofline(profile(0.0, 0.0, 1e6), device, ModelOptions())
    assert any("only the bandwidth roof" in text for text in found.assumptions)
    assert found["I"] == 0


def test_refusals(device: Device) -> None:
    with pytest.raises(ModelNotApplicable, match="neither floating-point"):
        roofline(profile(0.0, 0.0, 0.0), device, ModelOptions())
    with pytest.raises(ModelNotApplicable, match="no integer peak"):
        roofline(profile(1.0, 0.0, 1.0), device, ModelOptions(work_type=WorkType.INT))
