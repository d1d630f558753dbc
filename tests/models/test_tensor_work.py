"""Models and kernels with tensor operations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from kernelcast.errors import ModelNotApplicable
from kernelcast.models import get_model
from kernelcast.models.model import Model, ModelOptions, dominant_work_type
from kernelcast.models.quantitative_roofline.equations import kernel_parameters
from kernelcast.models.roofline.model import TENSOR_PEAK, roofline
from kernelcast.models.tensor_work import tensor_peaks, tensor_rate
from kernelcast.report.plots.estimates import roofline_plot
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.profile.profile import (
    InstructionCounts,
    KernelProfile,
    LaunchShape,
    MemoryTraffic,
    WorkType,
)

OPERATIONS = 2.0 * 4096**3


def profile(
    tensor: Mapping[str, float] | None = None, fp32: float = 1e6, sectors: float = 1e6
) -> KernelProfile:
    return KernelProfile(
        kernel="gemm",
        device="a100-80gb",
        origin="made up",
        instructions=InstructionCounts(
            *(0.0, 0.0, fp32, 0.0, 1e6, 1e6, 1e6), tensor_operations=tensor
        ),
        traffic=MemoryTraffic(sectors, 0.0),
        launch=LaunchShape((1024, 1, 1), (256, 1, 1)),
    )


def test_the_ceiling_is_the_peak_of_the_type() -> None:
    """312 TFLOP/s of fp16 on the A100, 165 on the RTX 4090 and twice that with sums of fp16."""
    for name, type_, tera in (
        ("a100-80gb", "fp16", 312),
        ("a100-80gb", "fp16 sparse", 624),
        ("rtx-4090", "fp16", 165.2),
        ("rtx-4090", "fp16_fp16", 330.3),
        ("h100-sxm", "fp8", 1978.9),
    ):
        found = roofline(profile({type_: OPERATIONS}), load_device(name), ModelOptions())
        assert found.time_s == pytest.approx(OPERATIONS / (tera * 1e12), rel=0.01)
        assert found.bottleneck == f"compute: tensor peak of {type_}"


def test_intensity_counts_tensor_operations() -> None:
    found = roofline(
        profile({"bf16": OPERATIONS}, sectors=1e9), load_device("a100-80gb"), ModelOptions()
    )
    values = {item.symbol: item.value for item in found.parameters}
    assert values["K_type"] == "tensor"
    assert values["W"] == OPERATIONS
    assert values["I"] == pytest.approx(OPERATIONS / 32e9)
    assert values["W_tensor bf16"] == OPERATIONS
    assert values[f"{TENSOR_PEAK}tf32"] == pytest.approx(156e12, rel=0.01)
    assert f"{TENSOR_PEAK}fp8" not in values
    assert found.bottleneck == "memory: DRAM bandwidth"


def test_types_take_turns_at_the_unit() -> None:
    device = load_device("a100-80gb")
    peaks = dict(tensor_peaks(device, ("fp16", "int8")))
    both = profile({"fp16": 3e12, "int8": 4e12})
    rate = tensor_rate(both, device)
    assert rate is not None
    assert 7e12 / rate == pytest.approx(3e12 / peaks["fp16"] + 4e12 / peaks["int8"])


def test_tensor_work_is_the_type_where_it_is_most() -> None:
    assert dominant_work_type(profile({"fp16": 2e6})) is WorkType.TENSOR
    assert dominant_work_type(profile({"fp16": 5e5})) is WorkType.FP32
    assert dominant_work_type(profile()) is WorkType.FP32


@pytest.mark.parametrize("name", ["roofline", "interval"])
def test_devices_without_units_are_refused(name: str) -> None:
    model = get_model(name)
    for device, type_ in (("gtx-1070", "fp16"), ("v100-pcie", "bf16"), ("mi100", "fp8")):
        with pytest.raises(ModelNotApplicable, match=rf"tensor units.*no|no tensor units.*{type_}"):
            model(profile({type_: OPERATIONS}), load_device(device), ModelOptions())


@pytest.mark.parametrize(
    "name", ["quantitative-roofline", "component-throughput", "mpd-cpd", "warpspeed"]
)
def test_models_of_papers_without_units_say_so(name: str) -> None:
    model: Model = get_model(name)
    with pytest.raises(ModelNotApplicable, match="no tensor units, and kernel gemm"):
        model(profile({"fp16": 1.0}), load_device("a100-80gb"), ModelOptions())


def test_without_paths_the_interval_model_bounds_by_the_units() -> None:
    device = load_device("a100-80gb")
    found = get_model("interval")(profile({"fp16": OPERATIONS}), device, ModelOptions())
    assert found.bottleneck == "tensor units"
    assert found.time_s == pytest.approx(OPERATIONS / 312e12, rel=0.05)


def test_other_kernels_stay_as_they_were() -> None:
    """A profile that counts no tensor operation is that of a profiler that cannot count them."""
    device = load_device("a100-80gb")
    empty = replace(profile(), instructions=replace(profile().instructions, tensor_operations={}))
    first, second = (roofline(item, device, ModelOptions()) for item in (profile(), empty))
    assert first.time_s == second.time_s
    assert kernel_parameters(profile()).k_type is WorkType.FP32
    with pytest.raises(ModelNotApplicable, match="no tensor operations"):
        roofline(profile(), device, ModelOptions(WorkType.TENSOR))


def test_the_plot_has_a_roof_for_each_type() -> None:
    device = load_device("a100-80gb")
    work = profile({"fp16": OPERATIONS}, sectors=1e7)
    axes = roofline_plot(work, device, roofline(work, device, ModelOptions())).axes[0]
    lines = [line for line in axes.get_lines() if line.get_gid() == "tensor"]
    heights = sorted(float(line.get_ydata()[0]) for line in lines)  # type: ignore[index, arg-type]
    assert heights == pytest.approx([156e3, 312e3, 624e3, 1248e3], rel=0.01)
    texts = [text.get_text() for text in axes.texts]
    assert any(text.startswith("bf16, fp16, fp16_fp16: 312") for text in texts)
