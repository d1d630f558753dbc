"""Curves of `kernelcast bench` as figures: one each, with spreads, noisy points hollow."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from kernelcast.opencl_bench.measurement import Curve, Unit
from kernelcast.report.bench import quantity_text
from kernelcast.report.plots.estimates import save
from kernelcast.report.plots.quadrant_split import COLORS
from kernelcast.units import DECIMAL_PREFIXES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from kernelcast.opencl_bench.session import Session

__all__ = ["curve_plot", "save_curves"]

_LOGARITHMIC_RANGE = 16.0
_MOST_TICKS = 12
_UNIT_TEXTS = {Unit.OPERATIONS_PER_S: "op/s", Unit.BYTES_PER_S: "B/s"}


def save_curves(session: Session, folder: Path, suffix: str) -> None:
    """A file `<curve>.<suffix>` for each curve; KernelcastError when one cannot be written."""
    subject = " ".join(session.facts.name.split())
    for name, curve in session.curves.items():
        if curve.points:
            save(curve_plot(curve, subject), folder / f"{name}.{suffix}")


def curve_plot(curve: Curve, subject: str) -> Figure:
    """Logarithmic axes where x doubles or y spans more than a factor of 16, y else from zero."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 5.0), dpi=110)
    axes = figure.add_subplot()
    factor, unit = _scale(curve)
    _draw(axes, curve, factor)
    _scale_axes(axes, curve)
    axes.set_xlabel(_label(curve.x_name, _x_unit(curve)))
    axes.set_ylabel(_label(curve.y_name, unit))
    axes.set_title(f"{curve.name.replace('_', ' ')}\n{subject}", fontsize=10.5)
    axes.grid(which="major", color="#e4e4e4", lw=0.8)
    axes.set_axisbelow(True)
    if any(point.is_noisy for point in curve.points):
        axes.legend(loc="best", frameon=False)
    figure.tight_layout()
    return figure


def _draw(axes: Axes, curve: Curve, factor: float) -> None:
    """`factor` turns SI units into those of the axis."""
    x, y = list(curve.x), [value * factor for value in curve.y]
    half = [0.5 * value * point.spread for value, point in zip(y, curve.points, strict=True)]
    axes.errorbar(x, y, yerr=half, color=COLORS[0], lw=1.6, elinewidth=1.0, capsize=2, gid="curve")
    for is_noisy, fill, label in ((False, COLORS[0], None), (True, "white", "spread above 10 %")):
        places = [n for n, point in enumerate(curve.points) if point.is_noisy is is_noisy]
        if places:
            axes.plot(
                [x[n] for n in places],
                [y[n] for n in places],
                "o",
                ms=5,
                mfc=fill,
                mec=COLORS[0],
                label=label,
                gid="noisy" if is_noisy else "points",
            )


def _scale_axes(axes: Axes, curve: Curve) -> None:
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    if _doubles(list(curve.x)):
        axes.set_xscale("log", base=2)
        _tick_powers_of_two(axes.xaxis, list(curve.x), curve.x_unit)
    if _doubles(list(curve.y)):
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    else:
        axes.set_ylim(0.0, axes.get_ylim()[1])


def _doubles(values: list[float]) -> bool:
    return min(values) > 0 and max(values) > _LOGARITHMIC_RANGE * min(values)


def _tick_powers_of_two(axis: Axis, values: list[float], unit: Unit) -> None:
    """Ticks at every power of two, or every second, fourth, ...: `64 KiB` for bytes."""
    from matplotlib.ticker import NullLocator

    low, high = math.floor(math.log2(min(values))), math.ceil(math.log2(max(values)))
    step = max(1, math.ceil((high - low) / _MOST_TICKS))
    ticks = [2.0**exponent for exponent in range(low, high + 1, step)]
    axis.set_ticks(ticks, [_tick_text(tick, unit) for tick in ticks])
    axis.set_minor_locator(NullLocator())


def _tick_text(value: float, unit: Unit) -> str:
    if unit is not Unit.BYTES:
        return f"{value:g}"
    return quantity_text(value, unit).replace(" ", "\n")


def _scale(curve: Curve) -> tuple[float, str]:
    """What turns y into the axis's unit, and that unit: `GB/s`, `ns`."""
    unit = curve.y_unit
    if unit in (Unit.COUNT, Unit.RATIO):
        return 1.0, ""
    largest = max(curve.y)
    prefix, factor = max(
        ((name, size) for name, size in DECIMAL_PREFIXES.items() if size <= largest),
        key=lambda item: item[1],
        default=("", 1.0),
    )
    return 1.0 / factor, prefix + _UNIT_TEXTS.get(unit, unit.value)


def _x_unit(curve: Curve) -> str:
    """Ticks of bytes carry their unit when they are powers of two."""
    if curve.x_unit in (Unit.COUNT, Unit.RATIO):
        return ""
    if curve.x_unit is Unit.BYTES and _doubles(list(curve.x)):
        return ""
    return _UNIT_TEXTS.get(curve.x_unit, str(curve.x_unit.value))


def _label(name: str, unit: str) -> str:
    return f"{name} ({unit})" if unit else name
