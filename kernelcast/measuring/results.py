"""The file of results: begun or resumed, and written anew after each workload."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kernelcast.measuring.accelerator import Accelerator, MeasuringError
from kernelcast.partial_files import ReplacedFile
from kernelcast.validation.latency_chains import MeasuredLatencies
from kernelcast.validation.measured_times import (
    Api,
    DeviceFacts,
    FailedCase,
    MeasuredDevice,
    MeasuredRow,
    read_measured,
)

__all__ = ["Results", "file_name"]


def file_name(device: str, api: Api) -> str:
    """`nvidia-h100-80gb-hbm3.json`; OpenCL's carry the API's name too."""
    words = re.findall(r"[a-z0-9]+", device.lower())
    suffix = "" if api is Api.CUDA else f"-{api.value}"
    return "-".join(words or ["device"]) + f"{suffix}.json"


class Results:
    """What was measured so far on one device, and its file."""

    def __init__(self, path: Path, measured: MeasuredDevice) -> None:
        self.path = path
        self.measured = measured

    @classmethod
    def begin(cls, folder: Path, device: Accelerator, *, resume: bool, overwrite: bool) -> Results:
        """Begins or resumes a file; MeasuringError for an old one without an option for it."""
        facts = device.facts
        path = folder / file_name(facts.name, device.api)
        fresh = MeasuredDevice(device.api, facts, 0.0, (), (), device.is_dry_run)
        if not path.exists() or overwrite:
            return cls(path, fresh)
        if not resume:
            raise MeasuringError(
                f"{path} exists: --resume goes on with it, --overwrite begins anew"
            )
        before = read_measured(path)
        _check_same(path, before, fresh)
        return cls(path, replace(before, device=facts))

    def add(self, row: MeasuredRow) -> None:
        """Adds a row in the place of an earlier one of its case."""
        rows = (*self.measured.rows, row)
        self._keep(rows, self._failures_but(row.workload, row.size))

    def fail(self, workload: str, size: str, error: str) -> None:
        """Notes the failure of a case in the place of an earlier one."""
        failed = FailedCase(workload, size, error)
        self._keep(self.measured.rows, (*self._failures_but(workload, size), failed))

    def set_launch_overhead(self, seconds: float) -> None:
        """Sets the measured overhead of a launch."""
        self.measured = replace(self.measured, launch_overhead_s=seconds)

    def set_latencies(self, latencies: MeasuredLatencies) -> None:
        """Sets the latencies of chains of instructions."""
        self.measured = replace(self.measured, latencies=latencies)

    def write(self) -> None:
        """Replaces the file at once, so that an interruption leaves the old or the new one."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with ReplacedFile(self.path) as stream:
                stream.write(self.measured.to_json().encode())
        except OSError as error:
            raise MeasuringError(f"{self.path}: {error.strerror}") from None

    def _failures_but(self, workload: str, size: str) -> tuple[FailedCase, ...]:
        """A later attempt takes the place of an earlier one."""
        return tuple(
            item
            for item in self.measured.failures
            if (item.workload, item.size) != (workload, size)
        )

    def _keep(self, rows: Sequence[MeasuredRow], failures: Sequence[FailedCase]) -> None:
        ordered = sorted(rows, key=lambda row: (row.workload, row.size))
        self.measured = replace(self.measured, rows=tuple(ordered), failures=tuple(failures))


def _check_same(path: Path, before: MeasuredDevice, now: MeasuredDevice) -> None:
    """Raises MeasuringError when rows of two devices, drivers or kinds of run would meet."""
    was: DeviceFacts = before.device
    for what, old, new in (
        ("API", before.api.value, now.api.value),
        ("device", was.name, now.device.name),
        ("driver", was.driver, now.device.driver),
        ("dry run", before.dry_run, now.dry_run),
    ):
        if old != new:
            raise MeasuringError(f"{path} cannot be resumed: its {what} is {old}, now {new}")
