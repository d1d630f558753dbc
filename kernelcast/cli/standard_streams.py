"""Standard output that is closed, is read by nobody any more, or leads to a full disk."""

from __future__ import annotations

import contextlib
import errno
import os
import sys

__all__ = ["UNWRITABLE", "fill_closed_streams", "output_status"]

DONE, UNWRITABLE = 0, 2
_STREAMS = 3


def fill_closed_streams() -> None:
    """Opens what the caller closed (`>&-`), so that no file takes its number and gets its text.

    A standard output that was closed cannot be written, like a full disk.
    """
    if None not in (sys.stdin, sys.stdout, sys.stderr):
        return
    while (descriptor := os.open(os.devnull, os.O_RDONLY)) < _STREAMS:
        pass
    os.close(descriptor)
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)


def output_status(error: OSError | None = None) -> int | None:
    """Writes what waits to be written: None when that works and no `error` came before.

    A reader that has gone, such as `head`, has what it wanted: that is no error. Any other failure
    is told on standard error, and nothing is written any more. Files that fail have a name.
    """
    if error is not None and error.filename is not None:
        return None
    try:
        sys.stdout.flush()
    except OSError as failure:
        error = failure
    if error is None:
        return None
    _discard()
    if error.errno == errno.EPIPE:
        return DONE
    with contextlib.suppress(OSError):
        sys.stderr.write(f"error: cannot write standard output: {error.strerror}\n")
    return UNWRITABLE


def _discard() -> None:
    """Sends what a stream has yet to write nowhere, so that the process ends without failure."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
