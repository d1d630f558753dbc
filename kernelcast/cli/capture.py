"""`kernelcast capture`: runs a program and estimates its launches."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kernelcast.cli import options
from kernelcast.cli.terminal import show, show_error, show_line
from kernelcast.report import records
from kernelcast.report.capture import capture_record, capture_report

__all__ = ["capture"]


def capture(
    program: Annotated[
        list[str], typer.Argument(help="The program and its arguments.", metavar="-- PROGRAM ARGS")
    ],
    device: Annotated[
        list[str] | None,
        typer.Option(
            help="Estimate on it; repeatable. The program sees the first one. Default: a100-40gb.",
            metavar="D",
        ),
    ] = None,
    code: options.CodeChoice = None,
    every: Annotated[
        bool, typer.Option(help="Estimate each launch, repeats too. It takes long.")
    ] = False,
    host_time: Annotated[
        bool,
        typer.Option(help="Count the time that the program itself takes between its calls."),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the JSON of the report.", metavar="FILE"),
    ] = None,
    json: options.Json = False,
) -> None:
    """Run an unmodified program without a GPU, and estimate all of its launches.

    The program's CUDA libraries are replaced; its kernels run on the CPU, so that its results are
    right. It must have been built with a shared CUDA runtime, as `kernelcast build -- make` does.

    Exit status 1: the program failed, or a launch did.
    """
    from kernelcast.capture.capturing import CaptureOptions
    from kernelcast.capture.capturing import capture as run_captured

    devices = options.named_devices(device or ["a100-40gb"])
    chosen = CaptureOptions(
        code=code,
        every=every,
        is_host_timed=host_time,
        is_quiet=json,
        tell=lambda line: show_error(line),
    )
    result = run_captured(program, devices, chosen)
    if output is not None:
        output.write_text(records.to_json(capture_record(result)) + "\n")
    if json:
        show_line(records.to_json(capture_record(result)))
    else:
        show(capture_report(result))
    if result.status or result.failed:
        raise typer.Exit(1)
