"""The static schedule of a kernel, for the regions that its warps were seen to execute."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernelcast.simcore.host.deadline import watched
from kernelcast.simcore.isa.analysis.instruction_rows import basic_block_of_each_pc
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.isa.schedule.predicate_branches import predicated_edges
from kernelcast.simcore.isa.schedule.region import Region, Value
from kernelcast.simcore.isa.schedule.register_estimate import (
    order_limit,
    pcs_of_block,
    prepared,
)
from kernelcast.simcore.isa.schedule.share_invariants import shared_sequences
from kernelcast.simcore.isa.schedule.unroll_loops import loop_bodies, unrolled_loops
from kernelcast.traces.static_schedule import (
    Names,
    ScheduledRegion,
    StaticSchedule,
    region_keys,
    region_starts,
)
from kernelcast.traces.warp_paths import WarpPaths

__all__ = ["static_schedule"]

_MOST_REGIONS = 1000
_MOST_STEPS = 8000
"""The longest region that is put in another order."""
_WHAT = "ordering instructions"


def static_schedule(kernel: Kernel, paths: WarpPaths) -> StaticSchedule:
    """What native code would do with the regions of `paths`; nothing for machine code."""
    is_plain = kernel.machine is None and not kernel.is_as_written and not kernel.is_for_debugging
    if not is_plain or not len(paths.pc):
        return StaticSchedule()
    cuts = _cuts(kernel)
    block_of = basic_block_of_each_pc(kernel)
    starts = region_starts(paths, block_of, cuts)
    keys, lengths = region_keys(paths.pc, starts, len(block_of))
    _, first, often = np.unique(keys, return_index=True, return_counts=True)
    chosen = first[np.argsort(-(often * lengths[first]), kind="stable")][:_MOST_REGIONS]
    limit, found = order_limit(kernel), []
    for at in watched(chosen.tolist(), _WHAT):
        begin, length = int(starts[at]), int(lengths[at])
        if 1 < length <= _MOST_STEPS:
            pcs = paths.pc[begin : begin + length].tolist()
            found.append(_scheduled(kernel, pcs, int(block_of[pcs[-1]]), limit))
    return StaticSchedule(cuts.glued, cuts.unrolled, tuple(found), shared_sequences(kernel))


def _cuts(kernel: Kernel) -> StaticSchedule:
    """What stands in one piece; basic blocks in which pcs do not rise stand alone, cut in two.

    Paths do not tell where those begin.
    """
    pieces = (pcs_of_block(kernel, block.index) for block in kernel.blocks)
    torn = {block for block, pcs in enumerate(pieces) if pcs != sorted(pcs)}
    bodies = loop_bodies(kernel)
    return StaticSchedule(
        tuple(sorted(edge for edge in _glued(kernel) if torn.isdisjoint(edge))),
        tuple(sorted(x for x in unrolled_loops(kernel) if torn.isdisjoint(bodies[x]))),
    )


def _glued(kernel: Kernel) -> set[tuple[int, int]]:
    """Predicated edges as paths show them, in which empty basic blocks leave no event."""
    found = set(predicated_edges(kernel))
    empty = [b.index for b in kernel.blocks if not b.body and not b.terminator.mnemonic]
    for block in empty:
        into = [a for a, b in found if b == block]
        out = [b for a, b in found if a == block]
        found |= {(a, b) for a in into for b in out}
    return found


def _scheduled(kernel: Kernel, pcs: Sequence[int], last: int, limit: int) -> ScheduledRegion:
    dropped = unrolled_loops(kernel).get(_head(kernel, pcs[0]), frozenset())
    end = max(place for place, pc in enumerate(pcs) if pc == pcs[0])
    item = prepared(
        kernel, pcs, frozenset(i for i, pc in enumerate(pcs[:end]) if pc in dropped), last
    )
    order = item.scheduled(limit)
    names = _names(item.region, order, len(kernel.registers))
    steps = [item.region.steps[position] for position in order]
    return ScheduledRegion(
        pcs=tuple(pcs),
        order=tuple(order),
        is_folded=tuple(step.is_folded for step in steps),
        reads=tuple(_renamed(step.reads, names) for step in steps),
        writes=tuple(_renamed(step.writes, names) for step in steps),
    )


def _head(kernel: Kernel, pc: int) -> int:
    return int(basic_block_of_each_pc(kernel)[pc])


def _renamed(values: Sequence[Value], names: dict[int, int]) -> Names:
    return tuple(
        (value.register, names[id(value)])
        for value in values
        if names.get(id(value), value.register) != value.register
    )


def _names(region: Region, order: Sequence[int], first: int) -> dict[int, int]:
    """Names of the values that another one of their register follows in the region.

    Those that nothing reads any more are free again.
    """
    final = {id(value) for value in region.after.values()}
    left = {id(value): len(value.readers) for step in region.steps for value in step.writes}
    names: dict[int, int] = {}
    free: list[int] = []
    most = first
    for position in order:
        step = region.steps[position]
        for value in step.writes:
            if id(value) not in final:
                if not free:
                    free.append(most)
                    most += 1
                names[id(value)] = free.pop()
        for value in dict.fromkeys((*step.reads, *step.kept)):
            if id(value) in left:
                left[id(value)] -= 1
                if not left[id(value)] and id(value) in names:
                    free.append(names[id(value)])
    return names
