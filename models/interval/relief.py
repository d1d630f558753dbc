"""What holds a launch up: the part without which it would gain most, by simulations without it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kernelcast.models.interval.expected import expected_walks_s
from kernelcast.progress import lasting_stage, tell
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.timing.kernel.component import Component
from kernelcast.simcore.timing.kernel.stall_reasons import StallReason
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel

if TYPE_CHECKING:
    from kernelcast.simcore.host.shared_tables import SharedTables
    from kernelcast.simcore.timing.launch.launch_timing import LaunchTiming

__all__ = ["NOTABLE", "OF_KERNEL", "WAITS", "Relief", "never_waits", "reliefs"]

NOTABLE = 0.02
"""The least share of the time that is worth a word."""
OF_KERNEL = frozenset(
    {
        *(Component.BANK_CONFLICTS, Component.CONSTANT_SERIALISATION, Component.UNCOALESCED),
        *(Component.LOCAL_MEMORY, Component.DIVERGENCE, Component.OCCUPANCY),
        *(Component.UNEQUAL_WARPS, Component.TAIL, Component.IMBALANCE, Component.ATOMICS),
    }
)
"""What the kernel or its launch does, not what the machine is."""
_IF_FREE = 0.5
"""The factor on what a part of the machine saves if it is free, which no machine can offer.

What the kernel does to it comes first where that makes up half of it, and can be had.
"""
_ALONE = 1 / 3
"""Parts are named together where none alone saves as large a part of what they save together."""
_MOST_OF_ALL = 0.5
"""What a smaller set of parts must save of what a larger one does to be named in its place."""

_WITHIN: Mapping[Component, Component] = {Component.L1_BANDWIDTH: Component.TEXTURE}
"""A part that another one has inside, which is named in its place where it is most of it."""

_UNITS = (
    *(Component.FP32, Component.FP64, Component.HALF, Component.INTEGER),
    *(Component.INTEGER_MULTIPLY, Component.CONVERSION, Component.SPECIAL_FUNCTION),
    *(Component.SHUFFLE, Component.VECTOR, Component.SCALAR, Component.TENSOR),
)
_THROUGHPUT = (Component.ISSUE, *_UNITS, Component.SHARED_PIPE)
_BANDWIDTH = (Component.L1_BANDWIDTH, Component.L2_BANDWIDTH, Component.DRAM_BANDWIDTH)
_LATENCY = (
    *(Component.ARITHMETIC_LATENCY, Component.SHARED_LATENCY, Component.CONSTANT_LATENCY),
    *(Component.MEMORY_LATENCY, Component.OUTSTANDING_REQUESTS, Component.BRANCH),
    *(Component.BARRIER, Component.FENCE),
)
_TOGETHER = (
    *(_THROUGHPUT, _BANDWIDTH, _LATENCY),
    *((*_THROUGHPUT, *_BANDWIDTH), (*_BANDWIDTH, *_LATENCY), (*_THROUGHPUT, *_LATENCY)),
    (*_THROUGHPUT, *_BANDWIDTH, *_LATENCY),
)
"""Sets of parts that may be equally busy, so that no one alone gains."""
_USED_BY: Mapping[Component, Pipeline] = {
    **{unit: Pipeline[unit.name] for unit in _UNITS},
    Component.SHARED_PIPE: Pipeline.SHARED,
    Component.SHARED_LATENCY: Pipeline.SHARED,
    Component.CONSTANT_LATENCY: Pipeline.CONSTANT,
    Component.TEXTURE: Pipeline.GLOBAL,
    Component.L1_BANDWIDTH: Pipeline.GLOBAL,
    Component.L2_BANDWIDTH: Pipeline.GLOBAL,
    Component.DRAM_BANDWIDTH: Pipeline.GLOBAL,
    Component.MEMORY_LATENCY: Pipeline.GLOBAL,
    Component.OUTSTANDING_REQUESTS: Pipeline.GLOBAL,
    Component.BRANCH: Pipeline.BRANCH,
    Component.BARRIER: Pipeline.BARRIER,
    Component.FENCE: Pipeline.FENCE,
}
"""Parts that only instructions of one pipeline use."""
WAITS: Mapping[Component, StallReason] = {
    **{unit: StallReason[f"{unit.name}_PIPE"] for unit in _UNITS if unit is not Component.FP64},
    Component.SHARED_LATENCY: StallReason.SHARED_DEPENDENCY,
    Component.CONSTANT_LATENCY: StallReason.CONSTANT_DEPENDENCY,
}
"""Parts without which nothing changes but waits for this reason.

Double precision is not one of them, as the operations take the lanes of single precision instead.
"""
_MOST_NAMES = 4
_PLURAL = ("lanes", "units", "multipliers", "barriers", "fences")


@dataclass(frozen=True, slots=True)
class Relief:
    """The time of the launch without a part, or without several at once, and that with them."""

    components: tuple[Component, ...]
    seconds: float
    total_s: float

    @property
    def name(self) -> str:
        """The part, or the first parts and how many more."""
        names = [component.value for component in self.components]
        if len(names) > _MOST_NAMES:
            names[_MOST_NAMES - 1 :] = [f"{len(names) - _MOST_NAMES + 1} more parts"]
        *first, last = names
        return f"{', '.join(first)} and {last}" if first else last

    @property
    def saved_s(self) -> float:
        """What the launch would save."""
        return self.total_s - self.seconds

    @property
    def gain(self) -> float:
        """How many times as fast it would be."""
        return self.total_s / self.seconds

    @property
    def gain_text(self) -> str:
        """The gain, and on which condition."""
        if len(self.components) > 1:
            return f"{self.gain:.2f}x if they were all free"
        if OF_KERNEL.issuperset(self.components):
            return f"{self.gain:.2f}x without"
        pronoun = "they were" if self.name.endswith(_PLURAL) else "it were"
        return f"{self.gain:.2f}x if {pronoun} free"

    @property
    def weight(self) -> float:
        """What reliefs are ranked by."""
        return self.saved_s * (1.0 if OF_KERNEL.issuperset(self.components) else _IF_FREE)


Times = Callable[[Sequence[frozenset[Component]]], list[float]]


def reliefs(
    kernel: TimedKernel,
    device: Device,
    timing: LaunchTiming,
    *,
    tables: SharedTables | None = None,
    all_parts: bool = False,
) -> tuple[Relief, ...]:
    """What the launch would gain without each of its parts, the bottleneck first, then by gain.

    All that save a notable share of the time, at least one. `timing` is of `kernel` on `device`,
    with `tables`. Parts that cannot matter are not simulated, unless `all_parts` are wanted.
    """
    # The compiled simulator leaves the interpreter to others.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        times = _Times(pool, kernel, device, timing, tables)
        parts = _parts(kernel, device, timing)
        executed = frozenset(kernel.pipeline[pc] for pc in np.unique(kernel.paths.pc).tolist())
        used = [part for part in parts if _is_used(part, kernel, timing, executed)]
        if all_parts:
            times.simulates_all = True
            return _ranked(times, parts, used, timing.seconds)
        return _ranked(times, used, used, timing.seconds)


class _Times:
    """The times of a launch without some of its parts, each simulated once."""

    def __init__(
        self,
        pool: ThreadPoolExecutor,
        kernel: TimedKernel,
        device: Device,
        timing: LaunchTiming,
        tables: SharedTables | None,
    ) -> None:
        self._pool = pool
        self._kernel, self._device, self._timing = kernel, device, timing
        self._tables = tables
        self._known: dict[frozenset[Component], float] = {}
        self.simulates_all = False

    def __call__(self, sets: Sequence[frozenset[Component]]) -> list[float]:
        """Seconds without the parts of each set."""
        from kernelcast.simcore.timing.launch.steady_stretch import FEW_INSTRUCTIONS

        new = [parts for parts in dict.fromkeys(sets) if parts not in self._known]
        expected_s = expected_walks_s(self._kernel, self._device, len(new), FEW_INSTRUCTIONS)
        stage = lasting_stage("advice", expected_s)
        tell(stage, 0.0)
        walks = zip(new, self._pool.map(self._time, new), strict=True)
        for number, (parts, seconds) in enumerate(walks, 1):
            self._known[parts] = seconds
            tell(stage, number / len(new))
        return [self._known[parts] for parts in sets]

    def _time(self, without: frozenset[Component]) -> float:
        from kernelcast.simcore.timing.launch.launch_timing import launch_timing

        timing = self._timing
        if without == {Component.LAUNCH_OVERHEAD}:
            return timing.seconds - timing.overhead_s
        if without == {Component.IMBALANCE}:
            return timing.seconds - self._device.seconds(timing.scale * timing.imbalance_cycles)
        if not self.simulates_all and len(without) == 1 and never_waits(timing, *without):
            return timing.seconds
        return launch_timing(
            self._kernel,
            self._device,
            without,
            tables=self._tables,
            only_time=True,
        ).seconds


def never_waits(timing: LaunchTiming, part: Component) -> bool:
    """Whether nothing has ever waited for the part, so that all goes as it does without it."""
    if part is Component.OUTSTANDING_REQUESTS:
        return not timing.has_queued
    reason = WAITS.get(part)
    return reason is not None and reason not in timing.waits


def _ranked(
    times: Times, parts: Sequence[Component], used: Sequence[Component], total_s: float
) -> tuple[Relief, ...]:
    found = _relieved(times, [(part,) for part in parts], total_s)
    alone = sorted(found, key=lambda relief: relief.saved_s, reverse=True)
    first, most_s = max(alone, key=lambda relief: relief.weight), alone[0].saved_s
    first = _most_precise(first, alone)
    if most_s < _ALONE * total_s:
        together = _together(times, used, total_s)
        if together is not None and most_s < _ALONE * together.saved_s:
            first = together
    others = (relief for relief in alone if relief.saved_s > NOTABLE * total_s)
    return (first, *(relief for relief in others if relief is not first))


def _most_precise(first: Relief, alone: Sequence[Relief]) -> Relief:
    inside = _WITHIN.get(first.components[0])
    most = _MOST_OF_ALL * first.saved_s
    found = (item for item in alone if item.components == (inside,) and item.saved_s >= most)
    return next(found, first)


def _together(times: Times, parts: Sequence[Component], total_s: float) -> Relief | None:
    """The fewest parts that save nearly as much as all of them."""
    sets = [tuple(part for part in group if part in parts) for group in _TOGETHER]
    several = list(dict.fromkeys(group for group in sets if len(group) > 1))
    if not several:
        return None
    found = _relieved(times, several, total_s)
    return _fewest(times, _smallest(found), total_s)


def _fewest(times: Times, chosen: Relief, total_s: float) -> Relief:
    """The parts without which the others save notably less, if they do for all of them."""
    parts = chosen.components
    others = [tuple(item for item in parts if item is not part) for part in parts]
    left_out = _relieved(times, others, total_s)
    needed = tuple(
        part
        for part, relief in zip(parts, left_out, strict=True)
        if relief.saved_s < _MOST_OF_ALL * chosen.saved_s
    )
    if len(needed) < 2 or len(needed) == len(parts):
        return chosen
    return _smallest([chosen, *_relieved(times, [needed], total_s)])


def _smallest(found: Sequence[Relief]) -> Relief:
    """The first with the fewest parts of those that save nearly as much as any.

    All of them may lose time instead, as anomalies of the schedule go; then it is the least loss.
    """
    most_s = max(relief.saved_s for relief in found)
    least_s = min(most_s, _MOST_OF_ALL * most_s)
    enough = [relief for relief in found if relief.saved_s >= least_s]
    return min(enough, key=lambda relief: len(relief.components))


def _relieved(times: Times, sets: Iterable[tuple[Component, ...]], total_s: float) -> list[Relief]:
    listed = list(sets)
    seconds = times([frozenset(parts) for parts in listed])
    return [Relief(parts, left, total_s) for parts, left in zip(listed, seconds, strict=True)]


def _parts(kernel: TimedKernel, device: Device, timing: LaunchTiming) -> list[Component]:
    """The parts that may hold the launch up, in the order of their definition."""
    from kernelcast.simcore.timing.kernel.relieved_kernel import is_burdened_by

    return [
        part
        for part in Component
        if is_burdened_by(part, kernel, device)
        and (part not in _OF_WAVES or part is _of_waves(kernel, device, timing))
    ]


_OF_WAVES = frozenset({Component.TAIL, Component.IMBALANCE})


def _of_waves(kernel: TimedKernel, device: Device, timing: LaunchTiming) -> Component | None:
    """How thread blocks fail to fill the SMs to the end: one of them, which explains it once."""
    from kernelcast.simcore.timing.launch.whole_waves import whole_waves

    if whole_waves(kernel, device) < kernel.thread_blocks:
        return Component.TAIL
    return Component.IMBALANCE if timing.imbalance_cycles else None


def _is_used(
    part: Component, kernel: TimedKernel, timing: LaunchTiming, executed: frozenset[Pipeline]
) -> bool:
    """Whether the launch uses the part at all; `executed` are the pipelines of its events."""
    pipeline = _USED_BY.get(part)
    match part:
        case Component.BARRIER if len(kernel.paths.phases):
            return True
        case Component.INSTRUCTION_FETCH:
            return timing.lost(StallReason.INSTRUCTION_FETCH) > 0
        case Component.ARITHMETIC_LATENCY:
            return any(_USED_BY[unit] in executed for unit in _UNITS)
    return pipeline is None or pipeline in executed
