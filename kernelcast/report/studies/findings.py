"""What a sweep says, in 25 lines: fastest devices, what moves the time, which change pays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from kernelcast.report.tables import column_table, first_rows, rest_text
from kernelcast.studies.findings import best_devices, changes_that_pay, pareto_front
from kernelcast.studies.sensitivity import Effect, effects, indices
from kernelcast.units import format_seconds

if TYPE_CHECKING:
    from kernelcast.studies.data_set import SweepResult

__all__ = ["COSTS", "study_record", "study_text"]

_BEST, _EFFECTS, _CHANGES = 4, 6, 3
COSTS = {
    "dram_bandwidth_bytes_per_s": "DRAM bandwidth",
    "sm_count": "SMs",
    "l2_bytes": "L2",
}
"""What fronts weigh against the time, by its column."""


def study_record(result: SweepResult) -> dict[str, Any]:
    """All findings, for JSON."""
    rows = result.good
    return {
        "points": len(result.rows),
        "failed": result.failed,
        "fastest": best_devices(rows),
        "effects": [
            {
                "kernel": item.kernel,
                "device": item.device,
                "model": item.model,
                "fact": item.fact,
                "elasticity": item.elasticity,
                "swing": item.swing,
                "reduction": item.reduction,
            }
            for item in effects(rows)
        ],
        "indices": [
            {
                "kernel": item.kernel,
                "launch": item.launch,
                "device": item.device,
                "model": item.model,
                "fact": item.fact,
                "first": item.first,
                "second": item.second,
            }
            for item in ([] if result.design is None else indices(result.rows, result.design))
        ],
        "changes": [{"speedup": gain, **_point(row)} for row, gain in changes_that_pay(rows)],
        "fronts": {name: [_point(row) for row in _front(rows, name)] for name in COSTS},
    }


def _front(rows: Sequence[Any], cost: str) -> list[Any]:
    """The fronts of all kernels and models, one behind the other."""
    from kernelcast.studies.findings import grouped

    groups = grouped(rows, "kernel", "model").values()
    return [row for group in groups for row in pareto_front(group, cost)]


def _point(row: Any) -> dict[str, Any]:
    names = "kernel", "launch", "device", "changes", "model", "time_s", *COSTS
    return {name: row[name] for name in names}


def study_text(result: SweepResult, detail: int) -> RenderableType:
    """The findings; with details all of them."""
    parts = [_best(result, detail)]
    found = effects(result.good)
    if found:
        parts += [_effects(found, detail), _changes(result, detail)]
    line = (
        f"{len(result.rows):,} points, {result.failed:,} failed; --html FILE draws fronts and maps"
    )
    return Group(*parts, Text(line))


def _best(result: SweepResult, detail: int) -> RenderableType:
    table = column_table("fastest", "kernel", "model", "device", "launch, changes", ">time")
    rows = best_devices(result.good)
    shown = first_rows(rows, _BEST, detail)
    for row in shown:
        how = ", ".join(filter(None, (row["launch"], row["changes"])))
        table.add_row(
            row["kernel"], row["model"], row["device"], how, format_seconds(row["time_s"])
        )
    return _with_rest(table, rest_text(len(shown), len(rows), "kernels"))


def _effects(found: Sequence[Effect], detail: int) -> RenderableType:
    table = column_table(
        "what moves the time",
        *("kernel", "device", "model", "fact", ">elasticity", ">swing", ">of variance"),
    )
    shown = first_rows(found, _EFFECTS, detail)
    for item in shown:
        slope = "" if item.elasticity is None else f"{item.elasticity:+.2f}"
        table.add_row(
            *(item.kernel, item.device, item.model, item.fact, slope),
            *(f"{item.swing:.2f}x", f"{item.reduction:.0%}"),
        )
    return _with_rest(table, rest_text(len(shown), len(found), "effects"))


def _changes(result: SweepResult, detail: int) -> RenderableType:
    table = column_table("which change pays", "kernel", "device", "model", "changes", ">speed-up")
    rows = changes_that_pay(result.good)
    shown = first_rows(rows, _CHANGES, detail)
    for row, gain in shown:
        table.add_row(row["kernel"], row["device"], row["model"], row["changes"], f"{gain:.2f}x")
    return _with_rest(table, rest_text(len(shown), len(rows), "launches"))


def _with_rest(table: RenderableType, rest: str) -> RenderableType:
    return Group(table, Text(rest)) if rest else table
