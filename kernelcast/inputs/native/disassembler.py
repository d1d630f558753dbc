"""The text of machine code, by the disassembler that the user has installed."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from kernelcast.errors import InputError, LimitExceeded
from kernelcast.inputs.native.tools import required
from kernelcast.simcore.host.deadline import deadline_in

__all__ = ["disassemble"]


def disassemble(cubin: bytes, architecture: int, path: str, *, of_ptx: bool = False) -> str:
    """What `nvdisasm -c` prints of a cubin; InputError when it refuses or is missing.

    Places stand in it where the cubin has them: lines of CUDA C++, or `of_ptx` of the PTX.
    """
    tools = required(architecture, f"{path}: machine code")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.cubin"
        file.write_bytes(cubin)
        try:
            done = subprocess.run(
                [str(tools.disassembler), "-c", "-gp" if of_ptx else "-gi", str(file)],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_seconds(),
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise LimitExceeded(f"the disassembly of {path} took longer than the limit") from None
        except OSError as error:
            reason = error.strerror or error
            raise InputError(f"cannot run {tools.disassembler}: {reason}") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().replace(str(file), path) or "it was refused"
        raise InputError(f"{path}: the disassembler says: {said[:500]}")
    return done.stdout


def _seconds() -> float | None:
    deadline = deadline_in(None)
    return None if deadline is None else deadline.remaining_s
