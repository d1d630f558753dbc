"""`kernelcast sweep`: kernels x launches x devices x changed devices x models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from kernelcast.cli import options
from kernelcast.cli.pages import write_page
from kernelcast.cli.terminal import show_line, show_progress, show_result
from kernelcast.errors import InputError
from kernelcast.progress import tell
from kernelcast.report import records
from kernelcast.report.studies import run as report

__all__ = ["app"]


class _Commands(TyperGroup):
    """Takes the name of a plan for `run` of it."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        named = args if args[0] in self.commands else ["run", *args]
        return super().resolve_command(ctx, named)


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    help="Estimate kernels x launches x GPUs x changed GPUs x models: `sweep PLAN.toml`.",
)

Folder = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Folder of the results; default: the plan's name without .toml.",
        metavar="FOLDER",
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say how much there is to do, and for how long; do none.")
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        help="Compute on a Dask cluster; its workers are started by `dask worker ADDRESS`.",
        metavar="tcp://HOST:PORT",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", help="Processes. Default: one for each core.", metavar="N", min=1),
]


@app.command("run")
def run_sweep(
    plan: Annotated[Path, typer.Argument(metavar="PLAN.toml", help="What is swept.")],
    output: Folder = None,
    dry_run: DryRun = False,
    scheduler: Scheduler = None,
    jobs: Jobs = None,
    json: options.Json = False,
) -> None:
    """Compute what the folder does not have yet, and say what came out.

    The folder is a Parquet data set. A sweep that was ended, however that was, goes on with the
    same command, and computes nothing again. Exit status 1: there is no point with a time.
    """
    from kernelcast.studies.sweep import Sweep

    sweep = Sweep.read(plan)
    folder = plan.with_suffix("") if output is None else output
    if dry_run:
        found = sweep.forecast(folder)
        show_result(
            json=json,
            csv=False,
            record=lambda: report.forecast_record(found),
            rows=list,
            report=lambda: report.forecast_text(found, jobs),
        )
        return
    with show_progress("sweep") as progress:
        told = None if progress is None else tell
        result = sweep.run(folder, jobs=jobs, scheduler=scheduler, progress=told)
    if json:
        show_line(records.to_json(report.run_record(result)))
    else:
        show_result(
            json=False,
            csv=False,
            record=dict,
            rows=list,
            report=lambda: report.run_text(result),
        )
    if not result.good:
        raise typer.Exit(1)


@app.command("report")
def report_sweep(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="What a sweep has left.")],
    html: Annotated[
        Path | None, typer.Option(help="Write a page with charts.", metavar="FILE")
    ] = None,
    verbose: options.Verbose = 0,
    json: options.Json = False,
) -> None:
    """What a sweep says: fastest GPUs, what moves the time, which change pays, Pareto fronts."""
    from kernelcast.report.studies.findings import study_record, study_text
    from kernelcast.studies.data_set import read_result

    result = read_result(folder)
    if not result.good:
        raise InputError(f"{folder}: no point of the sweep has a time")
    if html is not None:
        from kernelcast.report.studies.page import study_page

        write_page(html, study_page(result))
    show_result(
        json=json,
        csv=False,
        record=lambda: study_record(result),
        rows=list,
        report=lambda: study_text(result, verbose),
    )
