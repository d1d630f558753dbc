"""`kernelcast mix`: which instructions a kernel executes, and how often."""

from __future__ import annotations

from typing import Annotated

import typer

from kernelcast.cli import options
from kernelcast.cli.option_bundles import OutputOptions, bundled
from kernelcast.cli.trace_source import Execution
from kernelcast.execution.instruction_mix import MixIsa, instruction_mix
from kernelcast.report import records, text

__all__ = ["mix"]


@bundled
def mix(
    workload: options.WorkloadOrTrace,
    isa: Annotated[
        MixIsa,
        typer.Option(
            help="source: as PTX spells them; native: as machine code counts them "
            "(folded moves left out, neighbouring accesses merged)."
        ),
    ] = MixIsa.SOURCE,
    size: options.Size = None,
    engine: options.Engine = options.EngineName.AUTO,
    limit_seconds: options.LimitSeconds = None,
    limit_instructions: options.LimitInstructions = None,
    exact: options.Exact = False,
    sample: options.Sample = False,
    *,
    output: OutputOptions,
) -> None:
    """Dynamic instruction histogram: executions by thread and by warp."""
    sampling = options.sampling(exact=exact, sample=sample)
    execution = Execution(size, None, engine, limit_seconds, limit_instructions, sampling=sampling)
    trace = execution.trace(workload, record_memory=False)
    found = instruction_mix(trace.data, isa)
    output.show(
        record=lambda: records.mix_record(found, trace.data.engine, trace.data.elapsed_s),
        rows=lambda: records.mix_rows(found),
        report=lambda: text.mix_table(found),
    )
