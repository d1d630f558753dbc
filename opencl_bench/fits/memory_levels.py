"""Capacities, latencies and bandwidths of a memory hierarchy from curves over the footprint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelcast.opencl_bench.fits.detection import Floats
from kernelcast.opencl_bench.fits.plateaus import DISTINCT_RATIO, Plateau, find_plateaus, noise
from kernelcast.opencl_bench.measurement import Curve

__all__ = ["FootprintLevel", "bandwidth_levels", "latency_levels", "value_between"]

_KNEE_RISE = 0.06
"""A level ends at the last footprint that costs at most so much more than its plateau."""

_NOISE_WIDTH = 3.0

_INNER_MARGIN = 1.25
"""Distance from a capacity at which a level's own value is seen."""


@dataclass(frozen=True, slots=True)
class FootprintLevel:
    """One step of a curve over the footprint.

    `value` is the plateau in the unit of the curve, `residual` its relative scatter. `fits_bytes`
    is the largest footprint that costs what the plateau does, `next_bytes` the next measured one.
    `capacity_bytes` is where the cost is half-way (on a logarithmic axis) to the next plateau: the
    same for a sharp knee, and less sensitive to what else bends a soft one. All three are None for
    the level that the curve does not leave.
    """

    value: float
    capacity_bytes: float | None
    fits_bytes: float | None
    next_bytes: float | None
    residual: float


def latency_levels(curve: Curve) -> tuple[FootprintLevel, ...]:
    """Levels of a pointer-chase curve, the fastest first; x in bytes, empty without a plateau."""
    return _levels(*_merged(curve.x, curve.y), inverted=False)


def bandwidth_levels(curve: Curve) -> tuple[FootprintLevel, ...]:
    """Levels of a bandwidth curve, the fastest first; x in bytes, empty without a plateau."""
    return _levels(*_merged(curve.x, curve.y), inverted=True)


def value_between(curve: Curve, above: float, to: float) -> float | None:
    """The median of the curve over footprints well inside one level; None without a point.

    `above` and `to` are the capacities of the level before and of the level itself.
    """
    x, y = _merged(curve.x, curve.y)
    inside = (x >= above * _INNER_MARGIN) & (x <= to / _INNER_MARGIN)
    return float(np.median(y[inside])) if inside.any() else None


def _merged(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Rising footprints, the median where one was measured several times, positive values only."""
    usable = (x > 0) & (y > 0) & np.isfinite(y)
    footprints, place = np.unique(x[usable], return_inverse=True)
    kept = y[usable]
    medians = [float(np.median(kept[place == index])) for index in range(footprints.size)]
    return footprints, np.array(medians)


def _levels(x: Floats, y: Floats, inverted: bool) -> tuple[FootprintLevel, ...]:
    cost = 1 / y if inverted else y
    plateaus = find_plateaus(x, cost)
    levels = []
    for place, plateau in enumerate(plateaus):
        following = plateaus[place + 1] if place + 1 < len(plateaus) else None
        value = 1 / plateau.level if inverted else plateau.level
        end = _end(cost, plateau, following, noise(cost))
        if end + 1 < x.size:
            half = _half_way(x, cost, end, plateau, following)
            level = FootprintLevel(value, half, float(x[end]), float(x[end + 1]), plateau.residual)
        else:
            level = FootprintLevel(value, None, None, None, plateau.residual)
        levels.append(level)
    return tuple(levels)


def _half_way(
    x: Floats, cost: Floats, end: int, plateau: Plateau, following: Plateau | None
) -> float:
    """Footprint at which the cost is the geometric mean of both plateaus, interpolated."""
    if following is None:
        return float(x[end])
    middle = np.sqrt(plateau.last_level * following.level)
    below = end + int(np.flatnonzero(cost[end : following.first + 1] <= middle)[-1])
    above = min(below + 1, x.size - 1)
    if cost[above] <= cost[below]:
        return float(x[below])
    share = np.log(middle / cost[below]) / np.log(cost[above] / cost[below])
    return float(x[below] * (x[above] / x[below]) ** np.clip(share, 0, 1))


def _end(cost: Floats, plateau: Plateau, following: Plateau | None, sigma: float) -> int:
    """Index of the last footprint that fits."""
    level = plateau.level
    rise = max(_KNEE_RISE, _NOISE_WIDTH * sigma)
    stop = following.first if following is not None else cost.size
    fitting = np.flatnonzero(cost[plateau.first : stop] <= level * (1 + rise))
    if following is None and cost[-1] < DISTINCT_RATIO * level:
        return cost.size - 1
    return max(plateau.last, int(plateau.first + fitting[-1]))
