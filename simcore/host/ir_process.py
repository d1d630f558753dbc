"""Reads LLVM IR in a process of its own: damaged bitcode may take LLVM, and its process, down.

The process starts with the first module and serves all others.
Messages are a byte that says what follows, eight bytes of length and the contents.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import IO

from kernelcast.errors import InputError, IrSyntaxError, SourceSpan
from kernelcast.simcore.host.deadline import check_time, deadline_in

__all__ = ["canonical_ir", "serve"]

_SECONDS = 10
_BYTES_PER_SECOND = 100_000
"""A module is given up after so long; LLVM reads a hundred times as fast."""
_PATIENCE = 3
"""How much longer it may take where other programs run."""
_MEMORY_BYTES = 1 << 30
_MEMORY_OF_A_BYTE = 1000
"""What the other process gets, and more for every byte of a module; a sound one takes a tenth, a
damaged one may ask for any amount."""
_LENGTH_BYTES = 8
_TEXT, _BITCODE, _PRINTED, _REFUSED = b"T", b"B", b"P", b"R"
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    "from kernelcast.simcore.host.ir_process import serve; serve()"
)

_PLACE = re.compile(r"<string>:(\d+):(\d+): error: (.*)")

_process: subprocess.Popen[bytes] | None = None
_owner = 0
"""Who started it: a copy of this process has to start one of its own."""
_lock = threading.Lock()


def canonical_ir(content: bytes, is_text: bool, path: str) -> str:
    """A module of any supported version as text of this version of LLVM.

    IrSyntaxError, with LLVM's own message, for what it does not take or does not survive.
    """
    with _lock:
        process = _running()
        seconds = _SECONDS + len(content) // _BYTES_PER_SECOND
        deadline = deadline_in(_PATIENCE * seconds)
        assert deadline is not None
        timer = threading.Timer(deadline.remaining_s, process.kill)
        timer.start()
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            _write(process.stdin, _TEXT if is_text else _BITCODE, content)
            kind, answer = _read(process.stdout)
        except (OSError, EOFError):
            _end()
            check_time(f"reading {path}")
            raise IrSyntaxError(f"not LLVM IR: {path}: LLVM stopped while it read it") from None
        finally:
            timer.cancel()
    text = answer.decode("utf-8", "surrogateescape")
    if kind == _REFUSED:
        raise _refusal(text, content, path)
    return text


def _refusal(message: str, content: bytes, path: str) -> IrSyntaxError:
    """LLVM's message; that about a text begins with the place."""
    match = _PLACE.search(message)
    lines = content.decode("utf-8", "replace").split("\n")
    if match is None or int(match[1]) > len(lines):
        return IrSyntaxError(f"not LLVM IR: {path}: {message}")
    line, column = int(match[1]), max(1, int(match[2]))
    span = SourceSpan(path, line, column, 1, lines[line - 1].rstrip("\r"))
    return IrSyntaxError(f"not LLVM IR: {match[3]}", span)


def serve() -> None:
    """The other process: answers on its standard output until its input ends.

    Where the system can, it makes a copy of itself for each module, so that it need not start anew
    when that one dies.
    """
    from kernelcast.simcore.host.llvm import printed_module  # the process that asks needs no LLVM

    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            kind, content = _read(source)
        except EOFError:
            return
        if sys.platform == "win32":
            _write(sink, *_answer(kind, content, printed_module))
            continue
        worker = os.fork()
        if not worker:
            _limit(len(content))
            _write(sink, *_answer(kind, content, printed_module))
            os._exit(0)
        _, status = os.waitpid(worker, 0)
        if status:
            _write(sink, _REFUSED, b"LLVM stopped while it read it")


def _answer(
    kind: bytes, content: bytes, printed: Callable[[bytes, bool], str]
) -> tuple[bytes, bytes]:
    try:
        answer = printed(content, kind == _TEXT)
    except RuntimeError as error:
        first = str(error).strip().replace("LLVM IR parsing error\n", "").split("\n")[0]
        return _REFUSED, " ".join(first.split()).encode("utf-8", "surrogateescape")
    return _PRINTED, answer.encode("utf-8", "surrogateescape")


def _limit(content_bytes: int) -> None:
    """Time and memory of this process."""
    if sys.platform != "win32":
        import resource

        seconds = _SECONDS + content_bytes // _BYTES_PER_SECOND
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        memory = _MEMORY_BYTES + _MEMORY_OF_A_BYTE * content_bytes
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        if hard != resource.RLIM_INFINITY:
            memory = min(memory, hard)
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _running() -> subprocess.Popen[bytes]:
    global _owner, _process
    if _process is None or _owner != os.getpid() or _process.poll() is not None:
        _end()
        command = [sys.executable, "-c", _START, json.dumps(sys.path)]
        try:
            _process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise InputError(f"no process to read LLVM IR in: {error.strerror}") from None
        _owner = os.getpid()
    return _process


@atexit.register
def _end() -> None:
    """Ends the process, if there is one."""
    global _process
    process, _process = _process, None
    if process is not None and _owner == os.getpid():
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    continue


def _write(stream: IO[bytes], kind: bytes, content: bytes) -> None:
    stream.write(kind + len(content).to_bytes(_LENGTH_BYTES, "little") + content)
    stream.flush()


def _read(stream: IO[bytes]) -> tuple[bytes, bytes]:
    header = stream.read(1 + _LENGTH_BYTES)
    if len(header) < 1 + _LENGTH_BYTES:
        raise EOFError
    content = stream.read(int.from_bytes(header[1:], "little"))
    return header[:1], content
