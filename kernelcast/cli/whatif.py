"""`kernelcast whatif`: the same kernel on architectures that nobody has built."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

import kernelcast as kc
from kernelcast.cli import options
from kernelcast.cli.completion import device_names, model_names
from kernelcast.cli.option_bundles import ExecutionOptions, OutputOptions, bundled
from kernelcast.cli.trace_source import Execution
from kernelcast.errors import KernelcastError
from kernelcast.models import MODELS, needs_paths
from kernelcast.report import whatif as whatif_report

__all__ = ["whatif"]

Devices: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        help="GPU to change, by name or device file; may be repeated.",
        metavar="D",
        autocompletion=device_names,
    ),
]
Sets: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="A fact of the device file and its new value: sm.max_thread_blocks=16, "
        "architecture.clock_hz=1.2G, l1=none; may be repeated.",
        metavar="NAME=VALUE",
    ),
]
Sweeps: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--sweep",
        help="A fact and several values: sm.max_warps=16,32,48; several sweeps are combined.",
        metavar="NAME=V1,V2,...",
    ),
]
Models: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        help="Performance model; may be repeated. Default: all.",
        metavar="M",
        autocompletion=model_names,
    ),
]
WorkType: TypeAlias = Annotated[
    kc.WorkType | None,
    typer.Option("--type", help="Which operations count as useful work. Default: the widest."),
]
Plot: TypeAlias = Annotated[
    Path | None,
    typer.Option(help="Write a plot of the speed-ups, PNG or SVG.", metavar="FILE"),
]


@bundled
def whatif(
    workload: options.WorkloadOrTrace,
    device: Devices = None,
    changes: Sets = None,
    sweep: Sweeps = None,
    model: Models = None,
    work_type: WorkType = None,
    plot: Plot = None,
    *,
    how: ExecutionOptions,
    output: OutputOptions,
) -> None:
    """Predict the time of a kernel on a GPU with changed limits, clocks, caches or bandwidths.

    What depends on a changed fact is rescaled unless it is set as well; see docs/whatif.md.
    """
    from kernelcast.architectures import architectures, compare_architectures

    targets = options.named_devices(device)
    made = options.assignments(changes or (), "--set")
    swept = options.assignments(sweep or (), "--sweep")
    if not made and not swept:
        raise KernelcastError("name a change with --set NAME=VALUE or --sweep NAME=V1,V2")
    values = {name: _values(name, text) for name, text in swept.items()}
    found = [item for target in targets for item in architectures(target, made, values)]
    if plot is not None:
        _check_plot(plot)
    models = tuple(model or MODELS)
    execution = how.execution(record_paths=any(map(needs_paths, models)))
    result = compare_architectures(_Source(workload, execution), found, models, work_type)
    if plot is not None:
        _write_plot(plot, result)
    output.show(
        record=lambda: whatif_report.whatif_record(result),
        rows=lambda: whatif_report.whatif_rows(result),
        report=lambda: whatif_report.whatif_table(result, how.verbose),
    )


@dataclass(frozen=True)
class _Source:
    """The file of the command line: a workload or a trace."""

    file: Path
    execution: Execution

    def refusal(self, device: kc.Device) -> str:
        from kernelcast.architectures import StoredKernel

        if kc.is_trace_file(self.file):
            return StoredKernel(self.execution.trace(self.file)).refusal(device)
        loaded = kc.load_workload(self.file)
        return loaded.refusal(device, self.execution.size, self.execution.registers)

    def trace(self, devices: Sequence[kc.Device]) -> kc.KernelTrace:
        return self.execution.trace(self.file, devices)

    def with_accesses(self, device: kc.Device) -> kc.KernelTrace:
        if kc.is_trace_file(self.file):
            return self.execution.trace(self.file)
        width = device.architecture.warp_width
        return replace(self.execution, warp_width=width, target=device).trace(self.file)


def _values(name: str, text: str) -> list[str]:
    values = [part.strip() for part in text.split(",")]
    if not all(values):
        raise KernelcastError(f"--sweep {name}: an empty value in {text!r}")
    return list(dict.fromkeys(values))


def _check_plot(path: Path) -> None:
    from kernelcast.report.plots.estimates import check_target

    check_target(path)


def _write_plot(path: Path, result: kc.WhatIf) -> None:
    # matplotlib takes a second to import, and only plots need it.
    from kernelcast.report.plots.estimates import save
    from kernelcast.report.plots.whatif import whatif_plot

    save(whatif_plot(result), path)
