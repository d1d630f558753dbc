"""`kernelcast check`: races, uninitialised reads and other defects of a launch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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


def check(
    checked: _Checked,
    size: options.Size = None,
    schedules: Annotated[
        int,
        typer.Option(
            help="Orders of thread blocks and warps to try: as they are, reversed, random ones.",
            metavar="N",
            min=1,
        ),
    ] = 1,
    seed: Annotated[int, typer.Option(help="What random orders come from.", metavar="N")] = 0,
    suppressions: Annotated[
        Path | None,
        typer.Option(help="Lines KIND [KERNEL [FILE:LINE]] of what is accepted.", metavar="FILE"),
    ] = None,
    unwritten: Annotated[
        list[str] | None,
        typer.Option(
            help="A buffer, or a pattern of names, that holds nothing yet: reads of it are found.",
            metavar="NAME",
        ),
    ] = None,
    not_finite: Annotated[
        bool, typer.Option("--not-finite", help="Find where NaN and infinity are born, too.")
    ] = False,
    overflow: Annotated[
        bool,
        typer.Option("--overflow", help="Find indices of 32 bits that wrap around, too."),
    ] = False,
    limit_seconds: options.LimitSeconds = None,
    limit_instructions: options.LimitInstructions = None,
    json: options.Json = False,
    sarif: Annotated[bool, typer.Option("--sarif", help="Print SARIF 2.1.0.")] = False,
) -> None:
    """Follow each access of a launch: races, uninitialised reads, barriers, bounds.

    A program runs without a GPU, as under `kernelcast capture`; a recording may stand for it.

    Exit status 1 when there are errors; races of equal values are only noted.
    """
    if json and sarif:
        raise KernelcastError("--json and --sarif exclude each other")
    is_workload = len(checked) == 1 and Path(checked[0]).suffix == _WORKLOAD
    if size and not is_workload:
        raise KernelcastError("--size is of a workload file: a program says its sizes itself")
    with show_progress(f"checking {Path(checked[0]).name}") as progress:
        chosen = kc.CheckOptions(
            schedules=schedules,
            seed=seed,
            suppressions=suppressions or (),
            unwritten=unwritten or (),
            not_finite=not_finite,
            overflow=overflow,
            limits=options.limits(limit_seconds, limit_instructions),
            progress=progress if is_workload else None,
        )
        if is_workload:
            report = kc.check(checked[0], size, options=chosen)
        else:
            program = kc.check_program(checked, options=chosen)
    reports: tuple[kc.CheckReport, ...]
    if is_workload:
        reports, record, text = (report,), check_record(report), check_text(report)
    else:
        reports, record = program.reports, program_check_record(program)
        text = program_check_text(program)
    if sarif:
        show_line(records.to_json(check_sarif(*reports)))
    else:
        show_line(records.to_json(record) if json else text)
    if not all(item.is_clean for item in reports):
        raise typer.Exit(1)
