"""Predicted against measured, as a table, a record and rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from kernelcast.units import format_seconds

if TYPE_CHECKING:
    from kernelcast.thesis_validation import ThesisTable

__all__ = ["thesis_markdown", "thesis_record", "thesis_report", "thesis_rows"]

_COLUMNS = (
    "kernel",
    "device",
    "predicted",
    "thesis predicted",
    "difference",
    "measured",
    "error",
    "thesis error",
)


def thesis_report(table: ThesisTable) -> RenderableType:
    """The table, and the mean absolute error of both predictions."""
    shown = Table(title="Konstantinidis thesis, executed from PTX", title_justify="left")
    for position, column in enumerate(_COLUMNS):
        shown.add_column(column, justify="left" if position < 2 else "right")
    for cells in _cells(table):
        shown.add_row(*cells)
    return Group(shown, Text(_summary(table)))


def thesis_markdown(table: ThesisTable) -> str:
    """The same table for a README."""
    lines = [f"| {' | '.join(_COLUMNS)} |", "|---|---|" + "---:|" * (len(_COLUMNS) - 2)]
    lines += [f"| {' | '.join(cells)} |" for cells in _cells(table)]
    return "\n".join((*lines, "", _summary(table)))


def thesis_record(table: ThesisTable) -> dict[str, Any]:
    return {
        "suite": "thesis",
        "rows": [
            {
                "kernel": row.kernel,
                "device": row.device,
                "model": row.model,
                "predicted_s": row.predicted_s,
                "measured_s": row.measured_s,
                "error": row.error,
                "thesis_predicted_s": row.thesis_predicted_s,
                "thesis_error": row.thesis_error,
            }
            for row in table.rows
        ],
        "mape": {table.rows[0].model: table.mape, "thesis": table.thesis_mape},
    }


def thesis_rows(table: ThesisTable) -> list[list[object]]:
    records = thesis_record(table)["rows"]
    return [list(records[0]), *(list(record.values()) for record in records)]


def _cells(table: ThesisTable) -> list[tuple[str, ...]]:
    return [
        (
            row.kernel,
            row.device,
            format_seconds(row.predicted_s),
            format_seconds(row.thesis_predicted_s),
            f"{row.difference_from_thesis:+.1%}",
            format_seconds(row.measured_s),
            f"{row.error:+.1%}",
            f"{row.thesis_error:+.1%}",
        )
        for row in table.rows
    ]


def _summary(table: ThesisTable) -> str:
    return (
        f"mean absolute error {table.mape:.1%} over {len(table.rows)} predictions "
        f"(the thesis's own, from metrics measured on a GTX-480: {table.thesis_mape:.1%})"
    )
