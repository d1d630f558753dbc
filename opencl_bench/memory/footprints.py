"""Bandwidth over footprint: the same data again and again, from 1 KiB to beyond every cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kernelcast.opencl_bench.benchmark import Effort
from kernelcast.opencl_bench.measurement import Curve, CurvePoint, Finding, Unit
from kernelcast.opencl_bench.memory.rates import (
    Seconds,
    bandwidth_curve,
    curve_point,
    per_second,
    require_equal,
)
from kernelcast.opencl_bench.memory.sizes import (
    REPEATS,
    array_bytes,
    footprints,
    numbered_words,
)
from kernelcast.opencl_bench.memory.work_shape import WORD_BYTES
from kernelcast.opencl_bench.target import DeviceFacts, Target

__all__ = ["measure_footprints", "measure_write_shares"]

_FILE = "cache.cl"
_UNROLLED = 8
_PER_LAUNCH = {Effort.QUICK: 32 << 20, Effort.FULL: 128 << 20}
"""Bytes that a compute unit reads in a launch, when the footprint is smaller."""
_UPDATES = (0, 1, 2, 4, 6, 8)
_CACHED_BYTES = 16 << 10
"""A footprint for each compute unit that every first or second cache holds."""
_OCTAVES_OF_PRIVATE = {Effort.QUICK: 2, Effort.FULL: 1}
_CPU_TEAM = 32
"""Drivers for CPUs give a core several work-groups at a time: few would leave cores idle."""
_GPU_GROUPS_PER_UNIT = 8
_WORK_ITEMS = 64
"""Work-items of a work-group of plain work-items on a CPU."""


@dataclass(frozen=True, slots=True)
class _Team:
    """Work-groups for each part of the data.

    A CPU's core runs those of a team one after the other. When a part is larger than what they are
    to read, each takes a slice of it.
    """

    groups: int
    team: int
    work_group: int
    lanes: int
    is_private: bool

    @property
    def vector_bytes(self) -> int:
        return WORD_BYTES * self.lanes

    @property
    def unit_bytes(self) -> int:
        """What a work-group reads is a multiple of this."""
        return _UNROLLED * self.work_group * self.vector_bytes

    @property
    def parts(self) -> int:
        return self.groups // self.team if self.is_private else 1

    @property
    def defines(self) -> dict[str, object]:
        return {"ELEMENT": "uint" if self.lanes == 1 else f"uint{self.lanes}"}


def _team(facts: DeviceFacts, is_private: bool) -> _Team:
    """Work-groups enough to hide latency on a GPU; one for each compute unit when private."""
    if facts.is_cpu:
        return _Team(facts.compute_units * _CPU_TEAM, _CPU_TEAM, 1, 16, is_private)
    groups = facts.compute_units * (1 if is_private else _GPU_GROUPS_PER_UNIT)
    return _Team(groups, 1, min(256, facts.max_work_group), 1, is_private)


@dataclass(frozen=True, slots=True)
class _Slices:
    """`count` bytes of a work-group, the next one's `step` further, `passes` times."""

    step: int
    count: int
    passes: int


class _Sweep:
    """A team on an array of which each part uses a footprint."""

    def __init__(self, target: Target, team: _Team, effort: Effort) -> None:
        self.target, self.team, self.effort = target, team, effort
        largest = array_bytes(target.facts, effort)
        whole = team.parts * team.unit_bytes * team.team
        self.largest = largest // whole * whole // team.parts
        self.content = numbered_words(self.largest * team.parts // WORD_BYTES)
        self.data = target.buffer(self.content)
        self.sums = target.empty(team.groups * team.work_group * team.vector_bytes)
        self._seed = 0

    def slices(self, footprint: int) -> _Slices:
        """Slices and passes with which each compute unit reads enough to be timed."""
        per_unit = self.team.groups / self.target.facts.compute_units
        passes = round(_PER_LAUNCH[self.effort] / (footprint * per_unit))
        if passes or footprint % (self.team.team * self.team.unit_bytes):
            return _Slices(0, footprint, max(1, passes))
        slice_bytes = footprint // self.team.team
        return _Slices(slice_bytes, slice_bytes, 1)

    def launch(self, kernel: str, footprint: int, defines: dict[str, object]) -> Seconds:
        team, slices = self.team, self.slices(footprint)
        apart = footprint if team.is_private else 0
        numbers = (size // team.vector_bytes for size in (apart, slices.step, slices.count))
        seed = (np.uint32(self._seed),) if "UPDATES" in defines else ()
        return self.target.seconds(
            self.target.kernel(_FILE, kernel, team.defines | defines),
            (team.groups * team.work_group,),
            (team.work_group,),
            (
                self.data,
                self.sums,
                np.uint32(team.team),
                *map(np.uint32, numbers),
                np.uint32(slices.passes),
                *seed,
            ),
            REPEATS[self.effort],
        )

    def check_sums(self, kernel: str, footprint: int) -> None:
        """Raises BenchmarkError unless each work-group has added up the current content."""
        team, slices = self.team, self.slices(footprint)
        shape = (team.groups, team.work_group * team.lanes)
        items = self.target.read(self.sums, np.empty(shape, np.uint32))
        found = np.add.reduce(items, axis=1, dtype=np.uint32)
        parts = self.content[: team.parts * footprint // WORD_BYTES]
        by_slice = parts.reshape(team.parts, -1, slices.count // WORD_BYTES)
        sums = np.add.reduce(by_slice, axis=2, dtype=np.uint32) * np.uint32(slices.passes)
        number = np.arange(team.groups)
        expected = sums[number // team.team % team.parts, number % sums.shape[1]]
        require_equal(kernel, found, expected)

    def moved_bytes(self, footprint: int) -> float:
        slices = self.slices(footprint)
        return float(self.team.groups) * slices.count * slices.passes

    def read(self, footprint: int) -> CurvePoint:
        seconds = self.launch("cache_read", footprint, {})
        self.check_sums("cache_read", footprint)
        moved = self.moved_bytes(footprint)
        return curve_point(footprint, per_second("cache_read", moved, seconds))

    def update(self, footprint: int, updates: int) -> Seconds:
        """Bytes read and written, per second."""
        self._seed += 0x01000193
        seconds = self.launch("cache_update", footprint, {"UPDATES": updates})
        self._follow_update(footprint, updates)
        self.check_sums("cache_update", footprint)
        moved = self.moved_bytes(footprint) * (1 + updates / _UNROLLED)
        return per_second("cache_update", moved, seconds)

    def _follow_update(self, footprint: int, updates: int) -> None:
        """Writes into `content` what the kernel must have written, and compares.

        The warm-up launch has written it already, so that the sums are those of the new content.
        """
        team = self.team
        used = self.content[: team.parts * footprint // WORD_BYTES]
        vectors = used.reshape(-1, _UNROLLED, team.work_group, team.lanes)
        numbers = np.arange(used.size // team.lanes, dtype=np.uint32) + np.uint32(self._seed)
        numbered = numbers.reshape(*vectors.shape[:3], 1)
        vectors[:, :updates] = numbered[:, :updates]
        require_equal("cache_update", self.target.read(self.data, used), used)


def _read_curve(target: Target, effort: Effort, name: str, team: _Team) -> Curve:
    sweep = _Sweep(target, team, effort)
    octaves = _OCTAVES_OF_PRIVATE[effort] if team.is_private else 1
    sizes = footprints(sweep.largest, team.unit_bytes, effort, octaves)
    points = [sweep.read(size) for size in sizes]
    whose = "each its own part" if team.is_private else "all the same data"
    method = (
        f"compute units read {whose} repeatedly, work-groups of {team.work_group}, "
        f"{8 * team.vector_bytes} bits a load"
    )
    axis = "footprint of a compute unit" if team.is_private else "footprint"
    return bandwidth_curve(name, axis, Unit.BYTES, points, method)


def _update_curve(target: Target, effort: Effort) -> Curve:
    team = _team(target.facts, is_private=True)
    sweep = _Sweep(target, team, effort)
    sizes = footprints(sweep.largest, team.unit_bytes, effort, _OCTAVES_OF_PRIVATE[effort])
    points = [curve_point(size, sweep.update(size, _UNROLLED)) for size in sizes]
    return bandwidth_curve(
        "update_bandwidth_over_footprint",
        "footprint of a compute unit",
        Unit.BYTES,
        points,
        "each compute unit reads and overwrites its own part repeatedly; loads and stores count",
    )


def measure_footprints(target: Target, effort: Effort) -> Sequence[Finding]:
    """Caches show as plateaus; one that compute units share ends sooner when parts are private.

    A CPU's plain work-items read scalars: those of a GPU do so in the other curves.
    """
    same, own = (_team(target.facts, is_private) for is_private in (False, True))
    curves = [
        _read_curve(target, effort, "read_bandwidth_over_footprint", same),
        _read_curve(target, effort, "private_read_bandwidth_over_footprint", own),
        _update_curve(target, effort),
    ]
    if target.facts.is_cpu:
        plain = replace(own, work_group=min(_WORK_ITEMS, target.facts.max_work_group), lanes=1)
        curves.append(_read_curve(target, effort, "work_item_bandwidth_over_footprint", plain))
    return curves


def _share_curve(sweep: _Sweep, name: str, footprint: int) -> Curve:
    points = [
        curve_point(updates / (_UNROLLED + updates), sweep.update(footprint, updates))
        for updates in _UPDATES
    ]
    method = (
        f"each compute unit reads {footprint} bytes of its own repeatedly and overwrites some of "
        f"each {_UNROLLED} elements; loads and stores count"
    )
    return bandwidth_curve(name, "share of writes in the traffic", Unit.RATIO, points, method)


def measure_write_shares(target: Target, effort: Effort) -> Sequence[Finding]:
    """Measures bandwidth over the share of writes, in a cache and in memory; nothing if QUICK."""
    if effort is Effort.QUICK:
        return ()
    sweep = _Sweep(target, _team(target.facts, is_private=True), effort)
    unit = sweep.team.unit_bytes
    cached = min(max(_CACHED_BYTES // unit, 1) * unit, sweep.largest)
    return (
        _share_curve(sweep, "cache_bandwidth_over_write_share", cached),
        _share_curve(sweep, "global_bandwidth_over_write_share", sweep.largest),
    )
