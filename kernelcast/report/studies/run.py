"""A sweep as text and records: what is to be done, what was done, the fastest device of each."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from kernelcast.report.tables import column_table, rest_text
from kernelcast.studies.findings import best_devices
from kernelcast.units import format_seconds

if TYPE_CHECKING:
    from kernelcast.studies.data_set import SweepResult
    from kernelcast.studies.forecast import Forecast

__all__ = ["forecast_record", "forecast_text", "run_record", "run_text"]

_MOST_ROWS, _MOST_ERRORS = 12, 3
_LONGEST_ERROR = 88


def forecast_record(found: Forecast) -> dict[str, Any]:
    """Counts, and seconds of one core."""
    return {
        "points": found.points,
        "done": found.done,
        "launches": found.launches,
        "executions": found.executions,
        "memories": found.memories,
        "walks": found.walks,
        "core_seconds": found.core_seconds,
    }


def forecast_text(found: Forecast, jobs: int | None) -> RenderableType:
    """What is to be done, in a few lines."""
    import os

    cores = jobs or os.cpu_count() or 1
    lines = [
        f"{found.points:,} points, of which {found.done:,} are there",
        f"{found.executions:,} executions of {found.launches:,} launches, "
        f"{found.memories:,} simulations of a memory, {found.walks:,} of an SM",
        f"some {format_seconds(found.core_seconds / cores)} on {cores} cores, as launches of a few "
        "million threads take; what the store has takes none",
    ]
    return Text("\n".join(lines))


def run_record(result: SweepResult) -> dict[str, Any]:
    """The counts of a sweep that has run."""
    return {
        "points": len(result.rows),
        "done": len(result.good),
        "failed": result.failed,
        "seconds": result.seconds,
        "folder": str(result.folder),
    }


def run_text(result: SweepResult) -> RenderableType:
    """The fastest device of each kernel and model, and why points failed."""
    table = column_table("fastest", "kernel", "model", "device", "launch, changes", ">time")
    best = best_devices(result.good)
    for row in best[:_MOST_ROWS]:
        how = ", ".join(filter(None, (row["launch"], row["changes"])))
        table.add_row(
            row["kernel"], row["model"], row["device"], how, format_seconds(row["time_s"])
        )
    lines = [
        f"{len(result.rows):,} points in {format_seconds(result.seconds)}, "
        f"{result.failed:,} failed: {result.folder}"
    ]
    errors = Counter(row["error"] for row in result.rows if row["error"] is not None)
    for error, count in errors.most_common(_MOST_ERRORS):
        lines.append(f"{count:,} x {error[:_LONGEST_ERROR]}")
    lines += filter(
        None,
        (
            rest_text(min(len(errors), _MOST_ERRORS), len(errors), "errors"),
            rest_text(min(len(best), _MOST_ROWS), len(best), "kernels"),
        ),
    )
    parts = [table] if best else []
    return Group(*parts, Text("\n".join(lines)))
