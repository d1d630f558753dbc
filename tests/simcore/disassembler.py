"""What the vendor's assembler makes of PTX, as instructions of the GPU."""

from __future__ import annotations

import importlib.util
import re
import runpy
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline

__all__ = ["Native", "disassembled", "ordinary_way"]

TARGET = "sm_80"
_assembler: Any = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parent.parent / "ptx_frontend" / "assembler.py"))
)
_INSTRUCTION = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(@!?U?P\w+ )?([A-Z0-9._]+)\s*(.*?);")
_PLACE = re.compile(r"0x([0-9a-f]+) *$")
_UNITS = {
    Pipeline.SPECIAL_FUNCTION: ("MUFU",),
    Pipeline.FP32: ("FFMA", "FMUL", "FADD", "FCHK"),
    Pipeline.FP64: ("DFMA", "DMUL", "DADD"),
    Pipeline.CONVERSION: ("I2F", "F2I"),
    Pipeline.BRANCH: ("BRA", "CALL", "RET"),
    Pipeline.WAIT: ("BSSY", "BSYNC"),
}
"""Kinds by the names of the assembler.

IMAD multiplies unless it only adds or moves, the rest are integer operations.
"""


@dataclass(frozen=True)
class Native:
    """One instruction; `target` of a branch or a call."""

    place: int
    is_guarded: bool
    name: str
    target: int | None

    @property
    def kind(self) -> str:
        return self.name.split(".")[0]

    @property
    def pipeline(self) -> Pipeline:
        for pipeline, names in _UNITS.items():
            if self.kind in names:
                return pipeline
        multiplies = self.kind == "IMAD" and not re.search(r"MOV|IADD|\.X", self.name)
        return Pipeline.INTEGER_MULTIPLY if multiplies else Pipeline.INTEGER


def disassembled(kernels: str, folder: Path) -> dict[str, list[Native]]:
    """Code by kernel. `kernels`: PTX, whose target becomes TARGET; skips without the tools."""
    spec = importlib.util.find_spec("triton")
    folders = spec.submodule_search_locations if spec else None
    if not folders:
        pytest.skip("there is no disassembler")
    program = Path(folders[0]) / "backends" / "nvidia" / "bin" / "cuobjdump"
    source, binary = folder / "kernels.ptx", folder / "kernels.cubin"
    source.write_text(re.sub(r"\.target +\w+", f".target {TARGET}", kernels))
    command = [_assembler.ptxas(), f"-arch={TARGET}", "-o", str(binary), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    listing = subprocess.run(
        [str(program), "-sass", str(binary)], check=True, capture_output=True, text=True
    ).stdout
    parts = (part.split("\n", 1) for part in listing.split("Function : ")[1:])
    return {name: list(_code(text)) for name, text in parts}


def _code(text: str) -> Iterator[Native]:
    for found in _INSTRUCTION.finditer(text):
        target = _PLACE.search(found[4])
        place = int(found[1], 16)
        yield Native(place, bool(found[2]), found[3], int(target[1], 16) if target else None)


def ordinary_way(code: list[Native]) -> Iterator[Native]:
    """The way from entry to end; branches around a call, which is for rare operands, are taken."""
    at = {native.place: number for number, native in enumerate(code)}
    number, back = 0, -1
    while code[number].kind != "EXIT":
        native = code[number]
        yield native
        target = None if native.target is None else at.get(native.target)
        number += 1
        if native.kind == "RET":
            number = back
        elif native.kind == "CALL":
            assert target is not None
            number, back = target, number
        elif native.kind == "BRA" and target is not None and target > number:
            skipped = code[number:target]
            if not native.is_guarded or any(item.kind == "CALL" for item in skipped):
                number = target
