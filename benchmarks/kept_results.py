"""What the store saves: an estimate that was made before, on other GPUs, and with other models."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from start_up import DEVICE
from targets import Target
from timing import children_seconds, isolated_environment, table

__all__ = ["KeptResult", "kept_result_table", "kept_result_targets", "measure_kept_results"]

ROOT = Path(__file__).parents[1]
_OTHER_DEVICE = "gtx-660"
_OTHER_MODEL = ("--model", "roofline")
_WORKLOADS = ("sor/sor", "sgemm/sgemm16", "reduction/reduction")
_QUICK_WORKLOADS = ("sgemm/sgemm16",)
_MOST_SECONDS = 1.5
_MOST_OVERHEAD = 1.1
_MOST_OF_REPORT = 3.0


@dataclass(frozen=True, slots=True)
class KeptResult:
    """Process seconds of an estimate: without a store, and with one that holds less or more.

    `first_s` into an empty store, `second_s` of the same once more, `device_s` on another GPU and
    `model_s` with another model; `report_s` of the second with a page of HTML.
    """

    workload: str
    without_s: float
    first_s: float
    second_s: float
    device_s: float
    model_s: float
    report_s: float


def measure_kept_results(folder: Path, repeats: int, *, quick: bool) -> list[KeptResult]:
    """Medians of `repeats`, each with an empty store at first; `folder` is for the cache."""
    environment = isolated_environment(folder / "kept") | {
        "KERNELCAST_STORE": "2 GB",
        # an installation has its bytecode; a checkout that may write none would read sources anew
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
    }
    return [
        _measured(name, environment, repeats, folder / "report.html")
        for name in (_QUICK_WORKLOADS if quick else _WORKLOADS)
    ]


def _measured(name: str, environment: Mapping[str, str], repeats: int, report: Path) -> KeptResult:
    workload, usual = f"examples/{name}.toml", ("--device", DEVICE)
    other = ("--device", _OTHER_DEVICE)
    _seconds(environment, "estimate", workload, *usual, "--no-store")  # compiles simulators once
    rows = []
    for _ in range(repeats):
        _seconds(environment, "cache", "clear")
        asked = (
            *((*usual, "--no-store"), usual, usual, other, (*usual, *_OTHER_MODEL)),
            (*usual, "--report", str(report)),
        )
        rows.append([_seconds(environment, "estimate", workload, *options) for options in asked])
    return KeptResult(name, *(statistics.median(column) for column in zip(*rows, strict=True)))


def _seconds(environment: Mapping[str, str], *arguments: str) -> float:
    command = [sys.executable, "-m", "kernelcast", *arguments]
    before = children_seconds()
    subprocess.run(
        command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT, env={**os.environ, **environment}
    )
    return children_seconds() - before


def kept_result_table(found: Sequence[KeptResult]) -> str:
    """A row a workload."""
    head = ("", "without", "first", "second", "other GPU", "other model", "report")
    rows = [
        (name, *(f"{value:.2f} s" for value in values))
        for name, *values in (tuple(asdict(item).values()) for item in found)
    ]
    return table(head, rows)


def kept_result_targets(found: Sequence[KeptResult]) -> list[Target]:
    """The second estimate beside the first, and what keeping costs."""
    targets = [
        Target(f"{item.workload} estimated again, process time", item.second_s, _MOST_SECONDS, "s")
        for item in found
    ]
    targets += [
        Target(
            f"{item.workload}, report beyond the estimate, process time",
            item.report_s - item.second_s,
            _MOST_OF_REPORT,
            "s",
        )
        for item in found
    ]
    overhead = statistics.median(item.first_s / item.without_s for item in found)
    return [
        *targets,
        Target("first estimate with an empty store, over one without", overhead, _MOST_OVERHEAD),
    ]
