"""Fits R_hit(O) = a exp(-b exp(steepness O)) to hit rates over oversubscription (section 4.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernelcast.errors import KernelcastError
from kernelcast.simcore.warpspeed_facts import HitRateFacts

__all__ = ["HitRatePoint", "fit_hit_rate"]

_FEWEST = 4


@dataclass(frozen=True, slots=True)
class HitRatePoint:
    """Share of a redundant volume that hit, at an oversubscription; `weight` of it in the fit."""

    oversubscription: float
    hit_rate: float
    weight: float = 1.0


def fit_hit_rate(points: Sequence[HitRatePoint]) -> HitRateFacts:
    """Least squares with a = 1, as what has room hits (section 4.5); rates are cut to 0 to 1.
    KernelcastError below four points.

    b is fitted as exp(-steepness h): h is where the hit rate has fallen to 1 / e.
    """
    if len(points) < _FEWEST:
        raise KernelcastError(f"{len(points)} points are too few for a fit")
    from scipy.optimize import least_squares

    over = np.array([point.oversubscription for point in points])
    rates = np.clip([point.hit_rate for point in points], 0.0, 1.0)
    weights = np.sqrt([point.weight for point in points])

    def residuals(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> object:
        knee, steepness = values
        exponent = np.minimum(steepness * (over - knee), 700.0)
        return weights * (np.exp(-np.exp(exponent)) - rates)

    low, high = (0.05, 0.05), (100.0, 50.0)
    starts = [(knee, steepness) for knee in (0.7, 1.5, 3.0, 8.0) for steepness in (0.5, 2.0, 6.0)]
    found = min(
        (least_squares(residuals, start, bounds=(low, high)) for start in starts),
        key=lambda result: float(result.cost),
    )
    knee, steepness = (float(value) for value in found.x)
    return HitRateFacts(1.0, float(np.exp(-steepness * knee)), steepness)
