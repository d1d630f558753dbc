"""Runs a kernel as native code: threads over thread blocks, faults, limits, and the trace."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from kernelcast.simcore.engine.jit.analysis import may_spin
from kernelcast.simcore.engine.jit.launch_facts import LaunchFacts, launch_facts
from kernelcast.simcore.engine.jit.program import SourceProgram, generate
from kernelcast.simcore.engine.jit.trace_assembly import Counted, assemble
from kernelcast.simcore.engine.jit.worker import Worker, WorkerFault
from kernelcast.simcore.isa.kernel import Kernel
from kernelcast.simcore.launch import Launch, Limits
from kernelcast.simcore.llvm import NativeModule, compile_module
from kernelcast.simcore.memory_spaces import LaunchMemory
from kernelcast.simcore.resources import shared_bytes
from kernelcast.traces.trace import Trace

__all__ = ["can_run", "run"]

# Thread blocks are dealt in pieces: enough for balance, few enough that Python costs nothing.
_PIECES_PER_WORKER = 16
_MAX_PIECE_BYTES = 1 << 24
_POLL_S = 0.05

_Entry = ctypes.CFUNCTYPE(
    ctypes.c_int64,
    ctypes.c_void_p,
    ctypes.c_int64,
    ctypes.c_int64,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_void_p,
)


def can_run(kernel: Kernel) -> bool:
    """False for what only the reference engine does: lanes that wait for each other in loops, and
    barriers that threads may go round."""
    from kernelcast.simcore.engine.bypasses import ways_round

    return not may_spin(kernel) and not ways_round(kernel)


class _Program:
    """Native code and what its generator said about it."""

    def __init__(self, source: SourceProgram) -> None:
        self.source = source
        self._module: NativeModule = compile_module(source.ir, _optimization(source.ir))
        self.entry = _Entry(self._module.address("run"))


def _processors() -> int:
    """How many this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _optimization(ir: str) -> int:
    """Large kernels get the fast tier: compile time grows faster than the code."""
    return 2 if len(ir) < 1_000_000 else 1


@lru_cache(maxsize=64)
def _program(
    kernel: _ByIdentity, facts: LaunchFacts, symbols: tuple[tuple[str, int], ...], records: bool
) -> _Program:
    return _Program(generate(kernel.kernel, facts, dict(symbols), records))


class _ByIdentity:
    """Kernels hold dictionaries and cannot be hashed; the same object is the same code."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def __hash__(self) -> int:
        return id(self.kernel)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByIdentity) and other.kernel is self.kernel


def run(
    kernel: Kernel,
    launch: Launch,
    warp_width: int,
    limits: Limits,
    progress: Callable[[float], None] | None,
    *,
    record_memory: bool = True,
) -> Trace:
    """Executes every thread block; buffers are changed in place."""
    started = time.monotonic()
    memory = LaunchMemory(kernel, launch)
    facts = launch_facts(kernel, launch, warp_width, shared_bytes(kernel, launch))
    symbols = tuple(sorted(memory.symbols.items()))
    program = _program(_ByIdentity(kernel), facts, symbols, record_memory)
    job = _Job(kernel, launch, memory, facts, program, limits, record_memory, started)
    counted = job.run(progress)
    return assemble(kernel, launch, warp_width, program.source, counted, started)


class _Job:
    """One launch on all workers."""

    def __init__(
        self,
        kernel: Kernel,
        launch: Launch,
        memory: LaunchMemory,
        facts: LaunchFacts,
        program: _Program,
        limits: Limits,
        record_memory: bool,
        started: float,
    ) -> None:
        self._launch = launch
        self._limits = limits
        self._deadline = None if limits.seconds is None else started + limits.seconds
        self._program = program
        shape = program.source.shape
        count = launch.thread_blocks
        self._counts = np.zeros((count, shape.counters), np.int64)
        self._times = np.zeros((count, shape.warps), np.int64)
        threads = min(_processors(), count)
        self._workers = [
            Worker(kernel, launch, memory, facts, program.source, limits, record_memory)
            for _ in range(threads)
        ]
        most = max(1, _MAX_PIECE_BYTES // (8 * (shape.counters + shape.warps)))
        self._piece = min(most, -(-count // (threads * _PIECES_PER_WORKER)))
        self._next = 0
        self._done = 0
        self._lock = threading.Lock()
        self._faults: list[WorkerFault] = []
        self._broken: BaseException | None = None

    def run(self, progress: Callable[[float], None] | None) -> Counted:
        threads = [threading.Thread(target=self._work, args=(w,)) for w in self._workers]
        for thread in threads:
            thread.start()
        try:
            self._watch(threads, progress)
        except BaseException:
            self._stop()
            for thread in threads:
                thread.join()
            raise
        if self._broken is not None:
            raise self._broken
        if self._faults:
            first = min(self._faults, key=lambda fault: fault.thread_block)
            raise first.error(self._limits, timed_out=self._timed_out())
        return Counted(
            self._counts,
            self._times,
            [w.totals for w in self._workers],
            [w.log for w in self._workers if w.log is not None],
        )

    def _watch(
        self, threads: list[threading.Thread], progress: Callable[[float], None] | None
    ) -> None:
        """Waits so that Ctrl-C and the time limit come through."""
        for thread in threads:
            while thread.is_alive():
                thread.join(_POLL_S)
                if progress is not None:
                    progress(self._done / self._launch.thread_blocks)
                if self._timed_out():
                    self._stop()

    def _timed_out(self) -> bool:
        return self._deadline is not None and time.monotonic() > self._deadline

    def _stop(self) -> None:
        with self._lock:
            self._next = self._launch.thread_blocks
        for worker in self._workers:
            worker.stop()

    def _take(self) -> tuple[int, int]:
        with self._lock:
            if self._faults or self._broken is not None:
                return 0, 0
            first = self._next
            self._next = min(self._launch.thread_blocks, first + self._piece)
            return first, self._next

    def _work(self, worker: Worker) -> None:
        try:
            while True:
                first, end = self._take()
                if first >= end:
                    return
                fault = worker.run(self._program.entry, first, end, self._counts, self._times)
                if fault is not None:
                    self._faults.append(fault)
                    return
                with self._lock:
                    self._done += end - first
        except BaseException as problem:  # carried to the thread that waits
            self._broken = problem
