"""`nvprof --csv`: the summary of --metrics and --events, and --print-gpu-trace with metrics.

Formats after the CUDA Profiler User's Guide, chapter nvprof.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kernelcast.errors import MetricsError
from kernelcast.traces.profilers.metric_cells import read_number
from kernelcast.traces.profilers.metric_csv import CsvRow, CsvTable, LaunchRecord, numeric_cells
from kernelcast.traces.profilers.metric_table import LaunchMetrics, Size

__all__ = ["is_summary_header", "is_trace_header", "read_summary", "read_trace"]

_NAME_COLUMNS = ("Metric Name", "Event Name")
_GRID, _THREAD_BLOCK = ("Grid X", "Grid Y", "Grid Z"), ("Block X", "Block Y", "Block Z")
_TRACE_COLUMNS = frozenset(
    {
        *("Start", "Duration", *_GRID, *_THREAD_BLOCK, "Registers Per Thread", "Static SMem"),
        *("Dynamic SMem", "Size", "Throughput", "SrcMemType", "DstMemType", "Device", "Context"),
        *("Stream", "Kernel", "Name", "Correlation_ID"),
    }
)
_LAUNCH_NUMBER = re.compile(r"\s*\[\d+\]$")
_NAMES_OF_LABELS = {
    # Trace columns may carry a metric's label instead of its name.
    "Floating Point Operations(Single Precision FMA)": "flop_count_sp_fma",
    "Floating Point Operations(Double Precision FMA)": "flop_count_dp_fma",
    "Load/Store Instructions": "inst_compute_ld_st",
    "Instructions Executed": "inst_executed",
    "FP Instructions(Single)": "inst_fp_32",
    "FP Instructions(Double)": "inst_fp_64",
    "Integer Instructions": "inst_integer",
    "Bit-Convert Instructions": "inst_bit_convert",
    "Control-Flow Instructions": "inst_control",
    "Device Memory Read Transactions": "dram_read_transactions",
    "Device Memory Write Transactions": "dram_write_transactions",
    "Warp Execution Efficiency": "warp_execution_efficiency",
}


def is_summary_header(cells: Sequence[str]) -> bool:
    """Whether the line is the header of a summary of --metrics or --events."""
    return {"Device", "Kernel", "Invocations", "Avg"} <= set(cells) and any(
        name in cells for name in _NAME_COLUMNS
    )


def is_trace_header(cells: Sequence[str]) -> bool:
    """Whether the line is the header of a --print-gpu-trace with metrics."""
    return (
        {"Device", "Context", "Stream"} <= set(cells)
        and ("Kernel" in cells or "Name" in cells)
        and bool(set(cells) - _TRACE_COLUMNS)
    )


def read_summary(table: CsvTable) -> Iterator[LaunchRecord]:
    """One record a metric; `Avg` is the mean over `Invocations`."""
    name_column = next(name for name in _NAME_COLUMNS if name in table.header)
    for row in table.rows:
        count = read_number(row.cells["Invocations"])
        if count is None or count < 1 or not count.is_integer():
            raise MetricsError(f"{table.path}:{row.line}: {row.cells['Invocations']!r} invocations")
        value = read_number(row.cells["Avg"])
        metric = row.cells[name_column]
        device, kernel = row.cells["Device"], row.cells["Kernel"]
        yield LaunchRecord(
            (device, kernel),
            kernel,
            LaunchMetrics(
                metrics={} if value is None else {metric: value},
                unavailable=frozenset({metric} if value is None else ()),
                count=int(count),
                device=device,
            ),
        )


def read_trace(table: CsvTable) -> Iterator[LaunchRecord]:
    """One row a launch, after a row of units; copies and memsets are no kernels."""
    kernel_column = "Kernel" if "Kernel" in table.header else "Name"
    units: dict[str, str] = {}
    for row in table.rows:
        kernel = _LAUNCH_NUMBER.sub("", row.cells[kernel_column])
        if not kernel:
            units = dict(row.cells)
        elif not kernel.startswith("[CUDA "):
            metrics, unavailable = numeric_cells(row.cells, units, _TRACE_COLUMNS)
            launch = LaunchMetrics(
                metrics={_NAMES_OF_LABELS.get(name, name): metrics[name] for name in metrics},
                unavailable=frozenset(_NAMES_OF_LABELS.get(name, name) for name in unavailable),
                device=row.cells["Device"],
                grid=_size(row, _GRID),
                thread_block=_size(row, _THREAD_BLOCK),
                duration_s=read_number(row.cells.get("Duration", ""), units.get("Duration", "")),
            )
            yield LaunchRecord(("line", str(row.line)), kernel, launch)


def _size(row: CsvRow, columns: Sequence[str]) -> Size | None:
    numbers = [read_number(row.cells.get(column, "")) for column in columns]
    x, y, z = (None if number is None else int(number) for number in numbers)
    return None if x is None or y is None or z is None else (x, y, z)
