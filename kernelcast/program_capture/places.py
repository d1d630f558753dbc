"""Where a program calls something: a line of its source, or an address in a file."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

__all__ = ["place_of"]

_PATIENCE_S = 5.0
_UNKNOWN = "?"


def place_of(file: str, returns_to: int) -> str:
    """The line of the call that returns to an address of a file, as its debugging information says.

    Without such information, or `addr2line`, it is the address itself.
    """
    plain = f"{Path(file).name}+{returns_to:#x}"
    program = shutil.which("addr2line")
    if program is None:
        return plain
    command = [program, "-Cfe", file, hex(returns_to - 1)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_PATIENCE_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return plain
    function, _, line = done.stdout.strip().partition("\n")
    if done.returncode or not line or function.startswith(_UNKNOWN):
        return plain
    path, _, number = line.partition(" ")[0].rpartition(":")
    return f"{function}, {Path(path).name}:{number}" if number.isdigit() else f"{function}, {plain}"
