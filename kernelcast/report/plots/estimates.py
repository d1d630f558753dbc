"""Plots of estimates as matplotlib figures, made without a window system."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kernelcast.errors import KernelcastError
from kernelcast.models.estimate import Estimate
from kernelcast.models.model import dominant_work_type
from kernelcast.models.tensor_work import tensor_rate
from kernelcast.partial_files import ReplacedFile
from kernelcast.report.plots.labels import PointLabel, place_labels
from kernelcast.report.plots.level_roofs import draw_level_roofs, level_roofs
from kernelcast.report.plots.quadrant_split import COLORS, quadrant_split_plot
from kernelcast.report.plots.tensor_roofs import draw_tensor_roofs, tensor_roofs
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.isa.ir.source_names import source_name
from kernelcast.simcore.profile.profile import KernelProfile, WorkType

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["check_target", "quadrant_split_plot", "rates_origin", "roofline_plot", "save"]

_MARKERS = "DosvP^"
_SUFFIXES = (".png", ".svg")
_TO_GIGA = 1e-9
_ORIGINS = {"datasheet": "published"}
_ROOFS = {"theoretical": "published peaks", "measured": "measured peaks"}


def roofline_plot(
    profile: KernelProfile, device: Device, *estimates: Estimate, measured_s: float | None = None
) -> Figure:
    """A roofline plot of a kernel with its estimates.

    Shows theoretical and measured roofs of the device, and a point for each estimate on it; of
    model `roofline` also a roof for each further level of the memory, and a point at its intensity.
    `measured_s`, of all launches, is one more point. Logarithmic axes: operations per byte of DRAM
    traffic, and Gop/s. KernelcastError for a kernel without useful operations or without traffic,
    which has no place on the axes.
    """
    from matplotlib.figure import Figure

    work_type = _work_type(profile, estimates)
    operations, traffic_bytes = _work(profile, work_type)
    intensity = operations / traffic_bytes
    roofs = _roofs(profile, device, work_type)
    tensor = tensor_roofs(estimates, roofs[0][1]) if work_type is WorkType.TENSOR else {}
    levels = [level for estimate in estimates for level in level_roofs(estimate)]
    ridges = [peak / bandwidth for _, peak, bandwidth in roofs]
    at_levels = [level.intensity for level in levels]
    left = min(intensity, *ridges, *at_levels) / 8
    right = max(intensity, *ridges, *at_levels) * 8
    figure = Figure(figsize=(8.6, 6.0), dpi=110)
    axes = figure.add_subplot()
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(left, right)
    for name, peak, bandwidth in roofs:
        _draw_roof(axes, name, peak, bandwidth, _unit(work_type))
    draw_level_roofs(axes, levels, max(peak for _, peak, _ in roofs))
    attained = _attained(operations, estimates, measured_s)
    lowest = min(
        [
            *(rate for _, rate in attained),
            *(_TO_GIGA * bandwidth * left for _, _, bandwidth in roofs),
        ]
    )
    draw_tensor_roofs(axes, tensor, device.dram.bandwidth_bytes_per_s)
    axes.set_ylim(lowest / 2, 3 * _TO_GIGA * max(*tensor, *(peak for _, peak, _ in roofs), 0.0))
    axes.axvline(intensity, color="#999999", lw=1.0, ls=":", gid="intensity")
    points = _draw_points(axes, intensity, attained, _unit(work_type))
    _label_axes(axes, f"{source_name(profile.kernel)} on {device.title}", work_type)
    figure.tight_layout()
    place_labels(
        axes,
        points,
        [(point.x, point.y) for point in points],
        [_roof_line(left, right, peak, bandwidth) for _, peak, bandwidth in roofs],
    )
    return figure


def rates_origin(device: Device) -> str:
    """Where the rates of the quadrant split are from: `measured`, `published`, `assumed`, ..."""
    where = device.provenance.get("measured.dram_bandwidth_bytes_per_s")
    return "" if where is None else _ORIGINS.get(where.source.value, where.source.value)


def check_target(path: str | Path) -> None:
    """Raises KernelcastError unless a plot can be called so: PNG or SVG, in an existing folder."""
    target = Path(path)
    if target.suffix.lower() not in _SUFFIXES:
        raise KernelcastError(f"{target}: plots are written as {' or '.join(_SUFFIXES)}")
    if not target.parent.is_dir():
        raise KernelcastError(f"{target}: there is no folder {target.parent}")


def save(figure: Figure, path: str | Path) -> None:
    """Writes PNG or SVG by the suffix; KernelcastError as `check_target`, or when unwritable."""
    target = Path(path)
    check_target(target)
    try:
        with ReplacedFile(target) as stream:
            figure.savefig(stream, format=target.suffix.lower()[1:], facecolor="white")
    except OSError as error:
        raise KernelcastError(f"{target}: {error.strerror}") from None


def _work_type(profile: KernelProfile, estimates: tuple[Estimate, ...]) -> WorkType:
    """The type that the first estimate was made for, else the profile's own."""
    for estimate in estimates:
        for parameter in estimate.parameters:
            if parameter.symbol == "K_type":
                return WorkType(parameter.value)
    return dominant_work_type(profile)


def _work(profile: KernelProfile, work_type: WorkType) -> tuple[float, float]:
    """Operations and DRAM bytes of all launches; KernelcastError when either is zero."""
    operations = profile.repeats * _operations(profile, work_type)
    traffic_bytes = profile.repeats * profile.traffic.dram_bytes
    if not operations or not traffic_bytes:
        missing = "DRAM traffic" if operations else f"{work_type.value} operations"
        raise KernelcastError(f"kernel {profile.kernel} has no {missing}: no point in a roofline")
    return operations, traffic_bytes


def _operations(profile: KernelProfile, work_type: WorkType) -> float:
    counts = profile.instructions
    return {
        WorkType.FP64: counts.fp64 + counts.fma64,
        WorkType.FP32: counts.fp32 + counts.fma32,
        WorkType.INT: counts.integer,
        WorkType.TENSOR: counts.tensor_total,
    }[work_type]


def _roofs(
    profile: KernelProfile, device: Device, work_type: WorkType
) -> list[tuple[str, float, float]]:
    """(name, op/s, B/s): theoretical where vendors give one, then measured where somebody did."""
    if work_type is WorkType.TENSOR:
        peak = tensor_rate(profile, device)
        if peak is None:
            raise KernelcastError(f"{device.name} has no units for the kernel's tensor operations")
        return [("theoretical", peak, device.dram.bandwidth_bytes_per_s)]
    roofs = []
    peak = {
        WorkType.FP64: device.peak.fp64_flops_per_s,
        WorkType.FP32: device.peak.fp32_flops_per_s,
    }.get(work_type)
    if peak is not None:
        roofs.append(("theoretical", peak, device.dram.bandwidth_bytes_per_s))
    if device.measured is not None:
        rate = {
            WorkType.FP64: device.measured.fp64_ops_per_s,
            WorkType.FP32: device.measured.fp32_ops_per_s,
            WorkType.INT: device.measured.int_ops_per_s,
        }[work_type]
        roofs.append(("measured", rate, device.measured.dram_bandwidth_bytes_per_s))
    if not roofs:
        raise KernelcastError(f"{device.name} has no integer rate: no roof to plot")
    return roofs


def _roof_line(
    left: float, right: float, peak: float, bandwidth: float
) -> list[tuple[float, float]]:
    """The three corners of a roof: x in operations per byte, y in Gop/s."""
    return [(x, _TO_GIGA * min(peak, bandwidth * x)) for x in (left, peak / bandwidth, right)]


def _unit(work_type: WorkType) -> str:
    return "Gop/s" if work_type is WorkType.INT else "Gflop/s"


def _draw_roof(axes: Axes, name: str, peak: float, bandwidth: float, unit: str) -> None:
    xs, ys = zip(*_roof_line(*axes.get_xlim(), peak, bandwidth), strict=True)
    rates = f"{_TO_GIGA * peak:,.0f} {unit}, DRAM {_TO_GIGA * bandwidth:,.0f} GB/s"
    label = f"{_ROOFS[name]}: {rates}"
    style = "-" if name == "measured" else "--"
    axes.plot(xs, ys, ls=style, color="#333333", lw=1.6, label=label, gid=name)


def _label_axes(axes: Axes, subject: str, work_type: WorkType) -> None:
    """Ticks at 1, 2, 5, 10, ... in plain numbers: a roofline spans few decades."""
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    unit = "op" if work_type is WorkType.INT else "flop"
    axes.set_xlabel(f"{unit} for each byte of DRAM traffic (operational intensity)")
    axes.set_ylabel(f"useful arithmetic ({_unit(work_type)})")
    axes.set_title(f"{subject}: {work_type.value} roofline", loc="left")
    axes.grid(which="major", color="#e4e4e4", lw=0.8)
    axes.set_axisbelow(True)
    axes.legend(loc="lower right", frameon=False)


def _attained(
    operations: float, estimates: tuple[Estimate, ...], measured_s: float | None
) -> list[tuple[str, float]]:
    """Gop/s of each estimate under its model's name, then of the measurement."""
    times = [(estimate.model, estimate.time_s) for estimate in estimates]
    if measured_s is not None:
        times.append(("measured", measured_s))
    return [(name, _TO_GIGA * operations / time_s) for name, time_s in times]


def _draw_points(
    axes: Axes, intensity: float, attained: list[tuple[str, float]], unit: str
) -> list[PointLabel]:
    labels = []
    for index, (name, rate) in enumerate(attained):
        color, marker = COLORS[index % len(COLORS)], _MARKERS[index % len(_MARKERS)]
        is_measured = name == "measured"
        axes.plot(
            intensity,
            rate,
            "X" if is_measured else marker,
            color=color,
            ms=8,
            ls="none",
            zorder=5,
            gid="measured-point" if is_measured else "estimate",
        )
        labels.append(PointLabel(f"{_point_text(name)}: {rate:.4g} {unit}", intensity, rate, color))
    return labels


def _point_text(name: str) -> str:
    return name if name == "measured" else f"predicted by {name}"
