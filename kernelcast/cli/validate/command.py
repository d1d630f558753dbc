"""`kernelcast validate`: predicted against measured."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from kernelcast.cli import options
from kernelcast.cli.completion import device_names, model_names
from kernelcast.cli.option_bundles import bundled
from kernelcast.cli.validate.opencl import show_opencl
from kernelcast.cli.validate.output import ValidationOutput
from kernelcast.cli.validate.suite import show_suite, suite_devices
from kernelcast.cli.validate.times import TimesRequest, show_times
from kernelcast.cli.validate.volumes import show_volumes
from kernelcast.errors import KernelcastError
from kernelcast.execution.code import Code
from kernelcast.shipped_files import validation_folder

__all__ = ["validate"]

_OF_THE_SUITE = "Of the suite"
_OF_OPENCL = "Of opencl"
_SMALL = "small"


class Suite(Enum):
    """What can be validated."""

    SUITE = "suite"
    THESIS = "thesis"
    PAPERS = "papers"
    MEASURED = "measured"
    OPENCL = "opencl"
    VOLUMES = "volumes"


_WITHOUT_BASELINE = {
    Suite.SUITE: "nothing is measured there",
    Suite.OPENCL: "they are those of one machine",
    Suite.VOLUMES: "its bounds stand",
}

_Models: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(help="Only this model; repeatable. Default: all.", autocompletion=model_names),
]
_Accept: TypeAlias = Annotated[
    bool, typer.Option("--accept", help="Make these errors the baseline that CI compares with.")
]
_Workload: TypeAlias = Annotated[
    str, typer.Option(help="Only workloads whose name holds this.", rich_help_panel=_OF_THE_SUITE)
]
_Size: TypeAlias = Annotated[
    str, typer.Option(help="Which size of each workload.", rich_help_panel=_OF_THE_SUITE)
]
_Devices: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        help="Estimate on it; repeatable. Default: the seven of the thesis. For opencl the file "
        "of the device that is measured; default: a quick kernelcast bench. For volumes: A100, "
        "V100 and MI210. For measured: those that were measured with our own tools, such as "
        "h100-sxm; default: published times.",
        rich_help_panel=_OF_THE_SUITE,
        autocompletion=device_names,
    ),
]
_AllDevices: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--all-devices", help="Estimate on every known device.", rich_help_panel=_OF_THE_SUITE
    ),
]
_Engines: TypeAlias = Annotated[
    list[options.EngineName] | None,
    typer.Option(help="Execute with it; repeatable. Default: both.", rich_help_panel=_OF_THE_SUITE),
]
_Jobs: TypeAlias = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, help="Of suite and measured: rows at a time. Default: one a core."
    ),
]
_OpenClDevice: TypeAlias = Annotated[
    int | None,
    typer.Option(
        metavar="I", help="Which device of kernelcast bench --list.", rich_help_panel=_OF_OPENCL
    ),
]
_Measured: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.json",
        help="Compare with the times of an earlier --json on this very device; time nothing.",
        rich_help_panel=_OF_OPENCL,
    ),
]
_Trust: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Of measured: workloads outside of the source tree, which measurements name, may run "
        "Python and pass any option to compilers (docs/trust.md).",
    ),
]
_Table: TypeAlias = Annotated[
    str,
    typer.Option(
        "--set",
        metavar="SET",
        help="Of measured: predict this table of published times (docs/published-times.md) "
        "instead of validation/measured/*.json.",
    ),
]
_Sample: TypeAlias = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Of measured: N rows of each kernel and device."),
]
_Code: TypeAlias = Annotated[
    Code | None,
    typer.Option(
        help="Of thesis and measured: execute machine code (native) or PTX (source, the default, "
        "which the baseline is of).",
        show_default=False,
    ),
]


@bundled
def validate(
    suite: Annotated[Suite, typer.Argument(help="What to compare with what.")],
    model: _Models = None,
    accept: _Accept = False,
    workload: _Workload = "",
    size: _Size = _SMALL,
    device: _Devices = None,
    all_devices: _AllDevices = False,
    engine: _Engines = None,
    jobs: _Jobs = None,
    opencl_device: _OpenClDevice = None,
    measured: _Measured = None,
    trust: _Trust = False,
    table: _Table = "",
    sample: _Sample = None,
    code: _Code = None,
    *,
    output: ValidationOutput,
) -> None:
    """Compares predictions with measurements and shows every error.

    suite: executes the workloads of validation/workloads with both engines, checks their results,
    and estimates them on seven devices, or on those that are named.

    thesis: SOR, LMSOR and SGEMM of Konstantinidis' thesis on its seven GPUs, executed at full size.

    papers: predictions from metrics that papers print, against the times that they measured, and
    the figures of their case studies from kernels of our own.

    measured: the workloads against times and counters measured on real GPUs
    (validation/measured).

    opencl: OpenCL kernels timed on a real device of this machine, and predicted from the file that
    kernelcast bench makes of it.

    volumes: data volumes from address expressions against those of the memory simulator.

    Exit status 1: a check failed, a volume or a figure is beyond its bound, a counter left its
    tolerance, an error beyond 25 % has no explanation, or an error moved by more than a percentage
    point from the baseline.
    """
    validation_folder()
    output.check()
    _check_options(
        suite,
        is_narrowed=bool(workload or all_devices or engine or size != _SMALL),
        has_devices=bool(device),
        has_models=bool(model),
        of_suites={
            Suite.OPENCL: {"--opencl-device": opencl_device, "--measured": measured},
            Suite.MEASURED: {"--trust": trust, "--set": table, "--sample": sample},
        },
        has_jobs=bool(jobs),
        accept=accept,
        code=code,
    )
    devices, models = device or (), model or ()
    match suite:
        case Suite.SUITE:
            names = [item.value for item in engine or ()]
            chosen = suite_devices(devices, all_devices=all_devices)
            show_suite(workload, size, chosen, models, names, jobs, output)
        case Suite.OPENCL:
            show_opencl(devices, opencl_device, measured, models, output)
        case Suite.VOLUMES:
            show_volumes(devices, models, output)
        case _:
            request = TimesRequest(
                suite=suite.value,
                models=models,
                code=code or Code.SOURCE,
                accept=accept,
                trust=trust,
                table=table,
                sample=sample,
                devices=devices,
                jobs=jobs,
            )
            show_times(request, output)


def _check_measured_devices(suite: Suite, has_more: object) -> None:
    """`has_more`: there are devices, and options that do not go with them."""
    if suite is Suite.MEASURED and has_more:
        raise KernelcastError("--device of measured takes no --set, and has no errors to accept")


def _check_chosen_rows(
    suite: Suite, *, is_narrowed: bool, has_devices: bool, has_jobs: bool
) -> None:
    takes_devices = suite in (Suite.SUITE, Suite.OPENCL, Suite.VOLUMES, Suite.MEASURED)
    if (is_narrowed and suite is not Suite.SUITE) or (has_devices and not takes_devices):
        raise KernelcastError(
            "--workload, --size, --device, --all-devices and --engine are of the suite"
        )
    if has_jobs and suite not in (Suite.SUITE, Suite.MEASURED):
        raise KernelcastError("--jobs is of suite and measured")


def _check_options(
    suite: Suite,
    *,
    is_narrowed: bool,
    has_devices: bool,
    has_models: bool,
    has_jobs: bool,
    of_suites: Mapping[Suite, Mapping[str, object]],
    accept: bool,
    code: Code | None,
) -> None:
    """Raises KernelcastError for an option of another suite."""
    if code not in (None, Code.SOURCE):
        if suite not in (Suite.THESIS, Suite.MEASURED):
            raise KernelcastError("--code is of thesis and measured")
        if accept:
            raise KernelcastError("--accept takes the errors of PTX: leave out --code")
    for owner, given in of_suites.items():
        for name, value in given.items():
            is_given = value is not None and value is not False and value != ""
            if is_given and suite is not owner:
                raise KernelcastError(f"{name} is of {owner.value}")
    of_measured = of_suites[Suite.MEASURED]
    _check_measured_devices(suite, has_devices and (of_measured["--set"] or accept))
    if of_measured["--sample"] and not of_measured["--set"]:
        raise KernelcastError("--sample takes rows of a --set")
    if accept and of_measured["--sample"]:
        raise KernelcastError("--accept takes the errors of all rows: leave out --sample")
    if accept and suite in _WITHOUT_BASELINE:
        raise KernelcastError(f"{suite.value} has no errors to accept: {_WITHOUT_BASELINE[suite]}")
    _check_chosen_rows(suite, is_narrowed=is_narrowed, has_devices=has_devices, has_jobs=has_jobs)
    if accept and has_models:
        raise KernelcastError("--accept takes the errors of all models: leave out --model")
