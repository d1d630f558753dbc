"""Throughput that first grows with parallelism and then meets a ceiling.

Zhang and Owens, Figure 2 (throughput over warps), and the roofline (throughput over intensity).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import overload

import numpy as np

from kernelcast.opencl_bench.fits.detection import Floats, root_mean_square

__all__ = ["RooflineFit", "Saturation", "fit_roofline", "fit_saturation"]

_POINTS_FOR_SHARPNESS = 4
_SHARPEST = 64.0


@dataclass(frozen=True, slots=True)
class Saturation:
    """y = ((slope x)^-s + ceiling^-s)^(-1/s): min(slope x, ceiling) with a knee of `sharpness` s.

    `residual` is the relative scatter of the fitted points.
    """

    slope: float
    ceiling: float
    sharpness: float
    residual: float

    @property
    def knee(self) -> float:
        """The x at which both asymptotes meet."""
        return self.ceiling / self.slope

    @overload
    def at(self, x: float) -> float: ...

    @overload
    def at(self, x: Floats) -> Floats: ...

    def at(self, x: float | Floats) -> float | Floats:
        log_y = _log_value(np.log(x), np.log(self.slope), np.log(self.ceiling), self.sharpness)
        return float(np.exp(log_y)) if isinstance(x, float | int) else np.exp(log_y)


@dataclass(frozen=True, slots=True)
class RooflineFit:
    """Ceilings behind mixed-intensity points; `ridge` in operations per byte."""

    operations_per_s: float
    bytes_per_s: float
    ridge: float
    residual: float


def fit_saturation(x: Floats, y: Floats) -> Saturation:
    """Smallest relative errors; ValueError unless there are points at two positive x or more.

    Fewer than four points cannot tell the knee's sharpness: it is then 1, times that add up.
    """
    from scipy.optimize import least_squares

    if np.unique(x).size < 2 or np.any(x <= 0) or np.any(y <= 0):
        raise ValueError("a saturating fit needs positive values at two places or more")
    log_x, log_y = np.log(x), np.log(y)
    start = np.array([float(np.max(log_y - log_x)), float(np.max(log_y))])
    widest = np.log(1e3)
    low, high = start - widest, start + widest
    best = None
    free = np.unique(x).size >= _POINTS_FOR_SHARPNESS
    for sharpness in (1.0, 4.0, 16.0) if free else (1.0,):
        shape = [np.log(sharpness)] if free else []

        def errors(parameters: Floats) -> Floats:
            knee = float(np.exp(parameters[2])) if free else 1.0
            return _log_value(log_x, parameters[0], parameters[1], knee) - log_y

        bounds = (
            np.concatenate((low, [0.0] * len(shape))),
            np.concatenate((high, [np.log(_SHARPEST)] * len(shape))),
        )
        fit = least_squares(errors, np.concatenate((start, shape)), bounds=bounds)
        if best is None or fit.cost < best.cost:
            best = fit
    assert best is not None
    knee = float(np.exp(best.x[2])) if free else 1.0
    fitted = Saturation(float(np.exp(best.x[0])), float(np.exp(best.x[1])), knee, 0.0)
    residual = root_mean_square(fitted.at(np.asarray(x, dtype=np.float64)) / y - 1)
    return Saturation(fitted.slope, fitted.ceiling, knee, residual)


def fit_roofline(intensity: Floats, operations_per_s: Floats) -> RooflineFit:
    """Both ceilings from throughput over operations per byte (above 0).

    ValueError when the points lie on one side of the ridge only: the other ceiling is then unseen.
    """
    fit = fit_saturation(intensity, operations_per_s)
    if not intensity.min() < fit.knee < intensity.max():
        raise ValueError("the points do not reach both sides of the roofline's ridge")
    return RooflineFit(fit.ceiling, fit.slope, fit.knee, fit.residual)


def _log_value(log_x: Floats, log_slope: float, log_ceiling: float, sharpness: float) -> Floats:
    rising = -sharpness * (log_slope + log_x)
    level = -sharpness * log_ceiling
    return np.asarray(-np.logaddexp(rising, level) / sharpness)
