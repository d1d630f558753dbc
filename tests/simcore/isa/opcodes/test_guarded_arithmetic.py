"""`fma.oob` on both engines: sums of small integers, and zero where a factor stands for nothing."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.simcore.engine import ENGINES
from kernelcast.simcore.isa.opcodes.table import OPCODES, Context
from kernelcast.simcore.isa.types import ScalarType

run_statements: Any = runpy.run_path(str(Path(__file__).parents[2] / "statement_runs.py"))[
    "run_statements"
]
Array = npt.NDArray[Any]
OUTSIDE = 0x7FF7  # table 89 of US 2024/0168765
OTHER_NAN = 0x7E01


def bits_of(type_: str, values: Array) -> Array:
    """Integers of few digits, exactly."""
    if type_ == "f16":
        return values.astype(np.float16).view(np.uint16)
    return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def factors(type_: str) -> tuple[Array, Array, Array]:
    """(values, bits, whether each stands for nothing) of three operands in 64 rows."""
    values = np.random.default_rng(5).integers(-4, 5, (64, 3))
    bits = bits_of(type_, values)
    is_outside = np.zeros((64, 3), bool)
    is_outside[:16, 0] = is_outside[8:24, 1] = True
    bits[is_outside] = OUTSIDE
    return values, bits, is_outside[:, 0] | is_outside[:, 1]


@pytest.mark.parametrize("engine", sorted(ENGINES))
@pytest.mark.parametrize("limit", ["", ".relu"])
@pytest.mark.parametrize("type_", ["f16", "bf16"])
def test_products_with_what_is_outside_are_zero(type_: str, limit: str, engine: str) -> None:
    values, bits, is_outside = factors(type_)
    exact = values[:, 0] * values[:, 1] + values[:, 2]
    wanted = np.maximum(exact, 0) if limit else exact
    expected = np.where(is_outside, 0, bits_of(type_, wanted))
    single = f"fma.rn.oob{limit}.{type_} %h0, %h1, %h2, %h3;"
    pair = f"fma.rn.oob{limit}.{type_}x2 %r0, %r4, %r5, %r6;"
    packed = bits.astype(np.uint32) | np.roll(bits, 7, axis=0).astype(np.uint32) << 16
    rows = np.ascontiguousarray(np.hstack((bits.astype(np.uint32), packed)))
    found = run_statements([single, pair], rows, engine)
    np.testing.assert_array_equal(found[:, 0], expected)
    np.testing.assert_array_equal(found[:, 1] & 0xFFFF, expected)
    np.testing.assert_array_equal(found[:, 1] >> 16, np.roll(expected, 7))


@pytest.mark.parametrize("engine", sorted(ENGINES))
@pytest.mark.parametrize("row", [(OTHER_NAN, 0x3C00, 0), (0x3C00, 0x3C00, OUTSIDE)])
def test_other_nans_and_addends_stay_nan(row: tuple[int, int, int], engine: str) -> None:
    rows = np.array([row], np.uint32)
    (found,) = run_statements(["fma.rn.oob.f16 %h0, %h1, %h2, %h3;"], rows, engine)
    assert np.isnan(found.astype(np.uint16).view(np.float16)).all()


def test_it_counts_as_a_multiply_add() -> None:
    context = Context(ScalarType.BF16X2, ScalarType.BF16X2, frozenset(("rn",)))
    assert OPCODES["fma.oob"].flops_of(context) == OPCODES["fma"].flops_of(context) == 4
