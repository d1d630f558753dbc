"""Pictures of a TopDown analysis: stacked bars, a sunburst, and the evolution over launches."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from kernelcast.errors import KernelcastError
from kernelcast.models.topdown import ApplicationTopDown, KernelTopDown, Part, TopDown
from kernelcast.simcore.isa.ir.source_names import source_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

__all__ = ["bars_plot", "evolution_plot", "sunburst_plot"]

_COLORS: Mapping[str, str] = {
    "Retire": "#2e8b57",
    "Divergence": "#8e5ea2",
    "Branch": "#8e5ea2",
    "Replay": "#c39ad0",
    "Frontend": "#d9822b",
    "Fetch Bound": "#d9822b",
    "Decode Bound": "#e3b23c",
    "Backend": "#1b6ca8",
    "Memory Bound": "#1b6ca8",
    "Core Bound": "#2a9d8f",
    "Idle": "#9a9a9a",
    "Unattributed": "#c9c9c9",
}
"""Colours of levels 1 and 2; parts of level 3 have shades of what they belong to."""
_PALEST = 0.72
"""How much white the last of many shades has."""
_FEWEST_SHADES = 3
_SHOWN_FROM = 0.05
"""Percent below which a part has no place in a legend."""
_NUMBERED_FROM = 3.0
"""Percent that a segment of a bar needs for its number."""
_LABEL_SIZE, _SMALL_LABEL_SIZE = 7.4, 6.1
_LINE_ARC, _NARROW_LABEL_ARC = 0.15, 0.11
"""Widths of rings that a line of a label, or the only one in small type, needs along the ring."""
_ACROSS, _SMALL_ACROSS = 13, 19
"""Characters of a line, or of one in small type, that fit across a ring."""
_ROW_INCHES, _ENTRY_INCHES = 0.42, 0.22
_LEGEND_COLUMNS = 5
_MOST_KERNELS = 60
_KERNEL_NAME = 44
"""Characters of a kernel's name beside its bar; C++ names are longer."""
_AXIS = "% of IPC_MAX"


def bars_plot(application: ApplicationTopDown, level: int) -> Figure:
    """A bar for each kernel and, of several, one for all: the parts of `level` side by side."""
    from matplotlib.figure import Figure

    results = [kernel.mean.to_level(level) for kernel in application.kernels]
    if len(results) > _MOST_KERNELS:
        raise KernelcastError(f"{len(results)} kernels are too many for a plot; name one")
    total = application.total.to_level(level)
    if len(results) > 1:
        results.append(total)
    figure = Figure(dpi=110)
    axes = figure.add_subplot()
    entries = _draw_bars(axes, results, total)
    axes.set(xlim=(0, 100), xlabel=_AXIS, title=_title(f"TopDown, level {level}", total))
    axes.set_yticks(range(len(results)), [_short(result.kernel) for result in results])
    axes.set_ylim(len(results) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    _place_legend(figure, axes, _ROW_INCHES * (len(results) + 0.5), entries)
    return figure


def _place_legend(figure: Figure, axes: Axes, height: float, entries: int) -> None:
    """Places the legend beside bars of that height in inches, or below them if it is longer."""
    is_beside = _ENTRY_INCHES * entries <= height
    rows = 0 if is_beside else math.ceil(entries / _LEGEND_COLUMNS)
    figure.set_size_inches(10.5, 1.2 + height + _ENTRY_INCHES * rows)
    if is_beside:
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.02), frameon=False, fontsize=8.5)
        figure.tight_layout()
        return
    columns = min(entries, _LEGEND_COLUMNS)
    figure.legend(loc="lower center", ncols=columns, frameon=False, fontsize=8.5)
    figure.tight_layout(rect=(0, _ENTRY_INCHES * rows / figure.get_figheight(), 1, 1))


def _draw_bars(axes: Axes, results: Sequence[TopDown], total: TopDown) -> int:
    """One row a result, numbers where there is room for them; how many parts the legend names."""
    left = [0.0] * len(results)
    shares = [_shares(result) for result in results]
    entries = 0
    for name, color in _segments(total):
        widths = [share.get(name, 0.0) for share in shares]
        is_shown = max(widths) >= _SHOWN_FROM
        entries += is_shown
        rows, label = range(len(results)), name if is_shown else None
        axes.barh(rows, widths, left=left, color=color, height=0.68, label=label, lw=0)
        for row, width in enumerate(widths):
            if width >= _NUMBERED_FROM:
                place, ink = (left[row] + width / 2, row), _ink(color)
                axes.text(*place, f"{width:.0f}", ha="center", va="center", fontsize=8, color=ink)
            left[row] += width
    return entries


def sunburst_plot(result: TopDown, level: int) -> Figure:
    """A ring for each level, the first one innermost; the parts of a part lie outside of it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.2, 8.4), dpi=110)
    axes = figure.add_subplot(projection="polar")
    axes.set(theta_zero_location="N", theta_direction=-1, ylim=(0, 1 + level))
    axes.set_axis_off()
    shown = result.to_level(level)
    colors = _colors(shown)
    begin = 0.0
    for part in shown.parts:
        _draw_wedge(axes, part, begin, 1, colors)
        begin += part.percent
    axes.text(0, 0, f"IPC_MAX\n{result.ipc_max:g}", ha="center", va="center", fontsize=11)
    figure.suptitle(_title(_short(result.kernel), result), fontsize=12, y=0.965)
    figure.subplots_adjust(left=0.03, right=0.97, bottom=0.03, top=0.92)
    return figure


def _draw_wedge(axes: Axes, part: Part, begin: float, ring: int, colors: Mapping[str, str]) -> None:
    """The part from `begin` percent of the circle on, and those of its parts."""
    color = colors[part.name]
    start, width = math.tau * begin / 100, math.tau * part.percent / 100
    axes.bar(start, 0.96, width, ring, align="edge", color=color, edgecolor="white", lw=1.2)
    radius = ring + 0.48
    label, size = _wedge_label(part, width * radius)
    text = _wedge_text(axes, start + width / 2, radius, _ink(color))
    text.set(text=label, fontsize=size)
    for below in part.parts:
        _draw_wedge(axes, below, begin, ring + 1, colors)
        begin += below.percent


def _wedge_label(part: Part, arc: float) -> tuple[str, float]:
    """The text in a wedge, of as many lines as fit along `arc`, and its size."""
    share = f"{part.percent:.1f} %"
    for lines in ((*part.name.split(" ", 1), share), (part.name, share)):
        longest = max(map(len, lines))
        if arc >= _LINE_ARC * len(lines) and longest <= _SMALL_ACROSS:
            return "\n".join(lines), _LABEL_SIZE if longest <= _ACROSS else _SMALL_LABEL_SIZE
    if arc < _NARROW_LABEL_ARC:
        return "", _SMALL_LABEL_SIZE
    line = f"{part.name} {share}"
    return line if len(line) <= _SMALL_ACROSS else part.name, _SMALL_LABEL_SIZE


def _wedge_text(axes: Axes, angle: float, radius: float, color: str) -> Text:
    """Empty, along the radius, and never upside down."""
    rotation = (180 - math.degrees(angle)) % 180 - 90
    text = axes.text(angle, radius, "", ha="center", va="center", rotation=rotation)
    text.set(color=color, linespacing=1.2)
    return text


def evolution_plot(application: ApplicationTopDown) -> Figure:
    """The first level over the invocations, a panel for each kernel (Saiz 2021, Figure 5.5)."""
    from matplotlib.figure import Figure

    kernels = application.kernels
    if len(kernels) > _MOST_KERNELS:
        raise KernelcastError(f"{len(kernels)} kernels are too many for a plot; name one")
    figure = Figure(figsize=(9.6, 1.0 + 2.7 * len(kernels)), dpi=110)
    for panel, kernel in zip(
        figure.subplots(len(kernels), 1, squeeze=False)[:, 0], kernels, strict=True
    ):
        _draw_evolution(panel, kernel)
    figure.tight_layout()
    return figure


def _draw_evolution(axes: Axes, kernel: KernelTopDown) -> None:
    """Areas on top of each other; an invocation is as wide as 1."""
    from matplotlib.ticker import MaxNLocator

    mean = kernel.mean.to_level(1)
    shares = [_shares(invocation.result.to_level(1)) for invocation in kernel.invocations]
    edges = [number + 0.5 for number in range(len(shares) + 1)]
    lower = [0.0] * len(edges)
    for name, color in _segments(mean):
        values = [share.get(name, 0.0) for share in shares]
        upper = [low + value for low, value in zip(lower, [*values, values[-1]], strict=True)]
        label = name if max(values) >= _SHOWN_FROM else None
        axes.fill_between(edges, lower, upper, step="post", color=color, lw=0, label=label)
        lower = upper
    axes.set(xlim=(edges[0], edges[-1]), ylim=(0, 100), xlabel="invocation", ylabel=_AXIS)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_title(_title(_short(kernel.kernel), mean), fontsize=10)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.03), frameon=False, fontsize=8.5)


def _segments(result: TopDown) -> list[tuple[str, str]]:
    """Name and colour of the parts without parts."""
    colors = _colors(result)
    return [(leaf.name, colors[leaf.name]) for part in result.parts for leaf in _leaves(part)]


def _colors(result: TopDown) -> dict[str, str]:
    """The colour of every part by name."""
    colors: dict[str, str] = {}
    for _, part in result.walk():
        colors.setdefault(part.name, _COLORS.get(part.name, ""))
        for number, below in enumerate(part.parts):
            shade = _shade(colors[part.name], number, len(part.parts))
            colors[below.name] = _COLORS.get(below.name, shade)
    return colors


def _shares(result: TopDown) -> dict[str, float]:
    """Percent of each part without parts."""
    return {leaf.name: leaf.percent for part in result.parts for leaf in _leaves(part)}


def _leaves(part: Part) -> Iterator[Part]:
    if not part.parts:
        yield part
    for below in part.parts:
        yield from _leaves(below)


def _shade(color: str, number: int, count: int) -> str:
    """A shade of the colour, from itself to one with much white in it."""
    white = _PALEST * number / max(count - 1, _FEWEST_SHADES)
    channels = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(value + white * (255 - value)):02x}" for value in channels)


def _ink(color: str) -> str:
    """Black or white, whichever can be read on the colour."""
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 150 else "white"


def _title(subject: str, result: TopDown) -> str:
    return f"{subject} on {result.device} (IPC_MAX {result.ipc_max:g})"


def _short(kernel: str) -> str:
    name = source_name(kernel)
    return name if len(name) <= _KERNEL_NAME else name[: _KERNEL_NAME - 1] + "…"
