"""Threads with stacks for compiled code, kept from launch to launch."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue

import numpy as np
import numpy.typing as npt

from kernelcast.errors import ExecutionError

__all__ = [
    "Errand",
    "aligned",
    "end_idle_threads",
    "first_rows",
    "is_pooled",
    "start_threads",
]

_OWN_BYTES = 1 << 23
"""Bytes for small frames, and for Python that compiled code calls: what Linux gives to a thread."""
_MOST_BYTES = 1 << 30
_MOST_KEPT_BYTES = 1 << 26
"""Threads with larger stacks end with their work."""
_UNIT_BYTES = 1 << 16
_NAME = "kernelcast worker"
_LOCK = threading.Lock()


class Errand:
    """Work that a thread of the pool does."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._runs = threading.Lock()
        self._runs.acquire()

    def do(self) -> None:
        """Does the work, on the thread that calls."""
        try:
            self._work()
        finally:
            del self._work

    def end(self) -> None:
        """Lets those go on that wait for the work."""
        self._runs.release()

    def join(self, timeout: float = -1) -> None:
        """Waits for the end of the work, at most `timeout` seconds where that is not negative."""
        if self._runs.acquire(timeout=timeout):
            self._runs.release()

    def is_alive(self) -> bool:
        """Whether the work has not ended."""
        return self._runs.locked()


class _Thread:
    """A thread that does one errand after the other."""

    def __init__(self, stack_bytes: int) -> None:
        self.stack_bytes = stack_bytes
        self._errands: SimpleQueue[Errand | None] = SimpleQueue()

    def start(self) -> None:
        """Raises RuntimeError where the process can have no such thread."""
        # daemons: they wait for more to do when the program ends
        thread = threading.Thread(target=self._serve, name=_NAME, daemon=True)
        with _LOCK:  # the size is the same for all threads of the process
            before = threading.stack_size(self.stack_bytes)
            try:
                thread.start()
            finally:
                threading.stack_size(before)

    def give(self, errand: Errand | None) -> None:
        """Lets it do an errand; None ends it."""
        self._errands.put(errand)

    def _serve(self) -> None:
        is_kept = True
        while is_kept and (errand := self._errands.get()) is not None:
            try:
                errand.do()
                is_kept = _POOL.take_back(self)
            finally:
                errand.end()
            del errand  # with all that it refers to


class _Pool:
    """Threads that wait for work."""

    def __init__(self) -> None:
        self._idle: list[_Thread] = []
        self._lock = threading.Lock()

    def thread(self, stack_bytes: int) -> _Thread:
        """A thread with at least such a stack, a new one where none waits."""
        with self._lock:
            for number in reversed(range(len(self._idle))):
                if self._idle[number].stack_bytes >= stack_bytes:
                    return self._idle.pop(number)
        made = _Thread(stack_bytes)
        made.start()
        return made

    def take_back(self, thread: _Thread) -> bool:
        """Whether the thread is to wait for more work."""
        if thread.stack_bytes > _MOST_KEPT_BYTES:
            return False
        with self._lock:
            self._idle.append(thread)
        return True

    def end_idle(self) -> None:
        """Ends the threads that wait."""
        with self._lock:
            idle, self._idle = self._idle, []
        for thread in idle:
            thread.give(None)

    def forget(self) -> None:
        """Begins anew in a child process, which has no thread but its own."""
        self._idle, self._lock = [], threading.Lock()


_POOL = _Pool()
end_idle_threads = _POOL.end_idle
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_POOL.forget)


def is_pooled(thread: threading.Thread) -> bool:
    """Whether a thread belongs to the pool, which keeps it for later launches."""
    return thread.name == _NAME


def start_threads(
    work: Sequence[Callable[[], None]], frame_bytes: int, started: list[Errand]
) -> None:
    """A thread of the pool for each, added to `started`. `frame_bytes`: of compiled code's stack.

    ExecutionError where a stack would be too large for this process.
    """
    size = -(-(_OWN_BYTES + frame_bytes) // _UNIT_BYTES) * _UNIT_BYTES
    problem = f"a warp of this kernel takes {frame_bytes:,} bytes of stack as compiled code"
    if size > _MOST_BYTES:
        raise ExecutionError(
            f"{problem}, more than {_MOST_BYTES - _OWN_BYTES:,}: try --engine reference"
        )
    for task in work:
        try:
            thread = _POOL.thread(size)
        except RuntimeError:
            raise ExecutionError(f"{problem}, more than this process can have") from None
        errand = Errand(task)
        started.append(errand)
        thread.give(errand)


Ints = npt.NDArray[np.int64]


def aligned(size: int) -> npt.NDArray[np.uint8]:
    """A zeroed array on a cache line, of at least 64 bytes."""
    raw = np.zeros(size + 128, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + max(64, -(-size // 64) * 64)]


def first_rows(table: Ints, slots: int) -> Ints:
    """The host address of the first row of a table, for each access that looks one up."""
    return np.full(slots, table.ctypes.data, np.int64)
