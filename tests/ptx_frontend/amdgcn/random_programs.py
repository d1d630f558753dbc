"""Random kernels that must do as AMD's machine code, by way of LLVM, what their PTX does.

They are those that are compared as NVIDIA's machine code (`tests/ptx_frontend/sass`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.errors import CompilationError, UnsupportedInstruction
from kernelcast.inputs.amd.translated_ptx import amd_code
from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.engine import execute
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch
from tests.ptx_frontend.sass.random_programs import Program, programs
from tests.simcore.random_kernels import BUFFERS, SHAPES, random_buffers

__all__ = ["LANES", "Comparison", "compared"]

LANES = {"gfx90a": 64, "gfx950": 64, "gfx1100": 32, "gfx1201": 32}
"""The architectures that are compared, with the lanes of their wavefronts."""
_ARGUMENTS = (9, 3)
_REASON = re.compile(r"(?:instruction|no code|\S+ is not translated).*")


@dataclass(frozen=True)
class Comparison:
    """`refused`: why the kernel has no machine code; `different`: what that does otherwise."""

    seed: int
    architecture: str
    refused: str = ""
    different: str = ""


def compared(seed: int, architecture: str, engine: str = "reference") -> Comparison:
    """The kernel of a seed as machine code against its PTX, in all its buffers."""
    (program,) = programs(seed, 1)
    kernel = read_ptx(program.text, "random.ptx").kernels["k"]
    try:
        machine = amd_code(kernel).amd_kernel("k", architecture)
    except (UnsupportedInstruction, CompilationError) as error:
        found = _REASON.search(error.message.splitlines()[0])
        return Comparison(seed, architecture, refused=found[0] if found else error.message)
    expected = _memory(kernel, program, architecture, "reference")
    try:
        memory = _memory(machine, program, architecture, engine)
    except Exception as error:  # whatever it is: the PTX ran
        return Comparison(seed, architecture, different=f"{type(error).__name__}: {error}")
    return Comparison(seed, architecture, different=_unlike(expected, memory))


def _memory(
    kernel: Kernel, program: Program, architecture: str, engine: str
) -> list[npt.NDArray[Any]]:
    buffers = random_buffers()
    launch = Launch(*SHAPES[program.shape], (*buffers, *_ARGUMENTS))
    execute(kernel, launch, engine=engine, warp_width=LANES[architecture])
    return buffers


def _unlike(expected: list[npt.NDArray[Any]], memory: list[npt.NDArray[Any]]) -> str:
    for name, one, other in zip(BUFFERS, expected, memory, strict=True):
        places = np.flatnonzero(one != other)
        if places.size:
            return f"{name}[{places[0]}] and {places.size - 1} other bytes"
    return ""
