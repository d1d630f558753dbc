"""Writes files that appear when they are complete, under names that nobody can foresee until then.

A partial file is made exclusively and through no link, so that nothing planted under its name is
ever followed, and renamed at the end. Its name tells the machine and the process that write it:
what a process left that was killed goes when the same file, or the cache, is written again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import re
import secrets
import shutil
import stat
import sys
import time
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

__all__ = ["ReplacedFile", "partial_name", "remove_left_overs"]

_NAME = re.compile(
    r"\.(?P<target>.+)\.(?P<host>[0-9a-f]{8})-(?P<process>\d{1,9})-[0-9a-f]{16}\.partial"
)
_LONGEST_TARGET = 100
_OLD_SECONDS = 86400.0
"""Nothing takes a day to write: a partial file that old is left over wherever it came from."""
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_PERMISSIONS = 0o777


def partial_name(target: str) -> str:
    """The name of a partial file of `target`, in the same folder; new at every call."""
    process = f"{_host()}-{os.getpid()}-{secrets.token_hex(8)}"
    return f".{target[:_LONGEST_TARGET]}.{process}.partial"


def remove_left_overs(folder: str | int, target: str | None = None) -> None:
    """Removes partial files and folders of processes that are no more, of `target` or of all.

    `folder` is a path or an open folder. What cannot be removed stays.
    """
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            match = _NAME.fullmatch(entry.name)
            if match is None or (target is not None and match["target"] != target):
                continue
            with contextlib.suppress(OSError):
                if _is_left_over(match, entry.stat(follow_symlinks=False)):
                    _remove(folder, entry)


class ReplacedFile:
    """A file that takes the place of the one at `path` when `publish` is called.

    As a context manager it gives the stream, and publishes unless an error ends the context. A link
    at `path` is replaced, not followed; a device or a pipe there is written as it is. OSError where
    the folder cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self._partial: Path | None = None
        mode = _mode(self._path)
        if mode is not None and not stat.S_ISREG(mode):
            self.stream: BinaryIO = self._path.open("wb")
            return
        remove_left_overs(str(self._path.parent), self._path.name[:_LONGEST_TARGET])
        self._partial = self._path.with_name(partial_name(self._path.name))
        descriptor = os.open(self._partial, _NEW | _BINARY, 0o666)
        self.stream = os.fdopen(descriptor, "wb")
        if mode is not None and sys.platform != "win32":
            with contextlib.suppress(OSError):  # a file system without permissions
                os.fchmod(descriptor, mode & _PERMISSIONS)

    def publish(self) -> None:
        """Closes the stream and puts the file in the place of the one at `path`."""
        self.stream.close()
        if self._partial is not None:
            self._partial.replace(self._path)

    def discard(self) -> None:
        """Leaves what was at `path` as it was."""
        with contextlib.suppress(OSError):  # the disk may be what failed
            self.stream.close()
        if self._partial is not None:
            self._partial.unlink(missing_ok=True)

    def __enter__(self) -> BinaryIO:
        return self.stream

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.discard()
            return
        try:
            self.publish()
        except OSError:
            self.discard()
            raise


def _mode(path: Path) -> int | None:
    """Kind and permissions of what is at `path`, behind links too; None where there is nothing."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


@cache
def _host() -> str:
    """A short name of this machine, as its processes' numbers mean nothing elsewhere."""
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def _is_left_over(match: re.Match[str], status: os.stat_result) -> bool:
    if time.time() - status.st_mtime > _OLD_SECONDS:
        return True
    return match["host"] == _host() and not _is_running(int(match["process"]))


def _is_running(process: int) -> bool:
    if sys.platform == "win32":  # where asking would end the process
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody else's
        return True
    return True


def _remove(folder: str | int, entry: os.DirEntry[str]) -> None:
    descriptor = folder if isinstance(folder, int) else None
    name = entry.name if descriptor is not None else entry.path
    if entry.is_dir(follow_symlinks=False):
        shutil.rmtree(name, dir_fd=descriptor)
    else:
        os.unlink(name, dir_fd=descriptor)
