"""A `CALL` to a place from which nothing returns is a branch: the assembler writes it so."""

from __future__ import annotations

import numpy as np
import pytest

from kernelcast.simcore.engine import execute
from kernelcast.simcore.launch.launch import Launch
from tests.ptx_frontend.sass.native_programs import ENGINES
from tests.ptx_frontend.sass.text_programs import LANES, WORDS, kernel_from

LOOP = (
    "MOV R30, RZ",
    ".L_again:",
    "IADD3 R30, R30, 0x1, RZ",
    "ISETP.LE.AND P3, PT, R30, R40, PT",
    "@!P3 CALL.REL.NOINC `(.L_done)",
    "BRA `(.L_again)",
    ".L_done:",
    "BAR.SYNC.DEFER_BLOCKING 0x0",
    "IADD3 R0, R30, RZ, RZ",
)
"""The way in which ptxas of CUDA 13 leaves a loop of `rodinia/particle_filter.ptx` for sm_80."""


@pytest.mark.parametrize("engine", ENGINES)
def test_lanes_that_leave_a_loop_by_a_call_meet_at_the_barrier(engine: str) -> None:
    kernel = kernel_from(LOOP)
    barriers = [item for item in kernel.instructions if item.mnemonic.startswith("BAR.SYNC")]
    assert len(barriers) == 1
    memory = np.zeros((LANES, WORDS), np.uint32)
    execute(kernel, Launch((1, 1, 1), (LANES, 1, 1), (memory, 0)), engine=engine)
    assert (memory[:, 0] == np.arange(LANES) + 1).all()


def test_functions_that_return_are_called_all_the_same() -> None:
    kernel = kernel_from(
        (
            "MOV R31, 0x0",
            "CALL.REL.NOINC `(.L_function)",
            "BRA `(.L_behind)",
            ".L_function:",
            "IADD3 R0, RZ, 0x5, RZ",
            "RET.REL.NODEC R31 `(k)",
            ".L_behind:",
        )
    )
    memory = np.zeros((LANES, WORDS), np.uint32)
    execute(kernel, Launch((1, 1, 1), (LANES, 1, 1), (memory, 0)), engine="reference")
    assert (memory[:, 0] == 5).all()
