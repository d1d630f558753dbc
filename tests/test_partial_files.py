"""Output files appear when they are complete, and follow nothing that was planted."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from kernelcast import partial_files
from kernelcast.partial_files import ReplacedFile

NOBODY_RUNS = 999_999_999


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_the_old_file_stays_until_the_new_one_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "out.svg"
    path.write_text("old")
    path.chmod(0o640)
    with ReplacedFile(path) as stream:
        stream.write(b"new")
        stream.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert names(tmp_path) == ["out.svg"]


def test_nothing_is_left_of_an_error(tmp_path: Path) -> None:
    path = tmp_path / "out.svg"
    stream = ReplacedFile(path)
    stream.__enter__().write(b"half")
    stream.__exit__(ZeroDivisionError, ZeroDivisionError(), None)
    assert names(tmp_path) == []


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    with ReplacedFile(tmp_path / "new") as stream:
        stream.write(b"")
    (tmp_path / "plain").touch()
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_planted_link_is_replaced_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    victim, path = tmp_path / "victim", tmp_path / "out.svg"
    victim.write_text("precious")
    path.symlink_to(victim)
    with ReplacedFile(path) as stream:
        stream.write(b"new")
    assert victim.read_text() == "precious"
    assert path.read_text() == "new"
    assert not path.is_symlink()


def test_a_link_under_the_partial_name_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    monkeypatch.setattr(partial_files, "partial_name", lambda target: ".foreseen")
    (tmp_path / ".foreseen").symlink_to(victim)
    with pytest.raises(FileExistsError):
        ReplacedFile(tmp_path / "out.svg")
    assert victim.read_text() == "precious"


def test_a_pipe_is_written_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with ReplacedFile(pipe) as stream:
        stream.write(b"text")
    assert os.read(reader, 10) == b"text"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    with ReplacedFile("/dev/null") as stream:
        stream.write(b"text")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_left_overs_of_the_same_file_only_are_removed(tmp_path: Path) -> None:
    mine = partial_files.partial_name("out.svg")
    dead = mine.replace(f"-{os.getpid()}-", f"-{NOBODY_RUNS}-")
    other = dead.replace("out.svg", "other.svg")
    for name in (mine, dead, other, ".out.svg.partial"):
        (tmp_path / name).touch()
    with ReplacedFile(tmp_path / "out.svg") as stream:
        stream.write(b"")
    assert set(names(tmp_path)) == {mine, other, ".out.svg.partial", "out.svg"}


KILLED = """
import sys
from kernelcast.partial_files import ReplacedFile
with ReplacedFile(sys.argv[1]) as stream:
    stream.write(bytes(100))
    stream.flush()
    print("half", flush=True)
    sys.stdin.read()
"""


def test_nothing_is_left_of_a_killed_process_after_the_next_write(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    command = [sys.executable, "-c", KILLED, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"half\n"
        process.send_signal(signal.SIGKILL)
    assert not path.exists()
    assert len(names(tmp_path)) == 1
    with ReplacedFile(path) as stream:
        stream.write(b"whole")
    assert names(tmp_path) == ["out.parquet"]


def test_long_names_are_no_error(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 255)
    with ReplacedFile(path) as stream:
        stream.write(b"")
    assert names(tmp_path) == [path.name]
