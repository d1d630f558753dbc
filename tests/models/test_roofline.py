"""The roofline of Williams et al., with roofs for all levels of the memory, in closed form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from kernelcast.errors import ModelNotApplicable
from kernelcast.models import ModelOptions
from kernelcast.models.roofline.model import roofline
from kernelcast.simcore.device.device import Device, PeakThroughput, SharedMemoryFacts
from kernelcast.simcore.profile.profile import (
    InstructionCounts,
    KernelProfile,
    MemoryTraffic,
    SharedMemoryUse,
    WorkType,
)

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
    assert known.l1 is not None
    dram = replace(known.dram, bandwidth_bytes_per_s=2e11)
    return replace(known, peak=PeakThroughput(2e12, 1e11), dram=dram, measured=None)


@pytest.mark.parametrize(
    ("fp32", "fp64", "transactions", "time_s", "bound"),
    [
        (2e9, 0.0, 1e6, 2 * 3e9 / 2e12, "compute: fp32 floating-point peak"),
        (2e9, 0.0, 1e9, 2 * 3.2e10 / 2e11, "memory: DRAM bandwidth"),
        (2e9, 2e9, 1e6, 2 * 3e9 / 1e11, "compute: fp64 floating-point peak"),
        (0.0, 0.0, 1e9, 2 * 3.2e10 / 2e11, "memory: DRAM bandwidth"),
        (2e9, 0.0, 0.0, 2 * 3e9 / 2e12, "compute: fp32 floating-point peak"),
    ],
)
def test_time_is_the_longer_of_flops_and_bytes(
    fp32: float, fp64: float, transactions: float, time_s: float, bound: str, device: Device
) -> None:
    found = roofline(profile(fp32, fp64, transactions), device, ModelOptions())
    assert found.time_s == pytest.approx(time_s)
    assert found.bottleneck == bound
    assert found.time_low_s == found.time_s
    flop_s = 2 * (1.5 * fp32 / 2e12 + 1.5 * fp64 / 1e11)
    assert found.time_high_s == pytest.approx(2 * 32 * transactions / 2e11 + flop_s)


def test_parameters(device: Device) -> None:
    found = roofline(profile(2e9, 0.0, 1e6), device, ModelOptions())
    assert found["W"] == 6e9
    assert found["Q"] == 6.4e7
    assert found["I"] == 6e9 / 6.4e7
    assert found["ridge"] == 10
    assert found["attainable"] == 2e12
    low = roofline(profile(2e6, 0.0, 1e6), device, ModelOptions())
    assert low["attainable"] == pytest.approx(2e11 * 6e6 / 6.4e7)


RATES = {
    "l1_read_bandwidth_bytes_per_s": 1e12,
    "l2_read_bandwidth_bytes_per_s": 5e11,
    "shared_bandwidth_bytes_per_s": 8e11,
    "special_function_throughput_ops_per_s": 1e10,
}


def busy(**changes: Any) -> KernelProfile:
    """Launched twice: 1e6 transactions of DRAM, 32e6 flops, and little of all else."""
    plain = profile(2e7, 0.0, 1e6)
    few = {"l1_read_sectors": 10.0, "l2_read_sectors": 10.0}
    none = {"l2_write_sectors": 0.0, "global_store_sectors": 0.0}
    traffic = replace(plain.traffic, **(few | none | changes.pop("traffic", {})))
    counts = replace(plain.instructions, special_function=changes.pop("functions", 0.0))
    shared = SharedMemoryUse(0.0, changes.pop("wavefronts", 0.0), 0.0, 0.0)
    assert not changes
    return replace(plain, traffic=traffic, instructions=counts, shared=shared)


@pytest.mark.parametrize(
    ("changes", "bound", "time_s"),
    [
        ({}, "memory: DRAM bandwidth", 2 * 3.2e7 / 2e11),
        ({"traffic": {"l2_read_sectors": 4e6}}, "memory: L2 bandwidth", 2 * 1.28e8 / 5e11),
        ({"traffic": {"l2_write_sectors": 4e6}}, "memory: L2 bandwidth", 2 * 1.28e8 / 5e11),
        ({"traffic": {"l1_read_sectors": 1e7}}, "memory: L1 bandwidth", 2 * 3.2e8 / 1e12),
        ({"traffic": {"global_store_sectors": 1e7}}, "memory: L1 bandwidth", 2 * 3.2e8 / 1e12),
        ({"wavefronts": 2e6}, "memory: shared memory bandwidth", 2 * 2.56e8 / 8e11),
        ({"functions": 1e8}, "compute: special functions", 2 * 1e8 / 1e10),
    ],
)
def test_the_slowest_level_sets_the_time(
    changes: dict[str, Any], bound: str, time_s: float, device: Device
) -> None:
    found = roofline(busy(**changes), replace(device, ceilings=RATES), ModelOptions())
    assert found.bottleneck == bound
    assert found.time_s == pytest.approx(time_s, rel=1e-5)
    assert not [text for text in found.assumptions if "no ceiling" in text]


def test_vectors_narrower_than_the_banks_move_words_of_their_lanes(device: Device) -> None:
    """16 lanes before 32 banks of 4 bytes: 64 bytes a request, 128 more for a second wavefront."""
    narrow = replace(
        device,
        architecture=replace(device.architecture, warp_width=16),
        shared=SharedMemoryFacts(banks=32, bank_bytes=4),
        ceilings=RATES,
    )
    use = SharedMemoryUse(1e6, 1e6, 2e6, 4e6)
    found = roofline(replace(busy(), shared=use), narrow, ModelOptions())
    assert found["Q_shared"] == 2 * (3e6 * 64 + 2e6 * 128)


def test_levels_are_parameters(device: Device) -> None:
    kernel = busy(traffic={"l2_read_sectors": 4e6})
    found = roofline(kernel, replace(device, ceilings=RATES), ModelOptions())
    assert found["Q_L2"] == 2 * 1.28e8
    assert found["I_L2"] == pytest.approx(3e7 / 1.28e8)
    assert found["bandwidth_L2"] == 5e11
    assert found["attainable"] == pytest.approx(5e11 * 3e7 / 1.28e8)


def test_published_bandwidths_give_way_to_those_of_work_items(device: Device) -> None:
    """A processor's file tells both: of explicit vectors, and of plain work-items."""
    kernel = busy(traffic={"l2_read_sectors": 4e6})
    rates = RATES | {
        "work_item_l2_read_bandwidth_bytes_per_s": 1e11,
        "work_item_fp32_multiply_add_throughput_ops_per_s": 1e9,
    }
    found = roofline(kernel, replace(device, ceilings=rates), ModelOptions())
    assert found["bandwidth_L2"] == 1e11
    assert found.bottleneck == "compute: fp32 floating-point peak"
    assert found.time_s == pytest.approx(2 * 3e7 / 1e9)


def test_the_memory_too_is_as_fast_as_work_items_find_it(device: Device) -> None:
    """The interval begins where explicit vectors would be."""
    rates = RATES | {"work_item_dram_read_bandwidth_bytes_per_s": 1e9}
    slow = roofline(busy(), replace(device, ceilings=rates), ModelOptions())
    best = roofline(busy(), replace(device, ceilings=RATES), ModelOptions())
    assert slow.bottleneck == "memory: DRAM bandwidth"
    assert slow["bandwidth"] == 1e9
    assert slow.time_s == pytest.approx(float(slow["Q"]) / 1e9)
    assert slow.time_low_s == pytest.approx(best.time_s)
    assert best.time_low_s == best.time_s


def test_gathered_words_are_in_the_upper_end_only(device: Device) -> None:
    """A copy by gathers loads and stores words of 4 bytes, each counted."""
    kernel = busy()
    rate = {"work_item_int_index_copy_bandwidth_bytes_per_s": 1e6}
    plain = roofline(kernel, replace(device, ceilings=RATES), ModelOptions())
    found = roofline(kernel, replace(device, ceilings=RATES | rate), ModelOptions())
    gathered_s = kernel.repeats * kernel.instructions.load_store * 4 / 1e6
    assert found.time_s == plain.time_s
    assert found.time_high_s == pytest.approx(plain.time_high_s + gathered_s)
    assert "if the compiler gathers every word" in found.causes[-1]
    assert "gathered every word" in found.basis
    assert "gathered" not in plain.basis
    assert len(plain.causes) == len(found.causes) - 1


def test_ceilings_that_nobody_knows_are_named(device: Device) -> None:
    kernel = busy(traffic={"l2_read_sectors": 4e6}, functions=1.0)
    found = roofline(kernel, replace(device, timing=None, ceilings={}), ModelOptions())
    assert found.bottleneck == "memory: DRAM bandwidth"
    assert [text for text in found.assumptions if "no ceiling" in text] == [
        f"no ceiling of {name}: nobody measured it on this device"
        for name in ("L2 bandwidth", "L1 bandwidth", "special functions")
    ]
    uncounted = roofline(profile(2e9, 0.0, 1e6), device, ModelOptions())
    assert any("shared memory bandwidth: the profile" in text for text in uncounted.assumptions)


def test_timing_facts_are_ceilings_where_nothing_is_published(device: Device) -> None:
    assert device.timing is not None
    kernel = busy(traffic={"l2_read_sectors": 4e8})
    found = roofline(kernel, replace(device, ceilings={}), ModelOptions())
    assert found["bandwidth_L2"] == device.timing.l2_bandwidth_bytes_per_s
    sm_clocks = device.architecture.sm_count * device.architecture.clock_hz
    assert found["bandwidth_L1"] == device.timing.l1_wavefront_bytes * sm_clocks


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
