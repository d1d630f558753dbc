"""The folder of a sweep: its plan, and parts of its rows, each complete or not there.

`plan.json` names what the rows were made of; `part-000012.parquet` has the rows of a task. A part
is written under another name and renamed, so that a process may be killed at any moment. The
folder as a whole is a data set for pyarrow, pandas, DuckDB or polars.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelcast.errors import InputError
from kernelcast.notebook import Tabular
from kernelcast.partial_files import ReplacedFile, remove_left_overs
from kernelcast.studies.plan import Plan
from kernelcast.studies.rows import Row, columns_of
from kernelcast.studies.tasks import Task, tasks_of
from kernelcast.studies.values import Interval

__all__ = ["PLAN_FILE", "DataSet", "Design", "SweepResult", "read_result"]

PLAN_FILE = "plan.json"
_PART = "part-{:06d}.parquet"
_PARTS = "part-*.parquet"
_FORMAT = 1
_WITH_INDICES = ("sobol", "morris")


@dataclass(frozen=True, repr=False)
class SweepResult(Tabular):
    """All rows of a sweep in the order of their points; columns are those of docs/sweep.md.

    `seconds`: how long this run took, 0 for one that was read. `design`: how changed devices were
    drawn, where indices of sensitivity follow from that.
    """

    folder: Path
    rows: Sequence[Row]
    seconds: float = 0.0
    design: Design | None = None

    @property
    def failed(self) -> int:
        """Rows that have an error in place of a time."""
        return sum(row["error"] is not None for row in self.rows)

    @property
    def good(self) -> list[Row]:
        """Rows with a time."""
        return [row for row in self.rows if row["error"] is None]

    @property
    def label(self) -> str:
        """How many points there are, and how many failed."""
        failed = f", {self.failed:,} of them failed" if self.failed else ""
        return f"sweep {self.folder}: {len(self.rows):,} points{failed}"


@dataclass(frozen=True, slots=True)
class Design:
    """A `sobol` or `morris` sample; `ranges` are low and high of each fact, and if logarithmic."""

    method: str
    ranges: Mapping[str, tuple[float, float, bool]]

    @classmethod
    def of(cls, plan: Plan) -> Design | None:
        """The design of a plan; None where another method, or another axis, takes part."""
        sample = plan.changes.sample
        if sample is None or sample.method not in _WITH_INDICES or plan.changes.axes:
            return None
        ranges = {
            name: (spec.low, spec.high, spec.is_log)
            for name, spec in sample.of.items()
            if isinstance(spec, Interval)
        }
        return cls(sample.method, ranges) if len(ranges) == len(sample.of) else None

    @classmethod
    def read(cls, found: object) -> Design | None:
        """The design that a `plan.json` holds."""
        if not isinstance(found, dict):
            return None
        return cls(found["method"], {name: tuple(item) for name, item in found["ranges"].items()})

    @property
    def as_dict(self) -> dict[str, Any]:
        """The design for `plan.json`."""
        return {"method": self.method, "ranges": {k: list(v) for k, v in self.ranges.items()}}


class DataSet:
    """The folder that the rows of a plan are written to; InputError for one of another plan.

    `identity` is a hash of all that decides the rows.
    """

    def __init__(self, folder: Path, plan: Plan, identity: str) -> None:
        self.folder = folder
        self._identity = identity
        self._columns = columns_of(plan)
        self._tasks = {task.number: task for task in tasks_of(plan)}
        self._points = plan.points
        self._design = Design.of(plan)

    def begin(self) -> list[Task]:
        """Makes the folder where it is missing; the tasks that have no part yet."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._cannot("make", error) from None
        self._check_plan()
        remove_left_overs(str(self.folder))
        return [task for task in self._tasks.values() if not self._has(task)]

    def write(self, task: Task, rows: Sequence[Row]) -> None:
        """Writes the part of a task; InputError when that fails, as on a full disk."""
        assert len(rows) == task.points
        import pyarrow.parquet as pq

        table = self._table(rows)
        content = io.BytesIO()
        pq.write_table(table, content, compression="zstd")
        self._replace(self._part(task), content.getvalue())

    def result(self, seconds: float) -> SweepResult:
        """The rows of all parts, which took so long."""
        rows = _rows_of([self._part(task) for task in self._tasks.values()])
        return SweepResult(self.folder, rows, seconds, self._design)

    def done(self) -> int:
        """Points that are there; 0 of a folder that is missing."""
        return sum(task.points for task in self._tasks.values() if self._has(task))

    def _check_plan(self) -> None:
        file = self.folder / PLAN_FILE
        content: dict[str, Any] = {
            "format": _FORMAT,
            "identity": self._identity,
            "points": self._points,
            "design": None if self._design is None else self._design.as_dict,
        }
        if file.exists():
            found = _read_plan(file)
            if found.get("identity") != self._identity:
                raise InputError(
                    f"{self.folder} holds a sweep of another plan, of other files, or of another "
                    "version of kernelcast: name another folder with -o, or remove it"
                )
            return
        if any(self.folder.glob(_PARTS)):
            raise InputError(f"{self.folder} holds parts of a data set without {PLAN_FILE}")
        self._replace(file, (json.dumps(content) + "\n").encode())

    def _part(self, task: Task) -> Path:
        return self.folder / _PART.format(task.number)

    def _has(self, task: Task) -> bool:
        """Whether the part is there and whole: its footer says how many rows it has."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            found = pq.read_metadata(self._part(task))
        except (OSError, pa.ArrowInvalid):
            return False
        return bool(found.num_rows == task.points)

    def _table(self, rows: Sequence[Row]) -> Any:
        import pyarrow as pa

        schema = pa.schema(
            [(name, getattr(pa, _ARROW[kind])()) for name, kind in self._columns.items()]
        )
        columns = [
            [_as(kind, row.get(name)) for row in rows] for name, kind in self._columns.items()
        ]
        arrays = [pa.array(values, schema.field(n).type) for n, values in enumerate(columns)]
        return pa.Table.from_arrays(arrays, schema=schema)

    def _replace(self, path: Path, content: bytes) -> None:
        try:
            with ReplacedFile(path) as stream:
                stream.write(content)
        except OSError as error:
            raise self._cannot("write", error) from None

    def _cannot(self, what: str, error: OSError) -> InputError:
        reason = error.strerror or str(error)
        return InputError(f"cannot {what} {self.folder}: {reason}")


_ARROW = {"int64": "int64", "double": "float64", "string": "string"}


def _as(kind: str, value: Any) -> Any:
    if value is None:
        return None
    if kind == "string":
        return str(value).lower() if isinstance(value, bool) else str(value)
    return float(value) if kind == "double" else value


def read_result(folder: str | os.PathLike[str]) -> SweepResult:
    """The rows that a sweep has left in a folder; InputError for a folder of something else."""
    path = Path(folder)
    if not (path / PLAN_FILE).is_file():
        raise InputError(f"{path} is no folder of a sweep: {PLAN_FILE} is missing")
    plan = _read_plan(path / PLAN_FILE)
    points = plan.get("points")
    rows = _rows_of(sorted(path.glob(_PARTS)))
    if not rows:
        raise InputError(f"{path}: the sweep has no results yet: `kernelcast sweep` goes on")
    if len(rows) != points:
        raise InputError(
            f"{path}: {len(rows)} of {points} points are there: `kernelcast sweep` goes on"
        )
    return SweepResult(path, rows, design=Design.read(plan.get("design")))


def _read_plan(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError):
        raise InputError(f"{file} is damaged: remove the folder, or name another one") from None
    return found if isinstance(found, dict) else {}


def _rows_of(parts: Sequence[Path]) -> list[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    found: list[Row] = []
    for part in parts:
        try:
            found += pq.read_table(part, partitioning=None).to_pylist()
        except (OSError, pa.ArrowInvalid):
            raise InputError(f"{part} is damaged: remove it, and run the sweep again") from None
    return sorted(found, key=lambda row: row["point"])
