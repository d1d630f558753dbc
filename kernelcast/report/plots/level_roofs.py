"""Roofs of the caches and of shared memory in a roofline plot: the hierarchical roofline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelcast.models.estimate import Estimate
from kernelcast.report.plots.quadrant_split import COLORS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LevelRoof", "draw_level_roofs", "level_roofs"]

_PREFIX = "bandwidth_"
_TO_GIGA = 1e-9


@dataclass(frozen=True, slots=True)
class LevelRoof:
    """`intensity`: operations per byte of this level's traffic; `ops_per_s` of the estimate.

    `origin`: whether the bandwidth is published, measured or that of the timing model.
    """

    name: str
    bandwidth_bytes_per_s: float
    intensity: float
    ops_per_s: float
    origin: str


def level_roofs(estimate: Estimate) -> Iterator[LevelRoof]:
    """The roofs of memory levels that an estimate of model `roofline` knows.

    They come from its parameters `bandwidth_<level>` and `I_<level>`; other models have none, and
    neither has a level without traffic.
    """
    values = {parameter.symbol: parameter.value for parameter in estimate.parameters}
    meanings = {parameter.symbol: parameter.meaning for parameter in estimate.parameters}
    for symbol, bandwidth in values.items():
        name = symbol.removeprefix(_PREFIX)
        intensity, work = values.get(f"I_{name}"), values.get("W")
        if name == symbol or not isinstance(bandwidth, float):
            continue
        if isinstance(intensity, float) and intensity > 0 and isinstance(work, float):
            origin = _origin(meanings[symbol])
            yield LevelRoof(name, bandwidth, intensity, work / estimate.time_s, origin)


def _origin(meaning: str) -> str:
    if "measured" in meaning:
        return "measured"
    return "published" if "theoretical" in meaning else "of the timing model"


def draw_level_roofs(axes: Axes, levels: Sequence[LevelRoof], peak: float) -> None:
    """Sloping lines up to the peak; each level's point is hollow. The x axis has its limits."""
    left, _ = axes.get_xlim()
    if levels:
        title = "the kernel at the bytes of each level"
        axes.plot([], [], "o", mfc="white", mec="#444444", ms=7, ls="none", label=title)
    for index, level in enumerate(levels):
        color, bandwidth = COLORS[-1 - index % len(COLORS)], level.bandwidth_bytes_per_s
        ridge = max(peak / bandwidth, left)
        ys = [_TO_GIGA * bandwidth * x for x in (left, ridge)]
        label = f"bandwidth of {level.name}, {level.origin}: {_TO_GIGA * bandwidth:,.0f} GB/s"
        axes.plot((left, ridge), ys, ls="-.", color=color, lw=1.2, label=label, gid="level")
        rate = _TO_GIGA * level.ops_per_s
        axes.plot(
            level.intensity, rate, "o", mfc="white", mec=color, ms=7, ls="none", gid="level-point"
        )
