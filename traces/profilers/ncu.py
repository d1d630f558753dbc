"""`ncu --csv`: details (one row a metric) and `--page raw` (one row a launch, after its units).

Formats after the Nsight Compute CLI guide, sections "Output Pages" and "Console Output".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kernelcast.errors import MetricsError
from kernelcast.traces.profilers.metric_cells import read_number, read_size
from kernelcast.traces.profilers.metric_csv import CsvRow, CsvTable, LaunchRecord, numeric_cells
from kernelcast.traces.profilers.metric_table import LaunchMetrics

__all__ = ["is_details_header", "is_raw_header", "read_details", "read_raw"]

_DURATION = "gpu__time_duration.sum"
_LAUNCH_COLUMNS = frozenset(
    {
        *("ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Kernel Time"),
        *("Context", "Stream", "Block Size", "Grid Size", "Device", "CC"),
        *("thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",),
        *("Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",),
    }
)


def is_details_header(cells: Sequence[str]) -> bool:
    """Whether the line is the header of a table with one row a metric."""
    return {"Kernel Name", "Metric Name", "Metric Value"} <= set(cells)


def is_raw_header(cells: Sequence[str]) -> bool:
    """Whether the line is the header of a table with one row a launch."""
    return (
        "Kernel Name" in cells
        and "Metric Name" not in cells
        and any("__" in name for name in cells)
    )


def read_details(table: CsvTable) -> Iterator[LaunchRecord]:
    """One record a metric; rows of rules carry no metric name."""
    for row in table.rows:
        metric = row.cells["Metric Name"]
        if not metric:
            continue
        value = read_number(row.cells["Metric Value"], row.cells.get("Metric Unit", ""))
        yield _record(table, row, {} if value is None else {metric: value}, {metric})


def read_raw(table: CsvTable) -> Iterator[LaunchRecord]:
    """Yields the launches of a table with one row each, after the row of units."""
    units: dict[str, str] = {}
    for row in table.rows:
        if not row.cells["Kernel Name"]:
            units = dict(row.cells)
            continue
        metrics, unavailable = numeric_cells(row.cells, units, _LAUNCH_COLUMNS)
        yield _record(table, row, metrics, unavailable | metrics.keys())


def _record(
    table: CsvTable, row: CsvRow, metrics: dict[str, float], asked: set[str] | frozenset[str]
) -> LaunchRecord:
    kernel, cells = row.cells["Kernel Name"], row.cells
    if not kernel:
        raise MetricsError(f"{table.path}:{row.line}: a metric without a kernel name")
    key = (cells.get("Process ID", ""), cells.get("ID", ""), kernel)
    launch = LaunchMetrics(
        metrics=metrics,
        unavailable=frozenset(asked - metrics.keys()),
        device=cells.get("Device", ""),
        grid=read_size(cells.get("Grid Size", "")),
        thread_block=read_size(cells.get("Block Size", "")),
        duration_s=metrics.get(_DURATION),
        compute_capability=cells.get("CC", ""),
    )
    return LaunchRecord(key, kernel, launch)
