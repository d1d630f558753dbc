"""Compiles large modules in a process of its own: LLVM cannot be interrupted, a process can.

It ends when the deadline passes, when the user interrupts, and when it wants more memory than there
is.
"""

from __future__ import annotations

import json
import subprocess
import sys

from kernelcast.errors import LimitExceeded
from kernelcast.simcore.host.deadline import deadline_in
from kernelcast.simcore.host.limits import available_memory_bytes

__all__ = ["emit_object_apart"]

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    "from kernelcast.simcore.host.llvm import serve; serve()"
)


def emit_object_apart(ir: str, optimization: int) -> bytes:
    """An object file for this machine; LimitExceeded where time or memory do not suffice."""
    memory = available_memory_bytes() or 0
    command = [sys.executable, "-c", _START, json.dumps(sys.path), str(optimization), str(memory)]
    deadline = deadline_in(None)
    patience = None if deadline is None else deadline.remaining_s
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        try:
            found, _ = process.communicate(ir.encode(), timeout=patience)
        except subprocess.TimeoutExpired:
            assert deadline is not None
            raise deadline.error("compiling the kernel") from None
        finally:
            process.kill()
    if process.returncode:
        raise LimitExceeded(
            "LLVM stopped while it compiled the kernel, which is too large for it: "
            "the reference engine may run it (--engine reference)"
        )
    return found
