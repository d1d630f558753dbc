"""Checks the launches of a program without a GPU, as they come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.api import device as device_named
from kernelcast.checking.check import (
    CheckOptions,
    CheckReport,
    Found,
    chosen_options,
    found_in,
    reported,
)
from kernelcast.program_capture.capturing import capture_program
from kernelcast.program_capture.options import CaptureOptions, NextLaunch
from kernelcast.program_capture.replay import replay_recording
from kernelcast.simcore.checking.findings import Finding
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.device_memory import DeviceMemory
from kernelcast.simcore.launch.launch import Launch
from kernelcast.simcore.launch.module_memory import ModuleMemory
from kernelcast.workload.launch_sizes import LaunchDescription

__all__ = ["ProgramCheckReport", "check_program"]

_USUAL_DEVICE = "a100-40gb"
_RECORDING = ".kcrec"


@dataclass(frozen=True, repr=False)
class ProgramCheckReport:
    """What the kernels of a program did wrong, a report of each; its `command` and exit `status`.

    `told`: lines of errors of its calls.
    """

    command: tuple[str, ...]
    status: int
    reports: tuple[CheckReport, ...]
    told: tuple[str, ...] = ()

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The defects of all kernels."""
        return tuple(item for report in self.reports for item in report.errors)

    @property
    def is_clean(self) -> bool:
        """Whether no kernel has a defect."""
        return not self.errors

    def __repr__(self) -> str:
        told = "clean" if self.is_clean else f"{len(self.errors)} findings"
        return f"<ProgramCheckReport of {self.command[0]}: {told}, {len(self.reports)} kernels>"


def check_program(
    command: Sequence[str],
    *,
    device: str = _USUAL_DEVICE,
    options: CheckOptions | None = None,
    **keywords: Any,
) -> ProgramCheckReport:
    """Runs a program without a GPU, as `capture_program` does, and checks each of its launches.

    `command`: the program and its arguments, or a recording; it sees the `device`. Other keywords
    are those of CheckOptions. What allocations held before a launch is put back before it is made.
    KernelcastError when the program cannot be captured.
    """
    chosen = chosen_options(options, keywords)
    accepted = chosen.accepted()
    checks, told = _Checks(chosen), list[str]()
    capture = CaptureOptions(
        code="source",
        tell=told.append,
        is_quiet=True,
        is_spacious=True,
        before_launch=checks.check,
    )
    devices = [device_named(device)]
    if len(command) == 1 and Path(command[0]).suffix == _RECORDING:
        result = replay_recording(Path(command[0]), devices, capture)
    else:
        result = capture_program(command, devices, capture)
    reports = tuple(reported(kernel, found, accepted) for kernel, found in checks.found.items())
    return ProgramCheckReport(tuple(command), result.status, reports, tuple(told))


@dataclass
class _Checks:
    """Checks launches that are about to be made; `found`: what each kernel did wrong."""

    options: CheckOptions
    found: dict[Kernel, Found] = field(default_factory=dict)

    def check(self, launch: NextLaunch) -> None:
        """Executes a launch, follows it, and puts memory back."""
        kernel = launch.function.kernel
        sizes = launch.request
        described = LaunchDescription(
            sizes.grid, sizes.block, None, None, sizes.shared_bytes, cluster=sizes.cluster
        )
        module = ModuleMemory.of(launch.memory, kernel.module or kernel.kernel)
        made = replace(described.launch(kernel.kernel, launch.arguments), memory=module)
        before = _contents(launch.memory)

        def again() -> Launch:
            _put_back(launch.memory, before)
            return made

        try:
            found = found_in(kernel.kernel, again, self.options)
        finally:
            _put_back(launch.memory, before)
        self.found.setdefault(kernel.kernel, Found()).add(found)


def _contents(memory: DeviceMemory) -> dict[int, npt.NDArray[np.uint8]]:
    """Copies of what may be written, by address."""
    return {
        item.address: item.bytes.copy()
        for item in memory.allocations
        if item.size and item.bytes.flags.writeable
    }


def _put_back(memory: DeviceMemory, contents: dict[int, npt.NDArray[np.uint8]]) -> None:
    for item in memory.allocations:
        if item.address in contents:
            item.bytes[:] = contents[item.address]
