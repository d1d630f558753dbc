"""Finding OpenCL drivers: the packaged CPU runtime, its vendors folder, and messages."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from kernelcast.errors import BenchmarkError
from kernelcast.opencl_bench import drivers
from kernelcast.opencl_bench.drivers import (
    opencl_devices,
    packaged_runtime,
    plain_driver_error,
    write_vendors,
)
from kernelcast.simcore.host.private_folder import PrivateFolder

LIBRARY = Path("/opt/runtime/libintelocl.so")
ICD_FILE = "kernelcast-intel.icd"


class PackagedFile(PurePosixPath):
    """A file of an installed distribution, in `folder`."""

    folder = Path()

    def locate(self) -> Path:
        return self.folder / self


def _distribution(monkeypatch: pytest.MonkeyPatch, folder: Path, *names: str) -> None:
    monkeypatch.setattr(PackagedFile, "folder", folder)
    files = [PackagedFile(name) for name in names]
    monkeypatch.setattr(importlib.metadata, "files", lambda name: files)


def test_the_library_is_found_among_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libintelocl.so").write_bytes(b"")
    _distribution(monkeypatch, tmp_path, "etc/intel-cpu.icd", "lib/libintelocl.so")
    assert packaged_runtime() == (tmp_path / "lib" / "libintelocl.so").resolve()


def test_a_library_that_is_gone_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _distribution(monkeypatch, tmp_path, "lib/libintelocl.so")
    assert packaged_runtime() is None


def test_without_the_package_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "files", missing)
    assert packaged_runtime() is None


def test_vendors_hold_copies_of_living_entries(tmp_path: Path) -> None:
    system = tmp_path / "system"
    system.mkdir()
    (system / "pocl.icd").write_text("libpocl.so.2\n", encoding="utf-8")
    (system / "dead.icd").write_text("/nowhere/libgone.so\n", encoding="utf-8")
    (system / "notes.txt").write_text("no entry", encoding="utf-8")
    folder = write_vendors(
        LIBRARY, PrivateFolder(tmp_path / "vendors"), [system, tmp_path / "missing"]
    )
    assert {file.name: file.read_text("utf-8") for file in folder.iterdir()} == {
        ICD_FILE: f"{LIBRARY}\n",
        "pocl.icd": "libpocl.so.2\n",
    }


def test_entries_of_removed_drivers_go(tmp_path: Path) -> None:
    (tmp_path / "removed.icd").write_text("libold.so\n", encoding="utf-8")
    write_vendors(LIBRARY, PrivateFolder(tmp_path), [])
    assert [file.name for file in tmp_path.iterdir()] == [ICD_FILE]


def test_vendors_in_a_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(BenchmarkError, match="KERNELCAST_CACHE moves it"):
        write_vendors(LIBRARY, PrivateFolder(tmp_path / "file" / "vendors"), [])


def test_vendors_where_others_write_are_refused(tmp_path: Path) -> None:
    """The loader runs whatever library stands there."""
    tmp_path.chmod(0o777)
    with pytest.raises(BenchmarkError, match="others can write to"):
        write_vendors(LIBRARY, PrivateFolder(tmp_path), [])


@pytest.fixture
def no_platforms(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine with the packaged runtime whose loader finds nothing; its cache folder."""
    monkeypatch.setattr(drivers, "packaged_runtime", lambda: LIBRARY)
    monkeypatch.setattr(drivers, "_found", list)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("KERNELCAST_CACHE", str(tmp_path))
    monkeypatch.setenv("OCL_ICD_VENDORS", "")
    monkeypatch.delenv("OCL_ICD_VENDORS")
    return tmp_path


def test_too_late_is_said(no_platforms: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyopencl", object())
    with pytest.raises(BenchmarkError, match="OpenCL was used before") as caught:
        opencl_devices()
    assert f"OCL_ICD_VENDORS={no_platforms / 'opencl-vendors'}" in str(caught.value)


def test_the_packaged_runtime_is_offered(
    no_platforms: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "pyopencl", raising=False)
    with pytest.raises(BenchmarkError, match=r"pip install 'kernelcast\[opencl-cpu\]'"):
        opencl_devices()
    folder = no_platforms / "opencl-vendors"
    assert os.environ["OCL_ICD_VENDORS"] == str(folder)
    assert (folder / ICD_FILE).read_text("utf-8") == f"{LIBRARY}\n"


def test_a_folder_of_the_user_stays(no_platforms: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCL_ICD_VENDORS", "/my/vendors")
    with pytest.raises(BenchmarkError, match="no OpenCL device: install"):
        opencl_devices()
    assert os.environ["OCL_ICD_VENDORS"] == "/my/vendors"


def test_a_cpu_newer_than_the_packaged_pocl_is_one_line() -> None:
    error = RuntimeError("clBuildProgram failed\nerror: unknown target CPU 'znver9'\nvalid are")
    assert "pocl-binary-distribution" in plain_driver_error(error)
    assert "\n" not in plain_driver_error(error)


def test_the_compilers_first_error_is_the_line() -> None:
    error = RuntimeError("BUILD_PROGRAM_FAILURE\n\n<kernel>:3:1: error: no such type\nmore error")
    assert plain_driver_error(error) == "<kernel>:3:1: error: no such type"
    assert plain_driver_error(RuntimeError()) == "RuntimeError"


def test_bench_without_any_driver_is_one_line_and_status_2(tmp_path: Path) -> None:
    pytest.importorskip("pyopencl")
    environment = os.environ | {"OCL_ICD_VENDORS": str(tmp_path)}
    command = [sys.executable, "-m", "kernelcast", "bench", "--list"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error: no OpenCL device: install the driver")
    assert "Traceback" not in done.stderr
