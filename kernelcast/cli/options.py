"""Options and arguments that several subcommands share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

import kernelcast as kc
from kernelcast.cli.completion import device_names
from kernelcast.cli.terminal import show_error
from kernelcast.errors import KernelcastError
from kernelcast.execution.caches import Caches
from kernelcast.execution.code import Code
from kernelcast.execution.sampling import Sampling
from kernelcast.simcore.launch.launch import Limits

__all__ = [
    "AlwaysExact",
    "CachesChoice",
    "CodeChoice",
    "Csv",
    "Devices",
    "Engine",
    "EngineName",
    "Exact",
    "Json",
    "LimitInstructions",
    "LimitSeconds",
    "NoStore",
    "OptionalWorkload",
    "Processes",
    "Registers",
    "Sample",
    "Size",
    "Verbose",
    "WorkloadOrTrace",
    "WorkloadPath",
    "assignments",
    "check_sources",
    "counted",
    "limits",
    "named_devices",
    "note_engine",
    "sampling",
]

_EXECUTION = "Execution"
_WORKLOAD_OR_TRACE = typer.Argument(
    metavar="WORKLOAD.toml", help="Kernel, launch and arguments; or a trace, T.parquet."
)


def counted(text: str, panel: str) -> Any:
    """The option of a count, 1 or more; its help stands in `panel`."""
    return typer.Option(help=text, metavar="N", min=1, rich_help_panel=panel)


class EngineName(Enum):
    """What executes the kernel; AUTO is the fastest engine that there is."""

    AUTO = "auto"
    JIT = "jit"
    REFERENCE = "reference"


WorkloadPath: TypeAlias = Annotated[
    Path, typer.Argument(metavar="WORKLOAD.toml", help="Kernel, launch and arguments.")
]
WorkloadOrTrace: TypeAlias = Annotated[Path, _WORKLOAD_OR_TRACE]
OptionalWorkload: TypeAlias = Annotated[Path | None, _WORKLOAD_OR_TRACE]
Size: TypeAlias = Annotated[
    str | None,
    typer.Option(help="Problem size of the workload file; default: its first.", metavar="NAME"),
]
Devices: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        help="GPU, by name or device file; may be repeated.",
        metavar="D",
        autocompletion=device_names,
    ),
]
Processes: TypeAlias = Annotated[
    int | None, typer.Option(help="Default: one for each core.", metavar="N", min=1)
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print a JSON object.")]
Csv: TypeAlias = Annotated[bool, typer.Option("--csv", help="Print the table as CSV.")]
Engine: TypeAlias = Annotated[
    EngineName, typer.Option(help="Execution engine.", rich_help_panel=_EXECUTION)
]
LimitSeconds: TypeAlias = Annotated[
    float | None,
    typer.Option(
        help="Stop a kernel that runs longer; default 600.",
        metavar="S",
        min=0.0,
        rich_help_panel=_EXECUTION,
    ),
]
LimitInstructions: TypeAlias = Annotated[
    int | None,
    counted("Stop a warp that issues more instructions; default 1048576.", _EXECUTION),
]
Exact: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--exact",
        help="Execute every thread block: large launches too, which are sampled otherwise.",
        rich_help_panel=_EXECUTION,
    ),
]
AlwaysExact: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--exact",
        help="Taken for uniformity: this command always executes every thread block.",
        rich_help_panel=_EXECUTION,
    ),
]
NoStore: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--no-store",
        help="Do again what an earlier command has done, and keep nothing of it.",
        rich_help_panel=_EXECUTION,
    ),
]
Verbose: TypeAlias = Annotated[
    int,
    typer.Option(
        "--verbose",
        "-v",
        count=True,
        help="Tell more: where the time goes, and what is taken from the store; -vv everything.",
    ),
]
Sample: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--sample",
        help="Sample thread blocks even if the launch is small; error when that is impossible.",
        rich_help_panel=_EXECUTION,
    ),
]
Registers: TypeAlias = Annotated[
    int | None, counted("Registers per thread, as the target's compiler would use.", _EXECUTION)
]


CodeChoice: TypeAlias = Annotated[
    Code | None,
    typer.Option(
        help="What is executed: native, the machine code of each GPU (PTX is assembled); source, "
        "PTX or LLVM IR as an assembler would order it; as-written, the same in its own order; "
        "auto (the default), native where it can be had.",
        show_default=False,
        rich_help_panel=_EXECUTION,
    ),
]


CachesChoice: TypeAlias = Annotated[
    Caches | None,
    typer.Option(
        help="What L2 holds when the launch begins: nothing (cold), or what an equal launch on the "
        "same buffers left (warm). Default: as the workload says, else cold.",
        show_default=False,
        rich_help_panel=_EXECUTION,
    ),
]


def note_engine(engine: EngineName) -> None:
    """Says so, in a line, when this machine cannot have the fast engine."""
    from kernelcast.simcore.engine import default_engine  # slow to import

    if engine is EngineName.AUTO and default_engine() == "reference":
        show_error(
            "note: the slow reference engine executes: the JIT engine needs AVX2 and FMA, or NEON"
        )


def sampling(*, exact: bool, sample: bool) -> Sampling:
    """What the two options say together."""
    if exact and sample:
        raise KernelcastError("--exact and --sample contradict each other")
    if exact:
        return Sampling.NEVER
    return Sampling.ALWAYS if sample else Sampling.AUTO


def limits(seconds: float | None, instructions: int | None) -> Limits:
    """The default limits, with those replaced that are given."""
    usual = Limits()
    return Limits(
        usual.seconds if seconds is None else seconds,
        usual.instructions_per_warp if instructions is None else instructions,
    )


def named_devices(names: Sequence[str] | None) -> list[kc.Device]:
    """The devices of that name; KernelcastError where none is named."""
    if not names:
        raise KernelcastError("name a GPU with --device; `kernelcast devices` lists them")
    return [kc.device(name) for name in names]


def check_sources(
    *,
    is_executed: bool,
    is_measured: bool,
    of_execution: Mapping[str, object],
    of_metrics: Mapping[str, object],
) -> None:
    """Raises KernelcastError unless the kernel comes from one place, with options of it only."""
    if is_executed == is_measured:
        raise KernelcastError("give either a workload file or a profiler's file with --metrics")
    for name, value in (of_metrics if is_executed else of_execution).items():
        if value is not None:
            source = "--metrics" if is_executed else "a workload file"
            raise KernelcastError(f"{name} goes with {source} only")


def assignments(given: Sequence[str], option: str) -> dict[str, str]:
    """Values by name. Raises KernelcastError for what is no NAME=VALUE, or given twice."""
    found: dict[str, str] = {}
    for item in given:
        name, equals, value = (part.strip() for part in item.partition("="))
        if not equals or not name or not value:
            raise KernelcastError(f"{option} takes NAME=VALUE, got {item!r}")
        if name in found:
            raise KernelcastError(f"{option}: {name} is given twice")
        found[name] = value
    return found
