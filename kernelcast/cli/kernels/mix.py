"""`kernelcast mix`: which instructions a kernel executes, and how often."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

import kernelcast as kc
from kernelcast.cli import options
from kernelcast.cli.completion import device_names
from kernelcast.cli.option_bundles import ExecutionOptions, OutputOptions, bundled
from kernelcast.execution.instruction_mix import Counting, instruction_mix
from kernelcast.report import records, text

__all__ = ["mix"]


@bundled
def mix(
    workload: options.WorkloadOrTrace,
    device: Annotated[
        str | None,
        typer.Option(
            help="GPU whose machine code is counted, by name or device file.",
            metavar="D",
            autocompletion=device_names,
        ),
    ] = None,
    counting: Annotated[
        Counting,
        typer.Option(
            help="plain: instructions as they are spelled; merged: those of PTX and LLVM IR by "
            "rules for what an assembler folds and merges."
        ),
    ] = Counting.PLAIN,
    *,
    how: ExecutionOptions,
    output: OutputOptions,
) -> None:
    """Dynamic instruction histogram: executions by thread and by warp.

    With --device it is that of the GPU's machine code where it can be had (see --code).
    """
    target = None if device is None else kc.device(device)
    trace = how.execution(target=target).trace(workload, record_memory=False)
    found = replace(instruction_mix(trace.data, counting), note=" ".join(trace.notes.values()))
    output.show(
        record=lambda: records.mix_record(found, trace.data.engine, trace.data.elapsed_s),
        rows=lambda: records.mix_rows(found),
        report=lambda: text.mix_table(found, how.verbose),
    )
