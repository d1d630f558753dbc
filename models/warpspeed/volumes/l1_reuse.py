"""How much thread blocks put into L1 between two uses of one sector.

What lies between two uses is what all warps of a thread block ask for in the accesses from the
first one up to the second. That distance, not all that a thread block allocates, decides on a hit:
loads of one warp that follow each other share lines in a cache of any size.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.models.warpspeed.volumes.bound_kernel import BoundKernel
from kernelcast.models.warpspeed.volumes.footprint import last_uses
from kernelcast.models.warpspeed.volumes.thread_blocks import ThreadBlockClass
from kernelcast.simcore.address.access_steps import (
    AccessStep,
    add_distinct,
    step_sets,
    steps_by_field,
)
from kernelcast.simcore.address.address_sets import AddressSets
from kernelcast.simcore.address.boxes import BoundAccess, StridedFamily, joined_spans
from kernelcast.simcore.address.expression import AXES
from kernelcast.simcore.address.kernel import AddressKernel

__all__ = ["L1Reuse", "l1_reuse"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_MOST_PHASES = 4
"""Places within a line at which thread blocks begin that are looked at."""


@dataclass(frozen=True)
class L1Reuse:
    """Sectors that one thread block uses again, and lines that came in between, shape (reuses,).

    `load` is the number of the access that uses them again, among the loads of a thread in their
    order; `own_lines` are of the thread block itself, `other_lines` of each other one on its SM.
    `asked`: distinct sectors of each load. What warps share within one load always hits.
    """

    load: Ints
    sectors: Floats
    own_lines: Floats
    other_lines: Floats
    asked: Floats

    def lines(self, thread_blocks_per_sm: int) -> Floats:
        """Distances on an SM with so many thread blocks, shape (reuses,)."""
        return self.own_lines + (thread_blocks_per_sm - 1) * self.other_lines

    def hit_shares(self, hit_rates: Floats) -> Floats:
        """The share of each load's sectors that hits, given the hit rate of each reuse."""
        hits = np.bincount(self.load, self.sectors * hit_rates, len(self.asked))
        found: Floats = np.minimum(1.0, hits / self.asked)
        return found


@dataclass(frozen=True)
class _Loads:
    """The loads of a thread block of one kind, and when warps issue them.

    `clock`: a load that needs no address of its own follows the one before it at once.
    """

    kernel: AddressKernel
    shape: ThreadBlockClass
    steps: tuple[AccessStep, ...]
    clock: Ints

    def sets(self, steps: Iterable[AccessStep], *, has_loops: bool = True) -> AddressSets:
        """The addresses that the threads of thread block 0 touch in each step.

        In all trips of a step's loops, or in one.
        """
        return step_sets(steps, lambda access: (self._family(access, has_loops),))

    def _family(self, access: BoundAccess, has_loops: bool) -> StridedFamily:
        factors = dict(access.coefficients)
        threads = [
            (factors.get(f"tid.{axis}", 0), *self._threads(number))
            for number, axis in enumerate(AXES)
        ]
        loops = [(factors.get(name, 0), 0, trips) for name, trips in access.loops]
        spans = joined_spans((*threads, *loops) if has_loops else threads)
        return StridedFamily(access.constants, spans, access.access_bytes)

    def _threads(self, axis: int) -> tuple[int, int]:
        """First and end of the threads along an axis that have a cell in the domain."""
        kernel, cells = self.kernel, self.kernel.folding[axis]
        begin = self.shape.index[axis] * kernel.tile[axis]
        first = max(0, kernel.origin[axis] - begin) // cells
        end = min(kernel.block[axis], -(-(kernel.domain[axis] - begin) // cells))
        return first, max(first + 1, end)

    def offsets(self, line_bytes: int) -> tuple[int, ...]:
        """Bytes behind a line at which thread blocks begin.

        All that occur, or some spread over sectors and lines.
        """
        by_block = [
            [dict(step.access.coefficients).get(f"ctaid.{axis}", 0) for axis in AXES]
            for step in self.steps
        ]
        start = sum(step * at for step, at in zip(by_block[0], self.shape.index, strict=True))
        start += self.kernel.field(self.steps[0].access.field).base_alignment_bytes
        step = math.gcd(line_bytes, *itertools.chain(*by_block))
        count = line_bytes // step
        looked_at = min(count, _MOST_PHASES)
        each = count // looked_at + (count > looked_at)
        return tuple((start + step * each * at) % line_bytes for at in range(looked_at))


def l1_reuse(
    bound: BoundKernel, shape: ThreadBlockClass, sector_bytes: int, line_bytes: int
) -> L1Reuse:
    """The reuse of loads of thread blocks like `shape`; means over where in a line they begin."""
    steps = tuple(step for step in bound.steps if not step.is_store)
    if not steps:
        return L1Reuse(np.zeros(0, np.int64), *(np.zeros(0) for _ in range(4)))
    apart = [not step.follows(before, line_bytes) for before, step in itertools.pairwise(steps)]
    clock = np.concatenate(([0], np.cumsum(apart, dtype=np.int64)))
    loads = _Loads(bound.kernel, shape, steps, clock)
    fields = [(at, loads.sets([steps[number] for number in at])) for at in steps_by_field(steps)]
    found = [
        _reuse_at(loads, fields, offset, (sector_bytes, line_bytes))
        for offset in loads.offsets(line_bytes)
    ]
    return L1Reuse(
        load=np.concatenate([item.load for item in found]),
        sectors=np.concatenate([item.sectors for item in found]) / len(found),
        own_lines=np.concatenate([item.own_lines for item in found]),
        other_lines=np.concatenate([item.other_lines for item in found]),
        asked=np.mean([item.asked for item in found], axis=0),
    )


def _reuse_at(
    loads: _Loads, fields: Sequence[tuple[Ints, AddressSets]], offset: int, units: tuple[int, int]
) -> L1Reuse:
    """The reuse in thread blocks that begin `offset` bytes behind a line."""
    count = len(loads.steps)
    used, between, asked = np.zeros((count, count)), np.zeros((count, count)), np.zeros(count)
    for at, sets in fields:
        sectors, lines = (last_uses(sets, unit, offset) for unit in units)
        add_distinct(between, lines, at)
        used[np.ix_(at, at)] = sectors[:, 1:]
        asked[at] = sectors.sum(axis=1)
    later, earlier = np.nonzero(used)
    ticks = loads.clock[later] - loads.clock[earlier]
    own, other = between[later - 1, earlier], _of_others(between, loads.clock)[ticks]
    found = L1Reuse(later, used[later, earlier], own, other, asked)
    return _with_loops(loads, earlier, found, offset, units) if loads.kernel.loops else found


def _of_others(between: Floats, clock: Ints) -> Floats:
    """Lines that a thread block touches in 0, 1, 2, ... ticks: means over where it stands."""
    ticks = int(clock[-1]) + 1
    at = np.arange(ticks)
    first = np.searchsorted(clock, at)
    last = np.searchsorted(clock, at, side="right") - 1
    later, earlier = np.tril_indices(ticks)
    sums = np.bincount(later - earlier + 1, between[last[later], first[earlier]], ticks + 1)
    found = sums[:ticks] / np.maximum(1, ticks + 1 - at)
    found[0] = 0.0
    return found


def _with_loops(
    loads: _Loads, earlier: Ints, found: L1Reuse, offset: int, units: tuple[int, int]
) -> L1Reuse:
    """The reuse with loops: one trip lies between two uses, by two loads or by one."""
    load, sectors, own, other = found.load, found.sectors, found.own_lines, found.other_lines
    sector_bytes, line_bytes = units
    loops = [step.access.loops for step in loads.steps]
    for loop in dict.fromkeys(trips for trips in loops if trips):
        inside = np.array([at for at, trips in enumerate(loops) if trips == loop])
        members = [loads.steps[at] for at in inside]
        trip = sum(
            _distinct(loads, [members[at] for at in of_field], line_bytes, offset)
            for of_field in steps_by_field(members)
        )
        here = np.isin(load, inside) & np.isin(earlier, inside)
        again = [_again(loads, step, sector_bytes, offset) for step in members]
        load, sectors = np.append(load, inside), np.append(sectors, again)
        lines = np.full(len(inside), trip)
        own = np.append(np.where(here, trip, own), lines)
        other = np.append(np.where(here, trip, other), lines)
        earlier = np.append(earlier, inside)
    return L1Reuse(load, sectors, own, other, found.asked)


def _again(loads: _Loads, step: AccessStep, unit: int, offset: int) -> float:
    """Units that the trips of a loop use again."""
    trips = math.prod(count for _, count in step.access.loops)
    whole = _distinct(loads, [step], unit, offset, has_loops=True)
    return max(0.0, trips * _distinct(loads, [step], unit, offset) - whole)


def _distinct(
    loads: _Loads,
    steps: Sequence[AccessStep],
    unit: int,
    offset: int,
    *,
    has_loops: bool = False,
) -> float:
    """Units that loads of one field touch together in one trip, or in all of them."""
    return float(last_uses(loads.sets(steps, has_loops=has_loops).joined, unit, offset).sum())
