"""`kernelcast capture`: runs a program and estimates its launches."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kernelcast.capture.capturing import CaptureOptions
from kernelcast.capture.capturing import capture as run_captured
from kernelcast.capture.extraction import Extraction
from kernelcast.capture.recording import RECORDING_SUFFIX
from kernelcast.capture.replay import ReplayOptions, replay
from kernelcast.cli import options
from kernelcast.cli.terminal import show, show_error, show_line
from kernelcast.errors import InputError
from kernelcast.report import records
from kernelcast.report.capture import capture_record, capture_report

__all__ = ["capture"]

_USUAL_DEVICE = "a100-40gb"


def capture(
    program: Annotated[
        list[str],
        typer.Argument(
            help="The program and its arguments, or a recording.", metavar="-- PROGRAM ARGS"
        ),
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
        typer.Option(
            "--output",
            "-o",
            help="Write the report as JSON, or a recording where FILE ends with .kcrec.",
            metavar="FILE",
        ),
    ] = None,
    launch: Annotated[
        int | None,
        typer.Option(help="Write launch N, from 0 on, to --workload.", metavar="N", min=0),
    ] = None,
    workload: Annotated[
        Path | None,
        typer.Option(
            help="The workload file to write; code and memory of the launch lie beside it.",
            metavar="FILE.toml",
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Run an unmodified program without a GPU, and estimate all of its launches.

    The program's CUDA libraries are replaced; its kernels run on the CPU, so that its results are
    right. It must have been built with a shared CUDA runtime, as `kernelcast build -- make` does.

    A recording in place of the program is answered again, for other GPUs say.

    Exit status 1: the program failed, or a launch did.
    """
    devices = options.named_devices(device or [_USUAL_DEVICE])
    extraction = _extraction(launch, workload)
    is_recording = output is not None and output.suffix == RECORDING_SUFFIX
    if Path(program[0]).suffix == RECORDING_SUFFIX:
        replayed = ReplayOptions(code=code, every=every, tell=show_error, before_launch=extraction)
        result = replay(Path(program[0]), devices, replayed)
    else:
        captured = CaptureOptions(
            code=code,
            every=every,
            is_host_timed=host_time,
            is_quiet=json,
            recording=output if is_recording else None,
            tell=show_error,
            before_launch=extraction,
        )
        result = run_captured(program, devices, captured)
    if output is not None and not is_recording:
        output.write_text(records.to_json(capture_record(result)) + "\n")
    if json:
        show_line(records.to_json(capture_record(result)))
    else:
        show(capture_report(result))
    if extraction is not None and not extraction.is_done:
        raise InputError(f"there is no launch {extraction.number}: nothing was written")
    if result.status or result.failed:
        raise typer.Exit(1)


def _extraction(launch: int | None, workload: Path | None) -> Extraction | None:
    if (launch is None) != (workload is None):
        raise InputError("--launch says which launch is written to --workload: give both")
    return None if launch is None or workload is None else Extraction(launch, workload)
