"""`write_report`: estimates as one HTML page that needs nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelcast.errors import KernelcastError
from kernelcast.partial_files import ReplacedFile

if TYPE_CHECKING:
    from kernelcast.comparison.records import Recorded
    from kernelcast.models.estimate import Estimate
    from kernelcast.program_capture.result import CaptureResult
    from kernelcast.report.programs.overview import Overview
    from kernelcast.simcore.device.device import Device
    from kernelcast.simcore.profile.profile import KernelProfile
    from kernelcast.torch_modules.module_estimate import ModuleEstimate

__all__ = ["check_report_target", "report_records", "write_program_report", "write_report"]

_SUFFIXES = (".html", ".htm")

Explained = tuple["Estimate", "KernelProfile"]


def write_report(
    path: str | os.PathLike[str],
    estimates: Iterable[Estimate],
    profiles: Iterable[KernelProfile],
    *,
    baseline: str | os.PathLike[str] | None = None,
) -> None:
    """Writes a page about estimates, of one kernel or several, each with the profile that it is of.

    One HTML file, which fetches nothing: times, roofline, memory, stalls, the annotated source, and
    what it all rests on (docs/report.md). `baseline`: a file of `estimate --json` to compare with.
    KernelcastError where `path` is no name of an HTML file in a folder, or cannot be written, where
    the baseline has no estimates, and for as many profiles as there are not estimates.
    """
    from kernelcast.comparison.records import read_records

    target = check_report_target(path)
    before = None if baseline is None else read_records(Path(baseline))
    _write(target, _page(_paired(estimates, profiles), before))


def write_program_report(
    path: str | os.PathLike[str], result: CaptureResult | ModuleEstimate
) -> None:
    """Writes a page about a captured program or a module of PyTorch.

    Totals, time by kernel and the time line, then what `write_report` tells, of the longest launch
    of the kernels that take most of the time. Captures have it where
    `CaptureOptions.explained_kernels` kept the profiles.
    KernelcastError where nothing was launched or kept, and as `write_report` has it.
    """
    from kernelcast.report.programs.overview import overview

    target = check_report_target(path)
    shown = overview(result)
    _write(target, _page(shown.explained, None, shown))


def _write(target: Path, text: str) -> None:
    try:
        with ReplacedFile(target) as stream:
            stream.write(text.encode("utf-8", "replace"))
    except OSError as error:
        raise KernelcastError(f"{target}: {error.strerror}") from None


def check_report_target(path: str | os.PathLike[str]) -> Path:
    """The path, where a report can be called so; KernelcastError otherwise."""
    target = Path(path)
    if target.suffix.lower() not in _SUFFIXES:
        raise KernelcastError(f"{target}: reports are written as {' or '.join(_SUFFIXES)}")
    if not target.parent.is_dir():
        raise KernelcastError(f"{target}: there is no folder {target.parent}")
    return target


def report_records(found: Sequence[Explained]) -> list[dict[str, Any]]:
    """The record of each kernel, as `estimate --json -v` prints it."""
    from kernelcast.report.details.record import details_record, versions_record
    from kernelcast.report.records import estimates_record

    records = []
    for kernel in dict.fromkeys(estimate.kernel for estimate, _ in found):
        of_kernel = [item for item in found if item[0].kernel == kernel]
        details = [
            details_record(estimate, profile, _device(estimate, profile))
            for estimate, profile in of_kernel
        ]
        record = estimates_record(kernel, [estimate for estimate, _ in of_kernel], details)
        records.append({**record, "versions": versions_record()})
    return records


def _page(
    found: Sequence[Explained],
    before: Sequence[Recorded] | None,
    program: Overview | None = None,
) -> str:
    from kernelcast.report.html.report import report_page
    from kernelcast.report.summary import answer

    records = report_records(found)
    answers = [
        answer([estimate for estimate, _ in found if estimate.kernel == record["kernel"]])
        for record in records
    ]
    return report_page(records, answers, _comparison(records, before), program)


def _comparison(records: Iterable[dict[str, Any]], before: Sequence[Recorded] | None) -> Any:
    """A table of before and now; None without a baseline."""
    if before is None:
        return None
    from kernelcast.comparison.comparison import compared
    from kernelcast.comparison.records import recorded
    from kernelcast.report.comparison import comparison_table

    now = [item for record in records for item in recorded(record)]
    return comparison_table(compared(before, now), (), None)


def _paired(estimates: Iterable[Estimate], profiles: Iterable[KernelProfile]) -> list[Explained]:
    first, second = list(estimates), list(profiles)
    if not first or len(first) != len(second):
        raise KernelcastError(
            f"a report is made of estimates, each with its profile: {len(first)} estimates and "
            f"{len(second)} profiles are given"
        )
    return list(zip(first, second, strict=True))


def _device(estimate: Estimate, profile: KernelProfile) -> Device:
    from kernelcast.simcore.device.file import load_device

    target = profile.target
    if target is not None and target.name == estimate.device:
        return target
    return load_device(estimate.device)
