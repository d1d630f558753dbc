"""The server: takes the connections of a program's processes and answers their requests."""

from __future__ import annotations

import array
import contextlib
import io
import selectors
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kernelcast.errors import KernelcastError
from kernelcast.program_capture.arena import ARENA_BASE, ARENA_BYTES, HOST_BASE, CallError
from kernelcast.program_capture.calls.table import CALLS
from kernelcast.program_capture.options import CaptureOptions
from kernelcast.program_capture.protocol import (
    ANSWER_HEADER,
    NO_ANSWER,
    PROTOCOL_VERSION,
    REQUEST_HEADER,
    Action,
    Kind,
    Status,
    packed,
    words,
)
from kernelcast.program_capture.recording import Recorder
from kernelcast.program_capture.session import Session
from kernelcast.simcore.device.device import Device

__all__ = ["Server"]

_AFTER_FAILURE = frozenset(
    {
        *(Kind.ATTRIBUTE, Kind.PROPERTIES, Kind.REFUSED, Kind.LAUNCH_FAILED, Kind.TIME),
        Kind.RESET,
    }
)
"""What works after a failure that cannot be mended."""
_CHUNK = 1 << 20
_MOST_WAITING = 8


@dataclass
class Server:
    """One socket and the sessions of all programs that connected to it."""

    path: Path
    devices: Sequence[Device]
    folder: Path
    options: CaptureOptions
    recorder: Recorder | None = None
    sessions: list[Session] = field(default_factory=list)

    def __enter__(self) -> Server:
        self._selector = selectors.DefaultSelector()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(str(self.path))
        self._socket.listen(_MOST_WAITING)
        self._selector.register(self._socket, selectors.EVENT_READ)
        return self

    def __exit__(self, *_: object) -> None:
        for key in list(self._selector.get_map().values()):
            if key.data is not None:
                key.data.close()
        self._selector.close()
        self._socket.close()
        self.path.unlink(missing_ok=True)
        for session in self.sessions:
            session.end()

    def serve(self, timeout_s: float) -> bool:
        """Answers what has come, or waits for it: whether there was something."""
        ready = self._selector.select(timeout_s)
        for key, _ in ready:
            if key.data is None:
                self._accept()
            elif not key.data.answer():
                self._selector.unregister(key.fileobj)
                key.data.close()
        return bool(ready)

    @property
    def is_connected(self) -> bool:
        """Whether a program is there."""
        return len(self._selector.get_map()) > 1

    def _accept(self) -> None:
        stream, _ = self._socket.accept()
        connection = _Connection(self, stream)
        self._selector.register(stream, selectors.EVENT_READ, connection)


class _Connection:
    """One process of a program."""

    def __init__(self, server: Server, stream: socket.socket) -> None:
        self._server = server
        self._stream = stream
        self._received = bytearray()
        self._session: Session | None = None
        self._printed = io.StringIO()
        self._host_ns = 0

    def close(self) -> None:
        """Ends the connection."""
        self._stream.close()

    def answer(self) -> bool:
        """Reads what is there and answers all of it; False when the program has gone."""
        try:
            chunk = self._stream.recv(_CHUNK)
            if not chunk:
                return False
            self._received += chunk
            while (request := self._next()) is not None:
                self._handle(*request)
        except ConnectionError:
            return False
        return True

    def _next(self) -> tuple[int, int, bytes] | None:
        """Kind, host time and content of the next request that is there as a whole."""
        if len(self._received) < REQUEST_HEADER.size:
            return None
        kind, size, host_ns = REQUEST_HEADER.unpack_from(self._received)
        end = REQUEST_HEADER.size + size
        if len(self._received) < end:
            return None
        payload = bytes(self._received[REQUEST_HEADER.size : end])
        del self._received[:end]
        return kind, host_ns, payload

    def _handle(self, kind: int, host_ns: int, payload: bytes) -> None:
        if kind == Kind.HELLO:
            self._hello(payload)
            return
        session = self._session
        if session is None:
            raise ConnectionError("a request before the first one")
        self._pass_time(session, host_ns)
        status, answer = self._recorded(session, Kind(kind & ~NO_ANSWER), payload)
        if not kind & NO_ANSWER:
            self._print()
            self._send(status, answer)
        elif status is not Status.SUCCESS and session.pending is Status.SUCCESS:
            session.pending = status

    def _recorded(self, session: Session, kind: Kind, payload: bytes) -> tuple[Status, bytes]:
        recorder = self._server.recorder
        if recorder is None:
            return self._called(session, kind, payload)
        recorder.before(session.process, session, kind, payload)
        found = self._called(session, kind, payload)
        recorder.after(session.process, session, kind)
        return found

    def _called(self, session: Session, kind: Kind, payload: bytes) -> tuple[Status, bytes]:
        if kind is Kind.GOODBYE:
            return Status.SUCCESS, b""
        if session.sticky is not Status.SUCCESS and kind not in _AFTER_FAILURE:
            return session.sticky, b""
        if kind not in CALLS:
            return Status.NOT_PERMITTED, b""
        try:
            with contextlib.redirect_stdout(self._printed):
                return Status.SUCCESS, CALLS[kind](session, payload)
        except CallError as error:
            return error.status, b""
        except KernelcastError as error:
            failure = CallError(Status.UNKNOWN, str(error))
            session.fail(kind.name.lower(), failure)
            return failure.status, b""

    def _pass_time(self, session: Session, host_ns: int) -> None:
        if self._server.options.is_host_timed and host_ns > self._host_ns:
            for timeline in session.timelines:
                timeline.pass_host_time((host_ns - self._host_ns) * 1e-9)
        self._host_ns = max(self._host_ns, host_ns)

    def _print(self) -> None:
        """What kernels printed since the last answer comes before this one."""
        text = self._printed.getvalue()
        if text:
            self._printed.seek(0)
            self._printed.truncate()
            self._act(Action.ACT_PRINT, text.encode("utf-8", "replace"))

    def _act(self, action: Action, payload: bytes) -> None:
        """Makes the program do something and waits until it did."""
        self._stream.sendall(ANSWER_HEADER.pack(0, len(payload), action, 0) + payload)
        while True:
            while (request := self._next()) is None:
                chunk = self._stream.recv(_CHUNK)
                if not chunk:
                    raise ConnectionError("the program has gone")
                self._received += chunk
            kind = request[0]
            if kind == Kind.DONE:
                return
            if not kind & NO_ANSWER:  # functions of the host may not call the runtime
                self._send(Status.NOT_PERMITTED, b"")

    def _send(self, status: Status, answer: bytes) -> None:
        self._stream.sendall(ANSWER_HEADER.pack(status, len(answer), Action.ANSWERED, 0) + answer)

    def _hello(self, payload: bytes) -> None:
        version, process, _ = words(payload, 3)
        server = self._server
        if version != PROTOCOL_VERSION:
            self._stream.sendall(ANSWER_HEADER.pack(Status.NOT_SUPPORTED, 0, Action.ANSWERED, 0))
            return
        session = Session.begin(server.devices, server.folder, server.options, self._act)
        session.program, session.process = payload[24:].decode("utf-8", "replace"), process
        self._session = session
        server.sessions.append(session)
        sm = server.devices[0].sm
        content = packed(
            ARENA_BASE,
            ARENA_BYTES,
            HOST_BASE,
            sm.max_threads_per_thread_block,
            *(2**31 - 1, 65535, 65535),
            *(1024, 1024, 64),
            sm.max_shared_bytes_per_thread_block,
            0,
        )
        head = ANSWER_HEADER.pack(Status.SUCCESS, len(content), Action.ANSWERED, 0)
        rights = array.array("i", [session.arena.file])
        self._stream.sendmsg([head], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
        self._stream.sendall(content)
