"""One launch on all workers: pieces of the grid, limits, faults, and what was counted."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from kernelcast.errors import LimitExceeded
from kernelcast.simcore.engine.jit.codegen.launch_facts import LaunchFacts
from kernelcast.simcore.engine.jit.recording.delivery import Delivery
from kernelcast.simcore.engine.jit.recording.tally import ClassTally
from kernelcast.simcore.engine.jit.runtime.bulk_copy_calls import reduces_in_buffers
from kernelcast.simcore.engine.jit.runtime.cluster_place import ClusterPlace
from kernelcast.simcore.engine.jit.runtime.cluster_worker import ClusterWorker
from kernelcast.simcore.engine.jit.runtime.in_flight import (
    Completion,
    InFlightPiece,
    Standstill,
    Turns,
)
from kernelcast.simcore.engine.jit.runtime.pause import Pause
from kernelcast.simcore.engine.jit.runtime.stack_threads import Errand, start_threads
from kernelcast.simcore.engine.jit.runtime.task import Task
from kernelcast.simcore.engine.jit.runtime.tensor_memory_calls import uses_tensor_memory
from kernelcast.simcore.engine.jit.runtime.trace_assembly import Counted
from kernelcast.simcore.engine.jit.runtime.worker import Worker
from kernelcast.simcore.engine.jit.runtime.worker_fault import WorkerFault
from kernelcast.simcore.engine.reference.clusters import neighbours
from kernelcast.simcore.host.deadline import deadline_in
from kernelcast.simcore.host.limits import check_warps
from kernelcast.simcore.host.processors import processors as _processors
from kernelcast.simcore.isa.analysis.spin_loops import reads_clock
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.traces.stream import AccessSink, GridPart

__all__ = ["Job"]

# Thread blocks are dealt in pieces: enough for balance, few enough that Python costs nothing.
_PIECES_PER_WORKER = 16
_MOST_PIECE_BYTES = 1 << 24
_PIECE_ACCESSES = 1 << 18
"""A piece makes about so many: what waits between workers and sinks stays small."""
_MOST_WORKERS = 4096
_POLL_S = 0.05
_NO_ROOM_S = 0.001


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of the grid, how many pieces there were before it, and how many thread blocks."""

    number: int
    part: GridPart
    place: int


class CompiledLoop(Protocol):
    """The compiled loop over thread blocks.

    `entry` is the function; `improve`, told how long the run lasts, may replace it by faster code.
    """

    @property
    def entry(self) -> Any: ...

    @property
    def stack_bytes(self) -> int: ...

    def improve(self, run_s: float) -> None: ...


class Job:
    """The thread blocks of `parts`, by default of the whole grid; `run` once."""

    def __init__(
        self,
        task: Task,
        sinks: Sequence[AccessSink],
        parts: Sequence[GridPart] | None = None,
    ) -> None:
        kernel, launch, facts, source = task.kernel, task.launch, task.facts, task.source
        whole = GridPart(0, launch.thread_blocks)
        self._parts = deque(_placed([whole] if parts is None else parts))
        self._all = sum(part.end - part.first for _, part in self._parts)
        self._limits = task.limits
        self._deadline = deadline_in(task.limits.seconds)
        self._layout = layout = source.layout
        check_warps(self._all * layout.clocks)
        self._tally = ClassTally(self._all, layout.counters)
        self._times = np.zeros((self._all, layout.clocks), np.int32)
        self._together = neighbours(launch.grid, facts.cluster or (1, 1, 1))
        threads = _threads(kernel, facts, -(-self._all // self._together))
        if task.watcher is not None:
            threads = 1
        self._kernel = kernel
        self._source = source

        def new_member(place: ClusterPlace | None, log: Any) -> Worker:
            return Worker(task, bool(sinks) or task.watcher is not None, place, log)

        def new_worker() -> Worker | ClusterWorker:
            if facts.cluster is None:
                return new_member(None, None)
            return ClusterWorker(task, new_member)

        self._new_worker = new_worker
        self._workers = [new_worker() for _ in range(threads)]
        self._idle = list(self._workers)
        self._standstill = Standstill(threads)
        self._delivery = Delivery(sinks, _processors())
        most = max(1, _MOST_PIECE_BYTES // (8 * (layout.counters + layout.clocks)))
        self._most = min(most, -(-self._all // (threads * _PIECES_PER_WORKER)))
        self._piece = 1 if sinks else self._most
        self._pieces = 0
        self._done = 0
        self._lock = threading.Lock()
        self._faults: list[WorkerFault] = []
        self._broken: BaseException | None = None
        self._stopped = False

    def run(self, code: CompiledLoop, progress: Callable[[float], None] | None) -> None:
        """Runs all thread blocks; ExecutionError when the kernel fails."""
        self._code = code
        work = [partial(self._work, n) for n in range(len(self._idle))]
        threads: list[Errand] = []
        try:
            start_threads(work, code.stack_bytes, threads)
            self._watch(threads, progress)
        except BaseException:
            self._stop()
            for thread in threads:
                thread.join()
            raise
        finally:
            self._delivery.stop()
        if self._broken is not None:
            raise self._broken
        if self._faults:
            first = min(self._faults, key=lambda fault: fault.thread_block)
            raise first.error(self._limits, self._deadline if self._timed_out() else None)
        if self._done < self._all and self._delivery.problem is None:
            # stopped between pieces: no thread block was in a loop
            assert self._deadline is not None
            raise self._deadline.error("running")
        self._delivery.finish()

    def counted(self) -> Counted:
        """The counts of all thread blocks of the parts, in their order."""
        return Counted(
            *self._tally.classes(),
            self._times,
            [worker.totals for worker in self._workers],
            all(worker.pairs_agree for worker in self._workers),
        )

    def _watch(self, threads: list[Errand], progress: Callable[[float], None] | None) -> None:
        """Waits so that Ctrl-C and the time limit come through."""
        began, worked = time.monotonic(), time.process_time()
        for thread in threads:
            while thread.is_alive():
                thread.join(self._patience())
                if progress is not None:
                    progress(self._done / self._all)
                if self._timed_out():
                    self._stop()
                # a run that waits for a processor is not long, and compiling would wait as well
                self._code.improve(min(time.monotonic() - began, time.process_time() - worked))

    def _patience(self) -> float:
        """Seconds to wait before the next look at the clock."""
        if self._deadline is None:
            return _POLL_S
        return min(_POLL_S, max(1e-3, self._deadline.remaining_s))

    def _timed_out(self) -> bool:
        return self._deadline is not None and self._deadline.has_passed

    def _stop(self) -> None:
        with self._lock:
            self._stopped = True
            self._parts.clear()
            for worker in self._workers:
                worker.stop()

    def _take(self) -> _Piece | None:
        while not self._delivery.has_room and self._parts:
            time.sleep(_NO_ROOM_S)
        with self._lock:
            if self._is_over() or not self._parts:
                return None
            place, part = self._parts.popleft()
            most = self._most if part.is_silent else self._piece
            size = -(-most // self._together) * self._together
            end = min(part.end, part.first + size)
            if end < part.end:
                rest = part._replace(first=end)
                self._parts.appendleft((place + end - part.first, rest))
            self._pieces += 1
            return _Piece(self._pieces - 1, part._replace(end=end), place)

    def _is_over(self) -> bool:
        """Whether the launch has failed."""
        return bool(self._faults or self._broken or self._delivery.problem)

    def _work(self, thread: int) -> None:
        try:
            Turns(
                thread,
                self._standstill,
                self._begin,
                self._complete,
                self._is_over,
                self._give_up,
                may_stand_still=not reads_clock(self._kernel),
            ).run()
        except BaseException as problem:  # carried to the thread that waits
            self._broken = problem

    def _begin(self) -> InFlightPiece | None:
        with self._lock:
            if not self._idle and len(self._workers) >= _MOST_WORKERS:
                return None
        piece = self._take()
        if piece is None:
            return None
        with self._lock:
            if not self._idle:
                self._workers.append(self._new_worker())
                self._idle.append(self._workers[-1])
            worker = self._idle.pop()
            if self._stopped:
                worker.stop()
        return InFlightPiece(worker, self._run_piece(worker, piece))

    def _complete(self, piece: InFlightPiece) -> None:
        with self._lock:
            self._idle.append(piece.worker)

    def _give_up(self, piece: InFlightPiece) -> None:
        """The thread blocks that wait will do so for ever."""
        block = self._kernel.blocks[piece.worker.spinning_block()]
        first = (block.body or (block.terminator,))[0]
        raise LimitExceeded(
            "endless loop: nothing changes from one round to the next",
            first.span,
            origin=first.origin,
        )

    def _give_back(self, place: int, part: GridPart) -> None:
        with self._lock:
            if not self._stopped:
                self._parts.appendleft((place, part))

    def _run_piece(
        self, worker: Worker | ClusterWorker, piece: _Piece
    ) -> Generator[Pause, None, Completion]:
        """Pauses where a thread block waits for others; all behind it are given back then."""
        first, end = piece.part.first, piece.part.end
        worker.record_at(piece.part)
        counts = np.empty((end - first, self._layout.counters), np.int64)
        times = np.empty((end - first, self._layout.clocks), np.int64)
        repeats = np.empty(end - first, np.uint8)

        def give_back(rest: int) -> None:
            nonlocal end
            self._give_back(piece.place + rest - first, piece.part._replace(first=rest, end=end))
            end = rest

        rows = counts, times, repeats
        fault = yield from worker.run(self._code.entry, first, end, *rows, give_back)
        if fault is not None:
            self._faults.append(fault)
            return False
        place = piece.place
        self._tally.add(place, counts[: end - first], repeats[: end - first])
        self._times[place : place + end - first] = times[: end - first]
        accesses = 0
        if worker.log is not None:
            batch = worker.log.batch(first, end, times[: end - first].reshape(-1))
            accesses = len(batch.accesses) + len(batch.pattern_counts)
            self._delivery.put(piece.number, batch)
        with self._lock:
            self._done += end - first
            if not piece.part.is_silent:
                self._piece = self._next_piece(accesses / (end - first))
        return True

    def _next_piece(self, accesses: float) -> int:
        """The length of the next piece of the grid, by the accesses that a thread block makes."""
        return max(1, min(self._most, int(_PIECE_ACCESSES / max(accesses, 1e-9))))


def _placed(parts: Sequence[GridPart]) -> Iterator[tuple[int, GridPart]]:
    """The parts that are not empty, with how many thread blocks come before each."""
    place = 0
    for part in parts:
        if part.end > part.first:
            yield place, part
            place += part.end - part.first


def _threads(kernel: Kernel, facts: LaunchFacts, most: int) -> int:
    """How many threads run thread blocks.

    One where a copy reduces in global memory in several steps, and for clusters and tensor memory,
    whose turns are taken in Python.
    """
    if facts.cluster_size > 1 or reduces_in_buffers(kernel) or uses_tensor_memory(kernel):
        return 1
    return min(_processors(), most)
