"""rocprof's CSV: one row a dispatch, launch facts first, then one column a counter.

Format after the ROCProfiler guide, "Output"; versions 1 and 2 name the first columns differently.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kernelcast.errors import MetricsError
from kernelcast.traces.profilers.metric_cells import read_number
from kernelcast.traces.profilers.metric_csv import CsvRow, CsvTable, LaunchRecord, numeric_cells
from kernelcast.traces.profilers.metric_table import LaunchMetrics

__all__ = ["is_header", "read"]

_VERSION_2 = {
    "Dispatch_ID": "Index",
    "Kernel_Name": "KernelName",
    "GPU_ID": "gpu-id",
    "Grid_Size": "grd",
    "Workgroup_Size": "wgr",
    "Wave_Size": "wave_size",
    "Start_Timestamp": "BeginNs",
    "End_Timestamp": "EndNs",
}
_DISPATCH_COLUMNS = frozenset(
    {
        *("Index", "KernelName", "gpu-id", "queue-id", "queue-index", "pid", "tid", "grd", "wgr"),
        *("lds", "scr", "vgpr", "arch_vgpr", "accum_vgpr", "sgpr", "fbar", "wave_size", "sig"),
        *("obj", "DispatchNs", "BeginNs", "EndNs", "CompleteNs", "DurationNs"),
        *("Queue_ID", "Queue_Index", "PID", "TID", "LDS_Per_Workgroup", "Scratch_Per_Workitem"),
        *("Arch_VGPR", "Accum_VGPR", "SGPR", "Obj", "Correlation_ID"),
    }
)


def is_header(cells: Sequence[str]) -> bool:
    """Whether the line is the header of rocprof's table, of either version."""
    names = {_VERSION_2.get(name, name) for name in cells}
    return {"KernelName", "grd", "wgr"} <= names


def read(table: CsvTable) -> Iterator[LaunchRecord]:
    """Sizes are flat: `grd` work-items in all, `wgr` in a work-group."""
    for row in table.rows:
        cells = {_VERSION_2.get(name, name): text for name, text in row.cells.items()}
        work_items = _positive(table, row, cells, "grd")
        group = _positive(table, row, cells, "wgr")
        metrics, unavailable = numeric_cells(cells, {}, _DISPATCH_COLUMNS)
        begin, end = read_number(cells.get("BeginNs", "")), read_number(cells.get("EndNs", ""))
        launch = LaunchMetrics(
            metrics=metrics,
            unavailable=unavailable,
            device=cells.get("gpu-id", ""),
            grid=(-(-work_items // group), 1, 1),
            thread_block=(group, 1, 1),
            duration_s=None if begin is None or end is None else (end - begin) * 1e-9,
            warp_width=_positive(table, row, cells, "wave_size") if "wave_size" in cells else None,
        )
        yield LaunchRecord((str(row.line),), cells["KernelName"], launch)


def _positive(table: CsvTable, row: CsvRow, cells: Mapping[str, str], name: str) -> int:
    value = read_number(cells[name])
    if value is None or value < 1 or not value.is_integer():
        raise MetricsError(f"{table.path}:{row.line}: {name} is {cells[name]!r}")
    return int(value)
