"""Programs of many kinds run without a GPU: they find their results right, launches are estimated.

`make test` has those that are marked in `cases.py`, `make test-all` has all.
"""

from __future__ import annotations

import pytest

from tests.drawn_cases import ALL_CASES
from tests.kernelcast.program_capture.cases import CASES, Case, case_named
from tests.kernelcast.program_capture.running import DEVICES, captured

_KINDS = [
    pytest.param(case, code, id=f"{case.name}-{code}")
    for case in CASES
    for code in ("source", "auto")
    if ALL_CASES or case.is_drawn
    if ALL_CASES or code == "source"
    if code == "auto" or not case.is_machine_code
]


@pytest.mark.drawn(8)
@pytest.mark.parametrize(("case", "code"), _KINDS)
def test_programs_find_their_results_right(
    case: Case, code: str, capfd: pytest.CaptureFixture[str]
) -> None:
    others = [device for device in DEVICES if device != case.device]
    devices = [case.device, *others]
    found = captured(capfd, case.program, devices=devices, options=("--code", code))
    assert found.status == 0, found.told
    assert found.record["exit_status"] == 0
    assert found.record["failed"] == 0
    assert not found.record["failures"]
    assert not found.record["refused"]
    launches = found.record["launches"]
    assert len(launches) >= case.launches if case.is_least else len(launches) == case.launches
    for launch in launches:
        assert [estimate["device"] for estimate in launch["estimates"]] == devices
        assert all(estimate["time_s"] > 0 for estimate in launch["estimates"])


def test_what_kernels_print_comes_in_the_order_of_the_program(
    capfd: pytest.CaptureFixture[str],
) -> None:
    found = captured(capfd, case_named("printing").program, devices=["a100-40gb"])
    assert found.told.splitlines() == [
        "host 1",
        "kernel 1 thread 0: text  1.50 c abcdef",
        "kernel 1 thread 1: text  1.50 c abcdf0",
        "host 2",
        "kernel 2 thread 0: text  3.00 c abcdef",
        "host 3",
        "kernel 3 thread 0: text  4.50 c abcdef",
    ]


def test_threads_have_default_streams_of_their_own(capfd: pytest.CaptureFixture[str]) -> None:
    found = captured(capfd, case_named("per_thread_streams").program, devices=["a100-40gb"])
    launches = [(launch["stream"], launch["kernel"]) for launch in found.record["launches"]]
    assert len(set(launches)) == 6
    assert all(launches.count(pair) == 5 for pair in launches)


def test_a_program_that_reads_what_fast_leaves_out_is_told_so(
    capfd: pytest.CaptureFixture[str],
) -> None:
    found = captured(capfd, case_named("jacobi").program, options=("--fast",))
    assert found.status == 1
    assert found.record["skipped"] == 2020 - found.record["estimated"] > 1900
    assert found.record["stale_reads"] > 0


def test_there_are_many_kinds() -> None:
    assert len(CASES) >= 40
    assert 8 <= sum(case.is_drawn for case in CASES) <= 14
