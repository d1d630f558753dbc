"""Programs that time themselves by a clock of the host print predicted time when asked to."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kernelcast.program_capture.running import captured
from tests.kernelcast.program_capture.test_driver import built


def test_the_clock_of_the_host_is_that_of_the_time_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = built("host_clock", tmp_path)
    found = captured(capfd, program, devices=["a100-40gb"], options=("--clock",))
    assert found.status == 0
    assert float(found.told) == pytest.approx(found.record["totals"][0]["timeline_s"], rel=0.01)
