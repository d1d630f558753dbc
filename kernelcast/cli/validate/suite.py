"""`kernelcast validate suite`: the workloads on both engines, checked and estimated."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from kernelcast.cli.terminal import show_stages
from kernelcast.cli.validate.output import NEGATIVE, ValidationOutput
from kernelcast.errors import KernelcastError
from kernelcast.report.validation import suite_record, suite_rows, suite_tables

__all__ = ["show_suite", "suite_devices"]


def suite_devices(named: Sequence[str], *, all_devices: bool) -> Sequence[str]:
    """The devices to estimate on; raises UnknownDevice."""
    from kernelcast.simcore.device.file import known_devices, load_device
    from kernelcast.validation.thesis import thesis_devices

    for device in named:
        load_device(device)
    return known_devices() if all_devices else named or thesis_devices()


def show_suite(
    part: str,
    size: str,
    devices: Sequence[str],
    models: Sequence[str],
    engines: Sequence[str],
    jobs: int | None,
    output: ValidationOutput,
) -> None:
    """Runs the workloads whose name holds `part`; exit status 1 where a check failed."""
    from kernelcast.models import get_model
    from kernelcast.simcore.engine import ENGINES
    from kernelcast.validation.workload_suite import run_suite, workload_files

    for name in models:
        get_model(name)
    files = [f for f in workload_files() if part in f"{f.parent.name}/{f.stem}"]
    if not files:
        raise KernelcastError(f"no workload's name holds {part!r}")
    with show_stages() as progress:
        report = run_suite(
            files,
            size,
            devices,
            models=models,
            engines=engines or tuple(sorted(ENGINES)),
            jobs=jobs,
            progress=progress,
        )
    output.show(
        f"kernelcast: workloads, {size}",
        suite_tables(report),
        lambda: suite_record(report),
        lambda: suite_rows(report),
    )
    if report.failed:
        raise typer.Exit(NEGATIVE)
