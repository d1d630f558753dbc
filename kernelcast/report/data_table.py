"""A table as plain cells, shown as text, Markdown or HTML."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from rich.console import Group, RenderableType
from rich.text import Text

from kernelcast.report.tables import plain_table

__all__ = ["DataTable", "as_html", "as_markdown", "as_text"]


_NEVER_FOLDED = 24
"""Characters; longer cells may take several lines of a terminal."""


@dataclass(frozen=True, slots=True)
class DataTable:
    """Columns that begin with `>` hold numbers; `note` is a sentence below the table."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""

    @property
    def headings(self) -> list[str]:
        """The names of the columns without their alignment."""
        return [column.removeprefix(">") for column in self.columns]


def as_text(tables: Iterable[DataTable]) -> RenderableType:
    """Tables for a terminal; those without rows are left out."""
    shown: list[RenderableType] = []
    for table in tables:
        if not table.rows:
            continue
        rich = plain_table(table.title)
        for position, column in enumerate(table.columns):
            longest = max(len(row[position]) for row in table.rows)
            rich.add_column(
                column.removeprefix(">"),
                justify="right" if column.startswith(">") else "left",
                overflow="fold",
                min_width=longest if longest <= _NEVER_FOLDED else None,
            )
        for row in table.rows:
            rich.add_row(*row)
        shown += [*([Text()] if shown else []), rich, *([Text(table.note)] if table.note else [])]
    return Group(*shown)


def as_markdown(tables: Iterable[DataTable]) -> str:
    """Tables as Markdown; those without rows are left out."""
    parts = []
    for table in tables:
        if table.rows:
            rule = "|".join("---:" if column.startswith(">") else "---" for column in table.columns)
            title = [f"**{table.title}**", ""] if table.title else []
            lines = [*title, f"| {' | '.join(table.headings)} |", f"|{rule}|"]
            lines += [f"| {' | '.join(row)} |" for row in table.rows]
            parts.append("\n".join((*lines, *(["", table.note] if table.note else []))))
    return "\n\n".join(parts)


_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem;
       color: #222; }
table { border-collapse: collapse; margin: 0.6rem 0 0.3rem; }
th, td { padding: 0.2rem 0.7rem; border-bottom: 1px solid #ddd; text-align: left; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
th { border-bottom: 2px solid #888; }
svg { max-width: 100%; height: auto; }
"""


def as_html(title: str, tables: Iterable[DataTable], picture: str = "") -> str:
    """A page of its own; `picture` is an SVG element."""
    parts = [
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>",
        picture,
    ]
    for table in tables:
        if table.rows:
            parts.append(f"<h2>{escape(table.title)}</h2>\n{_html_table(table)}")
            parts.append(f"<p>{escape(table.note)}</p>" if table.note else "")
    return "\n".join((*(part for part in parts if part), "</body>\n</html>\n"))


def _html_table(table: DataTable) -> str:
    kinds = [' class="number"' if column.startswith(">") else "" for column in table.columns]
    head = "".join(f"<th{k}>{escape(c)}</th>" for k, c in zip(kinds, table.headings, strict=True))
    body = "\n".join(
        "<tr>"
        + "".join(f"<td{k}>{escape(c)}</td>" for k, c in zip(kinds, row, strict=True))
        + "</tr>"
        for row in table.rows
    )
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"
