"""Times of the closed loop, as an earlier `kernelcast validate opencl --json` measured them."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelcast.errors import KernelcastError
from kernelcast.input_files import read_input
from kernelcast.simcore.device.device import Device

__all__ = ["LoopTime", "read_loop_times"]

_SUITE = "opencl"


@dataclass(frozen=True, slots=True)
class LoopTime:
    """Seconds of one launch on the device that calls itself `device`; `date` in ISO form."""

    seconds: float
    device: str
    date: str

    @property
    def source(self) -> str:
        """The device and the date, as the source of a measured time."""
        return f"{self.device}, {self.date}"

    @classmethod
    def of_source(cls, seconds: float, source: str) -> LoopTime:
        """`source` as this class writes it; the name of a device may have commas."""
        device, _, date = source.rpartition(", ")
        return cls(seconds, device, date)


def read_loop_times(file: Path, device: Device) -> dict[str, LoopTime]:
    """The times by kernel and size; KernelcastError for another file or device."""
    try:
        record = json.loads(read_input(file))
    except OSError as error:
        raise KernelcastError(f"{file}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise KernelcastError(f"{file}: no JSON: {str(error).splitlines()[0]}") from None
    try:
        found = {row["kernel"]: _time(row) for row in _rows(record)}
    except (KeyError, TypeError, ValueError, AttributeError):
        raise KernelcastError(
            f"{file}: not what kernelcast validate opencl --json writes"
        ) from None
    own = _plain(device.architecture.name)
    for other in {_plain(time.device) for time in found.values()} - {own}:
        raise KernelcastError(f"{file}: times of {other}, but {device.name} describes {own}")
    return found


def _plain(name: str) -> str:
    """Drivers pad their names with spaces."""
    return " ".join(name.split())


def _rows(record: dict[str, Any]) -> list[dict[str, Any]]:
    if record["suite"] != _SUITE or not record["rows"]:
        raise ValueError
    rows: list[dict[str, Any]] = record["rows"]
    return rows


def _time(row: dict[str, Any]) -> LoopTime:
    seconds = float(row["measured_s"])
    if not (math.isfinite(seconds) and seconds > 0):
        raise ValueError
    return LoopTime.of_source(seconds, row["source"])
