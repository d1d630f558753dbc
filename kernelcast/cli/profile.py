"""`kernelcast profile`: the counters that a profiler would report."""

from __future__ import annotations

from typing import Annotated

import typer

import kernelcast as kc
from kernelcast.cli import options
from kernelcast.cli.terminal import show_result
from kernelcast.cli.trace_source import Execution
from kernelcast.report import records, text
from kernelcast.simcore.metric_names import Naming
from kernelcast.simcore.metric_names import metrics as named_metrics

__all__ = ["profile"]


def profile(
    workload: options.WorkloadOrTrace,
    device: Annotated[
        str, typer.Option(help="GPU, by name or device file.", metavar="D", show_default=False)
    ],
    metrics: Annotated[
        Naming, typer.Option(help="Whose names the counters carry.")
    ] = Naming.NVPROF,
    size: options.Size = None,
    registers: options.Registers = None,
    engine: options.Engine = options.EngineName.AUTO,
    limit_seconds: options.LimitSeconds = None,
    limit_instructions: options.LimitInstructions = None,
    exact: options.Exact = False,
    sample: options.Sample = False,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """The counters of one launch on a GPU, under a profiler's names."""
    target = kc.device(device)
    sampling = options.sampling(exact=exact, sample=sample)
    execution = Execution(
        size, registers, engine, limit_seconds, limit_instructions, sampling=sampling
    )
    found = execution.trace(workload, [target]).profile(target)
    named = named_metrics(found, metrics)
    show_result(
        json=json,
        csv=csv,
        record=lambda: records.profile_record(found, named),
        rows=lambda: records.metric_rows(named),
        report=lambda: text.profile_table(found, named),
    )
