"""The tables of a stored trace beside its accesses, to and from Arrow, with their checks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.errors import TraceFormatError
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.stored.header import StoredHeader
from kernelcast.traces.trace import AccessTable, PatternCounts, ThreadBlockClasses, Trace

__all__ = ["SideTables", "arrow_table", "trace_of", "trace_tables"]

_COUNT_COLUMNS = {"pc": "pc", "stage": "stage", "phase": "start", "pattern": "pattern"}
"""The fields of PatternCounts by the columns that keep them: files call `start` a phase."""


def trace_tables(trace: Trace) -> dict[str, Any]:
    """Arrow tables by name: everything of the trace but header, accesses and paths."""
    classes, counts = trace.classes, trace.pattern_counts
    by_class = {
        "warp_issues": classes.warp_issues,
        "lane_executions": classes.lane_executions,
    }
    if classes.later_arrivals is not None:
        by_class["later_arrivals"] = classes.later_arrivals
    columns = {column: getattr(counts, name) for column, name in _COUNT_COLUMNS.items()}
    return {
        "thread_blocks": arrow_table({"class": classes.of_thread_block}),
        "classes": arrow_table(by_class),
        "stages": arrow_table({"warp_issues": trace.stage_warp_issues}),
        "warps": arrow_table({"time": trace.warp_time}),
        "patterns": arrow_table({"mask": trace.patterns.mask, "offsets": trace.patterns.offsets}),
        "pattern_counts": arrow_table({**columns, "count": counts.count}),
    }


def arrow_table(columns: Mapping[str, npt.NDArray[Any]]) -> Any:
    """An Arrow table; a matrix becomes a column of lists of equal length."""
    import pyarrow as pa

    return pa.table({name: _column(values) for name, values in columns.items()})


def _column(values: npt.NDArray[Any]) -> Any:
    import pyarrow as pa

    flat = pa.array(np.ascontiguousarray(values).reshape(-1))
    if values.ndim == 1:
        return flat
    return pa.FixedSizeListArray.from_arrays(flat, values.shape[1])


class SideTables:
    """Typed access to the embedded tables of `path`; TraceFormatError for what does not fit."""

    def __init__(self, path: Path, tables: Mapping[str, Any]) -> None:
        self._path = path
        self._tables = tables

    def has(self, table: str, column: str) -> bool:
        """Whether a table has that column."""
        return table in self._tables and self._tables[table].column_names.count(column) == 1

    def vector(
        self, table: str, column: str, dtype: type[np.generic], rows: int | None = None
    ) -> npt.NDArray[Any]:
        """A column as a vector, of `rows` numbers where these are given."""
        found = self._numbers(table, column, dtype)
        if rows is not None and len(found) != rows:
            raise self.error(f"{table}.{column} has {len(found)} rows, not {rows}")
        return found

    def matrix(
        self, table: str, column: str, dtype: type[np.generic], width: int
    ) -> npt.NDArray[Any]:
        """A column of lists as a matrix of that width."""
        flat = self._numbers(table, column, dtype, is_list=True)
        if len(flat) != width * self._tables[table].num_rows:
            raise self.error(f"{table}.{column} does not have {width} numbers a row")
        return flat.reshape(-1, width)

    def error(self, message: str) -> TraceFormatError:
        """A TraceFormatError that names the file."""
        return TraceFormatError(f"{self._path}: {message}")

    def _numbers(
        self, table: str, column: str, dtype: type[np.generic], is_list: bool = False
    ) -> npt.NDArray[Any]:
        import pyarrow as pa

        if not self.has(table, column):
            raise self.error(f"{table}.{column} is missing")
        found = self._tables[table][column].combine_chunks()
        if is_list:
            if not pa.types.is_fixed_size_list(found.type):
                raise self.error(f"{table}.{column} is no matrix")
            found = found.flatten()
        if found.null_count or str(found.type) != np.dtype(dtype).name:
            raise self.error(f"{table}.{column} is no column of {np.dtype(dtype).name}")
        return np.require(found.to_numpy(zero_copy_only=False), requirements=("C", "W"))


def trace_of(header: StoredHeader, rest: SideTables, accesses: AccessTable) -> Trace:
    """The whole trace; `check_trace` has yet to look at the references between its tables."""
    pcs = len(header.instructions)
    thread_blocks = math.prod(header.grid)
    warps = thread_blocks * -(-math.prod(header.thread_block) // header.warp_width)
    pc, stage, start, pattern = (
        rest.vector("pattern_counts", column, np.int32) for column in _COUNT_COLUMNS
    )
    count = rest.vector("pattern_counts", "count", np.int64)
    return Trace(
        kernel=header.kernel,
        grid=header.grid,
        thread_block=header.thread_block,
        warp_width=header.warp_width,
        resources=header.resources,
        instructions=header.instructions,
        classes=ThreadBlockClasses(
            rest.vector("thread_blocks", "class", np.int32, rows=thread_blocks),
            rest.matrix("classes", "warp_issues", np.int64, pcs),
            rest.matrix("classes", "lane_executions", np.int64, pcs),
            rest.matrix("classes", "later_arrivals", np.int64, pcs)
            if rest.has("classes", "later_arrivals")
            else None,
        ),
        stage_warp_issues=rest.matrix("stages", "warp_issues", np.int64, pcs),
        warp_time=rest.vector("warps", "time", np.int32, rows=warps),
        patterns=PatternTable(
            rest.vector("patterns", "mask", np.uint64),
            rest.matrix("patterns", "offsets", np.int64, header.warp_width),
        ),
        accesses=accesses,
        pattern_counts=PatternCounts(pc, stage, start, pattern, count),
        engine=header.engine,
        elapsed_s=header.elapsed_s,
        pairs_agree=header.pairs_agree,
        no_paths=header.no_paths,
        code=header.code,
        schedule=header.schedule,
    )
