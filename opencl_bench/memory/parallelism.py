"""Bandwidth over work-groups, their size, and loads of a work-item (Zhang and Owens, Figure 3).

The figure's launches are small; here the same number of work-items walks through an array that no
cache holds, so that launch cost and reuse do not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kernelcast.opencl_bench.benchmark import Effort
from kernelcast.opencl_bench.measurement import Curve, CurvePoint, Finding, Unit
from kernelcast.opencl_bench.memory.rates import (
    bandwidth_curve,
    curve_point,
    per_second,
    require_equal,
    word_sum,
)
from kernelcast.opencl_bench.memory.sizes import REPEATS, array_bytes, numbered_words
from kernelcast.opencl_bench.memory.work_shape import WORD_BYTES
from kernelcast.opencl_bench.target import DeviceFacts, Target

__all__ = ["ReadLaunch", "measure_parallelism", "usual_launch"]

_LOADS = {Effort.QUICK: (1, 4), Effort.FULL: (1, 2, 3, 4, 6, 8, 12, 16)}
_EVERY_COUNT_TO = {Effort.QUICK: 0, Effort.FULL: 24}
"""How many work-groups are tried one by one: the sawtooth's period is that of clusters."""
_CPU_GROUPS_PER_UNIT, _GPU_GROUPS_PER_UNIT = 32, 8
_STEP_OF_SIZES = {Effort.QUICK: 16, Effort.FULL: 2}


@dataclass(frozen=True, slots=True)
class ReadLaunch:
    """Work-groups, work-items of each, and independent loads of a work-item."""

    groups: int
    work_group: int
    loads: int


def usual_launch(facts: DeviceFacts) -> ReadLaunch:
    """What each of the three sweeps has where it does not vary."""
    group = min(64 if facts.is_cpu else 256, facts.max_work_group)
    per_unit = _CPU_GROUPS_PER_UNIT if facts.is_cpu else _GPU_GROUPS_PER_UNIT
    return ReadLaunch(facts.compute_units * per_unit, group, 4)


class _Sweep:
    def __init__(self, target: Target, effort: Effort) -> None:
        self.target, self.repeats = target, REPEATS[effort]
        self.lanes = max(target.facts.llvm_float_width, 1) if target.facts.is_cpu else 1
        self.content = numbered_words(array_bytes(target.facts, effort) // WORD_BYTES)
        self.data = target.buffer(self.content)
        element = "uint" if self.lanes == 1 else f"uint{self.lanes}"
        barrier = {"ROUND_BARRIER": 1} if target.facts.is_cpu else {}
        self._defines: dict[str, object] = {"ELEMENT": element, **barrier}

    def point(self, x: int, launch: ReadLaunch) -> CurvePoint:
        items = launch.groups * launch.work_group
        sums = self.target.empty(items * self.lanes * WORD_BYTES)
        per_round = items * launch.loads * self.lanes
        rounds = self.content.size // per_round
        seconds = self.target.seconds(
            self.target.kernel(
                "occupancy.cl", "occupancy_read", {**self._defines, "LOADS": launch.loads}
            ),
            (items,),
            (launch.work_group,),
            (self.data, sums, np.uint32(rounds)),
            self.repeats,
        )
        found = self.target.read(sums, np.empty(items * self.lanes, np.uint32))
        read = self.content[: rounds * per_round]
        require_equal("occupancy_read", np.array([word_sum(found)]), word_sum(read))
        return curve_point(x, per_second("occupancy_read", read.nbytes, seconds))

    def curve(self, name: str, axis: str, launches: dict[int, ReadLaunch], fixed: str) -> Curve:
        fitting = {
            x: launch
            for x, launch in launches.items()
            if launch.groups * launch.work_group * launch.loads * self.lanes <= self.content.size
        }
        points = [self.point(x, launch) for x, launch in fitting.items()]
        method = (
            f"{self.content.nbytes >> 20} MiB read once, {32 * self.lanes} bits a load; {fixed}"
        )
        return bandwidth_curve(name, axis, Unit.COUNT, points, method)


def _group_counts(facts: DeviceFacts, effort: Effort) -> list[int]:
    """Powers of two and their middles up to twice the usual number."""
    largest = 2 * usual_launch(facts).groups
    octaves = [2**k for k in range(int(np.log2(largest)) + 1)]
    middles = [3 * n // 2 for n in octaves if n > 1] if effort is Effort.FULL else []
    every = range(1, min(_EVERY_COUNT_TO[effort], largest) + 1)
    return sorted({n for n in (*octaves, *middles, *every, largest) if n <= largest})


def _group_sizes(facts: DeviceFacts, effort: Effort) -> list[int]:
    sizes, size = [], max(facts.preferred_work_group_multiple, 1)
    while size <= facts.max_work_group:
        sizes.append(size)
        size *= _STEP_OF_SIZES[effort]
    return sizes or [facts.max_work_group]


def measure_parallelism(target: Target, effort: Effort) -> Sequence[Finding]:
    """Measures bandwidth over work-groups, their size, and loads of a work-item."""
    sweep, usual = _Sweep(target, effort), usual_launch(target.facts)
    counts = _group_counts(target.facts, effort)
    sizes = _group_sizes(target.facts, effort)
    return (
        sweep.curve(
            "read_bandwidth_over_work_groups",
            "work-groups",
            {n: replace(usual, groups=n) for n in counts},
            f"work-groups of {usual.work_group}, {usual.loads} independent loads",
        ),
        sweep.curve(
            "read_bandwidth_over_work_group_size",
            "work-items of a work-group",
            {n: replace(usual, work_group=n) for n in sizes},
            f"{usual.groups} work-groups, {usual.loads} independent loads",
        ),
        sweep.curve(
            "read_bandwidth_over_loads_per_item",
            "independent loads of a work-item",
            {n: replace(usual, loads=n) for n in _LOADS[effort]},
            f"{usual.groups} work-groups of {usual.work_group}",
        ),
    )
