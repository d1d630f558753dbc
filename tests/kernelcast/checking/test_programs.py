"""`kernelcast check -- ./program`: each launch of an unmodified program is checked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kernelcast.cli import main
from tests.kernelcast.program_capture.building import built

_PROGRAM = Path(__file__).parent / "cuda" / "program.cu"


def program() -> str:
    return str(built("checked", [_PROGRAM], ["-lineinfo"]))


def checked(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    capfd.readouterr()
    status = main(["check", "--json", "--", program(), *words])
    return status, json.loads(capfd.readouterr().out)


def kinds(record: dict[str, Any], kernel: str) -> set[str]:
    (found,) = (item for item in record["kernels"] if item["kernel"].startswith(kernel))
    return {finding["kind"] for finding in found["findings"]}


def test_right_launches_are_clean_and_compute_what_they_should(
    capfd: pytest.CaptureFixture[str],
) -> None:
    status, record = checked(capfd)
    assert (status, record["status"], record["is_clean"]) == (0, 0, True)
    assert [(item["kernel"], item["launches"]) for item in record["kernels"]] == [("add", 3)]


def test_a_race_of_one_kernel_is_found_once(capfd: pytest.CaptureFixture[str]) -> None:
    status, record = checked(capfd, "race")
    assert status == 1
    assert kinds(record, "add") == set()
    assert kinds(record, "sum") == {"race"}


def test_the_text_has_the_line_of_the_source(capfd: pytest.CaptureFixture[str]) -> None:
    capfd.readouterr()
    assert main(["check", "--", program(), "race"]) == 1
    text = capfd.readouterr().out
    first, second = (text.partition(side)[2].splitlines()[1] for side in ("first: ", "second: "))
    assert "if (i < n) *total += a[i];" in first
    assert first == second
    assert text.splitlines()[-1].endswith("2 errors in 2 kernels")


@pytest.mark.parametrize("what", ["beyond", "freed"])
def test_memory_beyond_an_allocation_or_freed_is_found(
    capfd: pytest.CaptureFixture[str], what: str
) -> None:
    status, record = checked(capfd, what)
    assert status == 1
    kernel = {"beyond": "beyond", "freed": "add"}[what]
    assert kinds(record, kernel) == {"memory-access"}


def test_sizes_are_of_workloads(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--size", "small", "--", "./program"]) == 2
    assert "--size" in capfd.readouterr().err
