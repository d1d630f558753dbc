"""Speed-ups on changed architectures: lines over a swept fact, or bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kernelcast.errors import KernelcastError
from kernelcast.report.plots.quadrant_split import COLORS
from kernelcast.simcore.isa.ir.source_names import source_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kernelcast.architectures import WhatIf, WhatIfRow

__all__ = ["whatif_plot"]

_MARKERS = "osD^vP*XhH<>pd"
_MOST_BARS = 80
_BAR_INCHES = 0.28
_LEVEL = "speed-up over the GPU as it is"


def whatif_plot(result: WhatIf) -> Figure:
    """Speed-ups on changed architectures, as lines or bars.

    A line for each model where the first changed fact has several numbers as values, and one for
    each combination of the others; else a bar for each model and architecture.
    """
    from matplotlib.figure import Figure

    changed = [row for row in result.rows if row.architecture.changes]
    if not changed:
        raise KernelcastError("no changed architecture that the launch fits: nothing to plot")
    swept = _swept(changed)
    figure = Figure(figsize=(8.6, 5.4), dpi=110)
    axes = figure.add_subplot()
    if swept is None:
        _draw_bars(figure, axes, changed)
    else:
        _draw_lines(axes, changed, swept)
    axes.set_title(f"What if: {source_name(result.kernel)}")
    figure.tight_layout()
    return figure


def _swept(rows: Sequence[WhatIfRow]) -> str | None:
    """The first fact with several values, all numbers."""
    for name in rows[0].architecture.changes:
        values = {row.architecture.changes[name] for row in rows}
        if len(values) > 1 and all(type(value) in (int, float) for value in values):
            return name
    return None


def _draw_lines(axes: Axes, rows: Sequence[WhatIfRow], swept: str) -> None:
    lines: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        point = (float(row.architecture.changes[swept]), row.speedup)
        lines.setdefault(_line_name(row, rows, swept), []).append(point)
    models = list(dict.fromkeys(row.estimate.model for row in rows))
    for number, (name, points) in enumerate(lines.items()):
        model = models.index(name.partition(",")[0])
        axes.plot(
            *zip(*sorted(points), strict=True),
            color=COLORS[model % len(COLORS)],
            marker=_MARKERS[number % len(_MARKERS)],
            ms=5.5,
            lw=1.3,
            label=name,
        )
    axes.axhline(1.0, color="#999999", lw=0.9, ls=":", gid="unchanged")
    axes.set(xlabel=swept, ylabel=_LEVEL)
    axes.set_ylim(0, 1.05 * axes.get_ylim()[1])
    axes.grid(color="#eeeeee")
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=8.5)


def _line_name(row: WhatIfRow, rows: Sequence[WhatIfRow], swept: str) -> str:
    """The model, then what tells the line from others of it."""
    parts = [row.estimate.model]
    if len({item.architecture.base for item in rows}) > 1:
        parts.append(row.architecture.base)
    for name, value in row.architecture.changes.items():
        if name != swept and len({item.architecture.changes[name] for item in rows}) > 1:
            parts.append(f"{name}={value}")
    return ", ".join(parts)


def _draw_bars(figure: Figure, axes: Axes, rows: Sequence[WhatIfRow]) -> None:
    """Draws a bar for each row; KernelcastError for more bars than a picture shows."""
    if len(rows) > _MOST_BARS:
        raise KernelcastError(f"{len(rows)} bars are too many for a plot; name one --model")
    models = list(dict.fromkeys(row.estimate.model for row in rows))
    colors: Mapping[str, str] = {
        model: COLORS[number % len(COLORS)] for number, model in enumerate(models)
    }
    names = [f"{row.estimate.model}\n{row.architecture.base}" for row in rows]
    bars = axes.barh(
        range(len(rows)),
        [row.speedup for row in rows],
        color=[colors[row.estimate.model] for row in rows],
        height=0.7,
    )
    axes.bar_label(bars, labels=[f" {row.speedup:.3f}" for row in rows], fontsize=8)
    axes.axvline(1.0, color="#999999", lw=0.9, ls=":", gid="unchanged")
    axes.set_yticks(range(len(rows)), names, fontsize=8)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlabel(f"{_LEVEL}: {rows[0].architecture.label}"[:110])
    figure.set_size_inches(8.6, 1.6 + _BAR_INCHES * 1.6 * len(rows))
