"""Kernel times and counters that were measured on a device: the files of `validation/measured`.

The tools `validation/measure_cuda.py` and `validation/measure_opencl.py` write them; those of
published times are written by hand. The format is described in docs/measuring.md.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import Enum
from pathlib import Path

from kernelcast.errors import MetricsError
from kernelcast.validation.buffer_results import BufferResult, read_results
from kernelcast.validation.latency_chains import MeasuredLatencies, read_latencies
from kernelcast.workload.json_object import JsonObject, read_json

__all__ = [
    "DRIVER_CODE",
    "SCHEMA",
    "Api",
    "DeviceFacts",
    "FailedCase",
    "MeasuredCheck",
    "MeasuredDevice",
    "MeasuredRow",
    "MeasuredTime",
    "Publication",
    "read_measured",
]

SCHEMA = 1
DRIVER_CODE = "driver"
"""Machine code that the driver made of the source, with a compiler of its own."""


class Api(Enum):
    """What launched the kernels."""

    CUDA = "cuda"
    OPENCL = "opencl"


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """What the driver says of the device; None where it says nothing. Clocks are the highest ones.

    `sm_count` counts OpenCL's compute units too; `date` is that of the measurement, ISO 8601.
    """

    name: str
    compute_capability: str | None
    sm_count: int
    sm_clock_hz: float | None
    memory_clock_hz: float | None
    memory_bus_bits: int | None
    l2_bytes: int | None
    driver: str | None
    cuda_version: str | None
    date: str

    @property
    def peak_bytes_per_s(self) -> float | None:
        """DRAM bandwidth: memory clock x bus width x 2 transfers a cycle."""
        if self.memory_clock_hz is None or self.memory_bus_bits is None:
            return None
        return self.memory_clock_hz * self.memory_bus_bits / 8 * 2


_DURATION = "gpu__time_duration.sum"


@dataclass(frozen=True, slots=True)
class MeasuredTime:
    """Seconds of one launch, over `repeats` launches; None: what a publication does not tell.

    One of median, mean and min is known.
    """

    median: float | None
    mean: float | None
    std: float | None
    min: float | None
    repeats: int | None

    @property
    def seconds(self) -> float:
        """What predictions are compared with: the median, else the mean, else the minimum."""
        return next(x for x in (self.median, self.mean, self.min) if x is not None)

    @property
    def spread(self) -> float:
        """Standard deviation as a share of the median; 0 where it is not known."""
        return self.std / self.seconds if self.std is not None and self.seconds > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Publication:
    """Where a time that others measured is from.

    `source`: author, title, year, table. `timed`: what the figure is the time of. `differences`: in
    what the workload differs from the published kernel, or its board from the device file.
    `rounding`: half a unit of the last printed digit, as a share of the figure.
    """

    source: str
    timed: str
    differences: str
    rounding: float


@dataclass(frozen=True, slots=True)
class MeasuredCheck:
    """`worst`: the largest error of any element, relative to its reference; None: not finite."""

    passed: bool
    worst: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRow:
    """One workload at one size. `restored` names the buffers that were refilled before each repeat.

    `registers` are per thread, `shared_bytes` (static and dynamic) per thread block, `local_bytes`
    per thread; None where the driver does not tell. `metrics` are the profiler's, by its names;
    `check` is None when nothing was compared. `published`: not measured by our tools. `results`:
    the buffers after one launch. `code`: whose machine code was launched, `driver` or, assembled
    here, its architecture `sm_90`.
    """

    workload: str
    size: str
    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    registers: int | None
    shared_bytes: int | None
    local_bytes: int | None
    time_s: MeasuredTime
    clocks: Mapping[str, float] = field(default_factory=dict)
    check: MeasuredCheck | None
    restored: tuple[str, ...] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    published: Publication | None = None
    results: tuple[BufferResult, ...] = ()
    code: str = DRIVER_CODE

    @property
    def kernel_s(self) -> float:
        """Seconds that predictions are compared with: the profiler's, else those between events.

        Events add the launch on the host's side, and the lines that were written to empty L2, whose
        writing back runs beside the kernel.
        """
        profiled = self.metrics.get(_DURATION)
        return self.time_s.seconds if profiled is None else profiled * 1e-9


@dataclass(frozen=True, slots=True)
class FailedCase:
    """A workload and size that gave no row, and why."""

    workload: str
    size: str
    error: str


@dataclass(frozen=True, slots=True)
class MeasuredDevice:
    """All rows of one device. `dry_run`: nothing was executed and no time means anything.

    `latencies` are those of chains of instructions; None where they were not measured.
    """

    api: Api
    device: DeviceFacts
    launch_overhead_s: float | None
    rows: tuple[MeasuredRow, ...]
    failures: tuple[FailedCase, ...] = ()
    dry_run: bool = False
    latencies: MeasuredLatencies | None = None

    def row(self, workload: str, size: str) -> MeasuredRow | None:
        """The row of one workload at one size, if it was measured."""
        for row in self.rows:
            if (row.workload, row.size) == (workload, size):
                return row
        return None

    def to_json(self) -> str:
        """The text of the file, which `read_measured` reads back."""
        record = {"schema": SCHEMA} | asdict(self) | {"api": self.api.value}
        return json.dumps(record, indent=1, allow_nan=False) + "\n"


def read_measured(path: str | os.PathLike[str]) -> MeasuredDevice:
    """Reads a file of measurements; MetricsError, in one line, naming the file and the field."""
    file = Path(path)
    fields = read_json(file)
    if fields.whole("schema") != SCHEMA:
        raise MetricsError(f"{fields.where('schema')} must be {SCHEMA}")
    fields.allow("schema", *MeasuredDevice.__slots__)
    return MeasuredDevice(
        api=_read_api(fields),
        device=_read_device(fields.object("device")),
        launch_overhead_s=fields.optional_number("launch_overhead_s"),
        rows=_read_rows(fields),
        failures=tuple(
            FailedCase(item.text("workload"), item.text("size"), item.text("error"))
            for item in (fields.objects("failures") if "failures" in fields else ())
        ),
        dry_run=fields.flag("dry_run"),
        latencies=_read_latencies(fields) if "latencies" in fields else None,
    )


def _read_latencies(fields: JsonObject) -> MeasuredLatencies | None:
    found = fields.optional_object("latencies")
    return None if found is None else read_latencies(found)


def _read_api(fields: JsonObject) -> Api:
    name, known = fields.text("api"), [item.value for item in Api]
    if name not in known:
        raise MetricsError(f"{fields.where('api')} must be one of {', '.join(known)}, got {name!r}")
    return Api(name)


def _read_device(fields: JsonObject) -> DeviceFacts:
    fields.allow(*DeviceFacts.__slots__)
    return DeviceFacts(
        name=fields.text("name"),
        compute_capability=fields.optional_text("compute_capability"),
        sm_count=fields.whole("sm_count"),
        sm_clock_hz=fields.optional_number("sm_clock_hz"),
        memory_clock_hz=fields.optional_number("memory_clock_hz"),
        memory_bus_bits=fields.optional_whole("memory_bus_bits"),
        l2_bytes=fields.optional_whole("l2_bytes"),
        driver=fields.optional_text("driver"),
        cuda_version=fields.optional_text("cuda_version"),
        date=fields.text("date"),
    )


def _read_rows(fields: JsonObject) -> tuple[MeasuredRow, ...]:
    rows: dict[tuple[str, str], MeasuredRow] = {}
    for item in fields.objects("rows"):
        row = _read_row(item)
        if (row.workload, row.size) in rows:
            raise MetricsError(f"{item.where()}: {row.workload} {row.size} stands there twice")
        rows[row.workload, row.size] = row
    return tuple(rows.values())


def _read_row(fields: JsonObject) -> MeasuredRow:
    fields.allow(*MeasuredRow.__slots__)
    check = fields.optional_object("check")
    return MeasuredRow(
        workload=fields.text("workload"),
        size=fields.text("size"),
        kernel=fields.text("kernel"),
        grid=fields.dimensions("grid"),
        block=fields.dimensions("block"),
        registers=fields.optional_whole("registers"),
        shared_bytes=fields.optional_whole("shared_bytes"),
        local_bytes=fields.optional_whole("local_bytes"),
        time_s=_read_time(fields.object("time_s")),
        clocks=fields.object("clocks").numbers(),
        check=MeasuredCheck(check.flag("passed"), check.optional_number("worst"))
        if check
        else None,
        restored=fields.texts("restored"),
        metrics=fields.object("metrics").numbers(),
        warnings=fields.texts("warnings"),
        published=_read_publication(fields) if "published" in fields else None,
        results=read_results(fields) if "results" in fields else (),
        code=fields.text("code") if "code" in fields else DRIVER_CODE,
    )


def _read_publication(row: JsonObject) -> Publication | None:
    fields = row.optional_object("published")
    if fields is None:
        return None
    fields.allow(*Publication.__slots__)
    return Publication(
        source=fields.text("source"),
        timed=fields.text("timed"),
        differences=fields.text("differences"),
        rounding=fields.number("rounding"),
    )


def _read_time(fields: JsonObject) -> MeasuredTime:
    fields.allow(*MeasuredTime.__slots__)
    time = MeasuredTime(
        median=fields.optional_number("median"),
        mean=fields.optional_number("mean"),
        std=fields.optional_number("std"),
        min=fields.optional_number("min"),
        repeats=fields.optional_whole("repeats"),
    )
    if time.median is None and time.mean is None and time.min is None:
        raise MetricsError(f"{fields.where()} must have a median, a mean or a min")
    if time.repeats is not None and time.repeats < 1:
        raise MetricsError(f"{fields.where('repeats')} must be positive, got {time.repeats}")
    for name, value in (("median", time.median), ("mean", time.mean)):
        if value is not None and time.min is not None and value < time.min:
            raise MetricsError(f"{fields.where(name)} is below the minimum of {time.min:g} s")
    return time
