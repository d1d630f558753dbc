"""What stands on the axes: slopes of lines, positions of points, files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from kernelcast.errors import KernelcastError
from kernelcast.models import ModelOptions, get_model
from kernelcast.models.estimate import Combine, Estimate, Term
from kernelcast.report.plots.estimates import quadrant_split_plot, roofline_plot, save
from kernelcast.report.plots.labels import PixelBox, nearest_free_box
from kernelcast.report.plots.time_shares import time_shares_plot
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.profile.profile import KernelProfile, MemoryTraffic, WorkType

MeasuredDevice = Callable[[str], Device]
ThesisProfile = Callable[[str], KernelProfile]
ThesisTable = Callable[[str], list[dict[str, str]]]

GPUS = ("GTX-480", "GTX-660", "GTX-960", "GTX-1060 6GB", "Tesla M2050", "Tesla K20c", "R9 Nano")


def quantitative(profile: KernelProfile, device: Device) -> Estimate:
    return get_model("quantitative-roofline")(profile, device, ModelOptions())


@pytest.fixture
def sor(thesis_profile: ThesisProfile) -> KernelProfile:
    return thesis_profile("sor")


@pytest.fixture
def on_all(sor: KernelProfile, measured_device: MeasuredDevice) -> list[Estimate]:
    return [quantitative(sor, measured_device(gpu)) for gpu in GPUS]


def lines(axes: Axes, gid: str) -> list[npt.NDArray[np.float64]]:
    """(x, y) rows of the lines drawn under that name."""
    return [
        np.asarray(line.get_xydata(), dtype=np.float64)
        for line in axes.get_lines()
        if line.get_gid() == gid
    ]


def points(axes: Axes, gid: str) -> list[tuple[float, float]]:
    return [(float(line[0, 0]), float(line[0, 1])) for line in lines(axes, gid)]


def symbol(estimate: Estimate, name: str) -> float:
    value = estimate[name]
    assert isinstance(value, float)
    return value


def test_levels_of_the_hierarchical_roofline(
    sor: KernelProfile, measured_device: MeasuredDevice
) -> None:
    """A line with the slope of each level's bandwidth up to the peak, and a point on it.

    The point is at its intensity, as high as the model's.
    """
    gpu = replace(
        measured_device("GTX-480"), ceilings={"l2_read_bandwidth_bytes_per_s": 3e11}, timing=None
    )
    traffic = replace(sor.traffic, l2_read_sectors=1e9, l2_write_sectors=0.0)
    kernel = replace(sor, traffic=traffic)
    estimate = get_model("roofline")(kernel, gpu, ModelOptions())
    (axes,) = roofline_plot(kernel, gpu, estimate).axes
    (line,) = lines(axes, "level")
    assert line[:, 1] / line[:, 0] == pytest.approx([300.0, 300.0])
    assert gpu.measured is not None
    highest = max(gpu.peak.fp64_flops_per_s, gpu.measured.fp64_ops_per_s)
    assert line[-1, 1] == pytest.approx(highest / 1e9)
    (point,) = points(axes, "level-point")
    assert point[0] == pytest.approx(symbol(estimate, "I_L2"))
    assert point[1] == pytest.approx(symbol(estimate, "W") / estimate.time_s / 1e9)
    assert not lines(roofline_plot(sor, gpu, quantitative(sor, gpu)).axes[0], "level")


def test_half_line_has_the_slope_of_the_kernel(
    sor: KernelProfile, on_all: Sequence[Estimate]
) -> None:
    for axes in quadrant_split_plot(sor, on_all).axes:
        (line,) = lines(axes, "half-line")
        assert tuple(line[0]) == (0, 0)
        assert line[1, 1] / line[1, 0] == pytest.approx(1006649344 / 3334823424, rel=1e-9)
        assert axes.get_xscale() == axes.get_yscale() == "linear"


def test_devices_stand_at_their_rates_before_and_after_each_efficiency(
    sor: KernelProfile, on_all: Sequence[Estimate], thesis_table: ThesisTable
) -> None:
    """Table 5.7: T_op, T' and B_mem of SOR; E_mix is 57.69 %."""
    axes = quadrant_split_plot(sor, on_all).axes[0]
    raw, mixed, adjusted = (points(axes, gid) for gid in ("T_op", "E_mix", "T_op_adj"))
    assert len(raw) == len(mixed) == len(adjusted) == len(GPUS)
    for index, row in enumerate(thesis_table("table_5_7_sor_prediction")):
        bandwidth, t_op = float(row["B_mem_GB_per_s"]), float(row["T_op_GFLOPS"])
        assert raw[index] == pytest.approx((bandwidth, t_op))
        assert mixed[index] == pytest.approx((bandwidth, 0.5769 * t_op), rel=1e-4)
        assert adjusted[index] == pytest.approx((bandwidth, float(row["T_op_adj_GFLOPS"])), 2e-4)


def test_predictions_lie_on_the_half_line_below_or_left_of_their_device(
    sor: KernelProfile, on_all: Sequence[Estimate], thesis_table: ThesisTable
) -> None:
    axes = quadrant_split_plot(sor, on_all).axes[0]
    slope = symbol(on_all[0], "O_krn")
    predicted, paths = points(axes, "predicted"), lines(axes, "to-half-line")
    rows = thesis_table("table_5_7_sor_prediction")
    for row, (x, y), path in zip(rows, predicted, paths, strict=False):
        assert y == pytest.approx(slope * x)
        assert y == pytest.approx(float(row["T_predicted_GFLOPS"]), abs=0.006)
        assert tuple(path[-1]) == pytest.approx((x, y))
        is_horizontal = path[0, 1] == pytest.approx(path[1, 1])
        assert is_horizontal == (row["compute_bound"] == "True")


def test_measured_points(
    sor: KernelProfile, on_all: Sequence[Estimate], thesis_table: ThesisTable
) -> None:
    measured_s = {"gtx-480": 21.456e-3, "not-estimated": 1.0}
    figure = quadrant_split_plot(sor, on_all, measured_s)
    gflops = 1006649344 / 21.456e-3 / 1e9
    for axes in figure.axes:
        assert points(axes, "measured") == [
            pytest.approx((gflops / symbol(on_all[0], "O_krn"), gflops))
        ]
    assert "measured for this kernel" in legend_texts(figure)
    assert "measured for this kernel" not in legend_texts(quadrant_split_plot(sor, on_all))


def legend_texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_utilization_moves_the_prediction_along_the_half_line(
    sor: KernelProfile, measured_device: MeasuredDevice
) -> None:
    device = measured_device("GTX-480")
    slow = get_model("quantitative-roofline")(sor, device, ModelOptions(utilization=2.0))
    axes = quadrant_split_plot(sor, [slow]).axes[0]
    ((x, y),) = points(axes, "predicted")
    assert y == pytest.approx(49.31 / 2, abs=0.005)
    assert x == pytest.approx(163.36 / 2)


def test_close_up_appears_only_when_raw_rates_dwarf_the_kernel(
    sor: KernelProfile, on_all: Sequence[Estimate], measured_device: MeasuredDevice
) -> None:
    assert len(quadrant_split_plot(sor, on_all).axes) == 2
    alone = quadrant_split_plot(sor, [quantitative(sor, measured_device("GTX-960"))])
    assert len(alone.axes) == 1


def test_every_device_is_named_and_no_two_names_overlap(
    thesis_profile: ThesisProfile, measured_device: MeasuredDevice
) -> None:
    for case in ("sor", "sgemm", "lmsor"):
        profile = thesis_profile(case)
        estimates = [quantitative(profile, measured_device(gpu)) for gpu in GPUS]
        figure = quadrant_split_plot(profile, estimates)
        figure.canvas.draw()
        for axes in figure.axes:
            names = {estimate.device for estimate in estimates}
            texts = [text for text in axes.texts if text.get_text() in names]
            assert {text.get_text() for text in texts} == names
            # The text's own box: an annotation's would include its leader line.
            extents = [Text.get_window_extent(text) for text in texts]
            for index, box in enumerate(extents):
                assert not any(box.overlaps(other) for other in extents[index + 1 :])


def test_quadrant_split_refuses_what_it_cannot_draw(
    sor: KernelProfile,
    on_all: Sequence[Estimate],
    thesis_profile: ThesisProfile,
    measured_device: MeasuredDevice,
) -> None:
    device = measured_device("GTX-480")
    plain = get_model("roofline")(sor, device, ModelOptions())
    other = quantitative(thesis_profile("sgemm"), device)
    dry = quantitative(replace(sor, traffic=MemoryTraffic(0.0, 0.0)), device)
    for estimates, message in (
        ([], "at least one estimate"),
        ([plain], "needs quantitative-roofline estimates, got roofline"),
        ([on_all[0], other], "different operational intensities"),
        ([dry], "no half-line"),
    ):
        with pytest.raises(KernelcastError, match=message):
            quadrant_split_plot(sor, estimates)


def test_roofline_has_both_roofs_and_the_points(
    sor: KernelProfile, measured_device: MeasuredDevice
) -> None:
    device = measured_device("GTX-660")
    estimates = [
        get_model(name)(sor, device, ModelOptions())
        for name in ("roofline", "quantitative-roofline")
    ]
    (axes,) = roofline_plot(sor, device, *estimates).axes
    assert axes.get_xscale() == axes.get_yscale() == "log"
    for gid, peak, bandwidth in (
        ("theoretical", device.peak.fp64_flops_per_s, device.dram.bandwidth_bytes_per_s),
        ("measured", 89.70e9, 117.56e9),
    ):
        (roof,) = lines(axes, gid)
        assert roof[1] == pytest.approx((peak / bandwidth, peak / 1e9))
        assert roof[0, 1] / roof[0, 0] == pytest.approx(bandwidth / 1e9)
        assert roof[2, 1] == roof[1, 1]
    intensity = 1006649344 / 3334823424
    expected = [1006649344 / estimate.time_s / 1e9 for estimate in estimates]
    assert points(axes, "estimate") == [pytest.approx((intensity, rate)) for rate in expected]
    assert expected[1] == pytest.approx(28.92, abs=0.005)


def test_roofline_of_integer_work_has_only_the_measured_roof(
    sor: KernelProfile, measured_device: MeasuredDevice
) -> None:
    device = measured_device("GTX-480")
    integer = get_model("quantitative-roofline")(sor, device, ModelOptions(WorkType.INT))
    (axes,) = roofline_plot(sor, device, integer).axes
    assert not lines(axes, "theoretical")
    (roof,) = lines(axes, "measured")
    assert roof[1, 1] == pytest.approx(742.34)
    assert "Gop/s" in axes.get_ylabel()
    unmeasured = replace(device, measured=None)
    with pytest.raises(KernelcastError, match="no integer rate"):
        roofline_plot(sor, unmeasured, integer)


def test_roofline_needs_operations_and_traffic(
    sor: KernelProfile, measured_device: MeasuredDevice
) -> None:
    device = measured_device("GTX-480")
    with pytest.raises(KernelcastError, match="no DRAM traffic"):
        roofline_plot(replace(sor, traffic=MemoryTraffic(0.0, 0.0)), device)
    idle = replace(sor, instructions=replace(sor.instructions, fp64=0.0, fma64=0.0, integer=0.0))
    with pytest.raises(KernelcastError, match="no int operations"):
        roofline_plot(idle, device)


@pytest.mark.parametrize(
    ("suffix", "start"), [(".png", b"\x89PNG\r\n"), (".svg", b"<?xml"), (".PNG", b"\x89PNG")]
)
def test_files(
    suffix: str, start: bytes, sor: KernelProfile, on_all: list[Estimate], tmp_path: Path
) -> None:
    path = tmp_path / f"plot{suffix}"
    save(quadrant_split_plot(sor, on_all), path)
    assert path.read_bytes().startswith(start)


def test_other_suffixes_and_unwritable_paths(tmp_path: Path) -> None:
    with pytest.raises(KernelcastError, match=r"written as \.png or \.svg"):
        save(Figure(), tmp_path / "plot.jpeg")
    with pytest.raises(KernelcastError, match="there is no folder"):
        save(Figure(), tmp_path / "missing" / "plot.png")


corners = st.floats(0, 200)
boxes = st.builds(PixelBox, corners, corners, st.just(30.0), st.just(10.0))


@given(boxes, boxes)
def test_shared_area_counts_pixels(one: PixelBox, other: PixelBox) -> None:
    """The area is compared with a sum over a half-pixel grid."""

    def covered(
        box: PixelBox, axis: npt.NDArray[np.float64], low: float, size: float
    ) -> npt.NDArray[np.bool_]:
        return (axis >= low) & (axis < low + size)

    grid = np.arange(0.25, 240, 0.5)
    wide = covered(one, grid, one.left, one.width) & covered(other, grid, other.left, other.width)
    tall = covered(one, grid, one.bottom, one.height) & covered(
        other, grid, other.bottom, other.height
    )
    assert one.shared_area(other) == pytest.approx(
        wide.sum() * tall.sum() * 0.25, abs=0.5 * (30 + 10) + 1
    )


@given(st.lists(boxes, max_size=6))
def test_labels_avoid_what_is_taken_when_there_is_room(taken: list[PixelBox]) -> None:
    inside = PixelBox(-500, -500, 1200, 1200)
    box = nearest_free_box((100, 100), (40, 12), taken, inside)
    assert sum(box.shared_area(other) for other in taken) < 1e-6 or len(taken) > 3


def test_label_is_not_led_through_another_text() -> None:
    """A text right of the point: the next label must not stand farther right behind it."""
    inside = PixelBox(-500, -500, 1200, 1200)
    first = PixelBox(110, 94, 40, 12)
    walls = [PixelBox(-500, -500, 595, 1200)]  # nothing is free on the left
    box = nearest_free_box((100, 100), (40, 12), [first, *walls], inside, [first])
    center_y = box.bottom + 6
    slope = (center_y - 100) / (box.left + 20 - 100)
    assert abs(slope * (150 - 100)) > 6 or abs(slope * (110 - 100)) > 6


def interval_estimate(device: str, **seconds: float) -> Estimate:
    parts = tuple(Term(name, "", leaf_seconds=value) for name, value in seconds.items())
    whole = sum(seconds.values())
    terms = Term("kernel", "", Combine.SUM, parts=parts)
    return Estimate("k", device, "interval", terms, "a", whole / 2, 2 * whole, "made up")


def test_time_shares_are_stacked_to_the_whole() -> None:
    """The widths of the bars are the shares; what is small everywhere is one part."""
    first = interval_estimate("one", issue=1e-3, barriers=3e-3, branches=4e-5, spills=4e-5)
    figure = time_shares_plot([first, interval_estimate("two", issue=4e-6, barriers=1e-6)])
    (axes,) = figure.get_axes()
    widths: dict[str, list[float]] = {}
    for patch in axes.patches:
        assert isinstance(patch, Rectangle)
        widths.setdefault(str(patch.get_gid()), []).append(patch.get_width())
    whole = 4.08
    assert widths == {
        "instructions issued": pytest.approx([1 / whole, 0.8]),
        "barriers": pytest.approx([3 / whole, 0.2]),
        "all else": pytest.approx([0.08 / whole, 0.0]),
    }
    texts = {text.get_text() for text in axes.texts}
    assert {"80%", "20%", "4.080 ms\n2.040 ms to 8.160 ms"} <= texts
    assert [label.get_text() for label in axes.get_yticklabels()] == ["one", "two"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == list(widths)


def test_time_shares_need_parts_that_add_up(on_all: list[Estimate]) -> None:
    with pytest.raises(KernelcastError, match="do not add up to its time: plot it as a roofline"):
        time_shares_plot(on_all[:1])
    with pytest.raises(KernelcastError, match="at least one estimate"):
        time_shares_plot([])


def test_legends_say_where_rates_are_from(
    sor: KernelProfile, measured_device: MeasuredDevice
) -> None:
    device = measured_device("GTX-480")
    estimate = get_model("roofline")(sor, device, ModelOptions())
    (axes,) = roofline_plot(sor, device, estimate).get_axes()
    legend = axes.get_legend()
    assert legend is not None
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts[0].startswith("published peaks: ")
    assert texts[1].startswith("measured peaks: ")
    assert not [
        text
        for text in texts[3:]
        if "published" not in text and "measured" not in text and "timing model" not in text
    ]
    figure = quadrant_split_plot(
        sor, [quantitative(sor, device)], origins={device.name: "measured"}
    )
    shown = {item.get_text() for panel in figure.get_axes() for item in panel.texts}
    assert f"{device.name} (measured)" in shown
