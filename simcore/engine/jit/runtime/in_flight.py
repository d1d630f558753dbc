"""Thread blocks in flight that wait for each other: each worker thread takes turns among its own.

One that only waits is put aside. When all that are in flight wait, on all threads, none can go on
before others begin: then, or after some time, a thread takes more of the grid.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TypeAlias

from kernelcast.simcore.engine.jit.runtime.cluster_worker import ClusterWorker
from kernelcast.simcore.engine.jit.runtime.pause import Pause
from kernelcast.simcore.engine.jit.runtime.worker import Worker

__all__ = ["Completion", "InFlightPiece", "Standstill", "Turns"]

_FIRST_WAIT_S, _LONGEST_WAIT_S = 1e-4, 0.02
_TAKE_MORE_AFTER_S = 0.01
_LOOK_CLOSELY_AFTER_S = 0.05

Completion: TypeAlias = bool
"""How a piece of the grid ended: False when the kernel failed."""


@dataclass(slots=True)
class InFlightPiece:
    """A piece of the grid that a worker has begun."""

    worker: Worker | ClusterWorker
    run: Generator[Pause, None, Completion]
    _seen: bytes = b""
    _seen_at: int = -1

    def stands_still(self, since: int) -> bool:
        """Whether nothing is different from the turn before.

        `since`: what moves on other threads is known by number; the same number, the same memory.
        """
        now = self.worker.waiting()
        is_same = (now, since) == (self._seen, self._seen_at)
        self._seen, self._seen_at = now, since
        return is_same


class Standstill:
    """Who waits on all threads.

    `moves` counts what happened, as far as it is known: a thread that began its turns after the
    last move and saw none waits for others.
    """

    def __init__(self, threads: int) -> None:
        self._condition = threading.Condition()
        self._running = set(range(threads))
        self._waits: dict[int, int] = {}
        self._still: dict[int, int] = {}
        self.moves = 0

    def move(self) -> None:
        """Notes that something happened, and wakes the threads that pause."""
        with self._condition:
            self.moves += 1
            self._condition.notify_all()

    def leave(self, thread: int) -> None:
        """The thread has nothing in flight and takes nothing any more."""
        with self._condition:
            self._running.discard(thread)
            self._condition.notify_all()

    def wait(self, thread: int, since: int, *, is_still: bool) -> None:
        """All thread blocks of a thread had a turn that began when `moves` was `since`."""
        with self._condition:
            self._waits[thread] = since
            if is_still:
                self._still[thread] = since

    def pause(self, seconds: float) -> None:
        """Waits until something moves, but not longer than `seconds`."""
        with self._condition:
            self._condition.wait(seconds)

    @property
    def all_wait(self) -> bool:
        """Whether no running thread saw anything move since the last move."""
        with self._condition:
            return all(self._waits.get(thread) == self.moves for thread in self._running)

    @property
    def is_final(self) -> bool:
        """Whether nothing at all changes any more."""
        with self._condition:
            return all(self._still.get(thread) == self.moves for thread in self._running)


class Turns:
    """What one thread has in flight, and whose turn it is.

    `begin` takes more of the grid, None when nothing is left; `is_over` tells that the launch ends
    early; `may_stand_still`: whether thread blocks that are as they were stay so; `give_up` is
    called for one when nothing can ever change.
    """

    def __init__(
        self,
        thread: int,
        standstill: Standstill,
        begin: Callable[[], InFlightPiece | None],
        end: Callable[[InFlightPiece], None],
        is_over: Callable[[], bool],
        give_up: Callable[[InFlightPiece], None],
        *,
        may_stand_still: bool,
    ) -> None:
        self._thread = thread
        self._standstill = standstill
        self._begin = begin
        self._end = end
        self._is_over = is_over
        self._give_up = give_up
        self._may_stand_still = may_stand_still
        self._in_flight: list[InFlightPiece] = []
        self._waits_since = time.monotonic()
        self._pause_s = _FIRST_WAIT_S

    def run(self) -> None:
        """Takes turns until nothing is left, or the launch ends early."""
        while not self._is_over():
            if not self._in_flight and not self._begin_more():
                break
            since, before = self._standstill.moves, len(self._in_flight)
            pauses = self._round()
            if pauses is None:
                break
            if len(pauses) < before or any(pause.moved for pause in pauses):
                self._standstill.move()
                self._waits_since, self._pause_s = time.monotonic(), _FIRST_WAIT_S
            else:
                self._wait(since)
        self._standstill.leave(self._thread)

    def _round(self) -> list[Pause] | None:
        """A turn for each; None when the kernel failed. What is done makes no pause."""
        pauses: list[Pause] = []
        for piece in tuple(self._in_flight):
            try:
                pauses.append(next(piece.run))
            except StopIteration as stop:
                if not stop.value:
                    return None
                self._in_flight.remove(piece)
                self._end(piece)
        return pauses

    def _begin_more(self) -> bool:
        """Doubles the thread blocks in flight; whether any was left to begin.

        A barrier of the whole grid needs all of them, and every round of turns makes those that
        wait spin.
        """
        before = len(self._in_flight)
        for _ in range(max(1, before)):
            piece = self._begin()
            if piece is None:
                break
            self._in_flight.append(piece)
            self._waits_since = time.monotonic()
        return len(self._in_flight) > before

    def _wait(self, since: int) -> None:
        """All that is in flight here waits, in turns that began when `moves` was `since`."""
        waited = time.monotonic() - self._waits_since
        is_still = False
        if self._may_stand_still and waited > _LOOK_CLOSELY_AFTER_S:
            same = [piece.stands_still(since) for piece in self._in_flight]  # looks at every one
            is_still = all(same)
        self._standstill.wait(self._thread, since, is_still=is_still)
        if (self._standstill.all_wait or waited > _TAKE_MORE_AFTER_S) and self._begin_more():
            return
        if self._standstill.is_final:
            self._give_up(self._in_flight[0])
            return
        self._standstill.pause(self._pause_s)
        self._pause_s = min(2 * self._pause_s, _LONGEST_WAIT_S)
