"""Chains of operations: the host's shortcut against a plain loop, values that stay ordinary."""

from __future__ import annotations

import numpy as np
import pytest

from kernelcast.opencl_bench.compute.float_operations import basic, functions, native_functions
from kernelcast.opencl_bench.compute.integer_operations import CONVERSIONS, INT32, INT64
from kernelcast.opencl_bench.compute.operations import SEEDS, Operation

OPERATIONS = (
    *(operation for precision in ("fp16", "fp32", "fp64") for operation in basic(precision)),
    *functions("fp32"),
    *functions("fp64"),
    *native_functions(),
    *INT32,
    *INT64,
    *CONVERSIONS,
)
LONG = 1 << 24
each_operation = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda item: item.name)


def one_by_one(operation: Operation, steps: int) -> list[np.ndarray]:
    """x + y after each step."""
    x, y = operation.seeds, np.roll(operation.seeds, -1)
    states = [x + y]
    for step in range(steps):
        x, y = (operation.even if step % 2 else operation.odd)(x, y, operation.operands)
        states.append(x + y)
    return states


@each_operation
def test_the_shortcut_ends_where_the_loop_ends(operation: Operation) -> None:
    states = one_by_one(operation, 1200)
    for steps in (0, 2, 4, 62, 64, 384, 386, 768, 1198, 1200):
        x, y = operation.end_states(steps)
        np.testing.assert_array_equal(x + y, states[steps])
        assert x.dtype == y.dtype == operation.seeds.dtype


@each_operation
def test_long_chains_are_told_at_once_and_stay_ordinary(operation: Operation) -> None:
    """States repeat: otherwise this takes minutes. No value is infinite, NaN or denormal."""
    x, _ = operation.end_states(LONG)
    assert len(operation.seeds) == SEEDS
    if x.dtype.kind == "f":
        seen = np.abs(np.stack([*one_by_one(operation, 40), x]))
        assert np.isfinite(seen).all()
        assert ((seen == 0) | (seen >= np.finfo(x.dtype).tiny)).all()


@each_operation
def test_a_missing_operation_shows(operation: Operation) -> None:
    """A chain that lacks its last step, or does it twice, ends elsewhere.

    Those that contract to one value end there only after their first steps, which the device has to
    do as well.
    """
    states = one_by_one(operation, 9)
    assert not np.array_equal(states[0], states[7])
    assert not np.array_equal(states[6], states[7])


@pytest.mark.parametrize("precision", ["fp16", "fp32", "fp64"])
def test_basic_operations_are_exact(precision: str) -> None:
    """A chain in double precision has the same values."""
    for operation in basic(precision):
        assert operation.tolerance == 0
        wide = Operation(
            "wide",
            operation.seeds.astype(np.float64),
            operation.operands.astype(np.float64),
            operation.odd,
            operation.even,
            operation.what,
        )
        for narrow_state, wide_state in zip(
            one_by_one(operation, 20), one_by_one(wide, 20), strict=True
        ):
            np.testing.assert_array_equal(narrow_state.astype(np.float64), wide_state)


def test_wrapping_sums_and_products_match_whole_numbers() -> None:
    for name, bits in (("int32_add", 32), ("int64_add", 64)):
        operation = next(item for item in (*INT32, *INT64) if item.name == name)
        x, y = (int(value) for value in operation.seeds[3:5])
        for _ in range(500):
            x += y
            y += x
        ends = operation.end_states(1000)
        assert (int(ends[0][3]), int(ends[1][3])) == (x % (1 << bits), y % (1 << bits))


def test_a_multiply_add_counts_as_two_operations() -> None:
    counts = {operation.name: operation.counted for operation in OPERATIONS}
    for name in ("fp16", "fp32", "fp64", "int32"):
        assert counts[f"{name}_multiply_add"] == 2
        assert counts[f"{name}_add"] == counts[f"{name}_multiply"] == 1
