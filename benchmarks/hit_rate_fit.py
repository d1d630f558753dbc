"""Fits R_hit(O) = a exp(-b exp(steepness O)) to hit rates over oversubscription (section 4.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.errors import KernelcastError
from kernelcast.models.warpspeed.warpspeed_facts import HitRateFacts

__all__ = ["HitRatePoint", "fit_hit_rate"]

_FEWEST = 4

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class HitRatePoint:
    """Hits of one run, for the fit.

    `hits` is the sum over its redundant `volumes` of each times the hit rate at its
    oversubscription. Units are of no importance; `weight` of the run in the fit.
    """

    oversubscriptions: tuple[float, ...]
    volumes: tuple[float, ...]
    hits: float
    weight: float = 1.0

    @classmethod
    def of_rate(cls, oversubscription: float, hit_rate: float, weight: float = 1.0) -> HitRatePoint:
        """The point of a run with one redundant volume; the rate is cut to 0 to 1."""
        return cls((oversubscription,), (1.0,), min(1.0, max(0.0, hit_rate)), weight)


def fit_hit_rate(points: Sequence[HitRatePoint]) -> HitRateFacts:
    """Fits hit rates by least squares with a = 1, as what has room hits (section 4.5).

    b is fitted as exp(-steepness h): h is where the hit rate has fallen to 1 / e. KernelcastError
    below four points.
    """
    if len(points) < _FEWEST:
        raise KernelcastError(f"{len(points)} points are too few for a fit")
    from scipy.optimize import least_squares

    over = np.concatenate([point.oversubscriptions for point in points])
    volumes = np.concatenate([point.volumes for point in points])
    of_point = np.repeat(np.arange(len(points)), [len(point.volumes) for point in points])
    hits = np.array([point.hits for point in points])
    weights = np.sqrt([point.weight for point in points])

    def residuals(values: Floats) -> Floats:
        knee, steepness = values
        exponent = np.minimum(steepness * (over - knee), 700.0)
        predicted = np.bincount(of_point, volumes * np.exp(-np.exp(exponent)), len(points))
        found: Floats = weights * (predicted - hits)
        return found

    low, high = (0.05, 0.05), (100.0, 50.0)
    starts = [(knee, steepness) for knee in (0.7, 1.5, 3.0, 8.0) for steepness in (0.5, 2.0, 6.0)]
    found = min(
        (least_squares(residuals, start, bounds=(low, high)) for start in starts),
        key=lambda result: float(result.cost),
    )
    knee, steepness = (float(value) for value in found.x)
    return HitRateFacts(1.0, float(np.exp(-steepness * knee)), steepness)
