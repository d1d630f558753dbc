"""A process for each request, with limits of time, memory, files and answer.

Processes are forked from one that has imported everything and does nothing else, so that they are
there at once, know nothing of each other, and leave nothing behind.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import resource
import signal
import tempfile
from dataclasses import dataclass
from typing import Any

__all__ = ["Isolation"]

_MIB = 1 << 20
_PRELOADED = (
    "kernelcast.explorer.answering",
    "kernelcast.ptx_frontend.llvm.lowering.module",
    "kernelcast.ptx_frontend.sass.lowering.module",
    "kernelcast.ptx_frontend.spirv.translation",
    "kernelcast.ranking.launches",
    "kernelcast.simcore.engine",
    "kernelcast.simcore.engine.jit.recording.access_log",
    "kernelcast.simcore.engine.jit.runtime.run",
    "kernelcast.simcore.memory.simulated_memory",
    "kernelcast.simcore.profile.profiler",
    "kernelcast.simcore.timing.kernel.from_trace",
    "kernelcast.simcore.timing.launch.launch_timing",
    "elftools.elf.elffile",
    "numpy.random",
)
"""What answers need, which would take longer to import than to use."""


@dataclass(frozen=True, slots=True)
class Isolation:
    """Limits of a request: seconds in all, bytes of memory, and bytes of the answer."""

    seconds: float = 30.0
    memory_bytes: int = 6144 * _MIB
    answer_bytes: int = 4 * _MIB
    is_trusted: bool = False

    def begin(self) -> None:
        """Starts the process that others are forked from."""
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(list(_PRELOADED))
        self.answer({"language": "addresses", "source": "a[x] = b[x]; domain = 64", "devices": []})

    def answer(self, question: Any) -> dict[str, Any]:
        """What a process of its own answers; an `error` where it did not, with the reason."""
        # The process may be killed: who waits for it removes what it wrote.
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            return self._answer(question, folder)

    def _answer(self, question: Any, folder: str) -> dict[str, Any]:
        context = multiprocessing.get_context("forkserver")
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_work, args=(theirs, question, folder, self), daemon=True)
        process.start()
        theirs.close()
        try:
            if not ours.poll(self.seconds):
                return {
                    "error": f"no answer in {self.seconds:g} s: a smaller launch, or fewer GPUs"
                }
            found: dict[str, Any] = json.loads(ours.recv_bytes(self.answer_bytes))
            return found
        except (EOFError, OSError):
            return {"error": "the process ended: it needed more than it may have, or crashed"}
        finally:
            ours.close()
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid or 0, signal.SIGKILL)
            process.kill()
            process.join()
            process.close()


def _work(pipe: Any, question: Any, folder: str, limits: Isolation) -> None:
    """The life of a request's process, whose temporary files lie in `folder`."""
    os.setsid()  # what it starts, clang say, ends with it
    tempfile.tempdir = os.environ["TMPDIR"] = folder
    _limit(limits)
    silent = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silent, stream)
    from kernelcast.explorer.answering import answered

    try:
        found = answered(question, is_trusted=limits.is_trusted)
    except Exception as error:  # a defect of ours must not look like one of the kernel's
        found = {"error": f"kernelcast failed: {type(error).__name__}"}
    content = json.dumps(found).encode()
    if len(content) >= limits.answer_bytes:
        content = b'{"error": "the answer is too long: a shorter kernel"}'
    pipe.send_bytes(content)
    os._exit(0)


def _limit(limits: Isolation) -> None:
    for what, most in (
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_CPU, int(2 * limits.seconds) + 1),
        (resource.RLIMIT_FSIZE, 256 * _MIB),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(what, (most, most))
