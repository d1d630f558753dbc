"""Runs a kernel as native code: a program, threads over thread blocks, and the trace."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence
from functools import lru_cache

from kernelcast.simcore.engine.jit.analysis import may_spin
from kernelcast.simcore.engine.jit.job import Job
from kernelcast.simcore.engine.jit.launch_facts import LaunchFacts, launch_facts
from kernelcast.simcore.engine.jit.program import SourceProgram, generate
from kernelcast.simcore.engine.jit.trace_assembly import assemble
from kernelcast.simcore.isa.kernel import Kernel
from kernelcast.simcore.isa.kernel_analysis import once_per_kernel
from kernelcast.simcore.launch import Launch, Limits
from kernelcast.simcore.llvm import NativeModule, compile_module
from kernelcast.simcore.memory_spaces import LaunchMemory
from kernelcast.simcore.resources import shared_bytes
from kernelcast.traces.stream import AccessSink
from kernelcast.traces.trace import Trace

__all__ = ["PreparedLaunch", "can_run", "run"]


_Entry = ctypes.CFUNCTYPE(
    ctypes.c_int64,
    ctypes.c_void_p,
    ctypes.c_int64,
    ctypes.c_int64,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_void_p,
)


@once_per_kernel
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


def _optimization(ir: str) -> int:
    """Large kernels get the fast tier: compile time grows faster than the code."""
    return 2 if len(ir) < 1_000_000 else 1


@lru_cache(maxsize=64)
def _program(
    kernel: Kernel,
    facts: LaunchFacts,
    symbols: tuple[tuple[str, int], ...],
    records: bool,
    only: frozenset[int] | None,
) -> _Program:
    return _Program(generate(kernel, facts, dict(symbols), records, only))


class PreparedLaunch:
    """A launch of a kernel, or with `only` of a slice of it, ready to run for warps of a width."""

    def __init__(
        self, kernel: Kernel, launch: Launch, warp_width: int, only: frozenset[int] | None = None
    ) -> None:
        self._kernel = kernel
        self._launch = launch
        self._width = warp_width
        self._only = only
        self._memory = LaunchMemory(kernel, launch)
        self._facts = launch_facts(kernel, launch, warp_width, shared_bytes(kernel, launch))

    def run(
        self,
        limits: Limits,
        progress: Callable[[float], None] | None,
        sinks: Sequence[AccessSink] = (),
    ) -> Trace:
        """Executes every thread block; buffers are changed in place. `sinks` get the accesses."""
        started = time.monotonic()
        job, program = self._job(limits, sinks, started)
        job.run(program.entry, progress)
        counted = job.counted()
        return assemble(self._kernel, self._launch, self._width, program.source, counted, started)

    def run_range(self, first: int, end: int, limits: Limits, sinks: Sequence[AccessSink]) -> None:
        """Executes thread blocks `first` to `end`, the latter excluded."""
        job, program = self._job(limits, sinks, time.monotonic(), ((first, end),))
        job.run(program.entry, None)

    def _job(
        self,
        limits: Limits,
        sinks: Sequence[AccessSink],
        started: float,
        ranges: Sequence[tuple[int, int]] | None = None,
    ) -> tuple[Job, _Program]:
        symbols = tuple(sorted(self._memory.symbols.items()))
        program = _program(self._kernel, self._facts, symbols, bool(sinks), self._only)
        job = Job(
            self._kernel,
            self._launch,
            self._memory,
            self._facts,
            program.source,
            limits,
            sinks,
            started,
            ranges,
        )
        return job, program


def run(
    kernel: Kernel,
    launch: Launch,
    warp_width: int,
    limits: Limits,
    progress: Callable[[float], None] | None,
    sinks: Sequence[AccessSink] = (),
) -> Trace:
    """Executes every thread block; buffers are changed in place. `sinks` get the accesses."""
    return PreparedLaunch(kernel, launch, warp_width).run(limits, progress, sinks)
