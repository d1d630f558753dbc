"""OpenCL programs in C and in Python run without a GPU, and find their results right."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kernelcast.cli import main
from kernelcast.program_capture.libraries import libraries
from tests.kernelcast.program_capture.building import PROGRAMS, c_compiler
from tests.kernelcast.program_capture.running import captured

DEVICES = ("a100-40gb", "mi210", "h100-sxm")
ARGUMENTS = {"opencl_vectors": ("A100",), "opencl_programs": (str(PROGRAMS),)}


def built(name: str, folder: Path) -> Path:
    """A program in C, linked to the library that a loader of the system would be."""
    program = folder / name
    found = libraries()
    sources = [str(PROGRAMS / f"{name}.c"), str(found / "libOpenCL.so.1")]
    command = [c_compiler(), "-Wall", "-Wextra", "-Werror", *sources, "-lm"]
    subprocess.run([*command, f"-Wl,-rpath-link,{found}", "-o", str(program)], check=True)
    return program


@pytest.mark.drawn(4)
@pytest.mark.parametrize(
    ("name", "launches", "copies"),
    [
        ("opencl_vectors", 4, 10),
        ("opencl_reduction", 2, 4),
        ("opencl_solver", None, None),
        ("opencl_mappings", 4, 6),
        ("opencl_events", 4, 3),
        ("opencl_images", 8, 14),
        ("opencl_programs", 4, 4),
    ],
)
def test_results_are_right(
    name: str,
    launches: int | None,
    copies: int | None,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    found = captured(capfd, built(name, tmp_path), *ARGUMENTS.get(name, ()), devices=DEVICES)
    assert found.status == 0, found.told
    assert "all right" in found.told
    assert not found.record["refused"]
    for launch in found.record["launches"]:
        assert [item["device"] for item in launch["estimates"]] == list(DEVICES)
        assert all(item["time_s"] > 0 for item in launch["estimates"])
    if launches is None:
        assert len(found.record["launches"]) >= 200
        assert found.record["estimated"] < 30
    else:
        assert len(found.record["launches"]) == launches
        assert len(found.record["copies"]) == copies


def test_the_program_sees_the_first_device(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = built("opencl_vectors", tmp_path)
    found = captured(capfd, program, "AMD Instinct MI210", devices=["mi210"])
    assert found.status == 0, found.told


def test_pyopencl_with_arrays(capfd: pytest.CaptureFixture[str]) -> None:
    program = str(PROGRAMS / "opencl_arrays.py")
    found = captured(capfd, Path(sys.executable), program, "A100", devices=DEVICES)
    assert found.status == 0, found.told
    assert "all right" in found.told
    assert found.kernels.count("saxpy") == 1
    assert len(found.kernels) >= 5


def test_what_kernels_print_comes_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program = built("opencl_programs", tmp_path)
    found = captured(capfd, program, str(PROGRAMS), devices=DEVICES)
    assert found.told.splitlines().count("by 3") == 1


def test_failures_are_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    found = captured(capfd, built("opencl_failures", tmp_path), devices=["a100-40gb"])
    assert found.status == 1
    assert found.record["exit_status"] == 0, found.told
    assert "all told" in found.told
    assert found.record["refused"] == {
        "clCreateProgramWithBinary with machine code of a GPU": 1,
        "clCreateSubDevices": 1,
        "a command that waits for a user event before it is set": 1,
    }
    assert not found.record["launches"]
    assert [item["what"] for item in found.record["failures"]] == ["plain"] * 5 + ["far"]


def test_launches_can_be_recorded_and_extracted(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = built("opencl_reduction", tmp_path)
    recording, workload = tmp_path / "run.kcrec", tmp_path / "partial.toml"
    first = captured(capfd, program, devices=["a100-40gb"], options=["-o", str(recording)])
    assert first.status == 0, first.told
    again = captured(
        capfd,
        recording,
        devices=["a100-40gb"],
        options=["--launch", "0", "--workload", str(workload)],
    )
    assert again.record["launches"] == [
        launch | {"process": again.record["launches"][0]["process"]}
        for launch in first.record["launches"]
    ]
    assert main(["estimate", str(workload), "--device", "a100-40gb"]) == 0
    assert "partial" in capfd.readouterr().out
