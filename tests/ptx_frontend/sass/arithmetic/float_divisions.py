"""One division of f32 as machine code, and which opcodes it executes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.engine import execute
from kernelcast.simcore.launch.launch import Launch
from tests.ptx_frontend.sass.native_programs import machine_kernel

__all__ = ["executed_opcodes"]

_DIVISION = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 pa, .param .u64 pb) {
  .reg .b64 a, b, step; .reg .b32 t; .reg .f32 x, y;
  mov.u32 t, %tid.x; mul.wide.u32 step, t, 4;
  ld.param.u64 a, [pa]; ld.param.u64 b, [pb]; add.u64 a, a, step; add.u64 b, b, step;
  ld.global.f32 x, [a]; ld.global.f32 y, [b]; div.rn.f32 x, x, y; st.global.f32 [a], x;
  ret; }
"""


def executed_opcodes(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> set[str]:
    """The base opcodes that some lane issues while it divides `a` by `b`."""
    kernel = machine_kernel(_DIVISION, "sm_80")
    launch = Launch(grid=(1, 1, 1), thread_block=(a.size, 1, 1), arguments=(a.copy(), b.copy()))
    trace = execute(kernel, launch, engine="reference")
    quotient = launch.arguments[0]
    assert np.array_equal(np.asarray(quotient), a / b)
    issues = trace.stage_warp_issues.sum(axis=0)
    return {
        row.mnemonic.split(".")[0]
        for row, count in zip(trace.instructions, issues, strict=True)
        if count
    }
