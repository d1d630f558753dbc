"""Figures of papers beside ours: a table for each paper, and records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kernelcast.report.data_table import DataTable

if TYPE_CHECKING:
    from kernelcast.validation.paper_figures import PaperFigure, Value

__all__ = ["figure_record", "figure_tables"]

_COLUMNS = ("of", "figure", ">printed", ">ours", "bound", "")
_DIGITS, _DIGITS_OF_COUNTS, _MANY = 4, 7, 10_000
_VERDICTS = {True: "ok", False: "OUTSIDE", None: ""}


def figure_tables(figures: Sequence[PaperFigure]) -> Iterator[DataTable]:
    """One for each paper, in the order of the figures."""
    for paper in dict.fromkeys(item.paper for item in figures):
        own = [item for item in figures if item.paper == paper]
        asked = [item for item in own if item.is_met is not None]
        met = sum(item.is_met is True for item in asked)
        yield DataTable(
            f"Figures: {paper}",
            _COLUMNS,
            tuple(_cells(item) for item in own),
            f"{met} of {len(asked)} figures are within their bounds.",
        )


def figure_record(figure: PaperFigure) -> dict[str, Any]:
    """A printed figure and ours, as a record."""
    return {
        "paper": figure.paper,
        "of": figure.subject,
        "figure": figure.figure,
        "place": figure.place,
        "printed": figure.printed,
        "ours": figure.found,
        "unit": figure.unit,
        "bound": figure.bound,
        "ok": figure.is_met,
    }


def _cells(figure: PaperFigure) -> tuple[str, ...]:
    return (
        figure.subject,
        figure.figure,
        _shown(figure.printed, figure.unit),
        _shown(figure.found, figure.unit),
        figure.bound,
        _VERDICTS[figure.is_met],
    )


def _shown(value: Value, unit: str) -> str:
    if isinstance(value, str):
        return value
    digits = _DIGITS_OF_COUNTS if value >= _MANY else _DIGITS
    return f"{value:.{digits}g} {unit}".rstrip()
