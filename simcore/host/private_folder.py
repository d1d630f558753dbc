"""A folder that nobody but its user can write, and files in it.

The folder is opened once for each action and judged by its open descriptor; its files are opened
relative to that. So whatever is renamed or linked meanwhile, the folder that was judged is the one
that is read and written.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from kernelcast.partial_files import partial_name, remove_left_overs

__all__ = ["FolderRefused", "HeldFile", "OpenFolder", "PrivateFolder"]

_OWN_FOLDER, _OWN_FILE, _OWN_PROGRAM = 0o700, 0o600, 0o700
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_SUPERUSER = 0

_swept: set[tuple[int, Path]] = set()
"""Processes (a fork is one of its own) and folders that they removed left-overs from."""


class FolderRefused(Exception):
    """The folder is there, but somebody else could have put into it what is in it."""


class HeldFile(NamedTuple):
    """A regular file of a folder: its size in bytes and when it was last used, in ns since 1970."""

    name: str
    size: int
    used_ns: int


class OpenFolder:
    """Files of a folder that was found to be private. `descriptor` None: Windows, by path."""

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self._path = path
        self._descriptor = descriptor

    def read(self, name: str, forbidden: int = _OTHERS_WRITE) -> bytes | None:
        """None for what is not there, is a link, or is not the user's own regular file.

        `forbidden`: permissions that the file must not give.
        """
        try:
            descriptor = os.open(self._at(name), _READ | _BINARY, dir_fd=self._descriptor)
        except OSError:
            return None
        with os.fdopen(descriptor, "rb") as stream:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or not _is_own(status, forbidden):
                return None
            return stream.read()

    def write(
        self, name: str, data: bytes, *, replaces: bool = True, is_program: bool = False
    ) -> None:
        """Puts a file there at once; another process finds the old one or the whole new one.

        `replaces` False: a file that is there already stays. `is_program`: its owner may run it.
        OSError as any write.
        """
        partial = self._at(partial_name(name))
        mode = _OWN_PROGRAM if is_program else _OWN_FILE
        descriptor = os.open(partial, _NEW | _BINARY, mode, dir_fd=self._descriptor)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(data)
            if replaces or not self._link(partial, self._at(name)):
                os.replace(
                    partial,
                    self._at(name),
                    src_dir_fd=self._descriptor,
                    dst_dir_fd=self._descriptor,
                )
        finally:
            self.remove(partial)

    def make_folder(self, name: str) -> None:
        """Makes a folder within, only for its owner; FileExistsError where it is there."""
        os.mkdir(self._at(name), _OWN_FOLDER, dir_fd=self._descriptor)

    def remove(self, name: str) -> None:
        """Removes a file, if it is there."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._at(name), dir_fd=self._descriptor)

    def mark_used(self, name: str) -> None:
        """Notes that a file is in use now, for `files`; one that is gone stays so."""
        with contextlib.suppress(OSError, NotImplementedError):
            os.utime(self._at(name), dir_fd=self._descriptor, follow_symlinks=False)

    def files(self) -> list[HeldFile]:
        """The regular files that the folder holds, in no order."""
        found = []
        with os.scandir(self._path if self._descriptor is None else self._descriptor) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):  # another process may remove it meanwhile
                    status = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(status.st_mode):
                        found.append(HeldFile(entry.name, status.st_size, status.st_mtime_ns))
        return found

    def holds(self, name: str) -> bool:
        """Whether there is anything of that name; quick, however much the folder holds."""
        try:
            os.stat(self._at(name), dir_fd=self._descriptor, follow_symlinks=False)
        except OSError:
            return False
        return True

    def names(self) -> list[str]:
        """Names of what the folder holds, in no order."""
        return os.listdir(self._path if self._descriptor is None else self._descriptor)

    def _at(self, name: str) -> str:
        return name if self._descriptor is not None else str(self._path / name)

    def _link(self, old: str, new: str) -> bool:
        """Whether `new` is there now; not every file system has links."""
        place = self._descriptor
        try:
            os.link(old, new, src_dir_fd=place, dst_dir_fd=place)
        except FileExistsError:
            return True
        except (OSError, NotImplementedError):
            return False
        return True


class PrivateFolder:
    """The folder at `path`, made with mode 0700 when it is first written.

    It is refused unless it belongs to this process's user, gives nobody else the right to write,
    and no link on the way to it is another user's (the superuser's are taken). That holds for the
    superuser as well: a folder of somebody else's is not trusted because it can be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(os.path.abspath(path))

    @contextmanager
    def opened(self, *, create: bool = False) -> Iterator[OpenFolder]:
        """FolderRefused as above; OSError where it is missing, or cannot be made or read."""
        if create:
            self._make()
        if sys.platform == "win32":  # a user's profile keeps others out by its access lists
            yield OpenFolder(self.path, None)
            return
        _check_links(self.path)
        descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            _check_folder(self.path, os.fstat(descriptor))
            self._sweep(descriptor)
            yield OpenFolder(self.path, descriptor)
        finally:
            os.close(descriptor)

    def _make(self) -> None:
        missing = []
        for folder in (self.path, *self.path.parents):
            if folder.is_dir():
                break
            missing.append(folder)
        for folder in reversed(missing):
            with contextlib.suppress(FileExistsError):  # another process was faster
                folder.mkdir(_OWN_FOLDER)

    def _sweep(self, descriptor: int) -> None:
        """Once a process."""
        key = os.getpid(), self.path
        if key not in _swept:
            _swept.add(key)
            remove_left_overs(descriptor)


def _check_folder(path: Path, status: os.stat_result) -> None:
    if status.st_uid != os.geteuid():
        raise FolderRefused(f"{path} belongs to another user (number {status.st_uid})")
    if status.st_mode & _OTHERS_WRITE:
        mode = stat.S_IMODE(status.st_mode)
        raise FolderRefused(f"others can write to {path} (mode {mode:04o}; chmod 700 ends that)")


def _check_links(path: Path) -> None:
    """FolderRefused where another user's link leads to the folder."""
    for way in (path, path.resolve()):
        for part in (way, *way.parents):
            status = part.lstat()
            if stat.S_ISLNK(status.st_mode) and status.st_uid not in (_SUPERUSER, os.geteuid()):
                raise FolderRefused(f"another user's link leads to it: {part}")


def _is_own(status: os.stat_result, forbidden: int) -> bool:
    if sys.platform == "win32":
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & forbidden
