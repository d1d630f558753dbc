"""A folder for the files of one capture, gone when it ends, however it ends."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["work_folder"]

_PREFIX = "kernelcast-"
_LOCK = "lock"
_LONGEST = 70
"""How many bytes of the 108 that a socket's path may have are for the folder of folders."""
_SHORT = "/tmp"


@contextmanager
def work_folder() -> Iterator[Path]:
    """A new folder, which is removed in the end; those of captures that were killed go first.

    Its path is short enough for that of a socket in it.
    """
    home = tempfile.gettempdir()
    if len(os.fsencode(home)) > _LONGEST:
        home = _SHORT
    for old in Path(home).glob(f"{_PREFIX}*"):
        if not _is_in_use(old):
            shutil.rmtree(old, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=home))
    unlocked = folder / f"{_LOCK}.new"
    lock = os.open(unlocked, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        unlocked.rename(folder / _LOCK)
        yield folder
    finally:
        os.close(lock)
        shutil.rmtree(folder, ignore_errors=True)


def _is_in_use(folder: Path) -> bool:
    """Whether a process holds the lock of a folder, or it has none or is somebody else's."""
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False
