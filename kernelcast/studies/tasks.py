"""Rows of a part of a sweep: one launch on some of the devices, by all models.

A task is a stretch of a launch's devices, the same ones however the sweep runs. The first task of a
launch executes it and simulates the memory of every kind of device of the sweep, in one go; further
ones find that in the store.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeAlias

from kernelcast.api import estimate
from kernelcast.errors import KernelcastError, LaunchError, TraceFormatError
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.execution.run_options import RunOptions
from kernelcast.models import needs_paths
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.profile.profile import KernelProfile
from kernelcast.store.memory_facts import MemoryFacts, memory_facts
from kernelcast.studies.changed_devices import Architecture, architecture
from kernelcast.studies.kernels import prepared_run, trace_of_fitting
from kernelcast.studies.plan import Plan, SweptDevice, SweptKernel, What
from kernelcast.studies.programs import program_rows
from kernelcast.studies.rows import Row, failed_row, point_row, result_row
from kernelcast.studies.values import Scalar

__all__ = ["DEVICES_OF_A_TASK", "Execution", "Task", "execution_of", "rows_of", "tasks_of"]

Execution: TypeAlias = tuple[str, tuple[tuple[str, Scalar], ...]]
"""A kernel, and the values that decide what its launch executes."""

DEVICES_OF_A_TASK = 50
"""Devices of a task: results of so many are lost at most when a process is killed."""
_MEMORIES_AT_ONCE = 24
_NOT_EXECUTED = ("registers",)
"""Values of a launch that its execution does not depend on."""


@dataclass(frozen=True, slots=True)
class Task:
    """The stretch of devices `first` to `end` of launch number `launch`.

    `number` counts all tasks of the sweep, `first_point` all rows before it.
    """

    number: int
    launch: int
    first: int
    end: int
    first_point: int
    points: int


def tasks_of(plan: Plan) -> Iterator[Task]:
    """All tasks in the order of their points."""
    devices, number, point = len(plan.swept_devices), 0, 0
    for launch, (kernel, _) in enumerate(plan.launches):
        models = len(plan.models_of(kernel))
        step = devices if kernel.what is What.PROGRAM else DEVICES_OF_A_TASK
        for first in range(0, devices, step):
            end = min(first + step, devices)
            points = (end - first) * models
            yield Task(number, launch, first, end, point, points)
            number, point = number + 1, point + points


def execution_of(plan: Plan, launch: int) -> Execution:
    """Equal for launches that one execution may be enough for.

    Registers decide no more than how many thread blocks an SM holds. What a function of a user
    does with them nobody knows.
    """
    kernel, values = plan.launches[launch]
    free = _NOT_EXECUTED if kernel.what is What.WORKLOAD else ()
    return kernel.name, tuple(item for item in values.items() if item[0] not in free)


def rows_of(plan: Plan, task: Task) -> list[Row]:
    """The rows of a task; what cannot be computed is a row with the reason.

    What kernels print is not shown.
    """
    kernel, values = plan.launches[task.launch]
    with redirect_stdout(io.StringIO()):
        if kernel.what is What.PROGRAM:
            outcomes = program_rows(kernel, plan, _architectures(plan)[task.first : task.end])
        else:
            outcomes = _launch_of(plan, task.launch).rows(task)
        found = []
        for number, (swept, model, made) in enumerate(outcomes):
            point = point_row(task.first_point + number, kernel.name, values, swept, model)
            found.append({**point, **made})
    return found


class _OfProcess:
    """What a process has made of the last sweep and launch that it worked at."""

    def __init__(self) -> None:
        self.plan: Plan | None = None
        self.architectures: tuple[Architecture, ...] = ()
        self.launch: tuple[int, _Launch] | None = None


_held = _OfProcess()


def _architectures(plan: Plan) -> tuple[Architecture, ...]:
    if _held.plan is not plan:
        _held.architectures = tuple(map(architecture, plan.swept_devices))
        _held.plan, _held.launch = plan, None
    return _held.architectures


def _launch_of(plan: Plan, number: int) -> _Launch:
    architectures = _architectures(plan)
    if _held.launch is None or _held.launch[0] != number:
        _held.launch = number, _Launch(plan, *plan.launches[number], architectures)
    return _held.launch[1]


class _Launch:
    """One launch on all devices of a sweep: one execution, one simulation of each memory."""

    def __init__(
        self,
        plan: Plan,
        kernel: SweptKernel,
        values: Mapping[str, Any],
        architectures: Sequence[Architecture],
    ) -> None:
        self._plan = plan
        self._all = architectures
        self._models = plan.models_of(kernel)
        self._options = RunOptions(
            record_paths=any(map(needs_paths, self._models)),
            sampling=plan.sampling,
            code=plan.code,
            results=False,
        )
        self._reason = ""
        self._unfit: dict[MemoryFacts, str] = {}
        self._memories: dict[MemoryFacts, tuple[Any, KernelTrace]] = {}
        self._early: dict[tuple[str, int], KernelTrace] = {}
        try:
            self._run = prepared_run(kernel, values)
            self._execute()
        except (KernelcastError, MemoryError) as error:
            self._reason = _text(error)

    def _execute(self) -> None:
        kinds: dict[MemoryFacts, Device] = {}
        for item in self._all:
            if item.device is None or item.facts is None or item.device.early_release:
                continue  # with early release an execution alone tells what is resident
            kinds.setdefault(item.facts, item.device)
        for facts in _portions(kinds):
            devices = [kinds[item] for item in facts]
            made = trace_of_fitting(self._run, devices, self._options)
            self._unfit |= {facts[place]: text for place, text in made.unfit.items()}
            if made.trace is not None:
                self._take(made.trace)

    def _take(self, made: KernelTrace) -> None:
        """Adds the codes and memories of an execution for some of the devices."""
        for code in (made, *made.others):
            for item in code.simulated:
                facts = memory_facts(item.device)
                self._memories[facts] = item, made

    def rows(self, task: Task) -> Iterator[tuple[SweptDevice, str, Row]]:
        """Device, model, and what is known of them."""
        for item in self._all[task.first : task.end]:
            profile: KernelProfile | None = None
            reason = item.reason or self._reason
            if not reason:
                try:
                    profile = self._profile(item)
                except (KernelcastError, MemoryError) as error:
                    reason = _text(error)
            for model in self._models:
                if profile is None or item.device is None:
                    yield item.swept, model, failed_row(reason, item.device)
                else:
                    yield item.swept, model, self._row(profile, item.device, model)

    def _row(self, profile: KernelProfile, device: Device, model: str) -> Row:
        try:
            own: dict[str, Any] = self._plan.own_options(model)
            found = estimate(profile, model, device, **own)
        except (KernelcastError, MemoryError) as error:
            return failed_row(_text(error), device)
        return result_row(found, profile, device, has_range=self._plan.ranges)

    def _profile(self, item: Architecture) -> KernelProfile:
        assert item.device is not None
        assert item.facts is not None
        if item.device.early_release:
            return self._early_trace(item.device).profile(item.device)
        if item.facts in self._unfit:
            raise LaunchError(self._unfit[item.facts])
        if item.facts not in self._memories:
            raise TraceFormatError("the launch was not recorded for the device")
        memory, trace = self._memories[item.facts]
        return trace.on_equal_memory(memory, item.device).profile(item.device)

    def _early_trace(self, device: Device) -> KernelTrace:
        """The launch with its accesses, as early release needs it."""
        key = device.architecture.compute_capability, device.architecture.warp_width
        if key not in self._early:
            options = replace(
                self._options, warp_width=device.architecture.warp_width, target=device
            )
            self._early[key] = self._run(options)
        return self._early[key]


def _portions(kinds: Iterable[MemoryFacts]) -> Iterator[list[MemoryFacts]]:
    """Kinds of memory that one execution is for.

    Simulated memories are large: a few at a time; those that differ in latencies only are one.
    Warps of one width at a time, as for the estimate of a single device: how large a launch is, and
    whether it is sampled, depends on them.
    """
    widths: dict[int, dict[Device, list[MemoryFacts]]] = {}
    for item in kinds:
        groups = widths.setdefault(item.device.architecture.warp_width, {})
        groups.setdefault(item.device, []).append(item)
    for groups in widths.values():
        alike = list(groups.values())
        for first in range(0, len(alike), _MEMORIES_AT_ONCE):
            yield list(chain.from_iterable(alike[first : first + _MEMORIES_AT_ONCE]))


def _text(error: KernelcastError | MemoryError) -> str:
    return error.message if isinstance(error, KernelcastError) else "no memory left"
