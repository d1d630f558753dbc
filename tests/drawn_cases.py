"""A drawn part of many cases, so that tests take minutes; `make test-all` has all.

The same cases are drawn each time, so that a verdict belongs to the tree.
"""

from __future__ import annotations

import os
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TypeVar

import pytest

__all__ = ["ALL_CASES", "drawn", "drawn_grid", "without_undrawn"]

ALL_CASES = os.environ.get("KERNELCAST_TESTS") == "all"
_SEED = 23

Case = TypeVar("Case")


def drawn(cases: Sequence[Case], count: int) -> list[Case]:
    """A sample of the cases in their order, or all of them where all are asked for."""
    if ALL_CASES or count >= len(cases):
        return list(cases)
    chosen = sorted(random.Random(_SEED).sample(range(len(cases)), count))
    return [cases[index] for index in chosen]


def drawn_grid(cases: Sequence[Mapping[str, int]], count: int, seed: str) -> set[int]:
    """Which `count` of the cases, each a value of every parameter, have most values among them."""
    order = list(range(len(cases)))
    random.Random(seed).shuffle(order)
    chosen: set[int] = set()
    seen: set[tuple[str, int]] = set()
    while len(chosen) < min(count, len(cases)):
        rest = [index for index in order if index not in chosen]
        best = max(rest, key=lambda index: len(cases[index].items() - seen))
        chosen.add(best)
        seen |= cases[best].items()
    return chosen


def _values_of(cases: Sequence[pytest.Function]) -> list[dict[str, int]]:
    """Which value of each parameter each case has, as a number.

    Pytest's own numbers are those of the cases where several marks make a grid.
    """
    numbers: dict[str, dict[int, int]] = defaultdict(dict)
    return [
        {
            name: numbers[name].setdefault(id(value), len(numbers[name]))
            for name, value in case.callspec.params.items()
        }
        for case in cases
    ]


def without_undrawn(items: Sequence[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Tests that run, and those left out: of one marked `drawn(count)` only so many cases run."""
    grids: dict[str, list[pytest.Function]] = defaultdict(list)
    for item in items:
        marker = item.get_closest_marker("drawn")
        if marker is not None and isinstance(item, pytest.Function):
            grids[item.nodeid.split("[")[0]].append(item)
    left_out: set[str] = set()
    for name, cases in grids.items():
        (count,) = cases[0].get_closest_marker("drawn").args  # type: ignore[union-attr]
        chosen = drawn_grid(_values_of(cases), count, name.split("::")[-1])
        left_out |= {case.nodeid for index, case in enumerate(cases) if index not in chosen}
    kept = [item for item in items if item.nodeid not in left_out]
    return kept, [item for item in items if item.nodeid in left_out]
