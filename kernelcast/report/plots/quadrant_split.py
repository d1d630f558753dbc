"""The quadrant-split plot: Konstantinidis, PhD thesis, Athens 2017, section 3.3.

x is memory bandwidth, y compute throughput, both linear. A device is a point; the kernel is the
half-line from the origin whose slope is its operational intensity. Devices above it are memory
bound, devices below it compute bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelcast.errors import KernelcastError
from kernelcast.models.estimate import Estimate
from kernelcast.report.plots.labels import PointLabel, place_labels
from kernelcast.simcore.isa.ir.source_names import source_name
from kernelcast.simcore.profile.profile import KernelProfile

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLORS", "quadrant_split_plot"]

COLORS = ("#1b6ca8", "#d1495b", "#2e8b57", "#8e5ea2", "#c77f1a", "#3aa6a0", "#5d4037", "#7a7a7a")
_CLOSE_UP_FROM = 2.5  # how much taller than the predictions the raw rates must be
_TO_GIGA = 1e-9
_MEMORY_COLOR, _COMPUTE_COLOR, _GREY = "#e2edf5", "#faf1e7", "#444444"
_CORNER: Mapping[str, Any] = {
    "xycoords": "axes fraction",
    "fontsize": 10,
    "style": "italic",
    "color": "#777777",
}


@dataclass(frozen=True, slots=True)
class _DevicePoint:
    """One device in GB/s and Gop/s; `measured` is throughput, None when nobody measured."""

    name: str
    color: str
    bandwidth: float
    raw: float
    after_mix: float
    adjusted: float
    predicted: float
    measured: float | None


def quadrant_split_plot(
    profile: KernelProfile,
    estimates: Sequence[Estimate],
    measured_s: Mapping[str, float] | None = None,
    origins: Mapping[str, str] | None = None,
) -> Figure:
    """Each estimate's device before and after each efficiency, and where it meets the half-line.

    `measured_s` maps device names to measured times of all launches, `origins` to where their rates
    are from, `measured` or `published`. A second panel shows the
    predictions from near when the raw rates dwarf them. KernelcastError when an estimate is not of
    the quantitative roofline, when the estimates are of different kernels or have no half-line.
    """
    from matplotlib.figure import Figure

    intensity = _intensity(estimates)
    points = [
        _device_point(estimate, COLORS[index % len(COLORS)], measured_s or {})
        for index, estimate in enumerate(estimates)
    ]
    width = 1.08 * max(point.bandwidth for point in points)
    full = 1.08 * max(point.raw for point in points)
    near = 1.2 * max(max(point.adjusted, point.predicted) for point in points)
    has_close_up = full > _CLOSE_UP_FROM * near
    figure = Figure(figsize=(13.0, 6.6) if has_close_up else (8.6, 7.0), dpi=110)
    axes = list(figure.subplots(1, 1 + has_close_up, squeeze=False)[0])
    for panel, height in zip(axes, (full, near), strict=False):
        panel.set_xlim(0, width)
        panel.set_ylim(0, height)
        _draw_panel(panel, points, intensity, _operations(estimates[0]))
    if has_close_up:
        axes[0].set_title("what the GPUs can do", fontsize=10)
        axes[1].set_title("close-up: what this kernel attains", fontsize=10)
    figure.suptitle(
        f"{source_name(profile.kernel)}: memory or instructions? "
        f"{intensity:.3g} operations per byte of DRAM (quadrant split)",
        fontsize=13,
    )
    has_measured = any(point.measured is not None for point in points)
    columns = 4 if has_close_up else 2
    _add_legend(figure, columns, has_measured)
    figure.tight_layout(rect=(0, 0.1 if has_close_up else 0.17, 1, 0.98))
    _label_devices(axes, points, intensity, origins or {})
    return figure


def _intensity(estimates: Sequence[Estimate]) -> float:
    """O_krn of all estimates, operations per byte."""
    if not estimates:
        raise KernelcastError("a quadrant-split plot needs at least one estimate")
    found = set()
    for estimate in estimates:
        try:
            found.add(estimate["O_krn"])
        except KeyError:
            raise KernelcastError(
                f"a quadrant-split plot needs quantitative-roofline estimates, got {estimate.model}"
            ) from None
    first = found.pop()
    if not isinstance(first, float):
        raise KernelcastError("a kernel without DRAM traffic has no half-line to plot")
    if any(not isinstance(other, float) or abs(other / first - 1) > 1e-9 for other in found):
        raise KernelcastError("the estimates have different operational intensities")
    return first


def _device_point(estimate: Estimate, color: str, measured_s: Mapping[str, float]) -> _DevicePoint:
    raw = _number(estimate, "T_op")
    seconds = measured_s.get(estimate.device)
    operations = _number(estimate, "W_comp")
    return _DevicePoint(
        name=estimate.device,
        color=color,
        bandwidth=_TO_GIGA * _number(estimate, "B_mem"),
        raw=_TO_GIGA * raw,
        after_mix=_TO_GIGA * raw * _number(estimate, "E_mix"),
        adjusted=_TO_GIGA * _number(estimate, "T_op_adj"),
        predicted=_TO_GIGA * operations / estimate.time_s,
        measured=None if seconds is None else _TO_GIGA * operations / seconds,
    )


def _number(estimate: Estimate, symbol: str) -> float:
    value = estimate[symbol]
    assert isinstance(value, float)
    return value


def _operations(estimate: Estimate) -> str:
    return "op" if estimate["K_type"] == "int" else "flop"


def _draw_panel(
    axes: Axes, points: Sequence[_DevicePoint], intensity: float, operation: str
) -> None:
    _draw_half_line(axes, intensity)
    for point in points:
        _draw_device(axes, point, intensity)
    axes.set_xlabel("bandwidth of DRAM (GB/s)")
    axes.set_ylabel(f"useful arithmetic (G{operation}/s)")


def _draw_half_line(axes: Axes, intensity: float) -> None:
    """The kernel, the two half-quadrants shaded and named where there is room."""
    (_, width), (_, height) = axes.get_xlim(), axes.get_ylim()
    end = (width, intensity * width)
    axes.fill([0, *(end[0], end[0])], [0, end[1], 0], color=_COMPUTE_COLOR, zorder=0, lw=0)
    tall = max(height, end[1])
    axes.fill([0, end[0], end[0], 0], [0, end[1], tall, tall], color=_MEMORY_COLOR, zorder=0, lw=0)
    axes.plot([0, end[0]], [0, end[1]], color="#333333", lw=1.6, zorder=2, gid="half-line")
    _name_halves(axes, intensity)
    axes.grid(color="white", lw=0.8, zorder=1)
    axes.set_axisbelow(True)


def _name_halves(axes: Axes, intensity: float) -> None:
    """Each half's name in its corner, where the half-line leaves room; the legend has both."""
    (_, width), (_, height) = axes.get_xlim(), axes.get_ylim()
    if 0.9 * height / intensity > 0.25 * width:
        axes.annotate("memory bound", (0.02, 0.965), va="top", **_CORNER)
    if 0.75 * width * intensity > 0.1 * height:
        axes.annotate("compute bound", (0.98, 0.025), va="bottom", ha="right", **_CORNER)


def _draw_device(axes: Axes, point: _DevicePoint, intensity: float) -> None:
    """The fall from T_op to T', then the way from there to the half-line."""
    x, color = point.bandwidth, point.color
    axes.plot([x, x], [point.adjusted, point.raw], color=color, lw=1.0, alpha=0.6, zorder=3)
    axes.plot(x, point.raw, "o", mfc="white", mec=color, ms=6, zorder=4, gid="T_op")
    axes.plot(x, point.after_mix, "^", mfc="white", mec=color, ms=5.5, zorder=4, gid="E_mix")
    axes.plot(x, point.adjusted, "o", color=color, ms=6.5, zorder=5, gid="T_op_adj")
    meets = min(x, point.adjusted / intensity)
    axes.plot(
        [x, meets],
        [point.adjusted, meets * intensity],
        color=color,
        lw=1.2,
        ls=(0, (4, 3)),
        zorder=3,
        gid="to-half-line",
    )
    x, y = point.predicted / intensity, point.predicted
    axes.plot(x, y, "D", mfc="white", mec=color, mew=1.4, ms=7, zorder=5, gid="predicted")
    if point.measured is not None:
        x, y = point.measured / intensity, point.measured
        axes.plot(x, y, "X", mfc=color, mec="white", mew=0.6, ms=7.5, zorder=6, gid="measured")


def _add_legend(figure: Figure, columns: int, has_measured: bool) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    def entry(marker: str, label: str, filled: bool = True, line: str = "none") -> Line2D:
        face = _GREY if filled else "white"
        return Line2D([], [], color=_GREY, marker=marker, mfc=face, ls=line, ms=6, label=label)

    entries = [
        Line2D([], [], color="#333333", lw=1.6, label="this kernel: arithmetic per byte"),
        entry("o", "GPU: multiply-adds, DRAM (T_op, B_mem)", filled=False),
        entry("^", "less unfused operations (E_mix)", filled=False),
        entry("o", "less loads, stores, addresses (E_instr)"),
        entry("D", "predicted for this kernel", filled=False, line="--"),
        *([entry("X", "measured for this kernel")] if has_measured else []),
        Patch(facecolor=_MEMORY_COLOR, edgecolor="#bbbbbb", label="memory bound: DRAM decides"),
        Patch(
            facecolor=_COMPUTE_COLOR,
            edgecolor="#bbbbbb",
            label="compute bound: instructions decide",
        ),
    ]
    figure.legend(
        handles=entries,
        loc="lower center",
        ncols=columns,
        frameon=False,
        fontsize=9,
        columnspacing=1.3,
        handlelength=1.7,
    )


def _label_devices(
    axes: Sequence[Axes],
    points: Sequence[_DevicePoint],
    intensity: float,
    origins: Mapping[str, str],
) -> None:
    """Names at T_op in the first panel, at T' in the close-up."""
    for panel, is_near in zip(axes, (False, True), strict=False):
        (_, width), (_, height) = panel.get_xlim(), panel.get_ylim()
        markers, lines = [], [[(0.0, 0.0), (width, intensity * width)]]
        for point in points:
            x = point.bandwidth
            meets = min(x, point.adjusted / intensity)
            markers += [(x, point.raw), (x, point.after_mix), (x, point.adjusted)]
            markers.append((point.predicted / intensity, point.predicted))
            lines.append([(x, point.raw), (x, point.adjusted), (meets, meets * intensity)])
        labels = [
            PointLabel(
                _title(point.name, "" if is_near else origins.get(point.name, "")),
                point.bandwidth,
                point.adjusted if is_near else point.raw,
                point.color,
            )
            for point in points
        ]
        visible = [marker for marker in markers if marker[1] <= height]
        place_labels(panel, labels, visible, lines)


def _title(name: str, origin: str) -> str:
    return f"{name} ({origin})" if origin else name
