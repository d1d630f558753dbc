"""`kernelcast rank`: which thread blocks and foldings are worth trying, nothing compiled yet."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

import kernelcast as kc
from kernelcast.cli import options
from kernelcast.cli.completion import model_names
from kernelcast.cli.option_bundles import ExecutionOptions, OutputOptions, bundled
from kernelcast.cli.terminal import show_error, show_progress
from kernelcast.ranking.variations import split_variations

__all__ = ["rank"]

_TOP = 12

Kernel: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="KERNEL",
        help="A workload file, a file of addresses, or one line: "
        r"'b\[y, x] = a\[y, x - 1..1]; domain = 512x512'.",
    ),
]
Vary: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        help="block=16x2x32,32x4x8, block=product=1024 (powers of two), block=powers, block=all; "
        "folding=none,2y,2z. May be repeated.",
        metavar="NAME=V1,V2,...",
    ),
]
Models: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Performance model. Default: warpspeed; of a workload whose addresses are not affine, "
        "the model of `estimate`, which executes every configuration.",
        metavar="M",
        autocompletion=model_names,
    ),
]
Top: TypeAlias = Annotated[
    int, typer.Option(help="Rows of the table; 0 shows all.", metavar="N", min=0)
]
Resume: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Keep predictions in this file, and take from it what is there: an interrupted sweep "
        "goes on where it was.",
        metavar="FILE",
    ),
]
Plot: TypeAlias = Annotated[
    Path | None, typer.Option(help="Write a heat map, PNG or SVG.", metavar="FILE")
]
Check: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--check",
        help="Size of the workload in which every configuration must reproduce the reference.",
        metavar="NAME",
    ),
]


@bundled
def rank(
    kernel: Kernel,
    device: options.Devices = None,
    vary: Vary = None,
    model: Models = None,
    top: Top = _TOP,
    plot: Plot = None,
    resume: Resume = None,
    processes: options.Processes = None,
    check: Check = None,
    *,
    how: ExecutionOptions,
    output: OutputOptions,
) -> None:
    """Order the launch configurations of a kernel by predicted time, with what limits each.

    Exit status 1 when a GPU can run none of them.
    """
    from kernelcast.ranking.launches import RankOptions, rank_kernel
    from kernelcast.report import rank as rank_report

    targets = options.named_devices(device)
    varied = split_variations(vary or ("block=powers",))
    if plot is not None:
        _check_plot(plot)
    chosen = RankOptions(
        model=model,
        size=how.size,
        registers=how.registers,
        engine=how.engine.value,
        limits=how.limits,
        sampling=how.sampling,
        checked_size=check,
        processes=processes or os.cpu_count() or 1,
        store=resume,
        code=how.code,
    )
    try:
        with show_progress("ranking") as progress:
            rankings = rank_kernel(kernel, targets, varied, chosen, progress)
    except KeyboardInterrupt:
        if resume is not None:
            show_error(f"what was predicted is in {resume}: the same command goes on from there")
        raise
    if plot is not None:
        _write_plot(plot, rankings)
    output.show(
        record=lambda: rank_report.rank_record(rankings),
        rows=lambda: rank_report.rank_rows(rankings),
        report=lambda: rank_report.rank_table(rankings, top, how.verbose),
    )
    if not all(ranking.rows for ranking in rankings):
        raise typer.Exit(1)


def _check_plot(path: Path) -> None:
    from kernelcast.report.plots.estimates import check_target

    check_target(path)


def _write_plot(path: Path, rankings: tuple[kc.Ranking, ...]) -> None:
    # matplotlib takes a second to import, and only plots need it.
    from kernelcast.report.plots.estimates import save
    from kernelcast.report.plots.rank import rank_plot

    save(rank_plot(rankings), path)
