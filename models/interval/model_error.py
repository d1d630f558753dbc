"""How far measured times lie from estimates, whatever the reason.

`model_error.csv` holds what `validation/learn_model_error.py` learned from the thesis's and other
published times; its first lines say from which, and which share of them lay inside when each family
of kernels was left out.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["ModelError", "model_error"]


@dataclass(frozen=True, slots=True)
class ModelError:
    """Factors on the estimate between which measured times lie.

    `coverage`: the share of measured times that do, each left out with its family when the factors
    were learned; `times` and `kernels`: how many these are.
    """

    low: float
    high: float
    coverage: float
    times: int
    kernels: int

    @property
    def basis(self) -> str:
        """What the factors do, and where they are from."""
        return (
            f"at least from {1 - self.low:.0%} below to {self.high - 1:.0%} above, as "
            f"{self.times} published times of {self.kernels} kernels lie"
        )


@cache
def model_error() -> ModelError:
    """The factors of the table."""
    text = (files(__package__) / "model_error.csv").read_text("utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    (row,) = csv.DictReader(lines)
    return ModelError(
        low=float(row["low"]),
        high=float(row["high"]),
        coverage=float(row["coverage"]),
        times=int(row["times"]),
        kernels=int(row["kernels"]),
    )
