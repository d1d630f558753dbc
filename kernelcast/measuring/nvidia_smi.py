"""Clocks and driver of one GPU, as `nvidia-smi` tells them."""

from __future__ import annotations

import shutil
import subprocess

__all__ = ["NvidiaSmi"]

_SECONDS = 20.0
_CLOCKS = {"sm_hz": "clocks.sm", "memory_hz": "clocks.mem"}


class NvidiaSmi:
    """Answers nothing where `nvidia-smi` is missing or does not know the GPU."""

    def __init__(self, bus_id: str) -> None:
        self._program = shutil.which("nvidia-smi")
        self._bus_id = bus_id

    def clocks(self) -> dict[str, float]:
        """`sm_hz` and `memory_hz` now."""
        values = self._query(tuple(_CLOCKS.values()))
        return {
            name: float(value) * 1e6
            for name, value in zip(_CLOCKS, values, strict=False)
            if value.isdecimal()
        }

    def driver_version(self) -> str | None:
        """The driver's version; None where `nvidia-smi` does not tell it."""
        return next(iter(self._query(("driver_version",))), None)

    def _query(self, fields: tuple[str, ...]) -> list[str]:
        if self._program is None:
            return []
        command = [
            self._program,
            f"--id={self._bus_id}",
            f"--query-gpu={','.join(fields)}",
            "--format=csv,noheader,nounits",
        ]
        try:
            finished = subprocess.run(
                command, capture_output=True, text=True, timeout=_SECONDS, check=True
            )
        except (OSError, subprocess.SubprocessError):
            return []
        return [value.strip() for value in finished.stdout.strip().split(",")]
