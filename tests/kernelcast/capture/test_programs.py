"""Programs of many kinds run without a GPU: they find their results right, launches are estimated.

`make test` has those that are marked in `cases.py`, `make test-all` has all.
"""

from __future__ import annotations

import pytest

from tests.kernelcast.capture.cases import CASES, Case
from tests.kernelcast.capture.running import DEVICES, captured
from tests.ptx_frontend.sass.drawn_cases import ALL_CASES

_KINDS = [case for case in CASES if case.is_drawn or ALL_CASES]


@pytest.mark.parametrize("case", _KINDS, ids=lambda case: case.name)
def test_programs_find_their_results_right(case: Case, capfd: pytest.CaptureFixture[str]) -> None:
    others = [device for device in DEVICES if device != case.device]
    found = captured(capfd, case.program, devices=[case.device, *others])
    assert found.status == 0, found.told
    assert found.record["exit_status"] == 0
    assert found.record["failed"] == 0
    assert not found.record["failures"]
    assert not found.record["refused"]
    launches = found.record["launches"]
    assert len(launches) >= case.launches if case.is_least else len(launches) == case.launches
    for launch in launches:
        devices = [estimate["device"] for estimate in launch["estimates"]]
        assert devices == [case.device, *others]
        assert all(estimate["time_s"] > 0 for estimate in launch["estimates"])


def test_there_are_many_kinds() -> None:
    assert len(CASES) >= 40
    assert 8 <= sum(case.is_drawn for case in CASES) <= 14
