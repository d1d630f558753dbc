"""Opens the files that a user names: regular ones only, so that no reader waits for ever.

Every reader of kernelcast opens its file here. What is wrong with a file is an `OSError` with half
a sentence in `strerror`, as of one that is missing; the reader turns it into an error of its own.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

__all__ = ["MOST_BYTES", "MOST_TEXT_BYTES", "open_input", "read_input", "read_text_input"]

MOST_BYTES = 1 << 28
"""The most bytes of a file that is read as a whole; compilers' largest have a tenth of it."""
MOST_TEXT_BYTES = 1 << 24
"""The most bytes of a description that is written by hand: TOML."""
_KINDS = (
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


def open_input(path: str | os.PathLike[str], most_bytes: int | None = None) -> BinaryIO:
    """A regular file of at most `most_bytes`, to read; OSError for anything else.

    Looks before it opens, since opening alone may act on a device, and again at what it has opened.
    """
    try:
        _check(os.stat(path), path, None)
    except ValueError:  # a name with a zero byte
        raise OSError(errno.EINVAL, "not a name of a file", os.fspath(path)) from None
    descriptor = os.open(path, _FLAGS)
    try:
        _check(os.fstat(descriptor), path, most_bytes)
        return os.fdopen(descriptor, "rb")
    except OSError:
        os.close(descriptor)
        raise


def read_input(path: str | os.PathLike[str], most_bytes: int = MOST_BYTES) -> bytes:
    """What the file holds; OSError as `open_input`."""
    with open_input(path, most_bytes) as source:
        content = source.read(most_bytes + 1)
    if len(content) > most_bytes:  # it has grown, or is one of the kernel's that tell no size
        raise _too_large(path, most_bytes)
    return content


def read_text_input(path: str | os.PathLike[str], most_bytes: int = MOST_BYTES) -> str:
    """The file's UTF-8 text, lines ended by a line feed; OSError, or UnicodeDecodeError."""
    text = read_input(Path(path), most_bytes).decode()
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _check(found: os.stat_result, path: str | os.PathLike[str], most_bytes: int | None) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not stat.S_ISREG(found.st_mode):
        kind = next((name for is_kind, name in _KINDS if is_kind(found.st_mode)), "something else")
        raise OSError(errno.EINVAL, f"not a regular file but {kind}", os.fspath(path))
    if most_bytes is not None and found.st_size > most_bytes:
        raise _too_large(path, most_bytes)


def _too_large(path: str | os.PathLike[str], most_bytes: int) -> OSError:
    return OSError(errno.EFBIG, f"larger than {most_bytes >> 20} MiB", os.fspath(path))
