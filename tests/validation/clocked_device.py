"""A device for tests whose clock advances by known latencies."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from fake_accelerator import FakeAccelerator

from kernelcast.measuring.accelerator import BuiltKernel, DeviceBuffer, DeviceLaunch

__all__ = ["OVERHEAD", "ClockedDevice", "latency"]

OVERHEAD = 13
LATENCIES = {"fma": 4, "add": 5, "mul": 7, "cvt": 11, "setp": 6, "bar": 20, "rcp": 30, "ld": 33}
"""Cycles by the first word of a statement; 9 for all others."""


class ClockedDevice(FakeAccelerator):
    """Executes nothing, but its clock advances by the latency of each statement that is timed.

    Earlier rounds are slower, as caches make them. Each step of machine code takes 9 cycles.
    """

    is_dry_run = False

    def build(self, source: bytes, entry: str, options: Any = ()) -> BuiltKernel:
        """Keeps the text of the kernel."""
        super().build(source, entry)
        if source.startswith(b"\x7fELF"):
            steps = "step\n" * int(entry.removeprefix("chain_"))
            return BuiltKernel(entry, f"%clock64;\n{steps}end %clock64;", None, None, None, None)
        body = re.search(rf"\.entry {entry}\((.*?)\n}}", source.decode(), re.DOTALL)
        assert body
        return BuiltKernel(entry, body[1], None, None, None, None)

    def execute(self, launch: DeviceLaunch) -> None:
        """Writes the cycles of each round."""
        super().execute(launch)
        text = str(launch.kernel.handle).split("%clock64;")[1]
        statements = [line.strip() for line in text.splitlines() if line.strip()][:-1]
        taken = sum(latency(line) for line in statements)
        buffer, rounds = launch.arguments[0], launch.arguments[2]
        assert isinstance(rounds, bytes)
        assert isinstance(buffer, DeviceBuffer)
        cycles = buffer.handle.view(np.int64)
        count = int.from_bytes(rounds, "little")
        cycles[:] = OVERHEAD + taken + 100 * np.arange(count)[::-1]


def latency(statement: str) -> int:
    """The cycles that a statement takes."""
    word = re.match(r"(?:@\w+ )?(\w+)", statement)
    assert word
    return LATENCIES.get(word[1], 9)
