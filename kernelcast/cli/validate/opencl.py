"""`kernelcast validate opencl`: the closed loop on a device of this machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kernelcast.cli.terminal import show_stages
from kernelcast.cli.validate.output import ValidationOutput
from kernelcast.errors import KernelcastError
from kernelcast.progress import StageProgress
from kernelcast.report.validation import validation_record, validation_rows, validation_tables

if TYPE_CHECKING:
    from kernelcast.simcore.device.device import Device
    from kernelcast.validation.report import ValidationReport

__all__ = ["show_opencl"]


def show_opencl(
    devices: Sequence[str],
    index: int | None,
    measured: Path | None,
    models: Sequence[str],
    output: ValidationOutput,
) -> None:
    """Times the kernels, or takes `measured`, and shows what is predicted beside it."""
    from kernelcast.models import get_model
    from kernelcast.validation.outliers import explain, read_explanations

    if len(devices) > 1:
        raise KernelcastError("validate opencl measures one device: give its file alone")
    if measured is not None and (index is not None or not devices):
        raise KernelcastError(
            "--measured compares with --device, the file of the device that was timed, and times "
            "nothing: no --opencl-device"
        )
    for name in models:
        get_model(name)
    with show_stages() as progress:
        report, title = _opencl_report(devices, index, measured, models, progress)
    explained = explain(report.suite, report.outliers, read_explanations())
    output.show(
        f"kernelcast: {report.suite} on {title}",
        validation_tables(report, explained),
        lambda: validation_record(report, explained),
        lambda: validation_rows(report, explained),
        report,
    )


def _opencl_report(
    devices: Sequence[str],
    index: int | None,
    measured: Path | None,
    models: Sequence[str],
    progress: StageProgress | None,
) -> tuple[ValidationReport, str]:
    """The report of the closed loop, with the device's title."""
    from kernelcast.simcore.device.file import load_device
    from kernelcast.validation.opencl import validate_opencl, validate_opencl_times

    if measured is not None:
        from kernelcast.validation.opencl_times import read_loop_times

        device = load_device(devices[0])
        times = read_loop_times(measured, device)
        return validate_opencl_times(device, times, models, progress=progress), device.title
    from kernelcast.measuring.opencl_device import OpenClDevice

    device = load_device(devices[0]) if devices else _quickly_measured(index, progress)
    report = validate_opencl(device, OpenClDevice(index), models, progress=progress)
    return report, device.title


def _quickly_measured(index: int | None, progress: StageProgress | None) -> Device:
    """What `kernelcast bench --quick` says; benchmarks that ran before are not repeated."""
    from kernelcast.opencl_bench.benchmark import Effort
    from kernelcast.opencl_bench.device_file.record import measured_device
    from kernelcast.opencl_bench.drivers import opencl_device
    from kernelcast.opencl_bench.opencl_target import OpenClTarget
    from kernelcast.opencl_bench.registry import BENCHMARKS
    from kernelcast.opencl_bench.session import run_session

    target = OpenClTarget(opencl_device(index))
    return measured_device(run_session(target, BENCHMARKS, Effort.QUICK, progress=progress))
