"""`kernelcast build`: runs a build whose programs can be captured."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Annotated

import typer

from kernelcast.errors import InputError

__all__ = ["HIP_HEADERS", "build"]

_FLAGS_VARIABLE = "NVCC_APPEND_FLAGS"
_SHARED_RUNTIME = "-cudart shared"
HIP_HEADERS = Path(__file__).parents[2] / "program_capture" / "hip" / "include"
"""Headers that give the CUDA runtime HIP's names."""


def build(
    command: Annotated[
        list[str],
        typer.Argument(help="What builds the program, such as make.", metavar="-- COMMAND ARGS"),
    ],
    ptx: Annotated[
        str | None,
        typer.Option(
            help="Put PTX of this architecture into the program, too: 80 for compute_80. GPUs of "
            "other architectures then get machine code of their own.",
            metavar="N",
        ),
    ] = None,
) -> None:
    """Build a program with a shared CUDA runtime, so that it can be captured.

    Sets NVCC_APPEND_FLAGS for the command: nvcc links the runtime as a library, whatever the
    makefile says, and finds headers for HIP programs (nvcc -x cu). With CMake, configure with
    -DCMAKE_CUDA_RUNTIME_LIBRARY=Shared instead.

    The exit status is that of the command.
    """
    program = shutil.which(command[0])
    if program is None:
        raise InputError(f"there is no program {command[0]}")
    flags = [os.environ.get(_FLAGS_VARIABLE, ""), _SHARED_RUNTIME, f"-I{HIP_HEADERS}"]
    if ptx is not None:
        flags.append(f"-gencode arch=compute_{ptx},code=compute_{ptx}")
    environment = {**os.environ, _FLAGS_VARIABLE: " ".join(filter(None, flags))}
    status = subprocess.run([program, *command[1:]], env=environment, check=False).returncode
    if status:
        raise typer.Exit(status if status > 0 else 1)
