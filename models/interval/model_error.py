"""How far measured times lay outside of what the facts of a device explain.

`model_error.csv` holds what `validation/learn_model_error.py` learned from the published times; its
first lines say from which, and which share of times lay inside when each kernel was left out.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["ModelError", "model_error"]


@dataclass(frozen=True, slots=True)
class ModelError:
    """Factors on the lowest and the highest time that the facts allow.

    `coverage`: the share of measured times between both, of kernels that were left out when the
    factors were learned; `times` and `kernels`: how many these are.
    """

    low: float
    high: float
    coverage: float
    times: int
    kernels: int

    @property
    def basis(self) -> str:
        """Where the factors are from."""
        return (
            f"times {self.low:.2f} and {self.high:.2f}, learned from {self.times} published times "
            f"of {self.kernels} kernels"
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
