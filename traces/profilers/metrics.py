"""Profiler files -> MetricTable. The columns decide which tool wrote the file, not its name."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kernelcast.errors import MetricsError
from kernelcast.input_files import read_input
from kernelcast.traces.profilers import ncu, nvprof, rocprof
from kernelcast.traces.profilers.decimal_commas import has_decimal_comma, with_decimal_points
from kernelcast.traces.profilers.metric_cells import read_number
from kernelcast.traces.profilers.metric_csv import (
    CsvRow,
    CsvTable,
    LaunchRecord,
    named_row,
    read_rows,
)
from kernelcast.traces.profilers.metric_table import (
    KernelMetrics,
    LaunchMetrics,
    MetricTable,
    ProfilerTool,
)

__all__ = ["read_metrics"]

_NAME = re.compile(r"[A-Za-z_][\w.]*$")


@dataclass(frozen=True, slots=True)
class _Layout:
    """One kind of table: how its header looks, and how to read its rows."""

    tool: ProfilerTool
    is_header: Callable[[Sequence[str]], bool]
    read: Callable[[CsvTable], Iterator[LaunchRecord]]


def _is_plain_header(cells: Sequence[str]) -> bool:
    names = [cell.lower() for cell in cells if cell]
    return names in (["metric", "value"], ["metric", "value", "unit"])


def _read_plain(table: CsvTable) -> Iterator[LaunchRecord]:
    """`metric,value[,unit]`: one kernel without a name, and every value must be a number."""
    name_column, value_column, *unit_column = table.header
    seen: set[str] = set()
    for row in table.rows:
        name = row.cells[name_column]
        unit = row.cells[unit_column[0]] if unit_column else ""
        value = read_number(row.cells[value_column], unit)
        if value is None:
            text = f"{row.cells[value_column]} {unit}".strip()
            raise MetricsError(f"{table.path}:{row.line}: {name} is {text!r}, not a number")
        if name in seen:
            raise MetricsError(f"{table.path}:{row.line}: {name} stands twice")
        seen.add(name)
        yield LaunchRecord(("plain",), "", LaunchMetrics({name: value}))


_LAYOUTS = (
    _Layout(ProfilerTool.NVPROF, nvprof.is_summary_header, nvprof.read_summary),
    _Layout(ProfilerTool.NVPROF, nvprof.is_trace_header, nvprof.read_trace),
    _Layout(ProfilerTool.NCU, ncu.is_details_header, ncu.read_details),
    _Layout(ProfilerTool.NCU, ncu.is_raw_header, ncu.read_raw),
    _Layout(ProfilerTool.ROCPROF, rocprof.is_header, rocprof.read),
    _Layout(ProfilerTool.PLAIN, _is_plain_header, _read_plain),
)


def read_metrics(path: str | os.PathLike[str]) -> MetricTable:
    """Reads plain `metric,value`, `nvprof --csv`, `ncu --csv` (details or raw) and rocprof CSV.

    A plain file may lack its header. Percentages become fractions, scaled units (Kbyte, usecond)
    plain ones, decimal commas points. Text before the first header is the profiled program's own.
    Raises MetricsError, naming the line where there is one.
    """
    name = os.fspath(path)
    try:
        text = _decoded(read_input(path))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise MetricsError(f"{name}: {reason}") from None
    lines = text.splitlines()
    tables = list(_tables(name, lines)) or list(_without_header(name, lines))
    if not tables:
        raise MetricsError(
            f"{name}: no header of a known format (metric,value; nvprof --csv; ncu --csv; rocprof)"
        )
    tools = {layout.tool for layout, _ in tables}
    if len(tools) > 1:
        named = " and ".join(sorted(tool.value for tool in tools))
        raise MetricsError(f"{name}: tables of {named} in one file")
    tool = tools.pop()
    pointed = with_decimal_points([table for _, table in tables])
    readers = [layout.read for layout, _ in tables]
    records = [
        record for read, table in zip(readers, pointed, strict=True) for record in read(table)
    ]
    if not records:
        raise MetricsError(f"{name}: a {tool.value} header without any metric")
    return MetricTable(name, tool, _kernels(tool, records))


def _decoded(content: bytes) -> str:
    """The text of a file in UTF-8, or in UTF-16 with its mark, as PowerShell redirects output."""
    is_wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return content.decode("utf-16" if is_wide else "utf-8-sig")


def _tables(path: str, lines: Sequence[str]) -> Iterator[tuple[_Layout, CsvTable]]:
    """Each header with the rows up to the next one."""
    layout: _Layout | None = None
    header: tuple[str, ...] = ()
    rows: list[CsvRow] = []
    for line, cells in read_rows(path, lines):
        found = next((item for item in _LAYOUTS if item.is_header(cells)), None)
        if found:
            if layout:
                yield layout, CsvTable(path, header, tuple(rows))
            layout, header, rows = found, tuple(cells), []
        elif layout:
            rows.append(named_row(path, header, line, cells))
    if layout:
        yield layout, CsvTable(path, header, tuple(rows))


def _without_header(path: str, lines: Sequence[str]) -> Iterator[tuple[_Layout, CsvTable]]:
    """A file of nothing but `name,number` rows, as a plain table."""
    header, rows = ("metric", "value"), read_rows(path, lines)
    if (
        all(
            len(cells) == len(header)
            and _NAME.match(cells[0])
            and (read_number(cells[1]) is not None or has_decimal_comma(cells[1]))
            for _, cells in rows
        )
        and rows
    ):
        named = tuple(named_row(path, header, line, cells) for line, cells in rows)
        yield _LAYOUTS[-1], CsvTable(path, header, named)


def _kernels(tool: ProfilerTool, records: Iterable[LaunchRecord]) -> tuple[KernelMetrics, ...]:
    """Records of one launch joined, launches of one kernel together, in order of appearance."""
    launches: dict[str, dict[tuple[str, ...], LaunchMetrics]] = {}
    for record in records:
        of_kernel = launches.setdefault(record.kernel, {})
        known = of_kernel.get(record.key)
        of_kernel[record.key] = _joined(known, record.launch) if known else record.launch
    return tuple(
        KernelMetrics(kernel, tool, tuple(found.values())) for kernel, found in launches.items()
    )


def _joined(known: LaunchMetrics, more: LaunchMetrics) -> LaunchMetrics:
    return replace(
        known,
        metrics={**known.metrics, **more.metrics},
        unavailable=known.unavailable | more.unavailable,
        duration_s=more.duration_s if known.duration_s is None else known.duration_s,
    )
