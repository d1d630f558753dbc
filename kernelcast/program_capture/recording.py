"""Recordings: what a program asked for, so that it can be answered again without the program.

A file is a header and frames, compressed: requests as the program sent them, and bytes that the
host put into the shared memory, where they came between requests. Handles and addresses come out
the same when the requests are answered in the same order.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from kernelcast.errors import InputError
from kernelcast.program_capture.calls.memory import COPY_WORDS
from kernelcast.program_capture.protocol import CopyRequest, Kind, packed, words
from kernelcast.program_capture.session import Session

__all__ = ["Frame", "Recorder", "read_recording"]

_MAGIC = b"kernelcast recording 1\n"
_FRAME = struct.Struct("<III")
"""Which process, kind, bytes."""
_DATA = 1 << 16
"""A frame that is no request: an address and the bytes there."""
_LEVEL = 1
_MAKES_KERNELS_RUN = frozenset({Kind.LAUNCH, Kind.GRAPH_LAUNCH})
_CHANGES_NOTHING = frozenset(
    {
        *(Kind.ATTRIBUTE, Kind.PROPERTIES, Kind.MEMORY_INFO, Kind.POINTER, Kind.OCCUPANCY),
        *(Kind.EVENT_ELAPSED, Kind.CAPTURE_STATUS, Kind.GRAPH_NODES, Kind.TIME, Kind.GOODBYE),
    }
)


@dataclass(frozen=True, slots=True)
class Frame:
    """One request of a process, or with `kind` None bytes for an address."""

    process: int
    kind: Kind | None
    payload: bytes

    @property
    def data(self) -> tuple[int, bytes]:
        """The address and the bytes."""
        return words(self.payload, 1)[0], self.payload[8:]


@dataclass
class Recorder:
    """Writes the requests of all processes to a file while they are answered."""

    path: Path
    command: tuple[str, ...]
    _written: dict[int, CopyRequest] = field(default_factory=dict)
    """Copies from the host that a process does now."""
    _seen: dict[tuple[int, int], bytes] = field(default_factory=dict)
    """Digests of what host and GPU both see, by process and address."""

    def __enter__(self) -> Recorder:
        try:
            self._file = gzip.GzipFile(self.path, "wb", _LEVEL)
        except OSError as error:
            raise InputError(f"cannot write {self.path}: {error.strerror}") from None
        head = json.dumps({"command": self.command}).encode()
        self._file.write(_MAGIC + struct.pack("<I", len(head)) + head)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def before(self, process: int, session: Session, kind: Kind, payload: bytes) -> None:
        """A request is about to be answered: what the host wrote comes first."""
        copied = self._written.pop(process, None)
        if copied is not None:
            self._keep(process, session, copied.to, copied.to_span)
        if kind in _MAKES_KERNELS_RUN:
            self._keep_host_memory(process, session)
        if kind in _CHANGES_NOTHING:
            return
        self._write(process, kind, payload)
        if kind is Kind.COPY:
            request = CopyRequest(*words(payload, COPY_WORDS))
            if session.arena.space_of(request.to) is not None:
                self._written[process] = request

    def after(self, process: int, session: Session, kind: Kind) -> None:
        """A request was answered: what kernels left in the host's memory is no news of the host."""
        if kind in _MAKES_KERNELS_RUN:
            for address, size in session.arena.host_visible():
                self._seen[process, address] = _digest(session, address, size)

    def _keep_host_memory(self, process: int, session: Session) -> None:
        for address, size in session.arena.host_visible():
            found = _digest(session, address, size)
            if self._seen.get((process, address)) != found:
                self._keep(process, session, address, size)

    def _keep(self, process: int, session: Session, address: int, size: int) -> None:
        if session.arena.space_of(address) is not None:
            content = session.arena.memory.view(address, size).tobytes()
            self._write(process, _DATA, packed(address) + content)

    def _write(self, process: int, kind: int, payload: bytes) -> None:
        self._file.write(_FRAME.pack(process, kind, len(payload)) + payload)


def read_recording(path: Path) -> tuple[tuple[str, ...], Iterator[Frame]]:
    """The command of a recording, and its frames; InputError when it is damaged or none."""
    try:
        file = gzip.GzipFile(path, "rb")
        if file.read(len(_MAGIC)) != _MAGIC:
            raise InputError(f"{path} is no recording of this version of kernelcast")
        (size,) = struct.unpack("<I", _exactly(file, 4))
        head = json.loads(_exactly(file, size))
        return tuple(head["command"]), _frames(path, file)
    except (OSError, EOFError, ValueError, KeyError, zlib.error, struct.error) as error:
        raise InputError(f"{path} cannot be read: {error}") from None


def _frames(path: Path, file: gzip.GzipFile) -> Iterator[Frame]:
    with file:
        while True:
            try:
                head = file.read(_FRAME.size)
                if not head:
                    return
                process, kind, size = _FRAME.unpack(head)
                payload = _exactly(file, size)
                found = Frame(process, None if kind == _DATA else Kind(kind), payload)
            except (OSError, EOFError, ValueError, zlib.error, struct.error) as error:
                raise InputError(f"{path} is damaged: {error}") from None
            yield found


def _exactly(file: Any, size: int) -> bytes:
    found: bytes = file.read(size)
    if len(found) < size:
        raise EOFError("it ends early")
    return found


def _digest(session: Session, address: int, size: int) -> bytes:
    view = session.arena.memory.view(address, size)
    return hashlib.blake2b(np.ascontiguousarray(view).data, digest_size=16).digest()
