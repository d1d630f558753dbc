"""Objects as tables in notebooks, and in one line everywhere else."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, TypeAlias

__all__ = ["InNotebooks", "Table", "Tabular", "html_table"]

Table: TypeAlias = tuple[Sequence[str], Iterable[Sequence[object]]]
"""Headings, those of numbers begin with `>`, and rows."""

_STYLE = "text-align: right; font-variant-numeric: tabular-nums"
_MOST_ROWS = 60


class InNotebooks:
    """A class whose objects have a line, `label`, and a table, `table`."""

    __slots__ = ()

    @property
    def label(self) -> str:
        """What the object is, in a line."""
        raise NotImplementedError

    def table(self) -> Table:
        """The object as a table."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{self.label}>"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return html_table(self.label, *self.table())


class Tabular(InNotebooks):
    """A result that is a table: its rows are those of its JSON (`kernelcast.frames`)."""

    __slots__ = ()

    def to_frame(self) -> Any:
        """The rows as a `pandas.DataFrame`, its columns called as in JSON, with units in the names.

        Raises InputError where pandas is not installed.
        """
        return _frames().frame_of(self)

    def table(self) -> Table:
        """Cells of the rows of JSON, for results that have no shorter table."""
        records = _frames().flat_records(self)
        numbers = {
            name: all(isinstance(row[name], int | float) for row in records)
            for row in records[:1]
            for name in row
        }
        columns = [f">{name}" if is_number else name for name, is_number in numbers.items()]
        return columns, [[_cell(value) for value in row.values()] for row in records]


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _frames() -> Any:
    """The module that knows all results, which all of them are below."""
    return importlib.import_module("kernelcast.frames")


def html_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as HTML below a line; everything in it is escaped, rows beyond sixty are counted."""
    listed = list(rows)
    styles = [f' style="{_STYLE}"' if name.startswith(">") else "" for name in columns]
    head = _cells("th", styles, [name.removeprefix(">") for name in columns])
    body = "".join(f"<tr>{_cells('td', styles, row)}</tr>" for row in listed[:_MOST_ROWS])
    more = len(listed) - _MOST_ROWS
    rest = f"<p>and {more} more rows</p>" if more > 0 else ""
    return (
        f"<div><b>{escape(title)}</b><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>{rest}</div>"
    )


def _cells(tag: str, styles: Sequence[str], values: Sequence[object]) -> str:
    pairs = zip(styles, values, strict=True)
    return "".join(f"<{tag}{style}>{escape(str(value))}</{tag}>" for style, value in pairs)
