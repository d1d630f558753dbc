"""Engines run a kernel and return its Trace; they differ in speed, never in what they count.

`reference` is NumPy and obviously right, `jit` is compiled code; both obey `rules` and fill the
tables of `recording`. Imports `isa`, `launch`, `host` and `traces`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from kernelcast.errors import KernelcastError, LaunchError, nearest
from kernelcast.simcore.engine.reference import run as reference
from kernelcast.simcore.engine.reference.warp_lanes import check_warp_width
from kernelcast.simcore.engine.reference.warpgroups import check_warpgroups
from kernelcast.simcore.engine.reference.whole_barriers import with_whole_barriers
from kernelcast.simcore.engine.rules.host_functions import PrintedText
from kernelcast.simcore.host.deadline import time_limit
from kernelcast.simcore.host.limits import check_room, check_warps
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch, Limits
from kernelcast.traces.collector import AccessCollector
from kernelcast.traces.stream import AccessSink
from kernelcast.traces.trace import Trace

__all__ = ["ENGINES", "Listener", "check_fits", "default_engine", "engine_named", "execute"]


class Engine(Protocol):
    """Runs a launch; `sinks` get its memory accesses. The trace comes without them."""

    def __call__(
        self,
        kernel: Kernel,
        launch: Launch,
        warp_width: int,
        limits: Limits,
        progress: Callable[[float], None] | None,
        sinks: Sequence[AccessSink],
        printed: PrintedText | None = None,
    ) -> Trace: ...


def _jit(
    kernel: Kernel,
    launch: Launch,
    warp_width: int,
    limits: Limits,
    progress: Callable[[float], None] | None,
    sinks: Sequence[AccessSink],
    printed: PrintedText | None = None,
) -> Trace:
    # llvmlite takes a while to import: only who needs it pays
    from kernelcast.simcore.engine.jit.runtime.run import can_run, run

    engine = run if can_run(kernel) else reference.run
    return engine(kernel, launch, warp_width, limits, progress, sinks, printed)


ENGINES: Mapping[str, Engine] = {"reference": reference.run, "jit": _jit}
"""The JIT engine hands kernels over that only the reference engine runs (docs/engines.md)."""


@dataclass(frozen=True, slots=True)
class Listener:
    """Who hears of a run while it lasts.

    `progress` is told the finished share of thread blocks, 0 to 1; `write` gets what the kernel
    prints, which by default goes to standard output.
    """

    progress: Callable[[float], None] | None = None
    write: Callable[[str], object] | None = None


def execute(
    kernel: Kernel,
    launch: Launch,
    *,
    warp_width: int = 32,
    limits: Limits | None = None,
    engine: str = "auto",
    record_memory: bool = True,
    sinks: Sequence[AccessSink] = (),
    listener: Listener | None = None,
) -> Trace:
    """Runs a launch; buffers among its arguments are read and written in place.

    Memory accesses are kept in the trace unless `record_memory` is False; `sinks` get them, and
    `listener` hears of progress, while the launch runs. Raises LaunchError when the launch does not
    fit the kernel and ExecutionError when the kernel fails.
    """
    name = engine_named(engine)
    check_fits(kernel, launch, warp_width)
    kernel = with_whole_barriers(kernel, launch.threads_per_thread_block)
    launch = launch.materialised()
    collector = AccessCollector(partial(_check_accesses, kernel))
    if record_memory:
        sinks = (*sinks, collector)
    told = listener or Listener()
    printed = PrintedText(told.write or sys.stdout.write)
    limits = limits or Limits()
    try:
        with time_limit(limits.seconds):
            run = ENGINES[name]
            trace = run(kernel, launch, warp_width, limits, told.progress, sinks, printed)
    except MemoryError:
        raise LaunchError(f"no memory left to execute kernel {kernel.name}") from None
    finally:
        printed.flush()
    check_warpgroups(kernel, trace)
    if not record_memory:
        return trace
    patterns, accesses = collector.tables()
    counts = collector.pattern_counts()
    return replace(
        trace, patterns=patterns, accesses=accesses, pattern_counts=counts, has_memory=True
    )


def _check_accesses(kernel: Kernel, held_bytes: int) -> None:
    """Raises LaunchError when the accesses so far cannot be joined to one table any more."""
    check_room(
        held_bytes,
        f"the recorded accesses of kernel {kernel.name}, which a smaller grid has fewer of",
    )


def engine_named(engine: str) -> str:
    """The engine that runs for a name or `auto`; KernelcastError for a name that is none."""
    name = default_engine() if engine == "auto" else engine
    if name not in ENGINES:
        known = ", ".join(("auto", *ENGINES))
        hint = nearest(engine, ENGINES)
        raise KernelcastError(f"unknown engine {engine!r}{hint}; known: {known}")
    return name


def check_fits(kernel: Kernel, launch: Launch, warp_width: int) -> None:
    """Raises LaunchError when the launch does not fit the kernel, or has too many warps."""
    launch.check(kernel)
    check_warp_width(kernel, warp_width)
    check_warps(-(-launch.threads_per_thread_block // warp_width) * launch.thread_blocks)


def default_engine() -> str:
    """The JIT engine on machines with a vector unit that it can use, else the reference engine."""
    from kernelcast.simcore.host.llvm import host_supports_vectors

    return "jit" if host_supports_vectors() else "reference"
