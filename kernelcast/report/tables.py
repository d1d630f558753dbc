"""Tables for a terminal: no lines, headings in bold, numbers to the right, long ones cut short."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from rich.table import Table

__all__ = ["column_table", "first_rows", "plain_table", "rest_text"]

Row = TypeVar("Row")


def plain_table(title: str = "") -> Table:
    """A table without columns."""
    return Table(
        title=title or None,
        title_justify="left",
        title_style="bold",
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        header_style="bold",
    )


def column_table(title: str, *columns: str) -> Table:
    """A table whose columns marked with `>` are numbers, aligned to the right."""
    table = plain_table(title)
    for column in columns:
        table.add_column(
            column.removeprefix(">"),
            justify="right" if column.startswith(">") else "left",
            overflow="fold",
        )
    return table


def first_rows(rows: Sequence[Row], most: int, detail: int) -> Sequence[Row]:
    """The first rows, all of them where details are asked for or no more than one is left."""
    return rows if detail or len(rows) <= most + 1 else rows[:most]


def rest_text(shown: int, all_rows: int, things: str) -> str:
    """`and 12 more metrics (-v shows all)`; nothing where all are shown."""
    return f"and {all_rows - shown} more {things} (-v shows all)" if shown < all_rows else ""
