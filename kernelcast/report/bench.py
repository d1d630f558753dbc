"""What `kernelcast bench` found, as JSON, CSV and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from kernelcast.opencl_bench.finding_record import finding_record
from kernelcast.opencl_bench.measurement import Curve, Measurement, Unit
from kernelcast.opencl_bench.session import State
from kernelcast.report.tables import column_table
from kernelcast.units import BINARY_PREFIXES, format_seconds, format_si

if TYPE_CHECKING:
    from kernelcast.opencl_bench.benchmark import Benchmark
    from kernelcast.opencl_bench.drivers import OpenClDevice
    from kernelcast.opencl_bench.session import Session

__all__ = [
    "bench_list_record",
    "bench_list_report",
    "bench_list_rows",
    "bench_record",
    "bench_report",
    "bench_rows",
    "quantity_text",
]

_NOISY = "noisy: above 10 %"
_SYMBOLS = {Unit.OPERATIONS_PER_S: "op/s", Unit.BYTES_PER_S: "B/s"}

Record = dict[str, Any]
Rows = list[Sequence[object]]


def quantity_text(value: float, unit: Unit) -> str:
    """A number with its prefix and unit: `163.4 GB/s`, `64 KiB`; counts and ratios plain."""
    if unit is Unit.BYTES:
        return _bytes_text(value)
    if unit in (Unit.COUNT, Unit.RATIO):
        return f"{value:.4g}"
    return format_si(value, _SYMBOLS.get(unit, unit.value))


def _bytes_text(value: float) -> str:
    """The size with a binary prefix: memories are powers of two more often than of ten."""
    fitting = [item for item in BINARY_PREFIXES.items() if item[1] <= value]
    prefix, factor = fitting[-1] if fitting else ("", 1.0)
    return f"{value / factor:.4g} {prefix}B"


def bench_list_record(devices: Sequence[OpenClDevice], benchmarks: Sequence[Benchmark]) -> Record:
    """The OpenCL devices and the benchmarks, as a record."""
    header, *rows = bench_list_rows(devices)
    names = [str(name) for name in header]
    return {
        "devices": [dict(zip(names, row, strict=True)) for row in rows],
        "benchmarks": [
            {
                "name": item.name,
                "title": item.title,
                "needs": sorted(feature.value for feature in item.needs),
            }
            for item in benchmarks
        ],
    }


def bench_list_rows(devices: Sequence[OpenClDevice]) -> Rows:
    """The OpenCL devices, one a row below a header."""
    return [
        ("index", "name", "kind", "platform", "driver"),
        *((item.index, item.name, item.kind.name, item.platform, item.driver) for item in devices),
    ]


def bench_list_report(
    devices: Sequence[OpenClDevice], benchmarks: Sequence[Benchmark]
) -> RenderableType:
    """The OpenCL devices and the benchmarks, as tables."""
    header, *rows = bench_list_rows(devices)
    found = column_table("OpenCL devices", *(str(name) for name in header))
    for row in rows:
        found.add_row(*(str(cell) for cell in row))
    known = column_table("benchmarks", "--only", "measures", "needs")
    for item in benchmarks:
        needs = ", ".join(sorted(feature.value for feature in item.needs))
        known.add_row(item.name, item.title, needs)
    return Group(found, known)


def bench_record(session: Session, file: str | None) -> Record:
    """The device's facts, and state and findings of each benchmark, as a record."""
    facts = asdict(session.facts)
    facts["features"] = sorted(feature.value for feature in session.facts.features)
    return {
        "device": facts,
        "effort": session.effort.value,
        "file": file,
        "benchmarks": [
            {
                "name": outcome.benchmark.name,
                "title": outcome.benchmark.title,
                "state": outcome.state.value,
                "reason": outcome.reason,
                "date": outcome.date,
                "elapsed_s": outcome.elapsed_s,
                "findings": [finding_record(finding) for finding in outcome.findings],
            }
            for outcome in session.outcomes
        ],
    }


def bench_rows(session: Session) -> Rows:
    """A row for each measurement and for each point of a curve; x is empty for the former."""
    rows: Rows = [("benchmark", "name", "x", "value", "unit", "spread", "noisy")]
    for outcome in session.outcomes:
        for found in outcome.findings:
            unit = found.unit if isinstance(found, Measurement) else found.y_unit
            points: list[tuple[object, float, float, bool]] = (
                [("", found.value, found.spread, found.is_noisy)]
                if isinstance(found, Measurement)
                else [(point.x, point.y, point.spread, point.is_noisy) for point in found.points]
            )
            rows += [
                (outcome.benchmark.name, found.name, x, y, unit.value, spread, str(noisy).lower())
                for x, y, spread, noisy in points
            ]
    return rows


def bench_report(session: Session) -> RenderableType:
    """Figures, curves, and what is not among them with its reason."""
    parts = list(_tables(session))
    kept = session.having(State.KEPT)
    if kept:
        dates = sorted({outcome.date for outcome in kept})
        parts.append(
            Text(
                f"{len(kept)} of {len(session.outcomes)} benchmarks are kept from earlier runs "
                f"({', '.join(dates)}); --fresh measures them again"
            )
        )
    parts += [
        Text(f"{outcome.benchmark.name}: {outcome.state.value}: {outcome.reason}")
        for outcome in session.having(State.SKIPPED, State.FAILED)
    ]
    return Group(*parts)


def _tables(session: Session) -> Iterator[RenderableType]:
    """The figures, then the curves; the first of what there is has the device's name."""
    title = f"{' '.join(session.facts.name.split())} ({session.effort.value})"
    if not session.findings:
        yield Text(title)
    if session.measurements:
        yield _measurements(session, title)
        title = ""
    if session.curves:
        yield _curves(session, title)


def _measurements(session: Session, title: str) -> RenderableType:
    table = column_table(title, "figure", ">value", ">spread", "")
    for found in session.measurements.values():
        table.add_row(
            found.name,
            quantity_text(found.value, found.unit),
            f"{found.spread:.1%}",
            _NOISY if found.is_noisy else "",
        )
    return table


def _curves(session: Session, title: str) -> RenderableType:
    table = column_table(title, "curve", ">points", "from", "to", ">lowest", ">highest", ">noisy")
    for found in session.curves.values():
        table.add_row(found.name, *_curve_cells(found))
    return table


def _curve_cells(found: Curve) -> tuple[str, ...]:
    if not found.points:
        return "0", "", "", "", "", ""
    return (
        str(len(found.points)),
        quantity_text(found.points[0].x, found.x_unit),
        quantity_text(found.points[-1].x, found.x_unit),
        _level(min(found.y), found.y_unit),
        _level(max(found.y), found.y_unit),
        str(sum(point.is_noisy for point in found.points) or ""),
    )


def _level(value: float, unit: Unit) -> str:
    return format_seconds(value) if unit is Unit.SECONDS else quantity_text(value, unit)
