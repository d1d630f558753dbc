"""PTX kernels as machine code, to compare both executions bit by bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.inputs.native.cubins import assembled_module
from kernelcast.inputs.native.tools import toolset
from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.engine import execute
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch

__all__ = ["ARCHITECTURES", "ENGINES", "machine_kernel", "needs_tools", "outputs"]

ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
ENGINES = ("reference", "jit")
EXACT = ("-fmad=false",)
"""The assembler fuses no multiplications with additions, so that results are those of the PTX."""


def needs_tools(architecture: str = "sm_80") -> None:
    """Skips a test where the assembler or the disassembler is missing; CI has both."""
    found = toolset(int(architecture.removeprefix("sm_").rstrip("af")))
    if found is None or found.assembler is None:
        pytest.skip(f"no tools for {architecture}")


def machine_kernel(
    ptx: str, architecture: str, name: str = "k", options: Sequence[str] = EXACT
) -> Kernel:
    """The kernel as machine code of an architecture, with the parameters of its PTX."""
    needs_tools(architecture)
    module = assembled_module(ptx, architecture, "k.ptx", read_ptx(ptx, "k.ptx"), options)
    for reasons in module.rejected.values():
        raise reasons[0]
    return module.kernels[name]


def outputs(kernel: Kernel, launch: Launch, engine: str) -> tuple[npt.NDArray[Any], ...]:
    """The arrays of a launch after it, of copies."""
    copies = tuple(a.copy() if isinstance(a, np.ndarray) else a for a in launch.arguments)
    from dataclasses import replace

    execute(kernel, replace(launch, arguments=copies), engine=engine)
    return tuple(a for a in copies if isinstance(a, np.ndarray))
