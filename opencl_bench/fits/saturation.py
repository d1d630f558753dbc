"""The roofline's two ceilings, from throughput over intensity."""

from __future__ import annotations

from dataclasses import dataclass

from kernelcast.models.component_throughput.saturation import Saturation, fit_saturation
from kernelcast.opencl_bench.fits.detection import Floats

__all__ = ["RooflineFit", "Saturation", "fit_roofline", "fit_saturation"]


@dataclass(frozen=True, slots=True)
class RooflineFit:
    """Ceilings behind mixed-intensity points; `ridge` in operations per byte."""

    operations_per_s: float
    bytes_per_s: float
    ridge: float
    residual: float


def fit_roofline(intensity: Floats, operations_per_s: Floats) -> RooflineFit:
    """Both ceilings from throughput over operations per byte (above 0).

    ValueError when the points lie on one side of the ridge only: the other ceiling is then unseen.
    """
    fit = fit_saturation(intensity, operations_per_s)
    if not intensity.min() < fit.knee < intensity.max():
        raise ValueError("the points do not reach both sides of the roofline's ridge")
    return RooflineFit(fit.ceiling, fit.slope, fit.knee, fit.residual)
