"""The program that is captured: how it is started, and how it ended."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

from kernelcast.errors import InputError
from kernelcast.program_capture.client_build import CLOCK
from kernelcast.program_capture.closed_libraries import check_libraries
from kernelcast.program_capture.options import CaptureOptions
from kernelcast.ptx_frontend.sass.container.elf import is_elf

__all__ = ["BUILD_FLAGS", "Program", "static_runtime"]

_SOCKET_VARIABLE = "KERNELCAST_CAPTURE_SOCKET"
BUILD_FLAGS = "-cudart shared"
"""What nvcc must be told so that the runtime can be replaced."""
_SHARED_MARKS = (b"libcudart.so", b"libcuda.so", b"libOpenCL.so")
_OPENCL = "libOpenCL.so.1"
_PR_SET_PDEATHSIG = 1
_prctl = ctypes.CDLL(None).prctl
"""Found here: between fork and exec little may be done."""
_PATIENCE_S = 2.0


def static_runtime(program: Path) -> bool:
    """Whether an executable has the CUDA runtime inside, which nothing can replace.

    Such a program holds code of GPUs (`.nv_fatbin`) and names no shared runtime.
    """
    try:
        content = program.read_bytes()
    except OSError:
        return False
    if not is_elf(content) or b".nv_fatbin" not in content:
        return False
    return not any(mark in content for mark in _SHARED_MARKS[:1])


class Program:
    """A running program whose CUDA calls come to a socket."""

    def __init__(
        self, command: Sequence[str], folder: Path, path: Path, options: CaptureOptions
    ) -> None:
        found = shutil.which(command[0])
        if found is None:
            raise InputError(f"there is no program {command[0]}")
        if static_runtime(Path(found)):
            raise InputError(
                f"{command[0]} has the CUDA runtime built in, which cannot be replaced: build it "
                f'with NVCC_APPEND_FLAGS="{BUILD_FLAGS}" in the environment, or as '
                "`kernelcast build -- make`"
            )
        environment = dict(os.environ)
        environment[_SOCKET_VARIABLE] = str(path)
        known = environment.get("LD_LIBRARY_PATH")
        environment["LD_LIBRARY_PATH"] = f"{folder}:{known}" if known else str(folder)
        check_libraries(Path(found), folder, environment)
        environment["OCL_ICD_VENDORS"] = str(_opencl_vendors(path.parent, folder))
        if options.is_clock_predicted:
            before = environment.get("LD_PRELOAD")
            clock = str(folder / CLOCK)
            environment["LD_PRELOAD"] = f"{clock}:{before}" if before else clock
        try:
            with warnings.catch_warnings():
                # Python warns of forks where there are threads, for what the child may do.
                warnings.simplefilter("ignore", DeprecationWarning)
                self._process = subprocess.Popen(
                    [found, *command[1:]],
                    env=environment,
                    stdout=sys.stderr if options.is_quiet else None,
                    preexec_fn=_die_with_parent,
                )
        except OSError as error:
            raise InputError(f"{command[0]} cannot be started: {error.strerror}") from None

    @property
    def is_running(self) -> bool:
        """Whether the program has not ended."""
        return self._process.poll() is None

    @property
    def status(self) -> int:
        """The exit status; negative for the signal that ended it."""
        return self._process.wait()

    def stop(self) -> None:
        """Ends it, at first with a request."""
        if not self.is_running:
            return
        self._process.terminate()
        try:
            self._process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _opencl_vendors(to: Path, folder: Path) -> Path:
    """A folder that tells loaders of OpenCL of one implementation, which is ours."""
    vendors = to / "OpenCL"
    vendors.mkdir()
    (vendors / "kernelcast.icd").write_text(f"{folder / _OPENCL}\n")
    return vendors


def _die_with_parent() -> None:
    """A program whose server is killed ends, too."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
