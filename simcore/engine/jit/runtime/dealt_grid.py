"""Thread blocks of a launch, dealt in pieces to workers of several threads."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np

from kernelcast.simcore.engine.jit.runtime.lookout import Lookout
from kernelcast.simcore.engine.jit.runtime.task import Task
from kernelcast.simcore.engine.jit.runtime.worker import Worker
from kernelcast.simcore.engine.jit.runtime.worker_fault import WorkerFault

__all__ = ["DealtGrid", "Hand"]

_MOST_COUNTED_BYTES = 1 << 18
"""What the counters of the thread blocks of one piece take."""
_SHORT_S, _LONG_S = 1e-4, 2e-3
"""Pieces that take less or more time make the next ones longer or shorter."""

_PIECES_AT_THE_END = 4


class Hand:
    """A worker with room for the counters of a piece, which nobody reads.

    One that runs on the thread that launches has a lookout.
    """

    def __init__(self, task: Task, *, looks_up: bool) -> None:
        layout = task.source.layout
        self.worker = Worker(task, record_memory=False)
        self.lookout: Lookout | None = self.worker.new_lookout() if looks_up else None
        row_bytes = 8 * (layout.counters + layout.clocks)
        most = max(1, _MOST_COUNTED_BYTES // row_bytes)
        self.rows = min(task.launch.thread_blocks, most)
        self._counts = np.empty((self.rows, layout.counters), np.int64)
        self._times = np.empty((self.rows, layout.clocks), np.int64)
        self._repeats = np.empty(self.rows, np.uint8)

    def run(self, entry: Any, first: int, end: int) -> WorkerFault | None:
        """Thread blocks [first, end), `rows` of them at most; raises what its lookout met."""
        fault = self.worker.run_whole(entry, first, end, self._counts, self._times, self._repeats)
        if self.lookout is not None and self.lookout.problem is not None:
            raise self.lookout.problem
        return fault

    def stop(self) -> None:
        """Ends every warp at its next loop."""
        if self.lookout is None:
            self.worker.stop()
        else:
            self.lookout.stop()


class DealtGrid:
    """What is left of the grid of one run.

    `size`: thread blocks of the first piece; it becomes what a worker does in about a millisecond.
    """

    def __init__(self, thread_blocks: int, size: int) -> None:
        self.size = size
        self.faults: list[WorkerFault] = []
        self.broken: BaseException | None = None
        self._next = 0
        self._end = thread_blocks
        self._lock = threading.Lock()
        self.is_shared = False
        """Whether several threads work on it."""
        self.is_cut = False
        """Whether thread blocks were left out."""

    @property
    def left(self) -> int:
        """Thread blocks that nobody has begun."""
        return self._end - self._next

    def stop(self) -> None:
        """Deals nothing any more."""
        with self._lock:
            self.is_cut |= self._next < self._end
            self._end = self._next

    def work(self, hand: Hand, entry: Any) -> bool:
        """Runs a piece; False when none is left."""
        with self._lock:
            first = self._next
            size = min(self.size, hand.rows)
            if self.is_shared:  # so that all end at about the same time
                size = min(size, max(1, self.left // _PIECES_AT_THE_END))
            end = min(self._end, first + size)
            if first == end or self.faults or self.broken:
                return False
            self._next = end
        began = time.monotonic()
        fault = hand.run(entry, first, end)
        if fault is not None:
            self.faults.append(fault)
            return False
        self._adapt(time.monotonic() - began, end - first)
        return True

    def _adapt(self, seconds: float, done: int) -> None:
        if seconds > _LONG_S:
            self.size = max(1, done // 2)
        elif seconds < _SHORT_S and done >= self.size:
            self.size = 2 * done
