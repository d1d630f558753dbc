"""What a validation found, and what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass

from kernelcast.validation.comparison import CounterComparison, TimeComparison
from kernelcast.validation.error_statistics import (
    ErrorStatistics,
    Ranking,
    by_model_and_device,
    rankings,
)
from kernelcast.validation.paper_figures import PaperFigure

__all__ = ["OUTLIER", "ValidationReport"]

OUTLIER = 0.25
"""An error beyond it needs an explanation."""


@dataclass(frozen=True)
class ValidationReport:
    """What a validation found.

    `times`, `counters` and `figures` of papers beside their references; `notes` say what is left
    out and why.
    """

    suite: str
    times: tuple[TimeComparison, ...] = ()
    counters: tuple[CounterComparison, ...] = ()
    notes: tuple[str, ...] = ()
    figures: tuple[PaperFigure, ...] = ()

    @property
    def statistics(self) -> dict[tuple[str, str], ErrorStatistics]:
        """Statistics by (model, device), `all` for all devices, without calibration points."""
        return by_model_and_device(self.times)

    @property
    def rankings(self) -> list[Ranking]:
        """The order of predictions beside that of measurements."""
        return rankings(self.times)

    @property
    def outliers(self) -> tuple[TimeComparison, ...]:
        """Comparisons with an error beyond the limit for outliers."""
        return tuple(point for point in self.times if abs(point.error) > OUTLIER)

    @property
    def mape(self) -> dict[str, float]:
        """Mean absolute error by model."""
        return {
            model: found.mape
            for (model, device), found in self.statistics.items()
            if device == "all"
        }

    @property
    def counters_outside(self) -> tuple[CounterComparison, ...]:
        """Counters outside of their tolerances."""
        return tuple(item for item in self.counters if not item.is_within_tolerance)

    @property
    def figures_outside(self) -> tuple[PaperFigure, ...]:
        """Figures of papers outside of their bounds."""
        return tuple(item for item in self.figures if item.is_met is False)
