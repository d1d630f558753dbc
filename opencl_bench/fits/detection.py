"""What a detector answers: a value, or why the curve has no such feature."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Detection", "Floats", "absent", "root_mean_square"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Detection:
    """`value` in SI units, None where the curve shows no such feature; `reason` says how or why.

    `residual` is relative: what the detector's idea of the curve leaves unexplained, 0 when exact.
    """

    value: float | None
    residual: float
    reason: str

    def __post_init__(self) -> None:
        finite = self.value is None or np.isfinite(self.value)
        if not finite or not np.isfinite(self.residual):
            raise ValueError(f"{self.reason}: no finite value")

    @property
    def is_found(self) -> bool:
        """Whether the curve shows the feature."""
        return self.value is not None


def absent(reason: str) -> Detection:
    """The answer that a curve does not show the feature, with the reason."""
    return Detection(None, 0.0, reason)


def root_mean_square(values: Floats) -> float:
    """The root mean square; 0 of no values."""
    return float(np.sqrt(np.mean(np.square(values)))) if values.size else 0.0
