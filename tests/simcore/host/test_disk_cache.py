"""The cache believes nothing that somebody else could have written, and leaves nothing behind."""

from __future__ import annotations

import logging
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from kernelcast.partial_files import partial_name
from kernelcast.simcore.host import disk_cache, private_folder
from kernelcast.simcore.host.disk_cache import (
    is_any_kept,
    is_kept,
    kept_text,
    read_checked,
    scratch_folder,
    write_checked,
)

SOMEBODY = 4321
OTHERS_WRITE = [0o777, 0o770, 0o1777, 0o702]
NOBODY_RUNS = 999_999_999
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser gives files away")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KERNELCAST_CACHE", str(tmp_path / "a" / "cache"))
    monkeypatch.setattr(disk_cache, "_told", set())
    monkeypatch.setattr(private_folder, "_swept", set())
    return tmp_path / "a" / "cache"


def partial_files(folder: Path) -> list[Path]:
    return list(folder.glob(".*"))


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_what_is_written_is_read_again_and_nobody_else_reads_it(folder: Path) -> None:
    assert read_checked("x") is None
    assert not folder.exists()
    write_checked("x", b"contents")
    assert read_checked("x") == b"contents"
    assert is_kept("x")
    assert is_any_kept("")
    assert not is_kept("xx")
    assert not is_any_kept("xx")
    assert mode(folder) == mode(folder.parent) == 0o700
    assert {mode(file) for file in folder.iterdir()} == {0o600}


@pytest.mark.parametrize("permissions", OTHERS_WRITE)
def test_a_folder_that_others_can_write_is_refused(
    folder: Path, permissions: int, caplog: pytest.LogCaptureFixture
) -> None:
    write_checked("x", b"contents")
    folder.chmod(permissions)
    with caplog.at_level(logging.WARNING, "kernelcast"):
        assert read_checked("x") is None
        assert not is_kept("x")
        assert not is_any_kept("x")
        write_checked("y", b"more")
    (message,) = [record.getMessage() for record in caplog.records]
    assert message.startswith("kernelcast keeps nothing between runs")
    assert f"others can write to {folder} (mode {permissions:04o}; chmod 700 ends that)" in message
    assert "\n" not in message
    assert not (folder / "y").exists()
    with pytest.raises(PermissionError, match="others can write"):
        kept_text("z.cu", "text")
    folder.chmod(0o700)
    assert read_checked("x") == b"contents"


@as_root
def test_the_superuser_refuses_a_folder_of_somebody_else(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_checked("x", b"contents")
    os.chown(folder, SOMEBODY, SOMEBODY)
    assert read_checked("x") is None
    assert f"{folder} belongs to another user (number {SOMEBODY})" in caplog.text


@as_root
def test_a_link_of_somebody_else_on_the_way_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    write_checked("x", b"contents")
    link = folder.parent.parent / "link"
    link.symlink_to(folder.parent)
    monkeypatch.setenv("KERNELCAST_CACHE", str(link / "cache"))
    assert read_checked("x") == b"contents"  # one's own
    os.chown(link, SOMEBODY, SOMEBODY, follow_symlinks=False)
    assert read_checked("x") is None
    assert f"another user's link leads to it: {link}" in caplog.text


@as_root
def test_an_entry_of_somebody_else_is_not_read(folder: Path) -> None:
    write_checked("x", b"contents")
    os.chown(folder / "x", SOMEBODY, SOMEBODY)
    assert read_checked("x") is None


def test_an_entry_that_others_can_write_is_not_read(folder: Path) -> None:
    write_checked("x", b"contents")
    (folder / "x").chmod(0o620)
    assert read_checked("x") is None


def test_an_entry_that_is_a_link_is_not_read(folder: Path, tmp_path: Path) -> None:
    write_checked("x", b"contents")
    (folder / "x").rename(tmp_path / "elsewhere")
    (folder / "x").symlink_to(tmp_path / "elsewhere")
    assert read_checked("x") is None
    write_checked("x", b"new")
    assert read_checked("x") == b"new"
    assert not (folder / "x").is_symlink()
    assert (tmp_path / "elsewhere").read_bytes().endswith(b"contents")


def test_a_pipe_in_the_place_of_an_entry_does_not_hold_the_reader(folder: Path) -> None:
    write_checked("x", b"contents")
    (folder / "x").unlink()
    os.mkfifo(folder / "x", 0o600)
    assert read_checked("x") is None


def test_any_flipped_bit_is_noticed(folder: Path) -> None:
    write_checked("x", b"contents")
    whole = (folder / "x").read_bytes()
    for place in range(8 * len(whole)):
        content = bytearray(whole)
        content[place // 8] ^= 1 << place % 8
        (folder / "x").write_bytes(content)
        assert read_checked("x") is None, place
    (folder / "x").write_bytes(whole[:20])
    assert read_checked("x") is None
    (folder / "x").write_bytes(whole)
    assert read_checked("x") == b"contents"


def test_an_entry_under_the_name_of_another_is_not_believed(folder: Path) -> None:
    write_checked("x", b"contents")
    (folder / "x").rename(folder / "y")
    assert read_checked("y") is None


def replace_key(key: Path) -> None:
    key.write_bytes(bytes(32))


def shorten_key(key: Path) -> None:
    key.write_bytes(b"short")


def show_key(key: Path) -> None:
    key.chmod(0o644)


def link_key(key: Path) -> None:
    key.rename(key.with_name("elsewhere"))
    key.symlink_to("elsewhere")


@pytest.mark.parametrize("change", [replace_key, shorten_key, show_key, link_key, Path.unlink])
def test_nothing_is_believed_under_another_key(
    folder: Path, change: Callable[[Path], None]
) -> None:
    """Where others may know the key, nothing is believed; what is written then has a key again."""
    write_checked("x", b"contents")
    key = folder / "key"
    before = key.read_bytes()
    change(key)
    assert read_checked("x") is None
    write_checked("x", b"contents")
    assert read_checked("x") == b"contents"
    assert key.read_bytes() != before
    assert len(key.read_bytes()) == 32
    assert mode(key) == 0o600


def test_a_link_under_the_name_of_a_temporary_file_is_not_followed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name cannot be foreseen; even if it could, nothing would be overwritten."""
    write_checked("x", b"contents")
    victim = tmp_path / "victim"
    victim.write_text("precious")
    monkeypatch.setattr(private_folder, "partial_name", lambda name: ".foreseen")
    (folder / ".foreseen").symlink_to(victim)
    write_checked("x", b"new")
    assert victim.read_text() == "precious"
    assert read_checked("x") == b"contents"


def test_names_of_temporary_files_cannot_be_foreseen() -> None:
    assert len({partial_name("x") for _ in range(1000)}) == 1000


def test_temporary_files_of_the_dead_go_and_those_of_the_living_stay(folder: Path) -> None:
    write_checked("x", b"contents")
    living = folder / partial_name("x")
    dead = folder / living.name.replace(f"-{os.getpid()}-", f"-{NOBODY_RUNS}-")
    other = folder / ".x.00000000-999999999-0123456789abcdef.partial"
    old = folder / ".y.00000000-1-0123456789abcdef.partial"
    tree = folder / dead.name.replace(".x.", ".scratch.")
    for file in (living, dead, other, old):
        file.write_bytes(b"")
    tree.mkdir()
    (tree / "library.bc").write_bytes(b"")
    os.utime(old, (0, 0))
    private_folder._swept.clear()
    assert read_checked("x") == b"contents"
    assert set(partial_files(folder)) == {living, other}


KILLED_WHILE_WRITING = """
import os, sys
from kernelcast.simcore.host import disk_cache, private_folder
class Stopped:
    def __init__(self, stream): self.stream = stream
    def __enter__(self): return self
    def __exit__(self, *reason): self.stream.close()
    def write(self, data):
        self.stream.write(data[:len(data) // 2])
        self.stream.flush()
        print("half", flush=True)
        sys.stdin.read()
opened = os.fdopen
if sys.argv[1] == "entry":
    disk_cache.write_checked("first", b"")  # the key
    private_folder.os = type(sys)("os")
    private_folder.os.__dict__.update(os.__dict__)
    def half(descriptor, mode):
        stream = opened(descriptor, mode)
        return Stopped(stream) if mode == "wb" else stream
    private_folder.os.fdopen = half
    disk_cache.write_checked("x", bytes(1 << 20))
else:
    with disk_cache.scratch_folder() as folder:
        (folder / "library.bc").write_bytes(bytes(100))
        print("half", flush=True)
        sys.stdin.read()
"""


@pytest.mark.parametrize("what", ["entry", "scratch"])
def test_nothing_is_left_of_a_process_that_was_killed(folder: Path, what: str) -> None:
    command = [sys.executable, "-c", KILLED_WHILE_WRITING, what]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"half\n"
        assert len(partial_files(folder)) == 1
        assert read_checked("x") is None
        assert len(partial_files(folder)) == 1  # it lives
        process.send_signal(signal.SIGKILL)
    private_folder._swept.clear()  # as at the next start
    assert read_checked("x") is None
    assert partial_files(folder) == []


def test_scratch_folders_are_private_and_go(folder: Path) -> None:
    with scratch_folder() as scratch:
        assert scratch.parent == folder
        assert mode(scratch) == 0o700
        (scratch / "a.bc").write_bytes(b"")
    assert not scratch.exists()


def test_scratch_folders_are_elsewhere_where_others_write(folder: Path) -> None:
    write_checked("x", b"")
    folder.chmod(0o777)
    with scratch_folder() as scratch:
        assert scratch.parent != folder
        assert mode(scratch) == 0o700
    assert not scratch.exists()


def test_texts_for_other_programs_are_what_was_asked_for(folder: Path) -> None:
    file = kept_text("k.cu", "one")
    assert file == folder / "k.cu"
    file.write_text("two")
    assert kept_text("k.cu", "one").read_text() == "one"


def test_writers_at_once_leave_whole_entries_and_one_key(folder: Path) -> None:
    """One of several keys made at the same moment stays; what was written with it is read."""
    names = [f"x{number}" for number in range(4)]
    contents = {bytes([letter]) * 100_000 for letter in b"abcdefgh"}

    def work(content: bytes) -> None:
        for _ in range(20):
            for name in names:
                write_checked(name, content)
                assert read_checked(name) in contents

    failures: list[BaseException] = []

    def guarded(content: bytes) -> None:
        try:
            work(content)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert partial_files(folder) == []
    assert sorted(file.name for file in folder.iterdir()) == ["key", *names]


def test_processes_at_once_agree_on_the_key(folder: Path) -> None:
    code = "from kernelcast.simcore.host.disk_cache import write_checked as write; import sys; "
    command = [sys.executable, "-c", f"{code} write(sys.argv[1], b'data')"]
    processes = [subprocess.Popen([*command, f"x{number}"]) for number in range(4)]
    assert [process.wait() for process in processes] == [0] * 4
    assert [read_checked(f"x{number}") for number in range(4)] == [b"data"] * 4


def test_a_machine_without_a_home_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KERNELCAST_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    write_checked("x", b"contents")
    assert read_checked("x") is None
    with scratch_folder() as scratch:
        assert scratch.is_dir()
