"""Tables of times that others published: `validation/measured/<set>.toml` and the CSV it names.

A row is one kernel at one size on one device. What was taken stands in docs/published-times.md.
"""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernelcast.errors import KernelcastError, MetricsError
from kernelcast.input_files import read_text_input
from kernelcast.workload.toml_table import read_toml

__all__ = ["PublishedTable", "TableRow", "evenly", "read_table", "table_names"]

_COLUMNS = (
    "device", "workload", "size", "sizes", "grid", "thread_block", "launches", "printed"
)  # fmt: skip
_FIELDS = (
    "table", "source", "licence", "timed", "differences", "rounding", "grows_by", "waves"
)  # fmt: skip
Dimensions = tuple[int, int, int]
_MILLISECONDS, _CELL_RATE = "ms", "MLUPs"


@dataclass(frozen=True, slots=True)
class TableRow:
    """A time of one launch, `time_s`, on the device of a device file.

    `size` is the source's name of the size, `sizes` what the workload calls it; grid and thread
    block are those that the source recorded.
    """

    device: str
    workload: str
    size: str
    sizes: Mapping[str, int]
    grid: Dimensions
    thread_block: Dimensions
    time_s: float

    @property
    def name(self) -> str:
        """The workload with its size."""
        return f"{self.workload} {self.size}"

    @property
    def thread_blocks(self) -> int:
        """The thread blocks of the grid."""
        return math.prod(self.grid)


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """The rows of one set.

    A launch that must be executed whole and has more waves of thread blocks than the larger of
    `waves` is executed at these two; `grows_by`: the sizes that make it larger, one of each row.
    """

    name: str
    source: str
    licence: str
    timed: str
    differences: str
    rounding: float
    grows_by: tuple[str, ...]
    waves: tuple[int, int]
    rows: tuple[TableRow, ...]


def table_names(folder: Path) -> list[str]:
    """The sets of the folder, in alphabetical order."""
    return sorted(file.stem for file in folder.glob("*.toml"))


def read_table(name: str, folder: Path) -> PublishedTable:
    """Reads a set; KernelcastError, in one line, for one that is not there or not well formed."""
    if name not in table_names(folder):
        known = ", ".join(table_names(folder)) or "none"
        raise KernelcastError(f"there is no set {name!r}; known: {known}")
    fields = read_toml(folder / f"{name}.toml")
    fields.allow(*_FIELDS)
    waves = fields.table("waves")
    waves.allow("few", "many")
    return PublishedTable(
        name=name,
        source=fields.text("source"),
        licence=fields.text("licence"),
        timed=fields.text("timed"),
        differences=fields.text("differences"),
        rounding=fields.number("rounding"),
        grows_by=tuple(fields.texts("grows_by")),
        waves=(waves.integer("few"), waves.integer("many")),
        rows=_read_rows(folder / fields.text("table")),
    )


def evenly(rows: Sequence[TableRow], most: int) -> tuple[TableRow, ...]:
    """Draws at most so many rows of each workload and device, the first and then equal steps."""
    groups: dict[tuple[str, str], list[TableRow]] = defaultdict(list)
    for row in rows:
        groups[row.device, row.workload].append(row)
    return tuple(
        group[i * len(group) // taken]
        for group in groups.values()
        for taken in [min(most, len(group))]
        for i in range(taken)
    )


def _read_rows(file: Path) -> tuple[TableRow, ...]:
    try:
        text = read_text_input(file)
    except OSError as error:
        raise MetricsError(f"{file}: cannot be read: {error.strerror}") from error
    records = list(csv.reader(text.splitlines()))
    if not records or tuple(records[0]) != _COLUMNS:
        raise MetricsError(f"{file}: the first line must be {','.join(_COLUMNS)}")
    found: list[TableRow] = []
    for line, record in enumerate(records[1:], 2):
        try:
            found.append(_read_row(record))
        except ValueError as error:
            raise MetricsError(f"{file}:{line}: {error}") from None
    return tuple(found)


def _read_row(record: Sequence[str]) -> TableRow:
    device, workload, size, sizes, grid, thread_block, launches, printed = record
    values = {key: int(value) for key, value in (item.split("=") for item in sizes.split())}
    return TableRow(
        device=device,
        workload=workload,
        size=size,
        sizes=values,
        grid=_dimensions(grid),
        thread_block=_dimensions(thread_block),
        time_s=_seconds(printed, values) / int(launches),
    )


def _dimensions(text: str) -> Dimensions:
    x, y, z = (int(part) for part in text.split("x"))
    return x, y, z


def _seconds(printed: str, sizes: Mapping[str, int]) -> float:
    """The time behind a printed figure: milliseconds, or million cell updates a second."""
    figure, unit = printed.split()
    if not (math.isfinite(float(figure)) and float(figure) > 0):
        raise ValueError(f"{printed!r} must be positive")
    if unit == _MILLISECONDS:
        return float(figure) / 1e3
    if unit == _CELL_RATE:
        return sizes["width"] * sizes["height"] * sizes["depth"] / (float(figure) * 1e6)
    raise ValueError(f"{unit!r} must be {_MILLISECONDS} or {_CELL_RATE}")
