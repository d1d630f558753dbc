"""Programs that go wrong end with clear errors, and leave nothing behind."""

from __future__ import annotations

import contextlib
import gc
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kernelcast.program_capture import client_build, libraries
from tests.kernelcast.program_capture.building import PROGRAMS, built
from tests.kernelcast.program_capture.running import Captured, captured

_ONE = ["a100-40gb"]
_FAR_S = 600.0


@pytest.fixture(scope="module")
def bad() -> Path:
    return built("bad", [PROGRAMS / "bad.cu"], ("-arch=sm_80",))


@pytest.fixture(autouse=True)
def _nothing_is_left(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Temporary folders and files in memory are gone when a capture has ended."""
    tmp_path_factory.getbasetemp()  # pytest's own folder, which all tests share, is elsewhere
    own = Path(tempfile.mkdtemp(prefix="kc-"))
    monkeypatch.setattr("tempfile.tempdir", str(own))
    monkeypatch.setenv("TMPDIR", str(own))
    before = _files_in_memory()
    yield
    assert not list(own.iterdir())
    own.rmdir()
    assert _files_in_memory() <= before


def _files_in_memory() -> int:
    """How much memory of programs this process still holds."""
    gc.collect()
    folder = Path("/proc/self/fd")
    names = [os.readlink(file) for file in folder.iterdir() if file.is_symlink()]
    return sum("memfd:kernelcast" in name for name in names)


_FAILURES = {
    "use_after_free": (700, r"inside allocation 1 \(1024 bytes.*\), which was freed"),
    "out_of_bounds": (700, r"0 bytes past the end of allocation 1 \(1024 bytes"),
    "assert": (710, r"x\[threadIdx\.x\] == 0"),
    "misaligned": (716, "misaligned"),
}


@pytest.mark.parametrize("which", _FAILURES)
def test_a_launch_that_fails_is_told_and_nothing_works_after_it(
    which: str, bad: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = captured(capfd, bad, which, devices=_ONE)
    status, text = _FAILURES[which]
    assert found.status == 1
    assert found.record["exit_status"] == 0, "the program ignores errors"
    assert [failure["status"] for failure in found.record["failures"]] == [status]
    assert re.search(text, found.told), found.told
    assert "synchronize: cudaSuccess" not in found.told
    assert found.told.count("cudaSuccess") == 1, "what follows fails, too"


_NOT_LAUNCHED = {
    "too_many_threads": "cudaErrorInvalidConfiguration",
    "too_much_shared_memory": "cudaErrorInvalidValue",
    "no_thread_blocks": "cudaErrorInvalidConfiguration",
}


@pytest.mark.parametrize("which", _NOT_LAUNCHED)
def test_a_launch_that_cannot_be_made_is_told_and_the_program_goes_on(
    which: str, bad: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = captured(capfd, bad, which, devices=_ONE)
    assert found.status == 1
    assert found.record["failed"] == 1
    assert "fill" in found.record["failures"][0]["what"]
    assert f"launch: {_NOT_LAUNCHED[which]}" in found.told
    assert "synchronize: cudaSuccess" in found.told


def test_memory_of_the_gpu_ends_where_the_gpus_does(
    bad: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = captured(capfd, bad, "out_of_memory", devices=_ONE)
    assert _said(found, "malloc") == [
        *("cudaSuccess", "cudaSuccess", "cudaErrorMemoryAllocation", "cudaSuccess")
    ]
    assert found.status == 0, "the program was told, and may go on with less"
    larger = captured(capfd, bad, "out_of_memory", devices=["h100-sxm"])
    assert _said(larger, "malloc") == ["cudaSuccess"] * 4


def test_memory_is_freed_once(bad: Path, capfd: pytest.CaptureFixture[str]) -> None:
    found = captured(capfd, bad, "double_free", devices=_ONE)
    assert _said(found, "free") == ["cudaSuccess", *["cudaErrorInvalidValue"] * 2]


def _said(found: Captured, what: str) -> list[str]:
    return re.findall(rf"^{what}: (\w+)$", found.told, re.MULTILINE)


def test_the_host_cannot_read_memory_of_the_gpu(
    bad: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = captured(capfd, bad, "dereference", devices=_ONE)
    assert found.status == 1
    assert found.record["exit_status"] == -signal.SIGSEGV


def test_a_program_that_is_killed_has_what_it_did(
    bad: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = captured(capfd, bad, "killed", devices=_ONE)
    assert found.status == 1
    assert found.record["exit_status"] == -signal.SIGKILL
    assert len(found.kernels) == 1


def test_a_child_does_not_have_the_gpu_of_its_parent(
    bad: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = captured(capfd, bad, "fork", devices=_ONE)
    assert "a forked process uses the GPU of its parent" in found.told
    assert "child: 99" in found.told
    assert found.status == 0, found.told


def test_a_kernel_without_an_end_meets_a_limit(
    bad: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = captured(capfd, bad, "forever", devices=_ONE, options=("--limit-seconds", "1"))
    assert found.status == 1
    assert [failure["status"] for failure in found.record["failures"]] == [702]
    assert "synchronize: cudaErrorLaunchTimeout" in found.told


def test_two_programs_at_once(bad: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "both.sh"
    script.write_text(f"#!/bin/sh\n{bad} double_free & {bad} double_free & wait\n")
    script.chmod(0o755)
    found = captured(capfd, script, devices=_ONE)
    assert found.status == 0, found.told
    assert len({launch["process"] for launch in found.record["launches"]}) == 2


def test_kernels_that_launch_kernels_are_refused_by_name(
    capfd: pytest.CaptureFixture[str],
) -> None:
    flags = ("-arch=sm_80", "-rdc=true", "-lcudadevrt")
    program = built("nested", [PROGRAMS / "nested.cu"], flags)
    found = captured(capfd, program, devices=_ONE)
    assert found.status == 1
    assert "launches kernels itself (dynamic parallelism), which is not supported" in found.told
    assert _said(found, "launch") == ["cudaErrorNotSupported"]


def test_code_of_newer_gpus_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    program = built("newer", [PROGRAMS / "vector_add.cu"], ("-arch=sm_90",))
    found = captured(capfd, program, devices=_ONE)
    assert found.status == 0, found.told
    assert "itself runs none of the program's code, which is for sm_90 and later" in found.told


def test_folders_of_temporary_files_may_have_long_names(
    bad: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    deep = tmp_path / ("long" * 30)
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    assert captured(capfd, bad, "double_free", devices=_ONE).status == 0
    assert not list(deep.iterdir())


def test_there_is_no_such_program(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    found = captured(capfd, tmp_path / "nothing", devices=_ONE)
    assert found.status == 2
    assert "there is no program" in found.told


def test_a_file_that_is_no_program(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "text"
    file.write_text("\x7fnothing that runs\n")
    file.chmod(0o755)
    found = captured(capfd, file, devices=_ONE)
    assert found.status == 2
    assert "cannot be started" in found.told


def test_a_static_runtime_is_told_with_what_mends_the_build(
    capfd: pytest.CaptureFixture[str],
) -> None:
    program = built("static", [PROGRAMS / "vector_add.cu"], ("-arch=sm_80", "-cudart", "static"))
    found = captured(capfd, program, devices=_ONE)
    assert found.status == 2
    assert 'NVCC_APPEND_FLAGS="-cudart shared"' in found.told


def test_without_a_compiler_it_is_told_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(libraries, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(libraries, "_BUILT", tmp_path / "built")
    monkeypatch.setattr(client_build, "_COMPILERS", ("no-such-compiler",))
    found = captured(capfd, Path(sys.executable), "-c", "", devices=_ONE)
    assert found.status == 2
    assert "capture needs a C compiler" in found.told


@contextmanager
def _started(program: Path, which: str) -> Iterator[subprocess.Popen[str]]:
    """A capture in a process group of its own, whose program has begun what does not end."""
    arguments = ["-m", "kernelcast", "capture", "--device", *_ONE, "--", str(program), which]
    process = subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        assert "begins\n" in iter(process.stdout.readline, "")
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _wait_until_none_runs(program: Path) -> None:
    for _ in range(int(_FAR_S / 0.1)):
        if not _running(program):
            return
        time.sleep(0.1)
    raise AssertionError(f"{program} still runs")


def _running(program: Path) -> list[Path]:
    found = []
    for link in Path("/proc").glob("[0-9]*/exe"):
        try:
            if Path(os.readlink(link)) == program.resolve():
                found.append(link)
        except OSError:
            continue
    return found


@pytest.fixture
def alone(bad: Path, tmp_path: Path) -> Path:
    """The bad program under a name that nobody else runs."""
    return Path(shutil.copy(bad, tmp_path / "alone"))


@pytest.mark.parametrize("which", ["forever", "host_forever"])
def test_an_interrupt_ends_the_program(which: str, alone: Path) -> None:
    with _started(alone, which) as process:
        time.sleep(0.5)
        os.killpg(process.pid, signal.SIGINT)
        said, _ = process.communicate(timeout=_FAR_S)
    assert process.returncode == 1, said
    assert "interrupted" in said
    assert "Traceback" not in said
    assert "fill" in said, "the launches until then are reported"
    _wait_until_none_runs(alone)


@pytest.mark.parametrize("which", ["forever", "host_forever"])
def test_a_program_ends_when_kernelcast_is_killed(which: str, alone: Path, tmp_path: Path) -> None:
    script = tmp_path / "between.sh"
    script.write_text(f"#!/bin/sh\n{alone} {which}\necho again\n{alone} {which}\n")
    script.chmod(0o755)
    with _started(script, which) as process:
        process.kill()
        process.communicate(timeout=_FAR_S)
        _wait_until_none_runs(alone)
    # What it could not remove goes when the next capture begins.
    next_one = captured_alone("true")
    assert next_one.returncode == 0, next_one.stderr


def captured_alone(*command: str) -> subprocess.CompletedProcess[str]:
    """A capture in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "kernelcast", "capture", "--device", *_ONE, "--", *command],
        capture_output=True,
        text=True,
        check=False,
    )
