"""Straight lines through times: launch cost over work-groups, latency over chain length."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelcast.opencl_bench.fits.detection import Floats, root_mean_square

__all__ = ["LinearCost", "fit_linear_cost"]


@dataclass(frozen=True, slots=True)
class LinearCost:
    """time = `fixed_s` + `per_unit_s` * count; `residual` is the relative scatter of the times."""

    fixed_s: float
    per_unit_s: float
    residual: float

    def seconds(self, count: float) -> float:
        """The time of `count` units."""
        return self.fixed_s + self.per_unit_s * count


def fit_linear_cost(count: Floats, seconds: Floats) -> LinearCost:
    """Smallest relative errors with neither cost below zero; ValueError with fewer than two counts.

    The latency of an operation is the `per_unit_s` of a dependent chain over its length.
    """
    from scipy.optimize import nnls

    if np.unique(count).size < 2:
        raise ValueError("a line needs times at two counts or more")
    if np.any(seconds <= 0):
        raise ValueError("times must be positive")
    terms = np.column_stack((np.ones_like(seconds), count)) / seconds[:, None]
    (fixed, per_unit), _ = nnls(terms, np.ones_like(seconds))
    predicted = fixed + per_unit * count
    return LinearCost(float(fixed), float(per_unit), root_mean_square(predicted / seconds - 1))
