"""`kernelcast check`: races, uninitialised reads and other defects of a launch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

import kernelcast as kc
from kernelcast.cli import options
from kernelcast.cli.terminal import show_line, show_progress
from kernelcast.errors import KernelcastError
from kernelcast.report import records
from kernelcast.report.checks.records import check_record, program_check_record
from kernelcast.report.checks.sarif import check_sarif
from kernelcast.report.checks.text import check_text, program_check_text

__all__ = ["check"]

_WORKLOAD = ".toml"


_Checked = Annotated[
    list[str],
    typer.Argument(
        metavar="WORKLOAD.toml | -- PROGRAM ARGS",
        help="Kernel, launch and arguments; or a program, whose launches are all checked.",
    ),
]


_Schedules = Annotated[
    int,
    typer.Option(
        help="Orders of thread blocks and warps to try: as they are, reversed, random ones.",
        metavar="N",
        min=1,
    ),
]
_Seed = Annotated[int, typer.Option(help="What random orders come from.", metavar="N")]
_Suppressions = Annotated[
    Path | None,
    typer.Option(help="Lines KIND [KERNEL [FILE:LINE]] of what is accepted.", metavar="FILE"),
]
_Unwritten = Annotated[
    list[str] | None,
    typer.Option(
        help="A buffer, or a pattern of names, that holds nothing yet: reads of it are found.",
        metavar="NAME",
    ),
]
_NotFinite = Annotated[
    bool, typer.Option("--not-finite", help="Find where NaN and infinity are born, too.")
]
_Overflow = Annotated[
    bool,
    typer.Option(
        "--overflow", help="Find indices of 32 bits that wrap around on their way into addresses."
    ),
]
_Sarif = Annotated[bool, typer.Option("--sarif", help="Print SARIF 2.1.0.")]


def check(
    checked: _Checked,
    size: options.Size = None,
    schedules: _Schedules = 1,
    seed: _Seed = 0,
    suppressions: _Suppressions = None,
    unwritten: _Unwritten = None,
    not_finite: _NotFinite = False,
    overflow: _Overflow = False,
    limit_seconds: options.LimitSeconds = None,
    limit_instructions: options.LimitInstructions = None,
    json: options.Json = False,
    sarif: _Sarif = False,
) -> None:
    """Follow each access of a launch: races, uninitialised reads, barriers, bounds.

    A program runs without a GPU, as under `kernelcast capture`; a recording may stand for it.

    Exit status 1 when there are errors; races of equal values are only noted.
    """
    if json and sarif:
        raise KernelcastError("--json and --sarif exclude each other")
    chosen = kc.CheckOptions(
        schedules=schedules,
        seed=seed,
        suppressions=suppressions or (),
        unwritten=unwritten or (),
        not_finite=not_finite,
        overflow=overflow,
        limits=options.limits(limit_seconds, limit_instructions),
    )
    reports, record, text = _found(checked, size, chosen)
    if sarif:
        show_line(records.to_json(check_sarif(*reports)))
    else:
        show_line(records.to_json(record) if json else text)
    if not all(item.is_clean for item in reports):
        raise typer.Exit(1)


def _found(
    checked: Sequence[str], size: str | None, chosen: kc.CheckOptions
) -> tuple[tuple[kc.CheckReport, ...], dict[str, Any], str]:
    """The report of a workload, or those of a program's kernels; as a record, and as text."""
    is_workload = len(checked) == 1 and Path(checked[0]).suffix == _WORKLOAD
    if size and not is_workload:
        raise KernelcastError("--size is of a workload file: a program says its sizes itself")
    with show_progress(f"checking {Path(checked[0]).name}") as progress:
        if is_workload:
            report = kc.check(checked[0], size, options=replace(chosen, progress=progress))
            return (report,), check_record(report), check_text(report)
        program = kc.check_program(checked, options=chosen)
    return program.reports, program_check_record(program), program_check_text(program)
