"""Numbers of a profiler that ran under a locale with decimal commas, brought to decimal points."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from kernelcast.errors import MetricsError
from kernelcast.traces.profilers.metric_csv import CsvRow, CsvTable

__all__ = ["has_decimal_comma", "with_decimal_points"]

_CELL = re.compile(
    r"(?P<number>[+-]?\d[\d.,\u00a0\u202f]*(?:[eE][+-]?\d+)?)(?P<unit>\s*[%A-Za-z][\w/%]*)?$"
)
_DECIMAL_COMMA = re.compile(r"[+-]?(\d{1,3}([.\u00a0\u202f]\d{3})+|\d+),\d+([eE][+-]?\d+)?$")
_EITHER = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}$")
"""Thousands unless another cell tells that commas are decimal."""
_POINT_GROUPS = re.compile(r"[+-]?[1-9]\d{0,2}([.\u00a0\u202f]\d{3})+$")
_COMMA_GROUPS = re.compile(r"[+-]?\d{1,3}((,\d{3}){2,}(\.\d*)?|,\d{3}\.\d*)$")
_DECIMAL_POINT = re.compile(r"[+-]?\d+\.\d*([eE][+-]?\d+)?$")
_GROUP_MARKS = str.maketrans({".": "", "\u00a0": "", "\u202f": "", ",": "."})
_POINTED_COLUMNS = frozenset({"CC", "Estimated Speedup"})
"""Columns of ncu that are no metrics: a compute capability, and what a rule promises."""


def with_decimal_points(tables: Sequence[CsvTable]) -> list[CsvTable]:
    """The tables of one file; unchanged unless one of its numbers can only have a decimal comma.

    Then the comma is decimal in all of them, and points group thousands. MetricsError names both
    lines where one number has a decimal comma and another one cannot.
    """
    numbers = [item for table in tables for item in _numbers(table)]
    decimal = next((item for item in numbers if has_decimal_comma(item[1])), None)
    if decimal is None:
        return list(tables)
    for line, cell in numbers:
        if _has_decimal_point(cell):
            raise MetricsError(
                f"{tables[0].path}:{line}: {cell} beside {decimal[1]} of line {decimal[0]}: "
                "is the comma decimal or between thousands?"
            )
    return [replace(table, rows=tuple(_pointed(row) for row in table.rows)) for table in tables]


def has_decimal_comma(cell: str) -> bool:
    """`2,00`, `0,500`, `1.234,5 %`; not `1,500`, which may be thousands."""
    number = _number(cell)
    return bool(_DECIMAL_COMMA.match(number)) and not _EITHER.match(number)


def _has_decimal_point(cell: str) -> bool:
    number = _number(cell)
    is_pointed = _DECIMAL_POINT.match(number) and not _POINT_GROUPS.match(number)
    return bool(is_pointed or _COMMA_GROUPS.match(number))


def _numbers(table: CsvTable) -> Iterator[tuple[int, str]]:
    """Line and text of the cells that may be numbers."""
    for row in table.rows:
        for column, cell in row.cells.items():
            if column not in _POINTED_COLUMNS and _number(cell):
                yield row.line, cell


def _number(cell: str) -> str:
    """The number of a cell without its unit; empty for other text."""
    match = _CELL.match(cell)
    return match["number"] if match else ""


def _pointed(row: CsvRow) -> CsvRow:
    cells = {
        column: cell if column in _POINTED_COLUMNS else _with_point(cell)
        for column, cell in row.cells.items()
    }
    return replace(row, cells=cells)


def _with_point(cell: str) -> str:
    match = _CELL.match(cell)
    if not match or not (
        _DECIMAL_COMMA.match(match["number"]) or _POINT_GROUPS.match(match["number"])
    ):
        return cell
    return match["number"].translate(_GROUP_MARKS) + (match["unit"] or "")
