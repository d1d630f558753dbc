"""Tensor units of the GPUs that come with kernelcast, against vendors' figures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kernelcast.errors import DeviceFileError
from kernelcast.simcore.device.changed import changed_device
from kernelcast.simcore.device.checks import Observation, contradictions
from kernelcast.simcore.device.device import Provenance, Source
from kernelcast.simcore.device.file import known_devices, load_device, load_observations
from kernelcast.simcore.device.tensor_facts import TensorFacts

PEAKS: dict[str, dict[str, float]] = {
    # Dense TFLOP/s (TOP/s) of vendors' data sheets and white papers, by type.
    "v100-sxm2": {"fp16": 125},
    "quadro-rtx-4000": {"fp16": 57.0},
    "a100-40gb": {"fp16": 312, "bf16": 312, "tf32": 156, "fp64": 19.5, "int8": 624, "int4": 1248},
    "a40": {"fp16": 149.7, "tf32": 74.8, "int8": 299.3, "int4": 598.7},
    "rtx-a6000": {"fp16": 309.7 / 2},
    "rtx-3090": {"fp16": 71, "fp16_fp16": 142, "bf16": 71, "tf32": 35.6, "int8": 284, "int4": 568},
    "rtx-3070": {"fp16": 40.6, "fp16_fp16": 81.3, "int8": 162.6},
    "rtx-4090": {"fp16": 165.2, "fp16_fp16": 330.3, "fp8": 330.3, "fp8_fp16": 660.6, "int8": 660.6},
    "l40": {"fp16": 181.05, "tf32": 90.5, "fp8": 362, "int8": 362},
    "h100-sxm": {"fp16": 989.4, "tf32": 494.7, "fp8": 1978.9, "int8": 1978.9},
    "h100-pcie": {"fp16": 756, "tf32": 378, "fp8": 1513},
    "b200": {"fp16": 2250, "fp8": 4500, "mxfp4": 9000},
    "mi100": {"fp16": 184.6, "bf16": 92.3, "fp32": 46.1, "int8": 184.6},
    "mi210": {"fp16": 181.0, "fp64": 45.3, "fp32": 45.3},
    "mi300x": {"fp16": 1307.4, "fp8": 2614.9, "tf32": 653.7, "fp64": 163.4},
    "rx-9070-xt": {"fp16": 194.6, "int8": 389.3, "int4": 778.6},
    "mi355x": {"fp16": 2516.6, "fp8": 5033.2, "fp4": 10066.3, "fp32": 157.3, "fp64": 78.6},
    "rx-7900-xtx": {"fp16": 122.8},
}
WITH_UNITS = [name for name in known_devices() if load_device(name).tensor is not None]


@pytest.mark.parametrize("name", PEAKS)
def test_rates_give_the_figures_of_the_vendors(name: str) -> None:
    device = load_device(name)
    assert device.tensor is not None
    clock = device.tensor.peak_clock_hz
    assert clock is not None
    for type_name, tera in PEAKS[name].items():
        rate = device.tensor.multiply_adds_per_cycle(type_name)
        assert rate is not None
        assert 2e-12 * rate * device.architecture.sm_count * clock == pytest.approx(tera, rel=0.02)


def test_gpus_without_tensor_units_have_none() -> None:
    for name in ("gtx-480", "tesla-k20c", "gtx-960", "gtx-1070", "r9-nano", "rx-6900-xt"):
        assert load_device(name).tensor is None


def test_structured_sparsity_doubles_what_counts() -> None:
    a100, v100 = load_device("a100-80gb").tensor, load_device("v100-pcie").tensor
    assert a100 is not None
    assert v100 is not None
    assert a100.multiply_adds_per_cycle("int8 sparse") == 4096
    assert v100.multiply_adds_per_cycle("fp16 sparse") is None
    assert v100.multiply_adds_per_cycle("bf16") is None


def test_sums_of_fp32_are_held_back_on_geforce_only() -> None:
    geforce, board = load_device("rtx-3090").tensor, load_device("a40").tensor
    assert geforce is not None
    assert board is not None
    assert geforce.fp16 == 256
    assert geforce.flow_per_cycle("fp16") == board.flow_per_cycle("fp16") == board.fp16 == 512
    assert geforce.flow_per_cycle("tf32") == board.flow_per_cycle("tf32") == 256
    assert geforce.flow_per_cycle("int8") == geforce.int8


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"fp16": 512.0}, "tensor.peak_flops_per_s"),
        ({"peak_flops_per_s": 3.4e14}, "tensor.peak_flops_per_s"),
        ({"peak_clock_hz": None}, "tensor.peak_flops_per_s"),
        ({"peak_clock_hz": 1.41e6}, "tensor.peak_clock_hz"),
        ({"tf32": 2048.0}, "tensor.tf32"),
        ({"int4": 1024.0}, "tensor.int8"),
        ({"fp16": 8.0, "fp16_fp16": 4.0}, "tensor.fp16"),
        ({"sparse_factor": 4}, "tensor.sparse_factor"),
        ({"warp_efficiency": 1.5}, "tensor.warp_efficiency"),
    ],
)
def test_impossible_units_are_refused(changes: dict[str, Any], key: str) -> None:
    device = load_device("a100-80gb")
    assert device.tensor is not None
    assert not list(contradictions(device))
    found = list(contradictions(replace(device, tensor=replace(device.tensor, **changes))))
    assert key in [item.key for item in found]


def test_a_peak_may_be_five_percent_off() -> None:
    device = load_device("a100-80gb")
    assert device.tensor is not None
    assert device.tensor.peak_flops_per_s is not None
    for factor, is_refused in ((1.045, False), (0.96, False), (1.06, True), (0.94, True)):
        peak = factor * 2 * 1024 * 108 * 1.41e9
        changed = replace(device, tensor=replace(device.tensor, peak_flops_per_s=peak))
        assert bool(list(contradictions(changed))) == is_refused


def test_measured_figures_are_compared_with_the_peak() -> None:
    device = load_device("a100-80gb")
    where = Provenance(Source.PUBLISHED, "nobody")

    def keys(quantity: str, value: float) -> list[str]:
        return [item.key for item in contradictions(device, [Observation(quantity, value, where)])]

    assert keys("tensor_fp16_throughput_ops_per_s", 3.1e14) == []
    assert keys("tensor_fp16_throughput_ops_per_s", 3.5e14) == [
        "observed.tensor_fp16_throughput_ops_per_s"
    ]
    assert keys("tensor_fp16_sparse_throughput_ops_per_s", 6.1e14) == []
    assert keys("tensor_fp8_throughput_ops_per_s", 1e14)  # has no units for it
    assert keys("tensor_fp17_throughput_ops_per_s", 1e14)
    assert list(
        contradictions(
            replace(device, tensor=None),
            [Observation("tensor_fp16_throughput_ops_per_s", 1e14, where)],
        )
    )


def test_published_throughputs_lie_below_the_peaks() -> None:
    """clpeak on the MI300X: between a half and all of the rate."""
    device = load_device("mi300x")
    assert device.tensor is not None
    found = [item for item in load_observations("mi300x") if item.quantity.startswith("tensor_")]
    assert len(found) == 7
    for item in found:
        name = item.quantity.removeprefix("tensor_").removesuffix("_throughput_ops_per_s")
        rate = device.tensor.multiply_adds_per_cycle(name.replace("_sparse", " sparse"))
        assert rate is not None
        peak = 2 * rate * device.architecture.sm_count * device.running_clock_hz
        assert 0.5 * peak < item.value < peak


@pytest.mark.parametrize("name", WITH_UNITS)
def test_clocks_change_units_with_the_device(name: str) -> None:
    """What-if: the vendor's figure follows its clock, so that the changed device passes."""
    device = load_device(name)
    changed = changed_device(device, {"architecture.clock_hz": 1.3 * device.architecture.clock_hz})
    assert changed.tensor is not None
    assert device.tensor is not None
    assert changed.tensor.fp16 == device.tensor.fp16
    more = changed_device(device, {"architecture.sm_count": 2 * device.architecture.sm_count})
    assert more.tensor is not None


def test_rates_can_be_changed() -> None:
    changed = changed_device(load_device("rtx-4090"), {"tensor.fp16": 512.0, "tensor.bf16": 512.0})
    assert changed.tensor is not None
    assert changed.tensor.flow_per_cycle("fp16") == 512
    with pytest.raises(DeviceFileError, match=r"tensor\.latency_cycles: is missing"):
        changed_device(load_device("gtx-480"), {"tensor.fp16": 512.0})


def test_facts_need_no_rates() -> None:
    assert TensorFacts(latency_cycles=8.0).multiply_adds_per_cycle("fp16") is None
