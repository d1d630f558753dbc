"""Runs a program and answers its calls until it ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from kernelcast.errors import LaunchError
from kernelcast.program_capture.libraries import libraries
from kernelcast.program_capture.options import CaptureOptions
from kernelcast.program_capture.program import Program
from kernelcast.program_capture.recording import Recorder
from kernelcast.program_capture.result import CaptureResult, ProcessResult
from kernelcast.program_capture.server import Server
from kernelcast.program_capture.work_folder import work_folder
from kernelcast.simcore.device.device import Device

__all__ = ["capture_program"]

_TURN_S = 0.05
"""How long nothing may come before it is asked whether the program still runs."""


def capture_program(
    command: Sequence[str], devices: Sequence[Device], options: CaptureOptions | None = None
) -> CaptureResult:
    """Runs a program without a GPU and estimates its launches on devices.

    The first device is the one that the program sees. Raises InputError when the program cannot be
    captured. An interrupt ends the program and gives what there was until then.
    """
    chosen = options or CaptureOptions()
    if not devices:
        raise LaunchError("capture needs a device")
    began = time.monotonic()
    with work_folder() as folder:
        server = Server(folder / "socket", devices, folder, chosen)
        with server, _recorded(server, command, chosen.recording):
            program = Program(command, libraries(), server.path, chosen)
            status = _serve(server, program, chosen.tell)
            processes = [ProcessResult.of(session) for session in server.sessions]
    return CaptureResult(tuple(command), status, processes, time.monotonic() - began)


@contextmanager
def _recorded(server: Server, command: Sequence[str], path: Path | None) -> Iterator[None]:
    """Writes a recording meanwhile, where there is to be one."""
    if path is None:
        yield
        return
    with Recorder(path, tuple(command)) as recorder:
        server.recorder = recorder
        yield


def _serve(server: Server, program: Program, tell: Callable[[str], None]) -> int:
    """The program's exit status."""
    try:
        while program.is_running:
            server.serve(_TURN_S)
        while server.is_connected and server.serve(0.0):  # its last words
            pass
    except KeyboardInterrupt:
        tell("interrupted: what follows is of the launches until now")
    finally:
        program.stop()
    return program.status
