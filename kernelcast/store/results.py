"""The folder of entries: `results` in the cache's, with a limit of bytes.

What was not used for the longest time goes first. Files are written and believed as all of the
cache (`simcore.host.disk_cache`): at once, in a private folder, under a key of this user. A damaged
one is as good as none. `KERNELCAST_STORE` is `off`, or the limit, `4 GB`.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from kernelcast.errors import KernelcastError
from kernelcast.simcore.host.disk_cache import cache_folder, read_checked, write_checked
from kernelcast.simcore.host.private_folder import FolderRefused, HeldFile, PrivateFolder
from kernelcast.store.codec import CodecError, decoded, encoded
from kernelcast.units import parse_si

__all__ = [
    "DEFAULT_LIMIT_BYTES",
    "STORE_VARIABLE",
    "Sealed",
    "clear",
    "folder_path",
    "held_files",
    "is_switched_on",
    "keep",
    "kept",
    "limit_bytes",
    "parsed_limit",
    "remove_oldest",
    "set_limit",
]

STORE_VARIABLE = "KERNELCAST_STORE"
DEFAULT_LIMIT_BYTES = 2_000_000_000
_ROOM = "results"
_LIMIT_FILE = "limit"
_ENTRY = re.compile(r"[0-9a-f]{64}\.[a-z]+")
_OFF = ("off", "0")
_MOST_BYTES = float(1 << 60)
_LEFT_SHARE = 0.9
"""What is left of the limit when entries are removed: not each new one is to look for old ones."""
_NO_FOLDER = (OSError, RuntimeError)

_log = logging.getLogger("kernelcast.store")


@dataclass
class _Written:
    """How much this process believes the folder to hold; None before it has looked."""

    total: int | None = None
    guard: threading.Lock = field(default_factory=threading.Lock)


_written = _Written()


@dataclass(frozen=True)
class Sealed:
    """An entry that was read and is sound, but not decoded yet; `what` it is, for the log."""

    what: str
    data: bytes

    @cached_property
    def value(self) -> Any:
        """The value; CodecError cannot happen to what `keep` wrote."""
        _log.info("%s: from the store", self.what)
        return decoded(self.data)


def is_switched_on() -> bool:
    """Whether `KERNELCAST_STORE` lets entries be read and written."""
    return os.environ.get(STORE_VARIABLE, "").strip().lower() not in _OFF


def limit_bytes() -> int:
    """What the folder may hold, by `KERNELCAST_STORE`, by `set_limit`, else 2 GB.

    KernelcastError when the variable is no size.
    """
    chosen = os.environ.get(STORE_VARIABLE, "").strip()
    if chosen and is_switched_on():
        return parsed_limit(chosen, STORE_VARIABLE)
    text = read_checked(_LIMIT_FILE, _ROOM)
    return int(text) if text is not None else DEFAULT_LIMIT_BYTES


def parsed_limit(text: str, where: str) -> int:
    """The bytes of `4 GB`, `512M` or `4000000000`; KernelcastError, which names `where`."""
    try:
        found = parse_si(text.upper().removesuffix("B"))
    except KernelcastError:
        found = -1.0
    if not 0 <= found < _MOST_BYTES:
        raise KernelcastError(f"{where}: {text!r} is no size such as 4 GB")
    return int(found)


def set_limit(size: int) -> None:
    """What the folder may hold from now on; what is too much goes at once."""
    write_checked(_LIMIT_FILE, str(size).encode(), _ROOM)
    remove_oldest(limit_bytes())


def kept(key: str, what: str) -> Sealed | None:
    """The entry of that key, of that kind, sound; None where there is none."""
    data = read_checked(f"{key}.{what}", _ROOM)
    return None if data is None else Sealed(what, data)


def keep(key: str, what: str, value: object) -> None:
    """Keeps a value under a key; a full disk, and what cannot be encoded, are no errors."""
    try:
        data = encoded(value)
    except CodecError:
        return
    limit = limit_bytes()
    if len(data) > limit:
        return
    write_checked(f"{key}.{what}", data, _ROOM)
    with _written.guard:
        if _written.total is None:
            _written.total = sum(item.size for item in held_files())
        else:
            _written.total += len(data)
        if _written.total > limit:
            _written.total = remove_oldest(limit)


def held_files() -> list[HeldFile]:
    """All entries, in no order; none where the folder is missing or refused."""
    try:
        with PrivateFolder(folder_path()).opened() as folder:
            return [item for item in folder.files() if _ENTRY.fullmatch(item.name)]
    except (FolderRefused, *_NO_FOLDER):
        return []


def remove_oldest(limit: int) -> int:
    """Removes entries if there are more than `limit` bytes, the least used first.

    Returns the bytes that are left.
    """
    files = held_files()
    total = sum(item.size for item in files)
    if total <= limit:
        return total
    left = int(_LEFT_SHARE * limit)
    doomed = []
    for item in sorted(files, key=lambda file: file.used_ns):
        if total > left:
            doomed.append(item)
            total -= item.size
    _remove(doomed)
    return total


def clear() -> int:
    """Removes all entries; returns how many there were."""
    files = held_files()
    _remove(files)
    _written.total = None
    return len(files)


def _remove(files: Iterable[HeldFile]) -> None:
    refused = (FolderRefused, *_NO_FOLDER)
    with contextlib.suppress(*refused), PrivateFolder(folder_path()).opened() as folder:
        for item in files:
            folder.remove(item.name)


def folder_path() -> Path:
    """Where the entries are."""
    return cache_folder() / _ROOM
