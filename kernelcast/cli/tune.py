"""`kernelcast tune`: variants of a workload, compiled and estimated one by one."""

from __future__ import annotations

import os
from typing import Annotated, TypeAlias

import typer

from kernelcast.cli import options
from kernelcast.cli.completion import model_names
from kernelcast.cli.option_bundles import ExecutionOptions, OutputOptions, bundled
from kernelcast.cli.terminal import show_progress
from kernelcast.execution.run_options import RunOptions

__all__ = ["tune"]

Vary: TypeAlias = Annotated[
    list[str],
    typer.Option(
        help="TILE=16,32 for a preprocessor define and the size of that name, block=16x16,32x8 for "
        "thread blocks. May be repeated; all combinations are tried.",
        metavar="NAME=V1,V2,...",
    ),
]
Model: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Performance model. Default: that of `estimate`.",
        metavar="M",
        autocompletion=model_names,
    ),
]
Quick: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--quick",
        help="Estimate only the variant that a few thread blocks of each find fastest.",
    ),
]


@bundled
def tune(
    workload: options.WorkloadPath,
    vary: Vary,
    device: options.Devices = None,
    model: Model = None,
    processes: options.Processes = None,
    quick: Quick = False,
    *,
    how: ExecutionOptions,
    output: OutputOptions,
) -> None:
    """Order variants of a workload by predicted time: defines, sizes and thread blocks.

    Exit status 1 when a GPU can run none of them.
    """
    from kernelcast.ranking.variants import VariantOptions, split_variants, tune_workload
    from kernelcast.report import variants as report

    targets = options.named_devices(device)
    chosen = VariantOptions(
        model=model,
        size=how.size,
        run=RunOptions(
            registers=how.registers,
            engine=how.engine.value,
            limits=how.limits,
            sampling=how.sampling,
            code=how.code,
            caches=how.caches,
            store=not how.no_store,
        ),
        processes=processes or os.cpu_count() or 1,
        exhaustive=not quick,
    )
    values = split_variants(vary)
    found = []
    for target in targets:
        with show_progress(f"tuning for {target.name}") as progress:
            found.append(tune_workload(workload, target, values, chosen, progress))
    output.show(
        record=lambda: report.tuning_record(found),
        rows=lambda: report.tuning_rows(found),
        report=lambda: report.tuning_table(found),
    )
    if not all(item.rows for item in found):
        raise typer.Exit(1)
