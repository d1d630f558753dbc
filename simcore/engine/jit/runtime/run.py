"""Runs a kernel as code compiled for its launch: threads over thread blocks, and the trace."""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import copy_context
from dataclasses import replace
from functools import lru_cache, partial

from kernelcast.errors import LimitExceeded
from kernelcast.progress import of_stage
from kernelcast.simcore.engine.jit.codegen.launch_facts import LaunchFacts, launch_facts
from kernelcast.simcore.engine.jit.codegen.memory.records import Watch
from kernelcast.simcore.engine.jit.codegen.warp_pairs import in_pairs
from kernelcast.simcore.engine.jit.runtime.code_versions import with_fewer_constants
from kernelcast.simcore.engine.jit.runtime.generated_code import GeneratedCode, generate
from kernelcast.simcore.engine.jit.runtime.job import Job
from kernelcast.simcore.engine.jit.runtime.task import Task, Watcher
from kernelcast.simcore.engine.jit.runtime.trace_assembly import assemble
from kernelcast.simcore.engine.rules.host_functions import HostFunctions, PrintedText
from kernelcast.simcore.host.limits import MOST_NATIVE_INSTRUCTIONS
from kernelcast.simcore.host.llvm import (
    CAUTIOUS,
    LARGE_IR,
    QUICK,
    CompiledModule,
    compile_module,
    is_compiled,
)
from kernelcast.simcore.isa.analysis.kernel_analysis import once_per_kernel
from kernelcast.simcore.isa.analysis.slices import Slice, address_slice, control_slice
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch, Limits
from kernelcast.simcore.launch.launch_memory import LaunchMemory
from kernelcast.simcore.launch.local_arrays import shared_bytes
from kernelcast.traces.amd_opcodes import AMD_ARCHITECTURE
from kernelcast.traces.stream import AccessSink, GridPart
from kernelcast.traces.trace import Trace

__all__ = ["CompiledLaunch", "SlicedLaunch", "can_run", "run"]


_OPTIMIZING_S_PER_CHARACTER = 1e-6
_QUICK_LASTS = 20.0
"""How many times longer quick code runs before better code is made, which gains a tenth or less."""
_OPTIMIZED = 2
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
    """Whether the JIT engine runs the kernel; what it does not run is left to the reference engine.

    That is barriers that threads may go round, and kernels that LLVM would take too long for.
    """
    from kernelcast.simcore.engine.reference.barrier_bypass import barrier_bypasses
    from kernelcast.simcore.engine.reference.counted_barriers import has_counted_barriers

    if len(kernel.instructions) > MOST_NATIVE_INSTRUCTIONS:
        return False
    # nobody has to come to a barrier that counts who does
    return has_counted_barriers(kernel) or not barrier_bypasses(kernel)


class _CompiledKernel:
    """Compiled code and what its generator said about it.

    It starts with code that is compiled quickly, what is large with code that is not optimized at
    all; `improve` replaces it in runs that last.
    """

    def __init__(self, source: GeneratedCode, *, is_of_amd: bool) -> None:
        self.source = source
        self._modules: list[CompiledModule] = []  # all of them: workers may still run the first one
        self._is_final = is_compiled(source.ir)
        self._is_large = len(source.ir) >= LARGE_IR
        quick = CAUTIOUS if is_of_amd else QUICK
        self._load(_OPTIMIZED if self._is_final else 0 if self._is_large else quick)
        self._improvement: threading.Thread | None = None
        self._earlier_s = 0.0
        self._lock = threading.Lock()

    def improve(self, run_s: float) -> None:
        """Begins to compile optimized code when runs have lasted as long as that may take.

        `run_s`: of this run so far. `entry` is the new code from then on when it is done.
        """
        with self._lock:
            spent = self._earlier_s + run_s
            enough = _OPTIMIZING_S_PER_CHARACTER * len(self.source.ir)
            is_worth_it = spent > enough * (1 if self._is_large else _QUICK_LASTS)
            if is_worth_it and not self._is_final and self._improvement is None:
                # the deadline of this run holds there, too
                target = partial(copy_context().run, self._improve)
                self._improvement = threading.Thread(target=target)
                self._improvement.start()

    def ran(self, run_s: float) -> None:
        """Takes note of a run that has ended, as a part of what is spent without optimization."""
        with self._lock:
            self._earlier_s += run_s

    def _improve(self) -> None:
        with suppress(LimitExceeded):  # what runs already goes on
            self._load(_OPTIMIZED)

    def _load(self, optimization: int) -> None:
        module = compile_module(self.source.ir, optimization)
        if self._modules and module.stack_bytes > self.stack_bytes:
            return  # the threads that run have stacks for the first module
        self._modules.append(module)
        self.entry = _Entry(module.address("run"))

    @property
    def stack_bytes(self) -> int:
        """The bytes of stack that one call of `entry` takes, whichever it is."""
        return self._modules[0].stack_bytes


@lru_cache(maxsize=64)
def _generated(
    kernel: Kernel,
    facts: LaunchFacts,
    symbols: tuple[tuple[str, int], ...],
    records: bool,
    only: frozenset[int] | None,
    in_times: bool,
    watch: Watch | None = None,
) -> _CompiledKernel:
    source = generate(kernel, facts, dict(symbols), records, only, in_times=in_times, watch=watch)
    return _CompiledKernel(source, is_of_amd=kernel.code.startswith(AMD_ARCHITECTURE))


class CompiledLaunch:
    """A launch of a kernel, or with `only` of a slice of it, ready to run for warps of a width."""

    def __init__(
        self, kernel: Kernel, launch: Launch, warp_width: int, only: frozenset[int] | None = None
    ) -> None:
        self._kernel = kernel
        self._launch = launch
        self._width = warp_width
        self._only = only
        self.memory = LaunchMemory(kernel, launch)
        shared = shared_bytes(kernel, launch)
        self._facts = launch_facts(kernel, launch, self.memory, warp_width, shared)

    @property
    def facts(self) -> LaunchFacts:
        """What code is made for."""
        return self._facts

    def run(
        self,
        limits: Limits,
        progress: Callable[[float], None] | None,
        sinks: Sequence[AccessSink] = (),
        printed: PrintedText | None = None,
    ) -> Trace:
        """Executes every thread block; buffers are changed in place. `sinks` get the accesses."""
        started = time.monotonic()
        job, code = self._job(limits, sinks, printed=printed)
        began, worked = time.monotonic(), time.process_time()
        job.run(code, progress)
        code.ran(min(time.monotonic() - began, time.process_time() - worked))
        counted = job.counted()
        return assemble(self._kernel, self._launch, self._width, code.source, counted, started)

    def run_parts(
        self,
        parts: Sequence[GridPart],
        limits: Limits,
        sinks: Sequence[AccessSink],
        progress: Callable[[float], None] | None = None,
        printed: PrintedText | None = None,
    ) -> Trace:
        """Executes parts of the grid; the sinks get the accesses at their times.

        The trace has the thread blocks of the parts only, in their order.
        """
        started = time.monotonic()
        job, code = self._job(limits, sinks, parts, printed)
        job.run(code, progress)
        counted = job.counted()
        return assemble(self._kernel, self._launch, self._width, code.source, counted, started)

    def run_watched(
        self,
        watch: Watch,
        watcher: Watcher,
        limits: Limits,
        parts: Sequence[GridPart],
        printed: PrintedText,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        """Executes the parts of the grid in this order, one after another, for the watcher."""
        task, code = self.task(limits, records=True, printed=printed, watch=watch)
        Job(replace(task, watcher=watcher), (), parts).run(code, progress)

    def _job(
        self,
        limits: Limits,
        sinks: Sequence[AccessSink],
        parts: Sequence[GridPart] | None = None,
        printed: PrintedText | None = None,
    ) -> tuple[Job, _CompiledKernel]:
        in_times = any(not part.is_whole for part in parts or ())
        task, code = self.task(limits, records=bool(sinks), in_times=in_times, printed=printed)
        return Job(task, sinks, parts), code

    def task(
        self,
        limits: Limits,
        *,
        records: bool = False,
        in_times: bool = False,
        printed: PrintedText | None = None,
        watch: Watch | None = None,
    ) -> tuple[Task, _CompiledKernel]:
        """What workers of this launch share, and the code that they run."""
        symbols = tuple(sorted(self.memory.symbols.items()))
        others = symbols, records, self._only, in_times, watch
        facts = with_fewer_constants(self._kernel, self._facts, *others)
        if not records and self._only is None:
            facts = in_pairs(self._kernel, facts)
        code = _generated(self._kernel, facts, *others)
        host = HostFunctions(self._kernel, self.memory, printed or PrintedText(sys.stdout.write))
        task = Task(self._kernel, self._launch, self.memory, facts, code.source, limits, host)
        return task, code


def run(
    kernel: Kernel,
    launch: Launch,
    warp_width: int,
    limits: Limits,
    progress: Callable[[float], None] | None,
    sinks: Sequence[AccessSink] = (),
    printed: PrintedText | None = None,
) -> Trace:
    """Executes every thread block; buffers are changed in place. `sinks` get the accesses."""
    return CompiledLaunch(kernel, launch, warp_width).run(limits, progress, sinks, printed)


class SlicedLaunch:
    """A launch in which only paths and addresses are computed.

    Buffers are not written, and read only by what is in `data`, a slice that takes the place of
    those without data; that no path depends on anything else is the caller's to know
    (simcore/sampling/decision.py).
    """

    def __init__(
        self,
        kernel: Kernel,
        launch: Launch,
        warp_width: int,
        limits: Limits,
        data: Slice | None = None,
    ) -> None:
        self._limits = limits
        control = (data or control_slice(kernel)).pcs
        self._control = CompiledLaunch(kernel, launch, warp_width, control)
        self._addresses = self._control
        if data is None:
            self._addresses = CompiledLaunch(kernel, launch, warp_width, address_slice(kernel).pcs)

    @property
    def memory(self) -> LaunchMemory:
        """The memory that addresses are of."""
        return self._addresses.memory

    def counts(self, progress: Callable[[float], None] | None) -> Trace:
        """Instructions of the whole grid, exactly; no accesses."""
        return self._control.run(self._limits, progress)

    def counts_of(self, parts: Sequence[GridPart]) -> Trace:
        """Instructions of the thread blocks of all parts, which alone are in the trace."""
        return self._control.run_parts(parts, self._limits, ())

    def stream(self, parts: Sequence[GridPart], sinks: Sequence[AccessSink]) -> Trace:
        """The accesses of all parts, in their order; the trace counts their instructions."""
        return self._addresses.run_parts(parts, self._limits, sinks, of_stage("memory"))
