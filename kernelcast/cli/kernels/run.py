"""`kernelcast run`: executes a workload and compares its buffers with NumPy."""

from __future__ import annotations

from typing import Annotated

import typer

import kernelcast as kc
from kernelcast.cli import options
from kernelcast.cli.completion import device_names
from kernelcast.cli.terminal import show, show_line, show_progress
from kernelcast.report import records, text

__all__ = ["run"]


def run(
    workload: options.WorkloadPath,
    check: Annotated[
        bool, typer.Option("--check", help="Compare the buffers with the workload's reference.")
    ] = False,
    size: options.Size = None,
    engine: options.Engine = options.EngineName.AUTO,
    limit_seconds: options.LimitSeconds = None,
    limit_instructions: options.LimitInstructions = None,
    exact: options.AlwaysExact = False,
    code: options.CodeChoice = None,
    device: Annotated[
        str | None,
        typer.Option(
            help="GPU whose machine code is executed, with --code.",
            metavar="D",
            autocompletion=device_names,
        ),
    ] = None,
    exact_sums: Annotated[
        bool,
        typer.Option(help="Matrix instructions add up exactly and round once, as no GPU does."),
    ] = False,
    json: options.Json = False,
) -> None:
    """Execute a kernel on the CPU. Exit status 1 when --check finds a difference."""
    loaded = kc.load_workload(workload)
    options.note_engine(engine)
    limits = options.limits(limit_seconds, limit_instructions)
    with show_progress("executing") as progress:
        executed = kc.RunOptions(
            limits=limits,
            engine=engine.value,
            progress=progress,
            record_memory=False,
            exact_sums=exact_sums,
            code=code,
            target=None if device is None else kc.device(device),
            store=False,  # the command is there to execute
        )
        if check:
            result = loaded.run_check(size, options=executed)
        else:
            trace = loaded.run(size, options=executed)
    if not check:
        record = records.run_record(trace)
        show_line(records.to_json(record)) if json else show(text.run_line(trace))
        return
    show_line(records.to_json(records.check_record(result))) if json else show(
        text.check_report(result)
    )
    if not result.passed:
        raise typer.Exit(1)
