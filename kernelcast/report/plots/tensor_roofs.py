"""Roofs of tensor units in a roofline plot: the peak of each type that the device has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kernelcast.models.estimate import Estimate
from kernelcast.models.roofline.model import TENSOR_PEAK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_tensor_roofs", "tensor_roofs"]

_TO_GIGA, _TO_TERA = 1e-9, 1e-12
_DECADE = 10.0
_COLOR = "#7a4fa3"


def tensor_roofs(estimates: Sequence[Estimate], peak: float) -> dict[float, str]:
    """Tensor types by their peak in operations per second, joined where peaks are equal.

    They come from the parameters of model `roofline`. Only those within a decade of `peak`, so that
    the plot stays readable.
    """
    found: dict[float, list[str]] = {}
    for name, rate in _peaks(estimates):
        if peak / _DECADE <= rate <= peak * _DECADE:
            names = found.setdefault(rate, [])
            if name not in names:
                names.append(name)
    return {rate: ", ".join(names) for rate, names in sorted(found.items())}


def _peaks(estimates: Sequence[Estimate]) -> Iterator[tuple[str, float]]:
    for estimate in estimates:
        for parameter in estimate.parameters:
            if parameter.symbol.startswith(TENSOR_PEAK) and isinstance(parameter.value, float):
                yield parameter.symbol.removeprefix(TENSOR_PEAK), parameter.value


def draw_tensor_roofs(axes: Axes, roofs: dict[float, str], bandwidth: float) -> None:
    """A line for each peak from the roof of DRAM to the right, its types above its left end."""
    left, right = axes.get_xlim()
    for peak, names in roofs.items():
        ridge = min(max(peak / bandwidth, left), right)
        y = _TO_GIGA * peak
        axes.plot((ridge, right), (y, y), ls=":", color=_COLOR, lw=1.2, gid="tensor")
        axes.annotate(
            f"{names}: {_TO_TERA * peak:,.0f} T/s",
            (right, y),
            xytext=(-4, 2),
            textcoords="offset points",
            ha="right",
            va="bottom",
            fontsize=7,
            color=_COLOR,
        )
