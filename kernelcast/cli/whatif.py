"""`kernelcast whatif`: the same kernel on architectures that nobody has built."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

import kernelcast as kc
from kernelcast.cli import options
from kernelcast.cli.completion import device_names, model_names
from kernelcast.cli.option_bundles import ExecutionOptions, OutputOptions, bundled
from kernelcast.cli.pages import write_page
from kernelcast.cli.terminal import show_progress
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
Target: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Find the cheapest change of the facts of --vary that makes the kernel so many times "
        "faster: 2x.",
        metavar="N",
    ),
]
Vary: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        help="Facts that the search may raise, by default up to 8 times, sm.count:2 up to twice.",
        metavar="NAME[:MOST],...",
    ),
]
Html: TypeAlias = Annotated[
    Path | None,
    typer.Option(help="With --target: write a page with the frontier.", metavar="FILE"),
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
    target: Target = None,
    vary: Vary = None,
    html: Html = None,
    *,
    how: ExecutionOptions,
    output: OutputOptions,
) -> None:
    """Predict the time of a kernel on a GPU with changed limits, clocks, caches or bandwidths.

    What depends on a changed fact is rescaled unless it is set as well; see docs/whatif.md.
    """
    from kernelcast.architectures import architectures, compare_architectures

    targets = options.named_devices(device)
    if target is not None or vary:
        others = {"--set": changes, "--sweep": sweep, "--plot": plot, "--type": work_type}
        _check_search(target, vary, others, targets, model)
        search = _Search(target or "", vary or [], model, html)
        _find(_Source(workload, how.execution(record_paths=True)), targets[0], search, output, how)
        return
    if html is not None:
        raise KernelcastError("--html goes with --target")
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


@dataclass(frozen=True)
class _Search:
    """The options of a search as they were given."""

    target: str
    vary: list[str]
    models: list[str] | None
    html: Path | None

    @property
    def factor(self) -> float:
        """2 of `2x`."""
        try:
            return float(self.target.removesuffix("x"))
        except ValueError:
            raise KernelcastError(
                f"--target takes a factor such as 2x, got {self.target!r}"
            ) from None


def _check_search(
    target: str | None,
    vary: list[str] | None,
    others: Mapping[str, object],
    devices: Sequence[kc.Device],
    models: list[str] | None,
) -> None:
    if target is None or not vary:
        raise KernelcastError(
            "--target says how much faster, --vary which facts may grow: give both"
        )
    for name, value in others.items():
        if value:
            raise KernelcastError(f"{name} does not go with --target")
    if len(devices) > 1 or len(models or ()) > 1:
        raise KernelcastError("--target takes one GPU and one model")


def _find(
    source: _Source,
    device: kc.Device,
    search: _Search,
    output: OutputOptions,
    how: ExecutionOptions,
) -> None:
    from kernelcast.report.studies.search import (
        search_page,
        search_record,
        search_rows,
        search_text,
    )
    from kernelcast.studies.search import MOST_FACTOR, Bounds, find_change

    vary = []
    for text in (part.strip() for item in search.vary for part in item.split(",")):
        fact, colon, most = text.partition(":")
        try:
            vary.append(Bounds(fact, float(most.removesuffix("x")) if colon else MOST_FACTOR))
        except ValueError:
            raise KernelcastError(f"--vary takes NAME or NAME:MOST, got {text!r}") from None
    model = search.models[0] if search.models else None
    with show_progress("what-if search") as progress:
        found = find_change(source, device, search.factor, vary, model, progress)
    if search.html is not None:
        write_page(search.html, search_page(found))
    output.show(
        record=lambda: search_record(found),
        rows=lambda: search_rows(found),
        report=lambda: search_text(found, how.verbose),
    )
    if found.cheapest is None:
        raise typer.Exit(1)


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
