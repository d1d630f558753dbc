"""Predicted against measured on the cases of the Konstantinidis thesis, executed end to end.

The three kernels of its case studies are executed from the shipped examples, simulated for each GPU
and estimated; nothing is taken from the thesis but the GPUs' measured parameters. The measured and
the thesis's own predicted times come from Tables 5.9, 5.12, 5.14 and 6.5.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kernelcast.api import DEFAULT_MODEL, estimate
from kernelcast.errors import KernelcastError
from kernelcast.kernel_trace import KernelTrace
from kernelcast.simcore.device_file import load_device
from kernelcast.workload_file import load_workload

__all__ = [
    "CASES",
    "ThesisCase",
    "ThesisTable",
    "ValidationRow",
    "measured_devices",
    "published_times",
    "validate_thesis",
]

_ROOT = Path(__file__).resolve().parents[1]
_TABLES = _ROOT / "validation" / "thesis"
_EXAMPLES = _ROOT / "examples"


@dataclass(frozen=True, slots=True)
class ThesisCase:
    """One kernel: its workload and the rows of the thesis's table that it answers."""

    kernel: str
    workload: str
    table: str
    benchmark: str = ""
    """The row of a table that lists benchmarks on one GPU instead of GPUs for one benchmark."""
    gpu: str = ""


CASES = (
    ThesisCase("SOR", "sor/sor.toml", "table_5_9_sor_times.csv"),
    ThesisCase("SOR", "sor/sor.toml", "table_6_5_r9nano_times.csv", "red/black SOR", "r9-nano"),
    ThesisCase("LMSOR", "lmsor/lmsor.toml", "table_5_12_lmsor_times.csv"),
    ThesisCase("SGEMM 32x32", "sgemm/sgemm32.toml", "table_5_14_sgemm_times.csv"),
    ThesisCase(
        "SGEMM 16x16", "sgemm/sgemm16.toml", "table_6_5_r9nano_times.csv", "SGEMM", "r9-nano"
    ),
)


@dataclass(frozen=True, slots=True)
class ValidationRow:
    """One prediction. Errors are (predicted - measured) / measured, eq 5.12."""

    kernel: str
    device: str
    model: str
    predicted_s: float
    thesis_predicted_s: float
    measured_s: float

    @property
    def error(self) -> float:
        return (self.predicted_s - self.measured_s) / self.measured_s

    @property
    def thesis_error(self) -> float:
        return (self.thesis_predicted_s - self.measured_s) / self.measured_s

    @property
    def difference_from_thesis(self) -> float:
        return self.predicted_s / self.thesis_predicted_s - 1


@dataclass(frozen=True)
class ThesisTable:
    rows: tuple[ValidationRow, ...]

    @property
    def mape(self) -> float:
        """Mean absolute error of the predictions, as a fraction."""
        return sum(abs(row.error) for row in self.rows) / len(self.rows)

    @property
    def thesis_mape(self) -> float:
        return sum(abs(row.thesis_error) for row in self.rows) / len(self.rows)


def validate_thesis(
    model: str = DEFAULT_MODEL,
    progress: Callable[[str, float], None] | None = None,
) -> ThesisTable:
    """Executes the cases at full size: about two minutes. `progress` is told case and share."""
    if not _TABLES.is_dir():
        raise KernelcastError("the thesis's tables and examples are in the source tree only")
    rows: list[ValidationRow] = []
    traces: dict[str, KernelTrace] = {}
    for case in CASES:
        if case.workload not in traces:
            traces.clear()  # a trace of the full size takes hundreds of megabytes
            told = None if progress is None else _named(progress, case.kernel)
            traces[case.workload] = load_workload(_EXAMPLES / case.workload).run(
                devices=measured_devices(case.workload), progress=told
            )
        rows.extend(_rows(case, traces[case.workload], model))
    return ThesisTable(tuple(rows))


def measured_devices(workload: str) -> list[str]:
    """All GPUs that cases with this workload were measured on."""
    cases = [case for case in CASES if case.workload == workload]
    return sorted({device for case in cases for device, _, _ in published_times(case)})


def _rows(case: ThesisCase, trace: KernelTrace, model: str) -> Iterator[ValidationRow]:
    for device, predicted_s, measured_s in published_times(case):
        found = estimate(trace.profile(load_device(device)), model)
        yield ValidationRow(case.kernel, device, model, found.time_s, predicted_s, measured_s)


def published_times(case: ThesisCase) -> Iterator[tuple[str, float, float]]:
    """(device, seconds that the thesis predicted, seconds that it measured)."""
    with (_TABLES / case.table).open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if case.benchmark and row["benchmark"] != case.benchmark:
                continue
            device = case.gpu or row["gpu"].lower().replace(" ", "-")
            yield device, float(row["predicted_ms"]) * 1e-3, float(row["measured_ms"]) * 1e-3


def _named(progress: Callable[[str, float], None], name: str) -> Callable[[float], None]:
    return lambda share: progress(name, share)
