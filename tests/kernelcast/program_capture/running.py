"""Captures programs as the command line does, within the process of the tests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kernelcast.cli import main

__all__ = ["DEVICES", "Captured", "captured"]

DEVICES = ("a100-40gb", "h100-sxm", "v100-sxm2")


@dataclass(frozen=True)
class Captured:
    """What a capture ended with: exit status, JSON, and what was told on standard error."""

    status: int
    record: dict[str, Any]
    told: str

    @property
    def kernels(self) -> list[str]:
        """The kernels of all launches, in their order."""
        return [launch["kernel"] for launch in self.record["launches"]]


def captured(
    capfd: pytest.CaptureFixture[str],
    program: Path,
    *arguments: str,
    devices: Sequence[str] = DEVICES,
    options: Sequence[str] = (),
) -> Captured:
    """Runs `kernelcast capture --json`; the first of the devices is what the program sees."""
    chosen = [word for device in devices for word in ("--device", device)]
    capfd.readouterr()
    status = main(["capture", *chosen, *options, "--json", "--", str(program), *arguments])
    said = capfd.readouterr()
    return Captured(status, json.loads(said.out) if said.out else {}, said.err)
