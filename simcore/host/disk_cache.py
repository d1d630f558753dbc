"""What is kept between runs: files in one folder, each named by a hash of all it depends on.

`KERNELCAST_CACHE` moves the folder. Damaged files are as good as none. What is read here may be
machine code, or pickles, which can run any code when they are decoded; that is safe because

* the folder is private (`private_folder`): another user can put nothing into it, nor change or
  rename what is there; where that does not hold, nothing is read or written and a line says so,
* every file is opened through no link and must be this user's own regular file that no one else
  may write,
* and begins with an HMAC of its name and contents under a key of 32 random bytes that stands in the
  folder, readable by this user only, and is compared before anything is decoded. So files that came
  from elsewhere (another machine's cache, a backup, a folder that others could write until now),
  that were renamed or damaged, are not taken for what this user's programs wrote.

Whoever can get past that has the user's own rights, and may change the program itself.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kernelcast.partial_files import partial_name
from kernelcast.simcore.host.private_folder import FolderRefused, OpenFolder, PrivateFolder

__all__ = [
    "cache_folder",
    "is_any_kept",
    "is_kept",
    "kept_folder",
    "kept_text",
    "read_checked",
    "scratch_folder",
    "write_checked",
]

_CACHE_VARIABLE = "KERNELCAST_CACHE"
_DIGEST_BYTES = hashlib.sha256().digest_size
_KEY, _KEY_BYTES = "key", 32
_NOT_THE_USER = 0o077
_NO_FOLDER = (OSError, RuntimeError)
"""The latter where there is no home folder."""

_told: set[str] = set()


def cache_folder() -> Path:
    """The folder, which need not exist yet."""
    chosen = os.environ.get(_CACHE_VARIABLE)
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "kernelcast"


def read_checked(name: str, room: str = "") -> bytes | None:
    """What `write_checked` wrote; None when there is no such file or it is not believed.

    `room`: a folder in the cache's, which has a key of its own and notes when its files are used.
    """
    try:
        with PrivateFolder(cache_folder() / room).opened() as folder:
            key, content = _key(folder), folder.read(name)
            if room and content is not None:
                folder.mark_used(name)
    except FolderRefused as reason:
        _tell(reason)
        return None
    except _NO_FOLDER:
        return None
    if key is None or content is None:
        return None
    digest, data = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    return data if hmac.compare_digest(_digest(key, name, data), digest) else None


def write_checked(name: str, data: bytes, room: str = "") -> None:
    """Atomically, so that parallel runs never see half a file; a full disk is no error."""
    try:
        with PrivateFolder(cache_folder() / room).opened(create=True) as folder:
            key = _key(folder) or _new_key(folder)
            if key is not None:
                folder.write(name, _digest(key, name, data) + data)
    except FolderRefused as reason:
        _tell(reason)
    except _NO_FOLDER:
        return


def is_kept(name: str) -> bool:
    """Whether there is a file of that name; whether it is sound shows when it is read."""
    return _holds(lambda folder: folder.holds(name))


def is_any_kept(start: str) -> bool:
    """Whether there is a file whose name begins so; all names are looked at."""
    return _holds(lambda folder: any(name.startswith(start) for name in folder.names()))


def _holds(question: Callable[[OpenFolder], bool]) -> bool:
    try:
        with PrivateFolder(cache_folder()).opened() as folder:
            return question(folder)
    except FolderRefused as reason:
        _tell(reason)
    except _NO_FOLDER:
        pass
    return False


def kept_text(name: str, text: str) -> Path:
    """A file of just this text, for programs that take files; OSError where there can be none."""
    with _checked() as folder:
        data = text.encode()
        if folder.read(name) != data:
            folder.write(name, data)
    return cache_folder() / name


def kept_folder(name: str) -> PrivateFolder:
    """A folder in the cache's, for other programs; OSError where there can be none."""
    with _checked():
        return PrivateFolder(cache_folder() / name)


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A new folder for files of one call of a compiler.

    It lies in the cache, where the next run removes what a killed one left, if there is a cache.
    """
    try:
        with PrivateFolder(cache_folder()).opened(create=True) as folder:
            name = partial_name("scratch")
            folder.make_folder(name)
    except (FolderRefused, *_NO_FOLDER):
        with tempfile.TemporaryDirectory() as elsewhere:
            yield Path(elsewhere)
        return
    path = cache_folder() / name
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


@contextmanager
def _checked() -> Iterator[OpenFolder]:
    """The folder; OSError, which callers tell the user, also where it is refused."""
    try:
        with PrivateFolder(cache_folder()).opened(create=True) as folder:
            yield folder
    except FolderRefused as reason:
        raise PermissionError(0, str(reason)) from None


def _key(folder: OpenFolder) -> bytes | None:
    """None when there is none that only this user can read."""
    key = folder.read(_KEY, forbidden=_NOT_THE_USER)
    return key if key is not None and len(key) == _KEY_BYTES else None


def _new_key(folder: OpenFolder) -> bytes | None:
    """The key of whichever process is first; one that others could read is thrown away."""
    for _ in range(2):
        folder.write(_KEY, secrets.token_bytes(_KEY_BYTES), replaces=False)
        key = _key(folder)
        if key is not None:
            return key
        folder.remove(_KEY)
    return None


def _digest(key: bytes, name: str, data: bytes) -> bytes:
    keyed = hmac.new(key, name.encode() + b"\0", hashlib.sha256)
    keyed.update(data)
    return keyed.digest()


def _tell(reason: FolderRefused) -> None:
    """One line for each reason and process, on standard error unless logging says otherwise."""
    text = str(reason)
    if text not in _told:
        _told.add(text)
        logging.getLogger("kernelcast").warning(
            "kernelcast keeps nothing between runs and is slower: %s; %s names another folder",
            text,
            _CACHE_VARIABLE,
        )
