"""`kernelcast validate thesis`, `papers` and `measured`: predicted times against measured ones."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelcast.cli.terminal import show_stages
from kernelcast.cli.validate.output import ValidationOutput
from kernelcast.execution.code import Code
from kernelcast.report.kernel_errors import kernel_errors
from kernelcast.report.validation import validation_record, validation_rows, validation_tables

if TYPE_CHECKING:
    from kernelcast.validation.comparison import TimeComparison
    from kernelcast.validation.report import ValidationReport

__all__ = ["TimesRequest", "show_times"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimesRequest:
    """What to validate: `suite` is `thesis`, `papers` or `measured`, by all models unless named.

    `table` is a set of published times, empty for none, and `sample` how many rows of each kernel
    and device are taken of it; `trust`: measurements may name workloads that run Python.
    `devices`: compare with what our own tools measured on these. `jobs`: rows at a time; None: one
    for each core.
    """

    suite: str
    models: Sequence[str]
    code: Code
    accept: bool
    trust: bool
    table: str
    sample: int | None
    devices: Sequence[str] = ()
    jobs: int | None = None


def show_times(request: TimesRequest, output: ValidationOutput) -> None:
    """Predicts, shows every error, and ends with what is wrong."""
    report = _report(request)
    explained, problems = _judged(report, request)
    if request.code is not Code.SOURCE or request.devices:
        problems = []  # explanations and baseline are of PTX, and of what others published
    tables = validation_tables(report, explained)
    output.show(
        f"kernelcast: {report.suite}",
        [kernel_errors(report), *tables] if request.table else tables,
        lambda: validation_record(report, explained),
        lambda: validation_rows(report, explained),
        report,
    )
    output.end_with(problems)


def _report(request: TimesRequest) -> ValidationReport:
    from kernelcast.models import get_model

    models, code, jobs = request.models, request.code, request.jobs or os.cpu_count() or 1
    for name in models:
        get_model(name)
    with show_stages() as progress:
        if request.suite == "papers":
            from kernelcast.validation.papers import validate_papers

            return validate_papers(models, progress=progress)
        if request.table:
            from kernelcast.validation.measured_tables import validate_table

            return validate_table(
                request.table,
                models,
                progress=progress,
                code=code,
                sample=request.sample,
                processes=jobs,
            )
        if request.suite == "measured":
            from kernelcast.trust import Trust
            from kernelcast.validation.measured import validate_measured

            trust = Trust.OWN if request.trust else Trust.FOREIGN
            return validate_measured(
                models,
                progress=progress,
                trust=trust,
                code=code,
                devices=request.devices,
                processes=jobs,
            )
        from kernelcast.validation.thesis import validate_thesis

        return validate_thesis(models, progress=progress, code=code)


def _judged(
    report: ValidationReport, request: TimesRequest
) -> tuple[dict[TimeComparison, str], list[str]]:
    """The explanation of each outlier, and what is wrong, a line each."""
    from kernelcast.validation import baseline
    from kernelcast.validation.outliers import explain, read_explanations

    explained = explain(report.suite, report.outliers, read_explanations())
    problems = [
        f"{point.kernel} on {point.device} by {point.model}: an error of {point.error:+.0%} "
        "without an explanation (validation/outliers.toml)"
        for point, number in explained.items()
        if not number and not point.is_calibration
    ]
    problems += [
        f"{item.kernel} on {item.device}: {item.metric} is {item.error:+.1%} off, outside of its "
        "tolerance"
        for item in report.counters_outside
    ]
    problems += [
        f"{item.paper}, {item.subject}: {item.figure} is {item.found}, not {item.printed} "
        f"({item.bound})"
        for item in report.figures_outside
    ]
    if request.accept:
        baseline.accept(report)
    elif request.sample is None and (not request.table or baseline.knows(report.suite)):
        moved = baseline.moved(report, models=request.models)
        problems += [f"{line}; --accept acknowledges it" for line in moved]
    return explained, problems
