"""Which metrics the analysis reads, and which part each stall reason belongs to.

The tables are CSV files of this folder. The thesis reads nvprof's metrics below compute capability
7.2, Nsight Compute's from there on (Saiz 2021, section 4.1); here the names in a file decide.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib.resources import files

__all__ = [
    "MetricSet",
    "MetricUnit",
    "RateMetric",
    "StallMetric",
    "StallNames",
    "rate_metrics",
    "stall_metrics",
    "stall_names",
]


class MetricSet(Enum):
    """The tool whose metrics are read; SIMULATOR has the reasons of `simcore.timing`."""

    NVPROF = "nvprof"
    NCU = "ncu"
    SIMULATOR = "simulator"


class MetricUnit(Enum):
    """What a number counts; PERCENT comes as a fraction where the file says so itself."""

    INSTRUCTIONS = "instructions"
    THREADS = "threads"
    PERCENT = "percent"
    WARPS = "warps"
    CYCLES = "cycles"


@dataclass(frozen=True, slots=True)
class RateMetric:
    """A name for IPC, IPC_Issued or Eff_warp."""

    metric_set: MetricSet
    quantity: str
    metric: str
    unit: MetricUnit
    source: str


@dataclass(frozen=True, slots=True)
class StallNames:
    """The metrics of all reasons in one unit; `{}` in `templates` stands for the reason."""

    metric_set: MetricSet
    unit: MetricUnit
    templates: tuple[str, ...]

    def find(self, stall: StallMetric, metrics: Collection[str]) -> str | None:
        """The name under which `metrics` have the reason."""
        names = [template.format(stall.reason) for template in self.templates]
        if stall.label:
            names.append(stall.label)
        return next((name for name in names if name in metrics), None)

    def first(self, stall: StallMetric) -> str:
        """The stall's metric in the first of the name's forms."""
        return self.templates[0].format(stall.reason)


@dataclass(frozen=True, slots=True)
class StallMetric:
    """`part` and, below it, `node` at level 3; empty where a reason has none.

    `printed_part` and `printed_node` are those of the thesis's Tables 4.7, 4.8, 4.11 and 4.12.
    `label` is what nvprof's traces call the metric. Reasons that are not needed count if measured.
    """

    metric_set: MetricSet
    reason: str
    label: str
    part: str
    node: str
    printed_part: str
    printed_node: str
    is_needed: bool
    source: str

    def place(self, *, is_strict: bool) -> tuple[str, str]:
        """The part and node of the reason; empty names where the print assigns it to nothing."""
        if is_strict:
            return self.printed_part, self.printed_node
        return self.part, self.node


@cache
def rate_metrics(metric_set: MetricSet) -> Mapping[str, tuple[RateMetric, ...]]:
    """The names of each quantity, best first."""
    found: dict[str, tuple[RateMetric, ...]] = {}
    for row in _rows("rate_metrics.csv", metric_set):
        metric = RateMetric(
            metric_set, row["quantity"], row["metric"], MetricUnit(row["unit"]), row["source"]
        )
        found[metric.quantity] = (*found.get(metric.quantity, ()), metric)
    return found


@cache
def stall_names(metric_set: MetricSet) -> tuple[StallNames, ...]:
    """One for each unit, best first."""
    templates: dict[MetricUnit, tuple[str, ...]] = {}
    for row in _rows("stall_names.csv", metric_set):
        unit = MetricUnit(row["unit"])
        templates[unit] = (*templates.get(unit, ()), row["name"])
    return tuple(StallNames(metric_set, unit, names) for unit, names in templates.items())


@cache
def stall_metrics(metric_set: MetricSet) -> tuple[StallMetric, ...]:
    """The stall reasons of a tool, with the part that each belongs to."""
    return tuple(
        StallMetric(
            metric_set,
            row["reason"],
            row["label"],
            row["part"],
            row["node"],
            row["printed_part"],
            row["printed_node"],
            row["is_needed"] == "yes",
            row["source"],
        )
        for row in _rows("stall_metrics.csv", metric_set)
    )


def _rows(name: str, metric_set: MetricSet) -> list[dict[str, str]]:
    text = (files(__package__) / name).read_text("utf-8")
    rows = csv.DictReader(text.splitlines())
    return [row for row in rows if row["metric_set"] == metric_set.value]
