"""Throughput that first grows with parallelism and then meets a ceiling: Zhang and Owens, Figure 2.

Device files hold such curves as points; the benchmarks and the model see the same fit of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import overload

import numpy as np
import numpy.typing as npt

__all__ = ["Saturation", "fit_saturation", "saturation_of"]

_POINTS_FOR_SHARPNESS = 3
_USUAL_SHARPNESS = 1.5
"""A knee between 1 (times add up) and 2 (their squares do).

With it the points at 6 and 32 warps of Zhang and Owens, section 5.1, give those at 16 within 1.3 %,
of instructions and of shared memory.
"""
_SHARPEST = 64.0
_CURVES_KEPT = 256

Floats = npt.NDArray[np.float64]


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
        """The throughput at parallelism `x`."""
        log_y = _log_value(np.log(x), np.log(self.slope), np.log(self.ceiling), self.sharpness)
        return float(np.exp(log_y)) if isinstance(x, float | int) else np.exp(log_y)


def fit_saturation(x: Floats, y: Floats) -> Saturation:
    """Smallest relative errors; ValueError unless there are points at two positive x or more.

    Fewer than three points cannot tell the knee's sharpness: it is then 1.5.
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
    for sharpness in (1.0, 4.0, 16.0) if free else (_USUAL_SHARPNESS,):
        shape = [np.log(sharpness)] if free else []

        def errors(parameters: Floats) -> Floats:
            return _log_value(log_x, parameters[0], parameters[1], _knee(parameters)) - log_y

        bounds = (
            np.concatenate((low, [0.0] * len(shape))),
            np.concatenate((high, [np.log(_SHARPEST)] * len(shape))),
        )
        fit = least_squares(errors, np.concatenate((start, shape)), bounds=bounds)
        if best is None or fit.cost < best.cost:
            best = fit
    assert best is not None
    slope, ceiling = (float(value) for value in np.exp(best.x[:2]))
    fitted = Saturation(slope, ceiling, _knee(best.x), 0.0)
    scatter = fitted.at(np.asarray(x, dtype=np.float64)) / y - 1
    residual = math.sqrt(float(np.mean(scatter**2)))
    return Saturation(slope, ceiling, fitted.sharpness, residual)


@lru_cache(maxsize=_CURVES_KEPT)
def saturation_of(x: tuple[float, ...], y: tuple[float, ...]) -> Saturation:
    """`fit_saturation` of the points of a device file, which are fitted once."""
    return fit_saturation(np.array(x), np.array(y))


def _knee(parameters: Sequence[float] | Floats) -> float:
    return float(np.exp(parameters[2])) if len(parameters) > 2 else _USUAL_SHARPNESS


def _log_value(log_x: Floats, log_slope: float, log_ceiling: float, sharpness: float) -> Floats:
    rising = -sharpness * (log_slope + log_x)
    level = -sharpness * log_ceiling
    return np.asarray(-np.logaddexp(rising, level) / sharpness)
