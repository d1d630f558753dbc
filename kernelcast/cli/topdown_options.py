"""The options that only `kernelcast topdown` has."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from kernelcast.cli.completion import device_names

__all__ = [
    "Chart",
    "ChartKind",
    "ComputeCapability",
    "GpuName",
    "Kernel",
    "Level",
    "Metrics",
    "PerInvocation",
    "Plot",
    "Strict",
]

_METRICS = "From a profiler's file instead of execution"


class ChartKind(Enum):
    """How a plot shows the parts; BARS has a bar for each kernel."""

    BARS = "bars"
    SUNBURST = "sunburst"


GpuName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="GPU, of the metrics too, by name or device file.",
        metavar="D",
        autocompletion=device_names,
    ),
]
Level: TypeAlias = Annotated[int, typer.Option(help="Levels of the hierarchy.", min=1, max=3)]
Plot: TypeAlias = Annotated[
    Path | None, typer.Option(help="Write a plot, PNG or SVG.", metavar="FILE")
]
Chart: TypeAlias = Annotated[ChartKind, typer.Option(help="What the plot is.")]
Metrics: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="nvprof or ncu CSV, or metric,value.", metavar="M.csv", rich_help_panel=_METRICS
    ),
]
ComputeCapability: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Instead of --device: where the file was measured, if it does not tell.",
        metavar="X.Y",
        rich_help_panel=_METRICS,
    ),
]
Kernel: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Which kernel of the file; default: all.", metavar="K", rich_help_panel=_METRICS
    ),
]
Strict: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Add up the metrics as the thesis prints it: three stay unattributed.",
        rich_help_panel=_METRICS,
    ),
]
PerInvocation: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--per-invocation",
        help="Each launch too; the plot shows their evolution.",
        rich_help_panel=_METRICS,
    ),
]
