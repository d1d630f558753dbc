"""Periods of work that a device does in rounds: compute units, memory clusters, wavefronts.

Work of `n` items on a resource of `width` takes ceil(n / width) rounds: throughput over n is a
sawtooth whose period is the width (Zhang and Owens, Figure 3).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from kernelcast.opencl_bench.fits.detection import Detection, Floats, absent
from kernelcast.opencl_bench.fits.linear_cost import fit_linear_cost
from kernelcast.opencl_bench.fits.plateaus import noise
from kernelcast.opencl_bench.measurement import Curve

__all__ = ["compute_units", "rounds_width", "wavefront_width", "width_from_divergence"]

_BETTER_THAN_SMOOTH = 0.6
"""A staircase must leave at most so much of the scatter that a straight line leaves."""

_DIVERGENCE_GAIN = 1.2


@dataclass(frozen=True, slots=True)
class _Candidate:
    width: int
    residual: float


def compute_units(curve: Curve) -> Detection:
    """Compute units: the period of the sawtooth of throughput over equal work-groups."""
    return rounds_width(curve.x, curve.x / curve.y, range(2, int(curve.x.max()) + 1))


def wavefront_width(curve: Curve) -> Detection:
    """The wavefront's width: the period of the sawtooth of throughput; a power of two.

    Throughput is that over the work-items of one work-group.
    """
    largest = int(np.log2(curve.x.max()))
    return rounds_width(curve.x, curve.x / curve.y, [2**power for power in range(1, largest + 1)])


def rounds_width(items: Floats, seconds: Floats, widths: Iterable[int]) -> Detection:
    """The width whose rounds explain the times best; `seconds` in any unit.

    Absent when a straight line does as well, or when the sizes measured cannot tell widths apart.
    """
    if items.size < 4 or items.min() <= 0:
        return absent("fewer than four sizes were measured")
    candidates = [
        _Candidate(width, fit_linear_cost(np.ceil(items / width), seconds).residual)
        for width in widths
        if np.unique(np.ceil(items / width)).size > 1
    ]
    if not candidates:
        return absent("all sizes measured take one round")
    best = min(candidates, key=lambda candidate: candidate.residual)
    smooth = fit_linear_cost(items, seconds).residual
    if best.residual > _BETTER_THAN_SMOOTH * smooth:
        return absent(
            f"the time grows evenly: no step explains it (best {best.width}, residual "
            f"{best.residual:.1%} against {smooth:.1%} of a straight line)"
        )
    rivals = _indistinguishable(items, best, candidates)
    if rivals:
        return absent(f"the sizes measured cannot tell {best.width} from {rivals[0]}")
    return Detection(float(best.width), best.residual, "period of the steps of time over size")


def _indistinguishable(items: Floats, best: _Candidate, candidates: list[_Candidate]) -> list[int]:
    """Widths that give the same rounds, up to a factor, at every size measured."""
    rounds = np.ceil(items / best.width)
    same = []
    for candidate in candidates:
        others = np.ceil(items / candidate.width)
        if candidate.width != best.width and np.ptp(others / rounds) == 0:
            same.append(candidate.width)
    return same


def width_from_divergence(curve: Curve) -> Detection:
    """The wavefront's width from divergence.

    The curve is throughput over how many neighbouring work-items branch alike; the width is the
    smallest run from which throughput is whole again.
    """
    x, y = curve.x, curve.y
    gain = y[-1] / y[0]
    if gain < _DIVERGENCE_GAIN:
        return absent("throughput does not depend on which work-items branch alike")
    whole = float(np.median(y[y > y[-1] * (1 - 1 / (2 * _DIVERGENCE_GAIN * gain))]))
    middle = np.sqrt(y[0] * whole)
    below = np.flatnonzero(y < max(middle, whole * (1 - 3 * noise(y))))
    first = int(below[-1]) + 1
    if first >= x.size:
        return absent("throughput still grows at the longest run measured")
    residual = float(np.std(y[first:] / whole))
    return Detection(
        float(x[first]), residual, "shortest run of alike work-items at full throughput"
    )
