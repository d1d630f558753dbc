"""One run of the assembler or the disassembler: how long, how much memory, how much output.

Both are made for what compilers write. Of a damaged file they may make anything, so that they are
stopped at limits and their ends are told in one line.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kernelcast.errors import InputError, LimitExceeded
from kernelcast.input_files import MOST_BYTES
from kernelcast.simcore.host.deadline import deadline_in
from kernelcast.simcore.host.limits import available_memory_bytes

__all__ = ["ToolResult", "run_tool"]

_MOST_SECONDS = 600.0
"""Where no limit of time is set: as long as a run may take by default."""
_LEAST_MEMORY = 1 << 31
_MOST_SAID = 1 << 16


@dataclass(frozen=True, slots=True)
class ToolResult:
    """`status` as the system tells it, `output` of the program, and what it `said` of errors."""

    status: int
    output: bytes
    said: str


def run_tool(
    tool: Path,
    arguments: Sequence[str],
    folder: Path,
    what: str,
    most_seconds: float = _MOST_SECONDS,
) -> ToolResult:
    """Runs a program in `folder`; `what` was going on when a limit ends it.

    `most_seconds` count where no limit of time is set, or a later one. LimitExceeded when the time
    is up; InputError when it cannot be run or prints without end.
    """
    seconds = min(most_seconds, _seconds(what))
    try:
        with (
            (folder / "said").open("w+b") as said,
            subprocess.Popen(
                [str(tool), *arguments],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=said,
            ) as process,
        ):
            _limit_memory(process.pid)
            is_late = threading.Event()
            timer = threading.Timer(seconds, _kill, (process, is_late))
            timer.start()
            try:
                output = _output(process, tool, what)
            except BaseException:
                process.kill()
                raise
            finally:
                timer.cancel()
            if is_late.is_set():
                raise LimitExceeded(f"still {what} after {seconds:.4g} s (--limit-seconds)")
            said.seek(0)
            text = said.read(_MOST_SAID).decode("utf-8", "replace")
    except OSError as error:
        raise InputError(f"cannot run {tool}: {error.strerror or error}") from None
    return ToolResult(process.returncode, output, text)


def _output(process: subprocess.Popen[bytes], tool: Path, what: str) -> bytes:
    assert process.stdout is not None
    output = process.stdout.read(MOST_BYTES + 1)
    if len(output) > MOST_BYTES:
        raise InputError(f"{what}: {tool.name} prints more than {MOST_BYTES >> 20} MiB")
    process.wait()
    return output


def _kill(process: subprocess.Popen[bytes], is_late: threading.Event) -> None:
    is_late.set()
    process.kill()


def _seconds(what: str) -> float:
    deadline = deadline_in(None)
    if deadline is None:
        return _MOST_SECONDS
    if deadline.has_passed:
        raise deadline.error(what)
    return min(deadline.remaining_s, _MOST_SECONDS)


def _limit_memory(process: int) -> None:
    """Where the system can: no more than is left, and no image of the memory when it crashes."""
    if sys.platform != "linux":
        return
    import resource

    room = max(available_memory_bytes() or 0, _LEAST_MEMORY)
    try:
        resource.prlimit(process, resource.RLIMIT_AS, (room, room))
        resource.prlimit(process, resource.RLIMIT_CORE, (0, 0))
    except (ProcessLookupError, PermissionError, ValueError):
        return  # it has ended already, or its limits are lower
