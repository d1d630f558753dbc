"""Luo and Suda: the computation parallel degree over active warps and the share of computation.

Equations 3 to 5, with the readings that make them usable: the smaller of both degrees holds for a
share up to c and the second above it, and a degree lies between 1 and the number of active warps.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from kernelcast.opencl_bench.fits.detection import Floats, root_mean_square

__all__ = ["ParallelDegree", "fit_parallel_degree"]

_LARGEST_D = 1e4


@dataclass(frozen=True, slots=True)
class ParallelDegree:
    """Empirical constants a, b, c, d of a device with `max_warps` (m) per multiprocessor.

    `residual` is relative to the measured degrees; the constants of the GTX 260 are 3, 11, 0.5, 80.
    """

    a: float
    b: float
    c: float
    d: float
    max_warps: int
    residual: float = 0.0

    def at(self, active_warps: Floats, computation_share: Floats) -> Floats:
        """Degrees for pairs of N_act and P (0 to 1)."""
        constants = np.array([self.a, self.b, self.c, self.d])
        return _degree(constants, active_warps, computation_share, self.max_warps)


def fit_parallel_degree(
    active_warps: Floats, computation_share: Floats, degree: Floats, max_warps: int
) -> ParallelDegree:
    """Smallest relative errors from several starts, since both branches meet in kinks.

    ValueError with fewer than four points, or where only one share was measured.
    """
    if degree.size < 4 or np.unique(computation_share).size < 2 or np.any(degree <= 0):
        raise ValueError(
            "a, b, c, d need four positive degrees at two shares of computation or more"
        )
    starts = itertools.product(
        (1.0, 4.0),
        np.quantile(active_warps, (0.25, 0.5)),
        np.quantile(computation_share, (0.2, 0.4, 0.6, 0.8)),
        (10.0, 100.0),
    )
    fits = [
        _fitted(np.array(start), active_warps, computation_share, degree, max_warps)
        for start in starts
    ]
    best = min(fits, key=lambda fit: fit[1])[0]
    predicted = _degree(best, active_warps, computation_share, max_warps)
    residual = root_mean_square(predicted / degree - 1)
    a, b, c, d = (float(value) for value in best)
    return ParallelDegree(a, b, c, d, max_warps, residual)


def _fitted(
    start: Floats, warps: Floats, share: Floats, degree: Floats, max_warps: int
) -> tuple[Floats, float]:
    from scipy.optimize import least_squares

    def errors(constants: Floats) -> Floats:
        return _degree(constants, warps, share, max_warps) / degree - 1

    bounds = ((0.0, 0.0, 0.0, 0.0), (float(max_warps), float(max_warps), 1.0, _LARGEST_D))
    inside = np.clip(start, bounds[0], bounds[1])
    fit = least_squares(errors, inside, bounds=bounds, x_scale=(1.0, 5.0, 0.2, 50.0))
    return fit.x, float(fit.cost)


def _degree(constants: Floats, warps: Floats, share: Floats, max_warps: int) -> Floats:
    a, b, c, d = constants
    first = (c - share) * (warps - b) + a
    most = max_warps - 1
    reach = np.sqrt(np.maximum(most**2 - (warps - max_warps) ** 2, 0.0))
    second = d * (share - c) ** 2 / most * reach + a
    chosen = np.where(share <= c, np.minimum(first, second), second)
    return np.asarray(np.clip(chosen, 1.0, warps))
