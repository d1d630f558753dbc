"""Predicted against measured, as tables, a record and rows."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelcast.report.data_table import DataTable
from kernelcast.report.paper_figures import figure_record, figure_tables
from kernelcast.units import format_count, format_seconds

if TYPE_CHECKING:
    from kernelcast.validation.comparison import TimeComparison
    from kernelcast.validation.report import ValidationReport
    from kernelcast.validation.workload_suite import SuiteReport

__all__ = [
    "error_tables",
    "suite_record",
    "suite_rows",
    "suite_tables",
    "validation_record",
    "validation_rows",
    "validation_tables",
]

_PUBLISHED = Path(__file__).resolve().parents[2] / "validation" / "published_errors.csv"
_ALL = "all"
_CALIBRATION = "calibration"


def validation_tables(
    report: ValidationReport, explained: Mapping[TimeComparison, str]
) -> list[DataTable]:
    """Every point and figure, then the statistics, then the figures of others."""
    return [
        _times(report, explained),
        _counters(report),
        *figure_tables(report.figures),
        *error_tables(report),
        _notes(report),
    ]


def error_tables(report: ValidationReport) -> list[DataTable]:
    """What a reader wants first: how large the errors are, of whom, and what others reach."""
    return [_statistics(report), _rankings(report), _published()]


def _times(report: ValidationReport, explained: Mapping[TimeComparison, str]) -> DataTable:
    columns = ("kernel", "device", "model", ">predicted", ">measured", ">error", "inside")
    rows = tuple(
        (
            point.kernel,
            point.device,
            point.model,
            format_seconds(point.predicted_s),
            format_seconds(point.measured_s),
            f"{point.error:+.1%}",
            "yes" if point.is_in_interval else "no",
            "" if point.published_error is None else f"{point.published_error:+.1%}",
            _CALIBRATION if point.is_calibration else explained.get(point, ""),
        )
        for point in report.times
    )
    return DataTable(
        f"Times: {report.suite}",
        (*columns, ">published", "why"),
        rows,
        "Errors are (predicted - measured) / measured. Inside: the measured time lies between the "
        "model's low and high one. Published: the source's own error. Why: a number of "
        "docs/deviations.md.",
    )


def _counters(report: ValidationReport) -> DataTable:
    rows = tuple(
        (
            item.kernel,
            item.device,
            item.metric,
            format_count(item.simulated),
            format_count(item.measured),
            f"{item.error:+.1%}",
            _tolerance(item.lowest, item.highest),
            "" if item.is_within_tolerance else "OUTSIDE",
            _CALIBRATION if item.is_calibration else item.source,
        )
        for item in report.counters
    )
    columns = ("kernel", "device", "metric", ">simulated", ">measured", ">error", ">tolerance")
    return DataTable(f"Counters: {report.suite}", (*columns, "", "why"), rows)


def _tolerance(lowest: float | None, highest: float | None) -> str:
    if lowest is None or highest is None:
        return "none"
    return "exact" if lowest == highest == 0 else f"{lowest:+.4g} to {highest:+.4g}"


def _statistics(report: ValidationReport) -> DataTable:
    columns = ("model", "device", ">points", ">mean error", ">factor", ">10 %")
    rows = tuple(
        (
            model,
            device,
            str(found.count),
            f"{found.mape:.1%}",
            f"{found.ratio:.2f}",
            *(
                f"{share:.0%}"
                for share in (found.within_10, found.within_25, found.within_50, found.in_interval)
            ),
        )
        for (model, device), found in sorted(
            report.statistics.items(), key=lambda item: (item[0][0], item[0][1] != _ALL, item[0][1])
        )
    )
    return DataTable(
        f"Errors: {report.suite}",
        (*columns, ">25 %", ">50 %", ">inside"),
        rows,
        "Mean error: of absolute errors. Factor: geometric mean of max(p/m, m/p). 10, 25, 50 %: "
        "share of errors that are not larger. Inside: share of measured times between the model's "
        "low and high ones. Calibration points do not count.",
    )


def _rankings(report: ValidationReport) -> DataTable:
    rows = tuple(
        (item.model, item.subject, str(item.count), f"{item.tau:+.2f}", f"{item.regret:.1%}")
        for item in report.rankings
    )
    return DataTable(
        f"Which GPU is fastest: {report.suite}",
        ("model", "kernel", ">GPUs", ">Kendall tau", ">regret"),
        rows,
        "Regret: what choosing the predicted best costs over the true best.",
    )


def _published() -> DataTable:
    if not _PUBLISHED.is_file():
        return DataTable("Published errors", (), ())
    with _PUBLISHED.open(newline="", encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    columns = ("predictor", "what it knows of the kernel", "source")
    rows = tuple(
        (row[columns[0]], f"{row['mean_absolute_error_percent']} %", *(row[c] for c in columns[1:]))
        for row in found
    )
    return DataTable(
        "Published errors, of other kernels and GPUs",
        (columns[0], ">mean error", *columns[1:]),
        rows,
    )


def _notes(report: ValidationReport) -> DataTable:
    return DataTable("Notes", ("note",), tuple((note,) for note in report.notes))


def validation_record(
    report: ValidationReport, explained: Mapping[TimeComparison, str]
) -> dict[str, Any]:
    """Comparisons of times with their statistics, as a record."""
    return {
        "suite": report.suite,
        "rows": [_time_record(point, explained) for point in report.times],
        "mape": report.mape,
        "statistics": [
            {
                "model": model,
                "device": device,
                "count": found.count,
                "mape": found.mape,
                "ratio": found.ratio,
                "within_10": found.within_10,
                "within_25": found.within_25,
                "within_50": found.within_50,
                "in_interval": found.in_interval,
            }
            for (model, device), found in report.statistics.items()
        ],
        "rankings": [
            {"model": r.model, "kernel": r.subject, "tau": r.tau, "regret": r.regret}
            for r in report.rankings
        ],
        "counters": [
            {
                "kernel": item.kernel,
                "device": item.device,
                "metric": item.metric,
                "simulated": item.simulated,
                "measured": item.measured,
                "error": item.error,
                "within_tolerance": item.is_within_tolerance,
                "calibration": item.is_calibration,
            }
            for item in report.counters
        ],
        "figures": [figure_record(item) for item in report.figures],
        "notes": list(report.notes),
    }


def _time_record(point: TimeComparison, explained: Mapping[TimeComparison, str]) -> dict[str, Any]:
    return {
        "kernel": point.kernel,
        "device": point.device,
        "model": point.model,
        "predicted_s": point.predicted_s,
        "time_low_s": point.low_s,
        "time_high_s": point.high_s,
        "measured_s": point.measured_s,
        "error": point.error,
        "published_s": point.published_s,
        "published_error": point.published_error,
        "source": point.source,
        "calibration": point.is_calibration,
        "deviation": explained.get(point) or None,
    }


def validation_rows(
    report: ValidationReport, explained: Mapping[TimeComparison, str]
) -> list[list[object]]:
    """The times and the figures of papers, header first; cells of the other kind are empty."""
    records = [_time_record(point, explained) for point in report.times]
    records += [figure_record(item) for item in report.figures]
    columns = list(dict.fromkeys(name for record in records for name in record))
    rows = [[record.get(name) for name in columns] for record in records]
    return [list(columns), *rows] if records else []


def suite_tables(report: SuiteReport) -> list[DataTable]:
    """What each engine did, then a time for each model and device."""
    return [_runs(report), *_estimates(report)]


def _runs(report: SuiteReport) -> DataTable:
    engines = sorted({run.engine for result in report.results for run in result.runs})
    rows = []
    for result in report.results:
        elapsed = {run.engine: format_seconds(run.elapsed_s) for run in result.runs}
        count = result.runs[0].thread_instructions if result.runs else 0
        rows.append(
            (
                result.name,
                format_count(count),
                *(elapsed.get(engine, "") for engine in engines),
                "; ".join(result.failures) or "passed",
            )
        )
    size = report.results[0].size if report.results else ""
    return DataTable(
        f"Workloads, size {size}: executed and checked",
        ("workload", ">thread instructions", *(f">{engine}" for engine in engines), "check"),
        tuple(rows),
        f"{len(report.results) - len(report.failed)} of {len(report.results)} passed.",
    )


def _estimates(report: SuiteReport) -> list[DataTable]:
    models = dict.fromkeys(item.model for r in report.results for item in r.estimates)
    devices = list(dict.fromkeys(item.device for r in report.results for item in r.estimates))
    tables = []
    for model in models:
        rows: list[tuple[str, ...]] = []
        reasons: dict[str, None] = {}
        for result in report.results:
            found = {item.device: item for item in result.estimates if item.model == model}
            times = [found[d].time_s if d in found else None for d in devices]
            rows.append((result.name, *("-" if t is None else format_seconds(t) for t in times)))
            reasons |= {item.reason: None for item in found.values() if item.reason}
        note = " ".join(f"{reason}." for reason in reasons)
        columns = ("workload", *(f">{device}" for device in devices))
        tables.append(DataTable(f"Times by {model}", columns, tuple(rows), note))
    return tables


def suite_record(report: SuiteReport) -> dict[str, Any]:
    """What each workload of the suite did, as a record."""
    return {
        "suite": "suite",
        "rows": [
            {
                "workload": result.name,
                "size": result.size,
                "passed": not result.failures,
                "failures": list(result.failures),
                "runs": [
                    {
                        "engine": run.engine,
                        "elapsed_s": run.elapsed_s,
                        "thread_instructions": run.thread_instructions,
                    }
                    for run in result.runs
                ],
                "estimates": [
                    {
                        "device": item.device,
                        "model": item.model,
                        "time_s": item.time_s,
                        "bottleneck": item.bottleneck,
                        "reason": item.reason,
                    }
                    for item in result.estimates
                ],
            }
            for result in report.results
        ],
        "failed": [result.name for result in report.failed],
    }


def suite_rows(report: SuiteReport) -> list[Sequence[object]]:
    """One row for each workload, device and model, header first."""
    header = ("workload", "size", "passed", "device", "model", "time_s", "bottleneck", "reason")
    rows: list[Sequence[object]] = [header]
    for result in report.results:
        state = (result.name, result.size, not result.failures)
        rows += [
            (*state, item.device, item.model, item.time_s, item.bottleneck, item.reason)
            for item in result.estimates
        ]
    return rows
