"""PTX to machine code, by the assembler that the user has installed."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kernelcast.errors import CompilationError, InputError, LimitExceeded
from kernelcast.inputs.native.tools import required
from kernelcast.simcore.host.deadline import deadline_in

__all__ = ["assemble"]


def assemble(ptx: str, architecture: str, path: str, options: Sequence[str] = ()) -> bytes:
    """The cubin that the assembler makes of a PTX text for `sm_80`, `sm_90a`, ...

    CompilationError with what it says when it refuses; InputError when it is not installed.
    """
    number = int("".join(letter for letter in architecture if letter.isdigit()))
    tools = required(number, f"machine code for {architecture}")
    if tools.assembler is None:
        raise InputError(f"machine code for {architecture} needs the assembler of CUDA, ptxas")
    with tempfile.TemporaryDirectory() as folder:
        source, result = Path(folder) / "kernel.ptx", Path(folder) / "kernel.cubin"
        source.write_text(ptx, encoding="utf-8")
        command = [
            *(str(tools.assembler), f"-arch={architecture}", "-lineinfo"),
            *options,
            *(str(source), "-o", str(result)),
        ]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=_seconds(), check=False
            )
        except subprocess.TimeoutExpired:
            raise LimitExceeded(f"assembling of {path} took longer than the limit") from None
        except OSError as error:
            raise InputError(f"cannot run {tools.assembler}: {error.strerror or error}") from None
        if done.returncode or not result.exists():
            said = (done.stderr or done.stdout).replace(str(source), path).strip()
            raise CompilationError(f"{path} for {architecture}: {said}")
        return result.read_bytes()


def _seconds() -> float | None:
    deadline = deadline_in(None)
    return None if deadline is None else deadline.remaining_s
