"""What is kept between runs: files in one folder, each named by a hash of all it depends on.

`KERNELCAST_CACHE` moves the folder. Damaged files are as good as none.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

__all__ = ["cache_folder", "read_checked", "write_checked"]

_CACHE_VARIABLE = "KERNELCAST_CACHE"
_DIGEST_BYTES = hashlib.sha256().digest_size


def cache_folder() -> Path:
    """The folder, which need not exist yet."""
    chosen = os.environ.get(_CACHE_VARIABLE)
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "kernelcast"


def read_checked(name: str) -> bytes | None:
    """What `write_checked` wrote; None when there is no such file or its digest is wrong."""
    try:
        content = (cache_folder() / name).read_bytes()
    except (OSError, RuntimeError):  # the latter where there is no home folder
        return None
    digest, data = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    return data if hashlib.sha256(data).digest() == digest else None


def write_checked(name: str, data: bytes) -> None:
    """Atomically, so that parallel runs never see half a file; a full disk is no error."""
    try:
        folder = cache_folder()
        folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(hashlib.sha256(data).digest() + data)
            Path(temporary).replace(folder / name)
        except OSError:
            Path(temporary).unlink(missing_ok=True)
    except (OSError, RuntimeError):
        return
