"""`kernelcast validate volumes`: address expressions beside the memory simulator."""

from __future__ import annotations

from collections.abc import Sequence

from kernelcast.cli.terminal import show_stages
from kernelcast.cli.validate.output import ValidationOutput
from kernelcast.errors import KernelcastError

__all__ = ["show_volumes"]


def show_volumes(devices: Sequence[str], models: Sequence[str], output: ValidationOutput) -> None:
    """Exit status 1 where a volume is beyond its bound."""
    from kernelcast.report.volumes import volumes_record, volumes_rows, volumes_tables
    from kernelcast.validation.volumes import validate_volumes

    if models:
        raise KernelcastError("volumes compares the one model that estimates them: no --model")
    with show_stages() as progress:
        report = validate_volumes(devices, progress=progress)
    output.show(
        "kernelcast: volumes",
        volumes_tables(report),
        lambda: volumes_record(report),
        lambda: volumes_rows(report),
    )
    output.end_with(report.problems)
