"""A figure that a paper prints beside what kernelcast finds, and how near the two must be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["PaperFigure", "Subject", "Value"]

Value: TypeAlias = float | str
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class PaperFigure:
    """`printed` by the paper, or what its text says; `found` by kernelcast, executed now.

    `bound` says in words what `is_met` tests. None: the figure is shown, nothing is asked of it.
    """

    paper: str
    subject: str
    figure: str
    printed: Value
    found: Value
    bound: str
    is_met: bool | None
    unit: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """What figures are of: a kernel or a part of a model, and the `place` in the paper."""

    paper: str
    name: str
    place: str

    def near(
        self,
        figure: str,
        printed: float,
        found: float,
        *,
        percent: float | None = None,
        points: float | None = None,
        unit: str = "",
    ) -> PaperFigure:
        """A figure that must be within `percent` of what is printed, or `points` of its unit."""
        if (percent is None) == (points is None):
            raise ValueError("a figure is near by percent or by points, one of them")
        if percent is not None:
            bound, reach = f"within {percent:g} %", abs(printed) * percent / 100
        else:
            assert points is not None
            bound, reach = f"within {points:g}", points
            if unit == "%":
                bound += " points"
        is_met = abs(found - printed) <= reach * (1 + _ROUNDING)
        return self.judged(figure, printed, found, bound, is_met=is_met, unit=unit)

    def same(self, figure: str, printed: Value, found: Value, *, unit: str = "") -> PaperFigure:
        """A figure that must equal what is printed."""
        return self.judged(figure, printed, found, "exactly", is_met=found == printed, unit=unit)

    def between(
        self,
        figure: str,
        printed: Value,
        found: float,
        low: float,
        high: float,
        *,
        unit: str = "",
    ) -> PaperFigure:
        """A figure that must be between two bounds."""
        bound, is_met = f"{low:g} to {high:g}", low <= found <= high
        return self.judged(figure, printed, found, bound, is_met=is_met, unit=unit)

    def shown(self, figure: str, printed: Value, found: Value, *, unit: str = "") -> PaperFigure:
        """A figure that is only shown."""
        return self.judged(figure, printed, found, "shown", is_met=None, unit=unit)

    def judged(
        self,
        figure: str,
        printed: Value,
        found: Value,
        bound: str,
        *,
        is_met: bool | None,
        unit: str = "",
    ) -> PaperFigure:
        """A condition that `bound` tells in words."""
        return PaperFigure(
            self.paper, self.name, figure, printed, found, bound, is_met, unit, self.place
        )
