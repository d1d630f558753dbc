"""CSV tables inside profiler output, whose other lines are banners or the program's own text."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kernelcast.errors import MetricsError
from kernelcast.traces.profilers.metric_cells import read_number
from kernelcast.traces.profilers.metric_table import LaunchMetrics

__all__ = ["CsvRow", "CsvTable", "LaunchRecord", "named_row", "numeric_cells", "read_rows"]


@dataclass(frozen=True, slots=True)
class CsvRow:
    """Cells by column name; `line` counts from 1."""

    line: int
    cells: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class CsvTable:
    """A table inside of a profiler's output."""

    path: str
    header: tuple[str, ...]
    rows: tuple[CsvRow, ...]


@dataclass(frozen=True, slots=True)
class LaunchRecord:
    """A launch as one table tells it; records of equal `key` are parts of the same launch."""

    key: tuple[str, ...]
    kernel: str
    launch: LaunchMetrics


def read_rows(path: str, lines: Sequence[str]) -> list[tuple[int, list[str]]]:
    """(line number, cells) of all lines but empty ones, `==PID==` banners and `#` comments."""
    kept = ["" if line.startswith(("==", "#")) else line for line in lines]
    reader = csv.reader(kept, skipinitialspace=True)
    try:
        stripped = [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader]
    except csv.Error as error:
        raise MetricsError(f"{path}:{reader.line_num}: not CSV: {error}") from None
    return [(line, cells) for line, cells in stripped if any(cells)]


def named_row(path: str, header: Sequence[str], line: int, cells: Sequence[str]) -> CsvRow:
    """The row by column; MetricsError for too few cells, or filled ones beyond the header."""
    if len(cells) < len(header) or any(cells[len(header) :]):
        hint = "; numbers with commas need quotes" if len(cells) > len(header) else ""
        raise MetricsError(
            f"{path}:{line}: {len(cells)} cells under a header of {len(header)} columns{hint}"
        )
    return CsvRow(line, dict(zip(header, cells, strict=False)))


def numeric_cells(
    cells: Mapping[str, str], units: Mapping[str, str], skip: frozenset[str]
) -> tuple[dict[str, float], frozenset[str]]:
    """Columns of a wide row that hold numbers, and the names of those that do not."""
    metrics: dict[str, float] = {}
    unavailable = set()
    for name, text in cells.items():
        if name in skip or not name:
            continue
        value = read_number(text, units.get(name, ""))
        if value is None:
            unavailable.add(name)
        else:
            metrics[name] = value
    return metrics, frozenset(unavailable)
