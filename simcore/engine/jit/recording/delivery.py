"""Batches of access rows on their way from the workers to the sinks."""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence

from kernelcast.traces.stream import AccessBatch, AccessSink

__all__ = ["Delivery"]

_MOST_BATCHES_WAITING = 4


class Delivery:
    """Gives every sink all batches in the order of their numbers, in a thread of its own.

    `at_once` sinks take a batch at the same time: what each knows fills megabytes of the host's
    caches, so that more of them than there are processors would push each other out.
    Workers ask `has_room` before they begin another piece, so that slow sinks hold them up and
    never a piece that others wait for.
    """

    def __init__(self, sinks: Sequence[AccessSink], at_once: int) -> None:
        self._queues: list[queue.SimpleQueue[AccessBatch | None]] = [
            queue.SimpleQueue() for _ in sinks
        ]
        self._threads = [
            threading.Thread(target=self._serve, args=pair, daemon=True)
            for pair in zip(sinks, self._queues, strict=True)
        ]
        self._turns = threading.Semaphore(at_once)
        self._lock = threading.Lock()
        self._early: dict[int, AccessBatch] = {}
        self._next = 0
        self.problem: BaseException | None = None
        for thread in self._threads:
            thread.start()

    @property
    def has_room(self) -> bool:
        """Whether the sinks keep up, or a sink failed and takes nothing more."""
        waiting = max((waiting.qsize() for waiting in self._queues), default=0)
        return waiting < _MOST_BATCHES_WAITING or self.problem is not None

    def put(self, number: int, batch: AccessBatch) -> None:
        """Batches are numbered from 0 on; one that comes early waits."""
        with self._lock:
            self._early[number] = batch
            while self._next in self._early:
                ready = self._early.pop(self._next)
                self._next += 1
                for waiting in self._queues:
                    waiting.put(ready)

    def finish(self) -> None:
        """Returns when the sinks have taken everything; raises what went wrong in one of them."""
        self.stop()
        for thread in self._threads:
            thread.join()
        if self.problem is not None:
            raise self.problem

    def stop(self) -> None:
        """The sinks get nothing any more but what waits already."""
        for waiting in self._queues:
            waiting.put(None)

    def _serve(self, sink: AccessSink, waiting: queue.SimpleQueue[AccessBatch | None]) -> None:
        while (batch := waiting.get()) is not None:
            if self.problem is not None:
                continue
            try:
                with self._turns:
                    sink.accept(batch)
            except BaseException as problem:  # carried to the thread that waits
                self.problem = problem
