"""`kernelcast profile`: the counters that a profiler would report."""

from __future__ import annotations

from typing import Annotated

import typer

import kernelcast as kc
from kernelcast.cli import options
from kernelcast.cli.completion import device_names
from kernelcast.cli.option_bundles import ExecutionOptions, OutputOptions, bundled
from kernelcast.report import records, text
from kernelcast.simcore.profile.metric_names import Naming
from kernelcast.simcore.profile.metric_names import metrics as named_metrics

__all__ = ["profile"]


@bundled
def profile(
    workload: options.WorkloadOrTrace,
    device: Annotated[
        str,
        typer.Option(
            help="GPU, by name or device file.",
            metavar="D",
            autocompletion=device_names,
            show_default=False,
        ),
    ],
    metrics: Annotated[
        Naming, typer.Option(help="Whose names the counters carry.")
    ] = Naming.NVPROF,
    *,
    how: ExecutionOptions,
    output: OutputOptions,
) -> None:
    """The counters of one launch on a GPU, under a profiler's names."""
    target = kc.device(device)
    found = how.execution().trace(workload, [target]).profile(target)
    named = named_metrics(found, metrics)
    output.show(
        record=lambda: records.profile_record(found, named),
        rows=lambda: records.metric_rows(named),
        report=lambda: text.profile_table(found, named, how.verbose),
    )
