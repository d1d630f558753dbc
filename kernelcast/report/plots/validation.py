"""Predicted over measured times, logarithmic, with the band of 25 %."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from kernelcast.report.plots.quadrant_split import COLORS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kernelcast.validation.comparison import TimeComparison
    from kernelcast.validation.report import ValidationReport

__all__ = ["validation_plot", "validation_svg"]

_MARKERS = "osD^vP*XhH<>pd"
_BAND = 0.25
_MARGIN = 2.0
_TO_MS = 1e3


def validation_plot(report: ValidationReport) -> Figure:
    """A colour for each model, a marker for each device; ValueError without points."""
    from matplotlib.figure import Figure

    if not report.times:
        raise ValueError("no points")
    figure = Figure(figsize=(8.6, 6.4), dpi=110)
    axes = figure.add_subplot()
    values = [_TO_MS * t for p in report.times for t in (p.predicted_s, p.measured_s)]
    low, high = min(values) / _MARGIN, max(values) * _MARGIN
    axes.plot([low, high], [low, high], color="#555555", lw=1.0, gid="exact")
    axes.fill_between(
        [low, high],
        [low * (1 - _BAND), high * (1 - _BAND)],
        [low * (1 + _BAND), high * (1 + _BAND)],
        color="#dddddd",
        lw=0,
        label="±25 %",
        zorder=0,
    )
    _draw_points(axes, report.times)
    axes.set(
        xscale="log",
        yscale="log",
        xlim=(low, high),
        ylim=(low, high),
        xlabel="measured, ms",
        ylabel="predicted, ms",
        title=f"Predicted against measured times: {report.suite}",
    )
    axes.grid(which="major", color="#eeeeee")
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=8.5)
    figure.tight_layout()
    return figure


def _draw_points(axes: Axes, times: tuple[TimeComparison, ...]) -> None:
    models = list(dict.fromkeys(point.model for point in times))
    devices = list(dict.fromkeys(point.device for point in times))
    for point in times:
        axes.plot(
            _TO_MS * point.measured_s,
            _TO_MS * point.predicted_s,
            marker=_MARKERS[devices.index(point.device) % len(_MARKERS)],
            color=COLORS[models.index(point.model) % len(COLORS)],
            ls="",
            ms=6.5,
            mfc="white" if point.is_calibration else None,
            alpha=0.85,
        )
    for number, model in enumerate(models):
        axes.plot([], [], marker="s", ls="", color=COLORS[number % len(COLORS)], label=model)
    for number, device in enumerate(devices):
        marker = _MARKERS[number % len(_MARKERS)]
        axes.plot([], [], marker=marker, ls="", color="#777777", label=device)


def validation_svg(report: ValidationReport) -> str:
    """The plot as an SVG element for a page; empty without points."""
    if not report.times:
        return ""
    text = io.StringIO()
    validation_plot(report).savefig(text, format="svg", facecolor="white")
    whole = text.getvalue()
    return whole[whole.index("<svg") :]
