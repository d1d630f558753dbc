"""Interrupts and time limits of compiled code that runs on the thread that launched it.

Python handles signals on the main thread only, and not while that runs compiled code. Another
thread lowers the instruction limit of what runs for long; the warp that meets it then calls back.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable, Generator

from kernelcast.simcore.host.deadline import Deadline

__all__ = ["Lookout"]

_PERIOD_S = 0.05
_QUIET_S = 1.0
"""How long the thread that watches looks on without a run before it waits for one."""
_Entry = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)


class Lookout:
    """What lets one worker look up now and then while it runs compiled code.

    `lower` makes the next warp at a loop ask, `restore` undoes that; `most` are the instructions
    that a warp may issue.
    """

    def __init__(self, lower: Callable[[], None], restore: Callable[[], None], most: int) -> None:
        self._lower = lower
        self._restore = restore
        self._most = most
        self._answers = self._answer()
        next(self._answers)
        self.entry = _Entry(self._answers.send)
        """Takes the instructions that a warp has issued and says whether it goes on."""
        self._deadline: Deadline | None = None
        self._since = 0.0
        self._is_stopped = False
        self.problem: BaseException | None = None
        """What was raised while compiled code ran."""

    def begin(self, deadline: Deadline | None) -> None:
        """Compiled code runs from now on."""
        self._deadline, self._since = deadline, time.monotonic()
        self._is_stopped = False
        _WATCH.add(self)

    def end(self) -> None:
        """No compiled code runs."""
        _WATCH.remove(self)

    def stop(self) -> None:
        """Ends every warp at its next loop."""
        self._is_stopped = True
        self._lower()

    def interrupt(self, now: float) -> None:
        """Makes the worker look up if it has run for long."""
        if now - self._since > _PERIOD_S:
            self._lower()

    def _answer(self) -> Generator[int, int, None]:
        """Answers to warps. A generator handles signals where it goes on: where they are caught."""
        answer = 0
        while True:
            try:
                while True:
                    issued = yield answer
                    answer = int(self._goes_on(issued))
            except GeneratorExit:
                raise
            except BaseException as problem:  # compiled code cannot pass it on
                self.problem, answer = problem, 0

    def _goes_on(self, issued: int) -> bool:
        if self._is_stopped or (self._deadline is not None and self._deadline.has_passed):
            return False
        self._restore()
        return issued <= self._most


class _Watch:
    """The thread that interrupts what runs for long; it is started by the first run."""

    def __init__(self) -> None:
        self.begin_anew()

    def begin_anew(self) -> None:
        """Forgets everything, as in a child process, which has no thread but its own."""
        self._running: set[Lookout] = set()
        self._is_asleep = True
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def add(self, lookout: Lookout) -> None:
        """Notes who runs compiled code."""
        self._running.add(lookout)
        if self._is_asleep:
            self._start()

    def remove(self, lookout: Lookout) -> None:
        """Notes that it does so no longer."""
        self._running.discard(lookout)

    def _start(self) -> None:
        with self._lock:
            self._is_asleep = False
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._watch, name="kernelcast watch", daemon=True
                )
                self._thread.start()
            self._wake.set()

    def _watch(self) -> None:
        busy = time.monotonic()
        while True:
            time.sleep(_PERIOD_S)
            now = time.monotonic()
            running = tuple(self._running)
            for lookout in running:
                lookout.interrupt(now)
            if running:
                busy = now
            elif now - busy > _QUIET_S:
                self._rest()
                busy = time.monotonic()

    def _rest(self) -> None:
        self._wake.clear()
        self._is_asleep = True
        if not self._running:  # who came just now may not have seen it
            self._wake.wait()
        self._is_asleep = False


_WATCH = _Watch()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_WATCH.begin_anew)
