"""Runs a launch in a given order of thread blocks and warps, and says what it did wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

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
from kernelcast.simcore.checking.probed_kernel import with_probes
from kernelcast.simcore.checking.rewriting import Probed
from kernelcast.simcore.checking.values import Values
from kernelcast.simcore.checking.wording import Wording
from kernelcast.simcore.engine import Listener, execute
from kernelcast.simcore.engine.jit.codegen.memory.records import Watch
from kernelcast.simcore.engine.jit.runtime.run import CompiledLaunch, can_run
from kernelcast.simcore.engine.jit.runtime.task import Task, Watcher
from kernelcast.simcore.engine.reference.whole_barriers import with_whole_barriers
from kernelcast.simcore.engine.rules.host_functions import PrintedText
from kernelcast.simcore.host.deadline import time_limit
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.device_memory import DeviceMemory
from kernelcast.simcore.launch.launch import Launch, Limits
from kernelcast.simcore.launch.module_memory import ModuleMemory
from kernelcast.traces.stream import GridPart

__all__ = ["CheckedRun", "Schedule", "Settings", "check_launch", "schedules"]

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


@dataclass(frozen=True)
class Settings:
    """How launches are checked, whatever their order.

    `write` gets what the kernel prints; `unwritten`: patterns of the names of buffers whose
    contents before the launch nobody may read; `not_finite`: whether NaN and infinity that are born
    are found, `overflow` indices that wrap around.
    """

    warp_width: int = 32
    limits: Limits = field(default_factory=Limits)
    write: Callable[[str], object] = len
    progress: Callable[[float], None] | None = None
    unwritten: tuple[str, ...] = ()
    not_finite: bool = False
    overflow: bool = False


def check_launch(
    kernel: Kernel,
    launch: Launch,
    settings: Settings,
    schedule: Schedule | None = None,
    again: Callable[[], Launch] | None = None,
) -> CheckedRun:
    """Executes a launch, whose buffers are changed, and follows each access.

    A launch without a device memory gets one with buffers far apart. What ends the launch is a
    finding as well. `again` makes the launch once more: it is run again to see the values of
    accesses that are found. Raises LaunchError where it does not fit.
    """
    schedule = schedule or Schedule()
    launch = launch.materialised()
    kernel = with_whole_barriers(kernel, launch.threads_per_thread_block)
    bypass = None
    if not can_run(kernel) and schedule.warps is None:
        bypass = _bypass(kernel, launch, settings)
    probed = with_probes(kernel, not_finite=settings.not_finite, overflow=settings.overflow)
    with time_limit(settings.limits.seconds):
        run = _Run(probed, launch, settings, schedule)
        fault = run.follow(Watch(run.plan.quiet), run.detector.new_follower, settings.write)
        found = run.detector.found
        values = None
        of_accesses = [raw for raw, _ in found if raw.pc not in probed.probes]
        if again is not None and of_accesses:
            values = Values(run.plan, of_accesses)
            once_more = _Run(probed, again().materialised(), settings, schedule)
            once_more.follow(Watch(values=values.pcs), values.new_log, len)
    wording = Wording(probed, run.launch, run.memory, run.plan, values)
    findings = [wording.finding(raw, count) for raw, count in found]
    findings += [_of_fault(ended) for ended in (fault, bypass) if ended is not None]
    return CheckedRun(tuple(findings), run.plan.bytes)


class _Run:
    """A launch in its memory, compiled when it is run."""

    def __init__(
        self, probed: Probed, launch: Launch, settings: Settings, schedule: Schedule
    ) -> None:
        kernel = probed.kernel
        if launch.memory is None:
            memory = DeviceMemory(distance_bytes=_DISTANCE_BYTES)
            launch = replace(launch, memory=ModuleMemory.of(memory, kernel))
        self.launch = launch
        self._settings, self._schedule = settings, schedule
        self._compiled = CompiledLaunch(kernel, launch, settings.warp_width)
        self.memory = self._compiled.memory
        self.plan = plan_of(probed, self.memory, self._compiled.facts, settings.unwritten)
        self.detector = Detector(self.plan, kernel, launch)

    def follow(
        self, watch: Watch, new_log: Callable[[Task], Any], write: Callable[[str], object]
    ) -> ExecutionError | None:
        """Runs it for somebody who follows the accesses; what ended it, if anything did."""
        warps = self._schedule.warps
        order = np.arange(self._compiled.facts.warps) if warps is None else warps
        watcher = Watcher(new_log, np.ascontiguousarray(order, np.int64))
        parts = self._schedule.parts(self.launch.thread_blocks, self.detector.cluster_size)
        printed = PrintedText(write)
        limits, progress = self._settings.limits, self._settings.progress
        try:
            self._compiled.run_watched(watch, watcher, limits, parts, printed, progress)
        except ExecutionError as raised:
            return raised
        finally:
            printed.flush()
        return None


def _bypass(kernel: Kernel, launch: Launch, settings: Settings) -> BarrierError | None:
    """What the reference engine says of threads that go round a barrier, which others do not see.

    It runs on copies of the buffers.
    """
    copies = {id(item): item.copy() for item in launch.arguments if isinstance(item, np.ndarray)}
    arguments = tuple(copies.get(id(item), item) for item in launch.arguments)
    try:
        execute(
            kernel,
            replace(launch, arguments=arguments),
            warp_width=settings.warp_width,
            limits=settings.limits,
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
