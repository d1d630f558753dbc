"""Runs a launch in a given order of thread blocks and warps, and says what it did wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kernelcast.errors import (
    AssertionTriggered,
    BarrierError,
    ExecutionError,
    LimitExceeded,
    MemoryAccessError,
)
from kernelcast.simcore.checking.detector import Detector
from kernelcast.simcore.checking.findings import Finding, Kind, Side
from kernelcast.simcore.checking.plan import plan_of
from kernelcast.simcore.checking.wording import Wording
from kernelcast.simcore.engine import Listener, execute
from kernelcast.simcore.engine.jit.codegen.memory.records import Watch
from kernelcast.simcore.engine.jit.runtime.run import CompiledLaunch, can_run
from kernelcast.simcore.engine.jit.runtime.task import Watcher
from kernelcast.simcore.engine.reference.whole_barriers import with_whole_barriers
from kernelcast.simcore.engine.rules.host_functions import PrintedText
from kernelcast.simcore.host.deadline import time_limit
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.device_memory import DeviceMemory
from kernelcast.simcore.launch.launch import Launch, Limits
from kernelcast.simcore.launch.module_memory import ModuleMemory
from kernelcast.traces.stream import GridPart

__all__ = ["CheckedRun", "Schedule", "check_launch"]

_DISTANCE_BYTES = 1 << 36
"""The distance of buffers of a launch: no index of 32 bits leads from one into another."""
_FAULTS: tuple[tuple[type[ExecutionError], Kind], ...] = (
    (MemoryAccessError, Kind.ACCESS),
    (BarrierError, Kind.BARRIER),
    (LimitExceeded, Kind.ENDLESS),
    (AssertionTriggered, Kind.TRAP),
)
_MEMBERS = "operation across lanes"


@dataclass(frozen=True)
class Schedule:
    """An order of thread blocks, and of the warps of each; None for the usual one, rising."""

    name: str = "in order"
    thread_blocks: npt.NDArray[np.int64] | None = None
    warps: npt.NDArray[np.int64] | None = None

    def parts(self, count: int, together: int) -> list[GridPart]:
        """The parts of the grid in their order; `together` thread blocks are never parted."""
        if self.thread_blocks is None or together > 1:
            return [GridPart(0, count)]
        return [GridPart(block, block + 1) for block in self.thread_blocks.tolist()]


@dataclass(frozen=True)
class CheckedRun:
    """What one schedule showed; `shadow_bytes` is the memory that following it took."""

    findings: tuple[Finding, ...]
    shadow_bytes: int


def check_launch(
    kernel: Kernel,
    launch: Launch,
    *,
    warp_width: int,
    limits: Limits,
    schedule: Schedule,
    write: Callable[[str], object],
    progress: Callable[[float], None] | None = None,
) -> CheckedRun:
    """Executes a launch, whose buffers are changed, and follows each access.

    A launch without a device memory gets one with buffers far apart. What ends the launch is a
    finding as well. Raises LaunchError where it does not fit.
    """
    launch = launch.materialised()
    kernel = with_whole_barriers(kernel, launch.threads_per_thread_block)
    bypass = None
    if not can_run(kernel) and schedule.warps is None:
        bypass = _bypass(kernel, launch, warp_width, limits)
    if launch.memory is None:
        memory = DeviceMemory(distance_bytes=_DISTANCE_BYTES)
        launch = replace(launch, memory=ModuleMemory.of(memory, kernel))
    printed = PrintedText(write)
    with time_limit(limits.seconds):
        compiled = CompiledLaunch(kernel, launch, warp_width)
        plan = plan_of(kernel, compiled.memory, compiled.facts)
        detector = Detector(plan, kernel, launch)
        order = np.arange(plan.geometry.warps) if schedule.warps is None else schedule.warps
        watcher = Watcher(detector.new_follower, np.ascontiguousarray(order, np.int64))
        together = detector.cluster_size
        parts = schedule.parts(launch.thread_blocks, together)
        fault: ExecutionError | None = None
        try:
            compiled.run_watched(Watch(plan.quiet), watcher, limits, parts, printed, progress)
        except ExecutionError as raised:
            fault = raised
        finally:
            printed.flush()
    wording = Wording(kernel, launch, compiled.memory, plan)
    found = [wording.finding(raw, count) for raw, count in detector.found]
    found += [_of_fault(ended) for ended in (fault, bypass) if ended is not None]
    return CheckedRun(tuple(found), plan.bytes)


def _bypass(kernel: Kernel, launch: Launch, warp_width: int, limits: Limits) -> BarrierError | None:
    """What the reference engine says of threads that go round a barrier, which others do not see.

    It runs on copies of the buffers.
    """
    copies = {id(item): item.copy() for item in launch.arguments if isinstance(item, np.ndarray)}
    arguments = tuple(copies.get(id(item), item) for item in launch.arguments)
    try:
        execute(
            kernel,
            replace(launch, arguments=arguments),
            warp_width=warp_width,
            limits=limits,
            engine="reference",
            record_memory=False,
            listener=Listener(write=len),
        )
    except BarrierError as raised:
        return raised
    except ExecutionError:
        return None  # the run that is followed says so
    return None


def _of_fault(fault: ExecutionError) -> Finding:
    """What ended the launch, as a finding."""
    kind = next((kind for type_, kind in _FAULTS if isinstance(fault, type_)), Kind.TRAP)
    message = fault.message
    if _MEMBERS in message:
        kind = Kind.WARP_MASK
    side = Side("", "", None, None, fault.span, fault.origin)
    return Finding(kind, message, "", side)


def schedules(count: int, thread_blocks: int, warps: int, seed: int) -> Sequence[Schedule]:
    """The usual order, then the reverse one, then random ones, each of them from the seed."""
    found = [Schedule()]
    if count > 1:
        found.append(Schedule("reversed", np.arange(thread_blocks)[::-1], np.arange(warps)[::-1]))
    for number in range(2, count):
        random = np.random.default_rng((seed, number))
        found.append(
            Schedule(
                f"random {number - 1}", random.permutation(thread_blocks), random.permutation(warps)
            )
        )
    return found[:count]
