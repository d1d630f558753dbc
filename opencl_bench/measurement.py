"""What a benchmark finds: values with their spread, and curves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from kernelcast.errors import BenchmarkError

__all__ = [
    "NOISY_SPREAD",
    "WORK_ITEM_PREFIX",
    "Curve",
    "CurvePoint",
    "Finding",
    "Measurement",
    "Unit",
    "measurement",
    "work_item_name",
]

NOISY_SPREAD = 0.10
"""Interquartile range over median from which a figure is flagged."""


WORK_ITEM_PREFIX = "work_item_"
"""The prefix of findings of plain work-items: scalars in work-groups, as kernels for GPUs are.

On a GPU all are of such; on a processor the other findings are of explicit vectors and long loops.
"""


def work_item_name(names: Sequence[str], name: str) -> str:
    """The finding of plain work-items where it is among `names`, else `name`."""
    return WORK_ITEM_PREFIX + name if WORK_ITEM_PREFIX + name in names else name


class Unit(Enum):
    """SI units, so that numbers need no prefixes."""

    OPERATIONS_PER_S = "operations/s"
    BYTES_PER_S = "bytes/s"
    SECONDS = "s"
    BYTES = "bytes"
    HERTZ = "Hz"
    COUNT = "count"
    RATIO = "ratio"


@dataclass(frozen=True, slots=True)
class Measurement:
    """The median of `samples` repetitions, each checked for its result.

    `spread` is the interquartile range over the median; `method` one sentence of how.
    """

    name: str
    value: float
    unit: Unit
    spread: float
    samples: int
    method: str

    @property
    def is_noisy(self) -> bool:
        """Whether the repetitions scatter too much."""
        return self.spread > NOISY_SPREAD


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One point of a curve with the spread of its repetitions."""

    x: float
    y: float
    spread: float

    @property
    def is_noisy(self) -> bool:
        """Whether the repetitions scatter too much."""
        return self.spread > NOISY_SPREAD


@dataclass(frozen=True, slots=True)
class Curve:
    """`points` in rising order of x; `x_name` and `y_name` are axis labels."""

    name: str
    x_name: str
    x_unit: Unit
    y_name: str
    y_unit: Unit
    points: tuple[CurvePoint, ...]
    method: str

    @property
    def x(self) -> npt.NDArray[np.float64]:
        """The points' x as an array."""
        return np.array([point.x for point in self.points])

    @property
    def y(self) -> npt.NDArray[np.float64]:
        """The points' y as an array."""
        return np.array([point.y for point in self.points])


Finding = Measurement | Curve


def measurement(name: str, samples: Sequence[float], unit: Unit, method: str) -> Measurement:
    """Median and spread of repetitions; BenchmarkError without any finite sample above 0."""
    values = np.array([value for value in samples if math.isfinite(value) and value > 0])
    if not values.size:
        raise BenchmarkError(f"{name}: no launch took a time that the clock shows")
    low, middle, high = np.percentile(values, (25, 50, 75))
    return Measurement(
        name, float(middle), unit, float((high - low) / middle), int(values.size), method
    )
