"""Times of launch configurations as heat maps over the sides of the thread block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kernelcast.errors import KernelcastError
from kernelcast.ranking.ranking import Ranking, RankingRow
from kernelcast.ranking.variations import Shape, folding_label
from kernelcast.simcore.isa.ir.source_names import source_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

__all__ = ["rank_plot"]

_MOST_SIDES = 40
_PANEL_INCHES = 4.4
_SLOWEST = 4.0
"""Times from here on, over the fastest of the panel's device, have one colour."""
_BEST_EDGE = "#d62728"


def rank_plot(rankings: Sequence[Ranking]) -> Figure:
    """Heat maps of rankings, a panel for each device and folding.

    x and y sides of the thread block, the time over the device's best as the colour and in the cell
    with the depth z, of several depths the fastest. KernelcastError when nothing was ranked, or too
    many sides for a picture.
    """
    from matplotlib.figure import Figure

    drawn = [ranking for ranking in rankings if ranking.rows]
    if not drawn:
        raise KernelcastError("no configuration was ranked: nothing to plot")
    foldings = sorted({row.configuration.folding for item in drawn for row in item.rows})
    size = (1.2 + _PANEL_INCHES * len(foldings), 0.6 + _PANEL_INCHES * len(drawn))
    figure = Figure(figsize=size, dpi=110, layout="constrained")
    panels = figure.subplots(len(drawn), len(foldings), squeeze=False)
    for ranking, line in zip(drawn, panels, strict=True):
        images = [
            image
            for fold, axes in zip(foldings, line, strict=True)
            if (image := _draw(axes, ranking, fold)) is not None
        ]
        bar = figure.colorbar(images[0], ax=list(line), extend="max")
        bar.set_label("time over the best")
    figure.suptitle(f"{source_name(drawn[0].kernel)}: thread blocks ({drawn[0].model})")
    return figure


def _draw(axes: Axes, ranking: Ranking, folding: Shape) -> AxesImage | None:
    """None, and an empty panel, where nothing has that folding."""
    axes.set_title(f"{ranking.device}, folding {folding_label(folding)}", fontsize=10)
    rows = [row for row in ranking.rows if row.configuration.folding == folding]
    if not rows:
        axes.set_axis_off()
        return None
    fastest: dict[tuple[int, int], RankingRow] = {}
    for row in rows:  # in the order of time
        x, y, _ = row.configuration.thread_block
        fastest.setdefault((x, y), row)
    xs, ys = (sorted({place[axis] for place in fastest}) for axis in (0, 1))
    if max(len(xs), len(ys)) > _MOST_SIDES:
        raise KernelcastError(
            f"{max(len(xs), len(ys))} sides of thread blocks are too many for a plot: vary fewer"
        )
    best_s = ranking.rows[0].time_s
    slowdown = np.full((len(ys), len(xs)), np.nan)
    for (x, y), row in fastest.items():
        slowdown[ys.index(y), xs.index(x)] = row.time_s / best_s
    image = axes.imshow(
        np.ma.masked_invalid(slowdown), origin="lower", cmap="viridis_r", vmin=1, vmax=_SLOWEST
    )
    image.set_gid("slowdown")
    for (x, y), row in fastest.items():
        _label(axes, xs.index(x), ys.index(y), row, row.time_s / best_s)
    axes.set_xticks(range(len(xs)), [str(x) for x in xs], fontsize=8)
    axes.set_yticks(range(len(ys)), [str(y) for y in ys], fontsize=8)
    axes.set(xlabel="thread block x", ylabel="thread block y")
    return image


def _label(axes: Axes, column: int, line: int, row: RankingRow, slowdown: float) -> None:
    """Slow-down and depth; a frame around the fastest configuration."""
    from matplotlib.patches import Rectangle

    depth = row.configuration.thread_block[2]
    axes.text(
        column,
        line,
        f"{slowdown:.2f}\nz{depth}",
        ha="center",
        va="center",
        fontsize=6,
        color="white" if slowdown > 1 + (_SLOWEST - 1) / 2 else "black",
    )
    if row.rank == 1:
        frame = Rectangle(
            (column - 0.5, line - 0.5), 1, 1, fill=False, ec=_BEST_EDGE, lw=2, gid="best"
        )
        axes.add_patch(frame)
