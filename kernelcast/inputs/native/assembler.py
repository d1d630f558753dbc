"""PTX to machine code, by the assembler that the user has installed."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kernelcast.errors import CompilationError, InputError, LimitExceeded, SourceSpan
from kernelcast.inputs.native.tools import required
from kernelcast.simcore.host.deadline import deadline_in

__all__ = ["assemble"]

_TARGET = re.compile(r"^(\s*\.target\s+)sm_(\d+)[af]?", re.MULTILINE)
_VERSION = re.compile(r"^(\s*\.version\s+)\d+\.\d+", re.MULTILINE)
_OTHER_VERSION = re.compile(r"Unsupported \.version [\d.]+; current version is '([\d.]+)'")
_ERROR = re.compile(r"line (\d+)[;,] *(?:error|fatal)\s*:\s*(.*)")


def assemble(ptx: str, architecture: str, path: str, options: Sequence[str] = ()) -> bytes:
    """The cubin that the assembler makes of a PTX text for `sm_80`, `sm_90a`, ...

    A text for a newer architecture is assembled as it is for an older one, and one of a newer
    version of PTX in the newest that the assembler knows: it refuses what they do not have.
    CompilationError with the place when it refuses; InputError when it is not installed.
    """
    number = int("".join(letter for letter in architecture if letter.isdigit()))
    tools = required(number, f"machine code for {architecture}")
    if tools.assembler is None:
        raise InputError(f"machine code for {architecture} needs the assembler of CUDA, ptxas")
    text = _for_architecture(ptx, architecture, number)
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder) / "kernel.ptx", Path(folder) / "kernel.cubin"
        command = [str(tools.assembler), f"-arch={architecture}", "-lineinfo", *options]
        said = _run(command, text, files, path)
        other = _OTHER_VERSION.search(said)
        if other is not None:
            said = _run(command, _VERSION.sub(rf"\g<1>{other[1]}", text, count=1), files, path)
        if said or not files[1].exists():
            raise _refusal(said, ptx, architecture, path)
        return files[1].read_bytes()


def _for_architecture(ptx: str, architecture: str, number: int) -> str:
    """The text, for no newer architecture than that."""
    target = _TARGET.search(ptx)
    if target is None or int(target[2]) <= number:
        return ptx
    return _TARGET.sub(rf"\g<1>{architecture}", ptx, count=1)


def _run(command: Sequence[str], text: str, files: tuple[Path, Path], path: str) -> str:
    """What the assembler says when it refuses; empty when it does not."""
    source, result = files
    source.write_text(text, encoding="utf-8")
    deadline = deadline_in(None)
    try:
        done = subprocess.run(
            [*command, str(source), "-o", str(result)],
            capture_output=True,
            text=True,
            timeout=None if deadline is None else deadline.remaining_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise LimitExceeded(f"assembling {path} took longer than the limit") from None
    except OSError as error:
        raise InputError(f"cannot run {command[0]}: {error.strerror or error}") from None
    if not done.returncode:
        return ""
    said = (done.stderr or done.stdout).replace(str(source), path).strip()
    return said or "it was refused"


def _refusal(said: str, ptx: str, architecture: str, path: str) -> CompilationError:
    """The first error with its place in the text."""
    found = _ERROR.search(said)
    if found is None:
        return CompilationError(f"{path} for {architecture}: {said.splitlines()[0]}")
    number = int(found[1])
    lines = ptx.split("\n")
    line = lines[number - 1].rstrip() if 0 < number <= len(lines) else ""
    span = SourceSpan(path, number, 1, max(1, len(line)), line)
    return CompilationError(f"the assembler for {architecture} says: {found[2].strip()}", span)
