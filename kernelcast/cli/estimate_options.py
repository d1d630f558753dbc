"""The options that only `kernelcast estimate` has."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer
from rich.text import Text

import kernelcast as kc
from kernelcast.cli.completion import device_names, model_names
from kernelcast.cli.options import counted
from kernelcast.cli.terminal import show
from kernelcast.defaults import DEFAULT_MODEL
from kernelcast.glossary import explained
from kernelcast.models import built_in_variants
from kernelcast.report.summary import glossary_table

__all__ = [
    "Baseline",
    "Explain",
    "Kernel",
    "Measured",
    "MeasuredOn",
    "Metrics",
    "Models",
    "Plot",
    "ReferenceTime",
    "Repeats",
    "Report",
    "Variant",
    "WorkType",
]


def _explain(word: str | None) -> None:
    if word is None:
        return
    show(glossary_table() if word == "list" else Text(explained(word)))
    raise typer.Exit


_METRICS = "From a profiler's file instead of execution"

Models: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        help=f"Performance model; may be repeated. Default: {DEFAULT_MODEL}; with --plot "
        "quantitative-roofline.",
        metavar="M",
        autocompletion=model_names,
    ),
]
Explain: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Say what a word of the answer means, `list` for all of them; nothing is estimated.",
        metavar="WORD",
        is_eager=True,
        callback=_explain,
    ),
]
WorkType: TypeAlias = Annotated[
    kc.WorkType | None,
    typer.Option("--type", help="Which operations count as useful work. Default: the widest."),
]
Variant: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Another reading of the model's paper: "
        + ", ".join(
            f"`{reading}` of {model}"
            for model, readings in built_in_variants().items()
            for reading in readings
        )
        + ".",
        metavar="V",
    ),
]
ReferenceTime: TypeAlias = Annotated[
    float | None,
    typer.Option(
        help="Measured time of all launches on the GPU of --measured-on (default: the first "
        "--device): corrects the others by E_util.",
        metavar="S",
    ),
]
MeasuredOn: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="GPU of the metrics or of the reference time.",
        metavar="D",
        autocompletion=device_names,
    ),
]
Measured: TypeAlias = Annotated[
    float | None,
    typer.Option(help="Measured time on the first --device, a point in the plot.", metavar="S"),
]
Plot: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Write a plot, PNG or SVG: quadrant split (several GPUs share the profile of the "
        "first), roofline with --model roofline, where the time goes with --model interval.",
        metavar="FILE",
    ),
]
Report: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Write a page about the estimates, HTML: roofline, memory, stalls, annotated source.",
        metavar="FILE",
    ),
]
Baseline: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Estimates from before, of `estimate --json`, beside which --report sets these.",
        metavar="FILE",
    ),
]
Metrics: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="nvprof, ncu or rocprof CSV, or metric,value.",
        metavar="M.csv",
        rich_help_panel=_METRICS,
    ),
]
Kernel: TypeAlias = Annotated[
    str | None,
    typer.Option(help="Which kernel of the file.", metavar="K", rich_help_panel=_METRICS),
]
Repeats: TypeAlias = Annotated[
    int | None, counted("Launches that the time covers; default 1.", _METRICS)
]
