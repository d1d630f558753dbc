"""The options of `kernelcast capture`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kernelcast.cli.completion import device_names

__all__ = [
    "Clock",
    "Devices",
    "Every",
    "Fast",
    "HostTime",
    "Launch",
    "LimitSeconds",
    "Output",
    "ProgramCommand",
    "Report",
    "Trace",
    "WorkloadFile",
]

ProgramCommand = Annotated[
    list[str],
    typer.Argument(
        help="The program and its arguments, or a recording.", metavar="-- PROGRAM ARGS"
    ),
]
Devices = Annotated[
    list[str] | None,
    typer.Option(
        "--device",
        help="Estimate on it; repeatable. The program sees the first one. Default: a100-40gb.",
        metavar="D",
        autocompletion=device_names,
    ),
]
Clock = Annotated[
    bool,
    typer.Option(
        "--clock", help="Clocks that the program reads tell the time on the first device, too."
    ),
]
Every = Annotated[
    bool, typer.Option("--every", help="Estimate each launch, repeats too. It takes long.")
]
Fast = Annotated[
    bool,
    typer.Option(
        "--fast",
        help="Do not execute repeats whose time is known. What they compute is missing: exit "
        "status 1 if the program reads results after them.",
    ),
]
HostTime = Annotated[
    bool,
    typer.Option(
        "--host-time", help="Count the time that the program itself takes between its calls."
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Write the report as JSON, or a recording where FILE ends with .kcrec.",
        metavar="FILE",
    ),
]
Trace = Annotated[
    Path | None,
    typer.Option(
        "--trace",
        help="Write the time line for Perfetto or Chrome (chrome://tracing).",
        metavar="FILE.json",
    ),
]
Report = Annotated[
    Path | None,
    typer.Option(
        "--report",
        help="Write a page about the program, HTML: totals, time by kernel, time line, and of the "
        "kernels that take longest what `estimate --report` tells.",
        metavar="FILE.html",
    ),
]
LimitSeconds = Annotated[
    float | None,
    typer.Option(
        "--limit-seconds",
        help="Stop a launch that runs longer; default none.",
        metavar="S",
        min=0.0,
    ),
]
Launch = Annotated[
    int | None,
    typer.Option("--launch", help="Write launch N, from 0 on, to --workload.", metavar="N", min=0),
]
WorkloadFile = Annotated[
    Path | None,
    typer.Option(
        "--workload",
        help="The workload file to write; code and memory of the launch lie beside it.",
        metavar="FILE.toml",
    ),
]
