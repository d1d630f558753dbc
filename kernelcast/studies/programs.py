"""Captured programs on the devices of a sweep: the time line of all launches and copies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kernelcast.errors import KernelcastError
from kernelcast.program_capture.options import CaptureOptions
from kernelcast.program_capture.replay import replay_recording
from kernelcast.program_capture.result import CaptureResult, DeviceTotal
from kernelcast.studies.changed_devices import Architecture
from kernelcast.studies.plan import CAPTURED, Plan, SweptDevice, SweptKernel
from kernelcast.studies.rows import Row, device_facts_of, failed_row

if TYPE_CHECKING:
    from kernelcast.simcore.device.device import Device

__all__ = ["program_rows"]


def program_rows(
    kernel: SweptKernel, plan: Plan, architectures: Sequence[Architecture]
) -> Iterator[tuple[SweptDevice, str, Row]]:
    """Device, `captured` in place of a model, and what is known; all devices in one replay."""
    # Changed devices are called like those that they were made of; a replay tells them by names.
    named = {
        number: replace(item.device, name=f"{item.device.name} {number}")
        for number, item in enumerate(architectures)
        if item.device is not None
    }
    reason, totals = "", {}
    try:
        totals = _totals(Path(kernel.source), list(named.values()), plan.code)
    except (KernelcastError, MemoryError) as error:
        reason = error.message if isinstance(error, KernelcastError) else "no memory left"
    for number, item in enumerate(architectures):
        device = item.device
        found = totals.get(named[number].name) if number in named else None
        if device is None or found is None:
            yield item.swept, CAPTURED, failed_row(item.reason or reason, device)
        else:
            yield item.swept, CAPTURED, _row(found, device)


def _totals(path: Path, devices: Sequence[Device], code: str | None) -> dict[str, DeviceTotal]:
    options = CaptureOptions(code=code, tell=lambda _line: None, is_quiet=True)
    result: CaptureResult = replay_recording(path, devices, options)
    if not result.processes:
        raise KernelcastError(f"{path}: the recording has no launches")
    if result.failed:
        raise KernelcastError(f"{path}: a launch of the program failed")
    # The process that uses the GPU for the longest time stands for the program.
    longest = max(result.processes, key=lambda item: item.totals[0].timeline_s)
    return {total.device: total for total in longest.totals}


def _row(total: DeviceTotal, device: Device) -> Row:
    return {
        "time_s": total.timeline_s,
        "bottleneck": total.bound,
        **device_facts_of(device),
        "error": None,
    }
