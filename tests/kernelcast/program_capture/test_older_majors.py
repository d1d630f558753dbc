"""Programs that were built by CUDA 11 and 12 find our runtime by its name and symbol versions."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kernelcast.program_capture.libraries import libraries
from tests.kernelcast.program_capture.building import PROGRAMS, c_compiler
from tests.kernelcast.program_capture.running import captured

_NAMES = {11: "libcudart.so.11.0", 12: "libcudart.so.12"}


@pytest.mark.parametrize("major", _NAMES)
def test_programs_of_older_majors_run(
    major: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / f"of_{major}"
    subprocess.run(
        [
            *(c_compiler(), "-Wall", "-Werror", f"-DMAJOR={major}", str(PROGRAMS / "old_stubs.c")),
            *("-o", str(program), f"-L{libraries()}", f"-l:{_NAMES[major]}"),
            f"-Wl,-rpath-link,{libraries()}",
        ],
        check=True,
    )
    assert f"@{_NAMES[major]}" in _symbols(program)
    found = captured(capfd, program)
    assert found.status == 0, found.told
    assert found.kernels == ["multiply"] * 3
    assert all(len(launch["estimates"]) == 3 for launch in found.record["launches"])


def _symbols(program: Path) -> str:
    done = subprocess.run(
        ["readelf", "--wide", "--dyn-syms", str(program)],
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout
