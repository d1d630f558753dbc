"""Expressions of workload files, against Python's own exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelcast.errors import WorkloadError
from kernelcast.workload.expressions import evaluate, evaluate_integer, evaluate_integers

NAMES = {"n": 8192, "block.x": 64, "block.y": 4}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n", 8192),
        ("n + 2 * 3 - 1", 8197),
        ("(n + 2) * 3", 24582),
        ("n / 2 + 1", 4097),
        ("ceil((n / 2 + 1) / block.x)", 65),
        ("floor(-7 / 2)", -4),
        ("-7 // 2", -4),
        ("-7 % 3", 2),
        ("2 ** 10", 1024),
        ("2 ** -2 * 4", 1),
        ("min(n, 3, 5) + max(1, 2)", 5),
        ("+n - -1", 8193),
        (17, 17),
    ],
)
def test_value(text: str | int, expected: int) -> None:
    assert evaluate_integer(text, NAMES, "key") == expected


@given(st.integers(1, 10**30), st.integers(1, 10**9))
def test_ceil_is_exact_where_floats_round(items: int, size: int) -> None:
    found = evaluate_integer("ceil(items / size)", {"items": items, "size": size}, "key")
    assert found == -(-items // size)


def test_decimal_fractions_are_what_they_look_like() -> None:
    assert evaluate("0.1 + 0.2", {}, "key") == Fraction(3, 10)
    assert evaluate(0.1, {}, "key") == Fraction(1, 10)


def test_list_of_sizes() -> None:
    assert evaluate_integers("n + 2, ceil(n / 3), max(1, 2)", NAMES, "key") == (
        8194,
        math.ceil(8192 / 3),
        2,
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("n +", "'n +' is not an expression"),
        ("m", "no size is called 'm'"),
        ("block.w", "did you mean block.y, block.x"),
        ("n / 0", "divides by zero"),
        ("n / 3", "not an integer"),
        ("9 ** 9 ** 9", "too large"),
        ("n ** 0.5", "exponents must be integers"),
        ("__import__('os')", "uses"),
        ("(lambda: 1)()", "uses"),
        ("n if n else 1", "uses"),
        ("'text'", "uses"),
        ("True", "not a finite number"),
        ("ceil(1, 2)", "ceil and floor take one value"),
        ("min()", "min and max at least one"),
        ("n.real", "no size is called 'n.real'"),
        ("1e999", "not a finite number"),
    ],
)
def test_bad_expression_names_the_key(text: str, message: str) -> None:
    with pytest.raises(WorkloadError, match="key") as caught:
        evaluate_integer(text, NAMES, "file: launch.key")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_list_that_closes_its_bracket_early() -> None:
    with pytest.raises(WorkloadError):
        evaluate_integers("1] + [2", {}, "key")
