"""`kernelcast trace`: executes a workload and keeps its trace, or takes one from another tool."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer
from typer.core import TyperGroup

import kernelcast as kc
from kernelcast.cli import options
from kernelcast.cli.completion import device_names
from kernelcast.cli.terminal import show_result
from kernelcast.cli.trace_source import Execution
from kernelcast.errors import KernelcastError
from kernelcast.execution.code import Code, code_named, machine_code_name
from kernelcast.report import traces

__all__ = ["app"]

_RECORD = "record"
_HELP = ("-h", "--help")

Output: TypeAlias = Annotated[
    Path,
    typer.Option(
        "-o", "--output", help="Parquet file to write.", metavar="T.parquet", show_default=False
    ),
]


class _RecordByDefault(TyperGroup):
    """`trace W.toml` means `trace record W.toml`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, *_HELP):
            args = [_RECORD, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_RecordByDefault,
    no_args_is_help=True,
    help="Keep the trace of an execution in a Parquet file; `trace W.toml` is `trace record "
    "W.toml`. `estimate`, `profile` and `mix` take the file in place of the workload.",
)


@app.command(_RECORD)
def record_trace(
    workload: options.WorkloadPath,
    output: Output,
    size: options.Size = None,
    registers: options.Registers = None,
    engine: options.Engine = options.EngineName.AUTO,
    device: Annotated[
        list[str] | None,
        typer.Option(
            help="GPU that the trace is for: gives code and warp width. May be repeated for GPUs "
            "that have both in common.",
            metavar="D",
            autocompletion=device_names,
            show_default=False,
        ),
    ] = None,
    warp_width: Annotated[
        int | None,
        typer.Option(help="Threads a warp: 8, 16, 32 or 64; default 32.", metavar="N"),
    ] = None,
    limit_seconds: options.LimitSeconds = None,
    limit_instructions: options.LimitInstructions = None,
    exact: options.AlwaysExact = False,
    code: options.CodeChoice = None,
) -> None:
    """Execute a workload and store its trace, which serves GPUs of one warp width."""
    if kc.is_trace_file(workload):
        raise KernelcastError(f"{workload} is a trace already; `trace import` converts traces")
    _check_output(output)
    targets = [kc.device(name) for name in device or ()]
    _check_common(targets, code_named(code))
    target = targets[0] if targets else None
    width = warp_width if target is None else _width_of(target, warp_width)
    execution = Execution(
        size,
        registers,
        engine,
        limit_seconds,
        limit_instructions,
        warp_width=width,
        record_paths=True,
        code=code,
        target=target,
    )
    kc.save_trace(execution.trace(workload), output)


@app.command("show")
def show_trace(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Trace file.")],
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """What a trace file holds."""
    trace = kc.load_trace(file)
    show_result(
        json=json,
        csv=csv,
        record=lambda: traces.trace_record(trace),
        rows=lambda: traces.trace_rows(trace),
        report=lambda: traces.trace_table(trace),
    )


@app.command("import")
def import_traces(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Accel-Sim kernel traces: .traceg, .traceg.xz."),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            help="Parquet file to write; with several FILEs a folder, which gets one for each.",
            metavar="T.parquet",
            show_default=False,
        ),
    ],
) -> None:
    """Store traces that Accel-Sim's NVBit tracer recorded on a real GPU."""
    if len(files) == 1 and not output.is_dir():
        _check_output(output)
        kc.save_trace(kc.load_trace(files[0]), output)
        return
    if not output.is_dir():
        raise KernelcastError(f"{len(files)} traces need a folder to go to; {output} is none")
    targets = [output / f"{file.name.split('.traceg')[0]}.parquet" for file in files]
    if len(set(targets)) < len(targets):
        raise KernelcastError("several of the traces have the same name; import them one by one")
    for file, target in zip(files, targets, strict=True):
        kc.save_trace(kc.load_trace(file), target)


def _width_of(device: kc.Device, wanted: int | None) -> int:
    """The device's warp width, which `wanted` must not contradict."""
    width = device.architecture.warp_width
    if wanted not in (None, width):
        raise KernelcastError(f"--warp-width {wanted}: {device.name} has warps of {width} threads")
    return width


def _check_common(devices: Sequence[kc.Device], code: Code) -> None:
    """Raises KernelcastError for devices that no one trace is for."""
    what: dict[str, str] = {}
    for device in devices:
        runs = f"warps of {device.architecture.warp_width} threads"
        if code is not Code.SOURCE:
            runs = f"{machine_code_name(device) or 'the source form'} in {runs}"
        what.setdefault(runs, device.name)
    if len(what) > 1:
        each = ", ".join(f"{name} runs {runs}" for runs, name in what.items())
        raise KernelcastError(f"a trace holds one code: {each}; keep one trace for each")


def _check_output(output: Path) -> None:
    """Raises KernelcastError for a file that could not be read again as a trace."""
    if output.suffix != ".parquet":
        raise KernelcastError(f"--output must be a .parquet file, got {output}")
    if not output.parent.is_dir():
        raise KernelcastError(f"--output: there is no folder {output.parent}")
