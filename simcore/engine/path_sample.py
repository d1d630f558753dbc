"""Paths of some thread blocks, executed ahead of the launch and undone again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kernelcast.errors import ExecutionError, LaunchError
from kernelcast.simcore.engine.recording.path_recorder import PathRecorder, RecordingFull
from kernelcast.simcore.engine.reference.batch import Batch, GridShape
from kernelcast.simcore.engine.reference.clusters import with_mates
from kernelcast.simcore.engine.reference.memory_access import StoreJournal
from kernelcast.simcore.engine.reference.phase_log import PhaseLog, has_phases
from kernelcast.simcore.engine.reference.prepared_kernel import PreparedKernel
from kernelcast.simcore.engine.reference.run import BatchRun
from kernelcast.simcore.engine.reference.warp_lanes import check_warp_width
from kernelcast.simcore.engine.reference.watchdog import Watchdog
from kernelcast.simcore.engine.reference.whole_barriers import with_whole_barriers
from kernelcast.simcore.engine.rules.host_functions import HostFunctions, PrintedText
from kernelcast.simcore.isa.analysis.spin_loops import spin_loops
from kernelcast.simcore.isa.analysis.unread_values import without_unread_values
from kernelcast.simcore.isa.ir.kernel import GRID, Kernel
from kernelcast.simcore.isa.matrix.products import Multiplication, multiply
from kernelcast.simcore.launch.launch import Argument, Launch, Limits, materialised
from kernelcast.simcore.launch.launch_memory import LaunchMemory
from kernelcast.simcore.launch.lazy_buffer import LazyBuffer
from kernelcast.traces.trace import Trace
from kernelcast.traces.warp_paths import MOST_EVENTS, WarpPaths, sampled_thread_blocks

__all__ = ["PathSample", "record_paths"]

_MOST_DIFFERENCE = 0.1


@dataclass(frozen=True)
class PathSample:
    """The paths of some thread blocks, or why there are none.

    `reason`: half a sentence why there are no `paths`. `waits`: instructions of loops that wait for
    mbarriers, which run as often as the order of warps makes them.
    """

    paths: WarpPaths | None
    reason: str = ""
    waits: frozenset[int] = frozenset()

    def of(self, trace: Trace) -> Trace:
        """The launch's trace with these paths.

        The trace stays without them if it shows that thread blocks do otherwise when they run
        alone.
        """
        if self.paths is None:
            return replace(trace, paths=None, no_paths=self.reason)
        difference = _difference(self.paths, trace, self.waits)
        if difference > _MOST_DIFFERENCE:
            reason = (
                "thread blocks depend on each other: alone they issue "
                f"{difference:.0%} more or fewer instructions than in the launch"
            )
            return replace(trace, paths=None, no_paths=reason)
        return replace(trace, paths=self.paths)


def record_paths(
    kernel: Kernel,
    launch: Launch,
    warp_width: int,
    limits: Limits,
    *,
    reads_data: bool = True,
    most_events: int = MOST_EVENTS,
    thread_blocks: Sequence[int] | None = None,
) -> PathSample:
    """Executes the sampled thread blocks; buffers are as before when it returns.

    Without `reads_data` no path and no address depends on what buffers hold, and those that were
    not made yet are not made. The launch has been checked; errors are those of `check_warp_width`.
    `thread_blocks` are other numbers than those of `sampled_thread_blocks`, rising.
    """
    if GRID in kernel.symbols:
        return PathSample(None, "all thread blocks of the grid wait for each other")
    check_warp_width(kernel, warp_width)
    kernel = with_whole_barriers(kernel, launch.threads_per_thread_block)
    kernel = without_unread_values(kernel)
    launch = launch.materialised() if reads_data else _with_zeros(launch)
    journal = StoreJournal()
    heap = {} if launch.memory is None else launch.memory.memory.heap_state()
    try:
        shape = GridShape(launch, warp_width)
        numbers = sampled_thread_blocks(launch.thread_blocks, shape.threads, shape.warps)
        if thread_blocks is not None:
            numbers = np.array(thread_blocks, np.int64)
        numbers = with_mates(numbers, launch.grid, launch.cluster_of(kernel))
        paths = _record(kernel, shape, numbers, limits, most_events, journal)
    except ExecutionError as error:
        return PathSample(
            None, f"some thread blocks do not run without the others: {error.message}"
        )
    except LaunchError as error:  # of a launch whose own buffers are never made
        return PathSample(None, error.message)
    finally:
        journal.undo()
        if launch.memory is not None:
            launch.memory.memory.restore_heap(heap)
    if not paths.is_complete and spin_loops(kernel):
        return PathSample(None, "thread blocks wait for what others write")
    return PathSample(paths, waits=_waits(kernel))


def _record(
    kernel: Kernel,
    shape: GridShape,
    numbers: npt.NDArray[np.int64],
    limits: Limits,
    most_events: int,
    journal: StoreJournal,
) -> WarpPaths:
    memory, prepared = LaunchMemory(kernel, shape.launch), PreparedKernel(kernel)
    recorder = PathRecorder(kernel, shape.width, shape.warps * len(numbers), most_events)
    host = HostFunctions(kernel, memory, PrintedText(_discard))
    is_complete = True
    with np.errstate(all="ignore"):
        batch = Batch(kernel, shape, memory, prepared.constants, numbers)
        batch.multiply = _multiplication()
        watchdog = Watchdog(kernel, limits)
        phases = PhaseLog(batch, recorder) if has_phases(kernel) else None
        try:
            BatchRun(prepared, batch, memory, recorder, watchdog, host, journal, phases).run()
        except RecordingFull:
            is_complete = False
    return recorder.paths(numbers, is_complete=is_complete)


def _multiplication() -> Multiplication:
    """Compiled code where there is any: the same bits, sooner."""
    from kernelcast.simcore.host.llvm import host_supports_vectors

    if not host_supports_vectors():
        return multiply
    from kernelcast.simcore.engine.jit.runtime.tile_products import multiply_compiled

    return multiply_compiled


def _discard(_text: str) -> None:
    """What the sample prints, the launch prints again."""


def _with_zeros(launch: Launch) -> Launch:
    """Buffers that were not made yet as zeros, which take memory only where they are written."""
    return replace(launch, arguments=tuple(map(_zeros, launch.arguments)))


def _zeros(argument: Argument) -> Argument:
    if isinstance(argument, LazyBuffer) and not argument.is_materialised:
        return LazyBuffer(argument.shape, argument.dtype)
    return materialised(argument)


def _waits(kernel: Kernel) -> frozenset[int]:
    """The instructions of loops that look at mbarriers and do nothing else that others see."""
    return frozenset(
        instruction.pc
        for loop in spin_loops(kernel)
        if loop.is_suspended
        for index in loop.body
        for instruction in (*kernel.blocks[index].body, kernel.blocks[index].terminator)
        if instruction.mnemonic
    )


def _difference(paths: WarpPaths, trace: Trace, waits: frozenset[int]) -> float:
    """How far the events are from the issues of the same thread blocks, as a share of these.

    Instructions of `waits` are left out.
    """
    if not paths.is_complete:
        return 0.0
    classes = trace.classes
    issues = classes.warp_issues[classes.of_thread_block[paths.thread_blocks]].sum(axis=0)
    counted = np.ones(len(issues), np.bool_)
    counted[list(waits)] = False
    issued = int(issues[counted].sum())
    return math.fabs(int(counted[paths.pc].sum()) - issued) / max(1, issued)
