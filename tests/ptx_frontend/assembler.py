"""Which statements the vendor's assembler takes, and which of them `read_ptx` does."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from kernelcast.errors import PtxSyntaxError
from kernelcast.ptx_frontend import read_ptx

__all__ = ["assembled", "ptxas", "taken"]

TARGET = "sm_100a"
_OLDEST = (13, 5)
"""Older releases do not know all statements that are compared: fences with `.sync_restrict`."""
_HEADER = f".version 9.0\n.target {TARGET}\n.address_size 64\n"
_CONSTANTS = ".const .align 16 .b8 constants[64];\n"
_PARAMETERS = "(.param .align 16 .b8 pack[64])"
_REGISTERS = ".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<32>; .reg .b64 %d<16>;"
_REGISTERS += " .reg .b128 %q<4>;"


def assembled(statements: Iterable[str], folder: Path) -> set[str]:
    """Statements that ptxas takes: it names the lines of the others, a batch at a time."""
    program = ptxas()
    head = f"{_HEADER}{_CONSTANTS}.entry k{_PARAMETERS} {{\n{_REGISTERS}"
    left, first = list(dict.fromkeys(statements)), head.count("\n") + 2
    while left:
        file = folder / "k.ptx"
        file.write_text("\n".join((head, *left, "ret; }")))
        command = [program, "-arch", TARGET, "-O0", "-o", str(folder / "k.cubin"), str(file)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode == 0:
            break
        wrong = {int(line) - first for line in re.findall(r"line (\d+)", run.stderr)}
        kept = [statement for i, statement in enumerate(left) if i not in wrong]
        assert len(kept) < len(left), run.stderr[:2000]
        left = kept
    return set(left)


def taken(statements: Iterable[str]) -> set[str]:
    """Statements that become kernels here."""
    known = list(dict.fromkeys(statements))
    kernels = "".join(
        f".entry k{i}{_PARAMETERS} {{ {_REGISTERS} {statement} ret; }}\n"
        for i, statement in enumerate(known)
    )
    try:
        module = read_ptx(f"{_HEADER}{_CONSTANTS}{kernels}", "k.ptx")
    except PtxSyntaxError:
        half = len(known) // 2
        return taken(known[:half]) | taken(known[half:]) if half else set()
    return {statement for i, statement in enumerate(known) if f"k{i}" in module.kernels}


@cache
def ptxas() -> str:
    """The assembler of the Python environment, else the machine's.

    Its release must know the PTX of these tests; without one the test is skipped.
    """
    packages = importlib.util.find_spec("nvidia")
    folders = packages.submodule_search_locations if packages else None
    found = [str(file) for folder in folders or () for file in Path(folder).glob("cu*/bin/ptxas")]
    for program in (*found, shutil.which("ptxas")):
        if program is not None and _release(program) >= _OLDEST:
            return program
    pytest.skip("there is no ptxas of release {}.{} or later".format(*_OLDEST))


def _release(program: str) -> tuple[int, ...]:
    told = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    number = re.search(r"release (\d+)\.(\d+)", told.stdout)
    return (int(number[1]), int(number[2])) if number else (0, 0)
