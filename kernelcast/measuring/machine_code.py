"""What of a source is loaded on a GPU: the text, for its driver, or machine code assembled here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from kernelcast.errors import KernelcastError
from kernelcast.inputs.native.assembler import assemble
from kernelcast.inputs.native.sources import architecture_name
from kernelcast.measuring.accelerator import MeasuringError
from kernelcast.validation.measured_times import DRIVER_CODE, DeviceFacts

__all__ = ["LoadSource", "LoadedCode", "as_source", "assembled", "assembled_code", "loader"]


@dataclass(frozen=True, slots=True)
class LoadedCode:
    """What the device is given, and its name: `driver`, or the architecture of machine code."""

    content: bytes
    code: str


LoadSource: TypeAlias = Callable[[Path], LoadedCode]
"""What is loaded of a source file."""


def as_source(path: Path) -> LoadedCode:
    """The file as it is, which the driver compiles."""
    return LoadedCode(path.read_bytes(), DRIVER_CODE)


def assembled(text: str, path: str, facts: DeviceFacts) -> LoadedCode:
    """PTX as machine code of the device, the same that `--code native` executes here.

    InputError without an assembler for it, CompilationError when it refuses the text.
    """
    major, dot, minor = (facts.compute_capability or "").partition(".")
    if not dot:
        raise MeasuringError("the device does not tell its compute capability")
    name = architecture_name(text, int(major) * 10 + int(minor))
    return LoadedCode(assemble(text, name, path), name)


def loader(facts: DeviceFacts, *, is_native: bool) -> LoadSource:
    """How files are loaded on the device."""
    if not is_native:
        return as_source
    return lambda path: assembled(path.read_text(encoding="utf-8"), str(path), facts)


def assembled_code(text: str, path: str, facts: DeviceFacts) -> tuple[LoadedCode, str]:
    """Machine code where that can be had, else the text; and why it cannot, or nothing."""
    try:
        return assembled(text, path, facts), ""
    except KernelcastError as error:
        reason = str(error).splitlines()[0]
        return LoadedCode(text.encode(), DRIVER_CODE), reason
