"""SPIR-V whose basic blocks stand before those that dominate them, as some producers write it."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

assembly: Any = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parents[1] / "spirv_assembly.py"))
)


def test_a_value_may_stand_behind_its_use() -> None:
    found = assembly.results(
        "OpBranch %first\n"
        "%second = OpLabel\n%r = OpIAdd %i32 %y %c1\nOpBranch %third\n"
        "%first = OpLabel\n%y = OpIMul %i32 %x %c7\nOpBranch %second\n"
        "%third = OpLabel"
    )
    assert np.array_equal(found, assembly.X * np.int32(7) + np.int32(1))


def test_what_is_in_order_stays_there() -> None:
    text = assembly.text_of(
        "OpBranch %first\n%first = OpLabel\n%y = OpIMul %i32 %x %c7\nOpBranch %second\n"
        "%second = OpLabel\n%r = OpIAdd %i32 %y %c1"
    )
    assert text.index(" = mul i32") < text.index(" = add i32")
