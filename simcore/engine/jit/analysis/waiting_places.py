"""Where lanes of a warp may wait while others run.

A place has a number: basic blocks come first, then barriers by the basic block that they end, then
the yields by the head of the spin loop, or by the basic block that needs lanes which spin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kernelcast.simcore.engine.reference.counted_barriers import has_counted_barriers
from kernelcast.simcore.host.deadline import watched
from kernelcast.simcore.isa.analysis.cluster_addresses import has_cluster_barriers
from kernelcast.simcore.isa.analysis.spin_loops import meeting_blocks, spin_loops
from kernelcast.simcore.isa.ir.kernel import BarrierSync, Branch, Kernel, Register

__all__ = [
    "ThreadBlockLayout",
    "WaitingPlaces",
]


class WaitingPlaces:
    """The places of one kernel where lanes of a warp may wait.

    `yielding`: heads of spin loops, and basic blocks where others wait for those that spin.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self.blocks = len(kernel.blocks)
        heads = {loop.head for loop in spin_loops(kernel)}
        self.yielding = tuple(sorted(heads.union(meeting_blocks(kernel))))
        self.has_counted_barriers = has_counted_barriers(kernel) or has_cluster_barriers(kernel)
        """Whether some lanes may leave barriers while others stay."""

    def barrier(self, block: int) -> int:
        """The place of the barrier that ends a basic block."""
        return self.blocks + block

    def yielded(self, head: int) -> int:
        """The place of lanes that gave way at the head of a spin loop."""
        return 2 * self.blocks + head

    def block(self, place: int) -> int:
        """The basic block that lanes are in which wait at `place`."""
        return place % self.blocks

    def target(self, place: int) -> int:
        """The basic block where lanes that wait at `place` go on."""
        if not self._is_barrier(place):
            return self.block(place)
        end = self._kernel.blocks[self.block(place)].terminator
        assert isinstance(end, BarrierSync)
        return end.target

    def slot(self, place: int) -> str:
        """The name of its mask."""
        return f"%{'PWY'[place // self.blocks]}{self.block(place)}"

    def pending_with(self, is_uniform: Mapping[int, bool]) -> tuple[frozenset[int], ...]:
        """The places where other lanes of its warp may wait while each basic block runs.

        `is_uniform`: by register index, whether it is the same in all lanes.
        """
        found: list[set[int]] = [set() for _ in range(self.blocks)]
        work: list[tuple[int, int]] = []

        def part(one: int, other: int) -> None:
            low, high = min(one, other), max(one, other)
            if low >= self.blocks:
                for pair in self._after_waiting(low, high):
                    part(*pair)
            elif low != high and high not in found[low]:
                found[low].add(high)
                work.append((low, high))

        for block in watched(self._kernel.blocks, "analysing the kernel"):
            end = block.terminator
            if isinstance(end, Branch) and not is_uniform[end.guard.register.index]:
                part(end.target, end.otherwise)
            elif isinstance(end, BarrierSync) and _names_several(end, is_uniform):
                part(end.target, self.barrier(block.index))
        while work:
            running, waiting = work.pop()
            for place in self._next(running):
                part(place, waiting)
        return tuple(frozenset(places) for places in found)

    def _is_barrier(self, place: int) -> bool:
        return self.blocks <= place < 2 * self.blocks

    def _next(self, running: int) -> list[int]:
        """Where lanes may be that ran a basic block, or that came to one."""
        block = self._kernel.blocks[running]
        places = list(block.successors)
        if isinstance(block.terminator, BarrierSync):
            places = [self.barrier(running)]
        if running in self.yielding:
            places.append(self.yielded(running))
        return places

    def _after_waiting(self, one: int, other: int) -> list[tuple[int, int]]:
        """Two groups of lanes wait at places other than basic blocks: where they are next.

        Lanes that yielded go on as soon as nobody else of the warp can; barriers wait for them.
        """
        targets = self.target(one), self.target(other)
        if not self._is_barrier(other):
            return [(one, targets[1])] if self._is_barrier(one) else [targets]
        if not self.has_counted_barriers:
            return [targets]
        return [targets, (targets[0], other), (one, targets[1])]


def _names_several(barrier: BarrierSync, is_uniform: Mapping[int, bool]) -> bool:
    """Whether lanes of one warp may wait at barriers of different number."""
    return isinstance(barrier.number, Register) and not is_uniform[barrier.number.index]


@dataclass(frozen=True, slots=True)
class HeldCounters:
    """Counters that all warps of a thread block add to before they go into its row.

    `parts`: in rising order, (word of the row, which of the `count` counters, its factor);
    `is_all`: whether nothing else goes into a row.
    """

    parts: tuple[tuple[int, int, int], ...]
    count: int
    is_all: bool


@dataclass(frozen=True, slots=True)
class ThreadBlockLayout:
    """What the loop over thread blocks must know of a kernel's warp function.

    `mixed_state` is the warp function's state for lanes that wait at several places, of which
    `mixed_offsets` says where a context holds the lanes of each. `yield_state`: its state for lanes
    that yielded, None when there are no spin loops; `opened` and `numbers`: where a context holds
    the lanes whose counted barriers have opened and the number of each lane's barrier, None when
    there are no such barriers; `access_slots`: counters a stage of accesses that are not recorded;
    `digest_offset`: where a context holds the digest of the warp's branches, None when all warps
    branch alike.
    """

    width: int
    warps: int
    grid: tuple[int | None, ...]
    counters: int
    context_bytes: int
    shared_bytes: int
    local_bytes: int
    mixed_state: int
    mixed_offsets: tuple[int, ...]
    has_barriers: bool
    access_slots: int
    record_bytes: int
    digest_offset: int | None
    yield_state: int | None
    opened_offset: int | None
    numbers_offset: int | None
    is_in_cluster: bool = False
    """Whether shared memory is of a cluster, which clears it."""
    row_slots: int = 0
    """Accesses that look up the allocation that they go to."""
    together: int = 1
    """Warps that are executed as one: `warps` and `width` are of such."""
    held: HeldCounters = HeldCounters((), 0, False)
    is_ordered: bool = False
    """Whether warps take turns in an order that the worker says."""

    @property
    def is_one_phase(self) -> bool:
        """Whether each warp runs once, from its first instruction to its last."""
        return not (self.has_barriers or self.takes_turns)

    @property
    def clocks(self) -> int:
        """Warps of a thread block, each of which has a time of its own."""
        return self.warps * self.together

    @property
    def takes_turns(self) -> bool:
        """Whether some warps may run on while others wait."""
        return self.yield_state is not None or self.opened_offset is not None
