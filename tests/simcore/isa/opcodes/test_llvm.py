"""The LLVM meaning of every opcode against its NumPy meaning: bit for bit on hard values.

Approximations may be off by one unit in the last place.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kernelcast.simcore.host.llvm import QUICK, host_supports_vectors
from kernelcast.simcore.isa.opcodes.table import OPCODES
from tests.drawn_cases import ALL_CASES

llvm: Any = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[2] / "llvm_cases.py")))
pytestmark = pytest.mark.skipif(not host_supports_vectors(), reason="no vector unit to compile for")
LANES = (1, 8)
MANY = 1200 if ALL_CASES else 300


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("family", llvm.FAMILIES)
def test_llvm_meanings_equal_the_numpy_meanings(family: str, lanes: int) -> None:
    cases = list(llvm.cases_of(llvm.names_of(family)))
    if len(cases) > MANY:
        # thousands that differ only in a type and a modifier: some as vectors, others as scalars
        step, offset = 1 + 2 * len(cases) // MANY, lanes % 2
        cases = [
            case for i, case in enumerate(cases) if i % step == offset or case[0] != cases[i - 1][0]
        ]
    assert {name for name, _ in cases} == set(llvm.names_of(family))
    compiled = llvm.Compiled(cases, lanes, 0)
    for index, case in enumerate(cases):
        operands = llvm.operands_of(*case)
        llvm.compare(case, operands, compiled.call(index, case, operands), llvm.ulps_of(case))


@pytest.mark.drawn(16)
@pytest.mark.parametrize("level", [QUICK, 2])
@pytest.mark.parametrize("family", llvm.FAMILIES)
def test_the_optimizer_keeps_the_meaning(family: str, level: int) -> None:
    cases = list(llvm.cases_of(llvm.names_of(family)))
    cases = cases[:: 1 + len(cases) // 120]
    compiled = llvm.Compiled(cases, 8, level)
    for index, case in enumerate(cases):
        operands = llvm.operands_of(*case)
        llvm.compare(case, operands, compiled.call(index, case, operands), llvm.ulps_of(case))


@pytest.mark.drawn(16)
@pytest.mark.parametrize("level", [QUICK, 2])
@pytest.mark.parametrize("family", llvm.FAMILIES)
def test_constant_operands_have_the_same_meaning(family: str, level: int) -> None:
    """Divisors, shift amounts and selectors are mostly constants: LLVM folds them."""
    every = [
        case for case in llvm.cases_of(llvm.names_of(family)) if len(OPCODES[case[0]].signature) > 3
    ]
    chosen, rows, grids = [], [], []
    for index, case in enumerate(every[:: 1 + len(every) // 150]):
        operands = llvm.operands_of(*case)
        lane = (len(operands[0]) * (2 * index + 1) * 7919 // 150) % len(operands[0])
        row = tuple(array[lane] for array in operands)
        fixed = [np.full_like(array, value) for array, value in zip(operands, row, strict=True)]
        chosen.append(case)
        rows.append(row)
        grids.append([operands[0], *fixed[1:]])
    if not chosen:
        return
    compiled = llvm.Compiled(chosen, 8, level, *rows)
    for index, (case, operands) in enumerate(zip(chosen, grids, strict=True)):
        llvm.compare(case, operands, compiled.call(index, case, operands), llvm.ulps_of(case))
