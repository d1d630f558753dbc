"""The model's error is learned from times, and the table is what docs/errors.md gives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from learn_model_error import ERRORS, FACTORS, Point, learned, points_of, table

from kernelcast.models.interval.model_error import model_error


def point(kernel: str, ratio: float) -> Point:
    return Point(kernel, "v100-pcie", ratio)


def test_the_table_is_what_the_errors_give() -> None:
    """Whoever writes errors.md anew runs validation/learn_model_error.py after it."""
    points = points_of(ERRORS.read_text("utf-8"))
    assert FACTORS.read_text("utf-8") == table(learned(points))
    error = model_error()
    assert error.coverage >= 0.8
    assert error.times == len(points) >= 67
    assert (error.high - error.low) / 2 <= 0.25


def test_rows_of_the_model_are_read_from_both_tables_of_times() -> None:
    row = "| {} | v100-pcie | {} | 2.0 ms | 1.6 ms | +25.0% | yes | |"
    lines = [
        "**Times: thesis**",
        row.format("SOR", "interval"),
        row.format("SOR", "roofline"),
        "**Times: papers**",
        row.format("other", "interval"),
        "**Times: measured**",
        row.format("a/b full", "interval"),
        "**Errors: measured**",
        row.format("all", "interval"),
    ]
    found = points_of("\n".join(lines))
    assert found == [point("SOR", 0.8), point("a/b full", 0.8)]


def test_kernels_that_are_far_off_are_inside_when_as_many_must_be() -> None:
    """Forty within a fifth, and two of twice the time: each shows what the other needs."""
    ratios = [0.8 + 0.01 * number for number in range(1, 41)]
    points = [point(str(number), ratio) for number, ratio in enumerate([*ratios, 2.0, 2.0])]
    at_80, at_95 = learned(points), learned(points, 0.95)
    assert 0.8 < at_80.low < at_80.high <= 1.2
    assert at_80.coverage >= 0.8
    assert at_95.high == pytest.approx(2.0)
    assert at_95.coverage == pytest.approx(41 / 42)


def test_a_kernel_is_left_out_with_its_family() -> None:
    """Both times of b are twice the estimate: nothing else shows that."""
    points = [point("a", 1.0), point("b/one small", 2.0), point("b/two full", 2.0)]
    with pytest.raises(ValueError, match="no factors cover 80%"):
        learned(points)
    with pytest.raises(ValueError, match="two families"):
        learned(points[1:])


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.floats(0.3, 3.0)), min_size=8))
def test_as_many_are_inside_as_is_said(times: list[tuple[str, float]]) -> None:
    points = [point(kernel, ratio) for kernel, ratio in times]
    try:
        error = learned(points)
    except ValueError:
        return
    inside = sum(error.low <= p.ratio <= error.high for p in points)
    assert inside >= error.coverage * len(points) - 1e-9
    assert error.low <= 1 <= error.high
