"""Errors of predictions by kernel, where each was measured at many sizes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import mean, median
from typing import TYPE_CHECKING

from kernelcast.report.data_table import DataTable

if TYPE_CHECKING:
    from kernelcast.validation.comparison import TimeComparison
    from kernelcast.validation.report import ValidationReport

__all__ = ["kernel_errors"]

_ALL = "all"
_FEW = 0.25


def kernel_errors(report: ValidationReport) -> DataTable:
    """A row for each kernel, device and model, with the sizes counted; `all` first."""
    groups: dict[tuple[str, str, str], list[TimeComparison]] = defaultdict(list)
    for point in report.times:
        if not point.is_calibration:
            groups[point.model, point.device, _ALL].append(point)
            groups[point.model, point.device, point.kernel.split()[0]].append(point)
    ordered = sorted(groups.items(), key=lambda item: (*item[0][:2], item[0][2] != _ALL, item[0]))
    return DataTable(
        f"Errors by kernel: {report.suite}",
        (
            *("kernel", "device", "model", ">points", ">signed mean", ">mean error", ">median"),
            *(">within 25 %", ">inside"),
        ),
        tuple(
            (kernel, device, model, *_row(points)) for (model, device, kernel), points in ordered
        ),
        "Signed mean: of errors with their sign. Mean error, median: of absolute errors.",
    )


def _row(points: Sequence[TimeComparison]) -> tuple[str, ...]:
    sizes = [abs(point.error) for point in points]
    return (
        str(len(points)),
        f"{mean(point.error for point in points):+.1%}",
        f"{mean(sizes):.1%}",
        f"{median(sizes):.1%}",
        str(sum(size <= _FEW for size in sizes)),
        str(sum(point.is_in_interval for point in points)),
    )
