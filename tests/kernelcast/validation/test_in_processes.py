"""Tasks in several processes: the order they begin in, and that of their results."""

from __future__ import annotations

import importlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

in_processes: Any = importlib.import_module("kernelcast.validation.in_processes")


def twice(number: int) -> int:
    return 2 * number


def test_results_have_the_order_of_the_tasks() -> None:
    found = in_processes.in_processes(twice, [3, 1, 2], ["c", "a", "b"], 2, work=[1.0, 3.0, 2.0])
    assert found == [6, 2, 4]


@pytest.mark.parametrize(("work", "begun"), [([1.0, 3.0, 2.0], [1, 2, 0]), ([], [0, 1, 2])])
def test_tasks_of_most_work_begin_first(
    monkeypatch: pytest.MonkeyPatch, work: list[float], begun: list[int]
) -> None:
    seen: list[int] = []

    def one_after_the_other(_processes: int, _context: object) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(1)

    monkeypatch.setattr(in_processes, "ProcessPoolExecutor", one_after_the_other)
    in_processes.in_processes(seen.append, [0, 1, 2], ["a", "b", "c"], 2, work=work)
    assert seen == begun
