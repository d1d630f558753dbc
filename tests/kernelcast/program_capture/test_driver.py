"""Programs of the CUDA driver's interface that check their own results, run without a GPU."""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from kernelcast.program_capture.capturing import capture_program
from kernelcast.program_capture.libraries import libraries
from kernelcast.program_capture.options import CaptureOptions
from kernelcast.program_capture.result import ProcessResult
from kernelcast.simcore.device.file import load_device

PROGRAMS = Path(__file__).parent / "programs"
KERNELS = PROGRAMS / "kernels.ptx"


def built(name: str, folder: Path, *others: str) -> Path:
    """A program in C, linked to the driver and to other libraries of ours."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    assert compiler is not None
    found = libraries()
    linked = [str(found / library) for library in ("libcuda.so.1", *others)]
    program = folder / name
    command = [compiler, "-Wall", "-Wextra", "-Werror", str(PROGRAMS / f"{name}.c"), *linked]
    subprocess.run([*command, f"-Wl,-rpath-link,{found}", "-o", str(program)], check=True)
    return program


def run(*command: str | Path, device: str = "a100-40gb") -> ProcessResult:
    """What a program did that ended well."""
    told: list[str] = []
    options = CaptureOptions(tell=told.append)
    result = capture_program([str(word) for word in command], [load_device(device)], options)
    assert result.status == 0, told
    return result.processes[0]


def in_fat_binary(text: bytes) -> bytes:
    """A container with one PTX text for sm_75, as `fatbinary` writes it."""
    padded = text + bytes(-len(text) % 8)
    head = struct.pack("<HHIQ", 1, 0x101, 64, len(padded))
    head += struct.pack("<IIHHI", 0, 0, 0, 8, 75) + struct.pack("<IIQ8xQ", 0, 0, 0x11, 0)
    body = head + padded
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


@pytest.mark.parametrize(
    ("name", "launches"), [("driver_calls", 7), ("driver_memory", 1), ("driver_objects", 8)]
)
def test_calls_lead_to_the_values_that_they_should(
    name: str, launches: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = run(built(name, tmp_path), KERNELS)
    assert capfd.readouterr().out == "all right\n"
    assert len(found.launches) == launches
    assert not found.refused
    assert not found.failures


def test_images_may_be_fat_binaries(tmp_path: Path) -> None:
    image = tmp_path / "kernels.fatbin"
    image.write_bytes(in_fat_binary(KERNELS.read_bytes()))
    assert len(run(built("driver_calls", tmp_path), image).launches) == 7


def test_wrong_calls_are_told_and_counted(tmp_path: Path) -> None:
    found = run(built("driver_failures", tmp_path), KERNELS)
    assert not found.launches
    assert len(found.failures) == 4
    assert found.refused == {
        "cuLinkAddData of other inputs than PTX": 1,
        "cuIpcGetMemHandle": 1,
    }


def test_runtime_and_driver_share_what_they_make(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = run(built("driver_runtime", tmp_path, "libcudart.so.13"), KERNELS)
    assert capfd.readouterr().out == "all right\n"
    assert len(found.launches) == 1


def test_tensor_maps_are_what_kernels_read(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = run(built("driver_tensor_maps", tmp_path), device="h100-sxm")
    assert capfd.readouterr().out == "all right\n"
    assert not found.failures


@pytest.mark.parametrize("name", ["numba", "triton"])
def test_python_programs_run_unchanged(
    name: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip(name)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("KERNELCAST_CODE", raising=False)  # what they load is machine code
    found = run(sys.executable, PROGRAMS / f"{name}_program.py")
    assert capfd.readouterr().out == "all right\n"
    assert len(found.launches) == 2
    assert not found.failures
    assert not found.refused
