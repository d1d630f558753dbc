"""What `make test` leaves of many cases: as many as asked for, always the same, of all values."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from tests.drawn_cases import drawn, drawn_grid

GRID = [{"engine": e, "width": w, "kind": k} for e, w, k in product(range(2), range(4), range(7))]


@pytest.mark.parametrize("seed", ["test_a", "test_b", "test_c"])
def test_a_drawn_grid_has_every_value_of_every_parameter(seed: str) -> None:
    """Seven cases can have seven kinds, and do."""
    chosen = drawn_grid(GRID, 7, seed)
    assert len(chosen) == 7
    assert chosen == drawn_grid(GRID, 7, seed)
    for name in GRID[0]:
        assert {GRID[i][name] for i in chosen} == {case[name] for case in GRID}


def test_tests_draw_cases_of_their_own() -> None:
    assert len({frozenset(drawn_grid(GRID, 7, f"test_{n}")) for n in range(20)}) > 10


def test_few_cases_are_all_drawn() -> None:
    assert drawn_grid(GRID[:3], 5, "test_a") == {0, 1, 2}
    assert drawn("abc", 3) == ["a", "b", "c"]


@pytest.mark.drawn(7)
@pytest.mark.parametrize("b", range(7))
@pytest.mark.parametrize("a", range(3))
def test_a_marked_grid(a: int, b: int) -> None:
    assert (a, b) in product(range(3), range(7))


@pytest.mark.parametrize(("asked_for", "expected"), [("", 7), ("all", 21)])
def test_the_mark_says_how_many_cases_run(asked_for: str, expected: int) -> None:
    """Another process collects them: what is asked for is read once."""
    grid = f"{Path(__file__)}::test_a_marked_grid"
    command = [sys.executable, "-m", "pytest", "--collect-only", "-p", "no:cacheprovider", grid]
    found = subprocess.run(
        command,
        env={**os.environ, "KERNELCAST_TESTS": asked_for, "PYTEST_ADDOPTS": "-v"},
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.count("<Function test_a_marked_grid[") == expected
    cases = re.findall(r"test_a_marked_grid\[(\d)-(\d)\]", found.stdout)
    assert {a for a, _ in cases} == set("012")
    assert {b for _, b in cases} == set("0123456")
