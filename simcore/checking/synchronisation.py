"""What records of fences, strong accesses and barriers do to the clocks of threads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from kernelcast.simcore.checking.barriers import Barriers
from kernelcast.simcore.checking.bulk_copies import BulkCopies
from kernelcast.simcore.checking.clocks import Clocks, View
from kernelcast.simcore.checking.findings import Raw
from kernelcast.simcore.checking.plan import Plan
from kernelcast.simcore.checking.records import (
    BULK,
    FLOOR,
    NOW,
    READ,
    STAGE,
    WARP_SYNC,
    WRITE,
    Shadow,
)
from kernelcast.simcore.checking.rules import is_of_bulk, order_of
from kernelcast.simcore.checking.told_copies import ToldCopies
from kernelcast.simcore.engine.jit.codegen.events import COUNT_SHIFT
from kernelcast.simcore.engine.jit.codegen.memory.records import EVENT
from kernelcast.simcore.engine.jit.codegen.runtime_functions import SPACES
from kernelcast.simcore.isa.analysis.cluster_addresses import OFFSET_BITS
from kernelcast.simcore.isa.ir.kernel import (
    Atomic,
    BarrierArrive,
    BarrierSync,
    BulkCopy,
    ClusterArrive,
    Fence,
    Instruction,
    Load,
    Store,
)
from kernelcast.simcore.isa.ir.mbarrier_words import is_mbarrier_look
from kernelcast.simcore.isa.types import WINDOW_BYTES, WINDOWS, AddressSpace

__all__ = ["Synchronisation"]

_SHARED = WINDOWS[AddressSpace.SHARED]


class Watched(Protocol):
    """The launch: what its instructions are, and what its threads know by clocks."""

    plan: Plan
    instructions: dict[int, Instruction]
    clocks: Clocks
    barriers: Barriers
    ranks: Any

    def note(self, raw: Raw) -> None:
        """Takes a finding."""

    def mate(self, thread_block: int, rank: int) -> int:
        """The thread block of a rank in the cluster of another one."""


class Place(Protocol):
    """Where thread blocks run: `state` by rank, and what threads know without clocks."""

    state: Any
    shadow: Shadow


class Synchronisation:
    """Acts on the clocks for one follower."""

    def __init__(self, detector: Watched, follower: Place) -> None:
        self._detector = detector
        self._clocks, self._barriers = detector.clocks, detector.barriers
        self._follower = follower
        self._table = detector.plan.table
        self._geometry = detector.plan.geometry
        self._told = ToldCopies(follower.shadow)
        self._bulk = BulkCopies(detector, follower) if self._geometry.has_bulk else None

    def record(
        self, head: Sequence[int], addresses: Sequence[int], values: Sequence[int] = ()
    ) -> None:
        """A record of an event, or of a strong access that has been followed.

        `head`: its first five words; `addresses` of an access, by lane, or numbers of an event;
        `values`: what goes with them.
        """
        info, when, where, mask, number = head
        pc, warp, block = info & 0xFFFFFF, when >> 32, where & 0xFFFFFFFF
        lanes = [lane for lane in range(self._geometry.width) if mask >> lane & 1]
        instruction = self._detector.instructions[pc]
        if self._bulk is not None and lanes:
            self._in_bulk(self._bulk, head, lanes, addresses, values)
        if self._table.event[pc] == BULK:
            return
        if isinstance(instruction, Load | Store | Atomic):
            self._access(instruction, block, warp, lanes, addresses)
            if values:
                self._see_mbarriers(instruction, block, warp, lanes, addresses, values)
        elif isinstance(instruction, BarrierSync | BarrierArrive | ClusterArrive):
            self._at_barrier(instruction, block, warp, lanes, number)
        elif isinstance(instruction, Fence) and self._table.event[pc] != WARP_SYNC:
            for view in self._views(block, warp, lanes):
                self._clocks.fence(view, order_of(instruction))
            self._advance(block)
        else:
            for group in _groups(lanes, addresses):
                self._meet_in_warp(block, warp, group)

    def _see_mbarriers(
        self,
        access: Load | Store | Atomic,
        block: int,
        warp: int,
        lanes: Sequence[int],
        addresses: Sequence[int],
        values: Sequence[int],
    ) -> None:
        """What an access finds at an mbarrier that may have been told of copies."""
        places = [self._place(access, block, addresses[lane]) for lane in lanes]
        words = [values[lane] for lane in lanes]
        if is_mbarrier_look(access):
            for place, word in zip(places, words, strict=True):
                self._told.look(block, place, word)
        elif isinstance(access, Atomic):
            first = (self._rank(block) * self._geometry.warps + warp) * self._geometry.width
            self._told.tell(block, (first + lane for lane in lanes), places, words)

    def _at_barrier(
        self,
        instruction: BarrierSync | BarrierArrive | ClusterArrive,
        block: int,
        warp: int,
        lanes: Sequence[int],
        number: int,
    ) -> None:
        """A warp comes to a barrier of some of the thread block, or of the cluster."""
        match instruction:
            case BarrierSync() if instruction.is_cluster:
                for thread in self._threads(block, warp, lanes):
                    self._barriers.wait_for_cluster(self._cluster_of(block), thread)
                self._note_waiting(block, warp, lanes)
            case BarrierSync():
                self._come(block, warp, lanes, number, waits=True)
            case BarrierArrive():
                self._come(block, warp, lanes, number, waits=False)
            case ClusterArrive():
                for view in self._views(block, warp, lanes):
                    clock = self._clocks.snapshot(view)
                    self._barriers.arrive_in_cluster(self._cluster_of(block), view.thread, clock)
                self._advance(block)

    def _in_bulk(
        self,
        bulk: BulkCopies,
        head: Sequence[int],
        lanes: Sequence[int],
        addresses: Sequence[int],
        values: Sequence[int],
    ) -> None:
        """A record as far as it is about copies in bulk."""
        info, when, where, mask, _ = head
        warp, block = when >> 32, where & 0xFFFFFFFF
        instruction = self._detector.instructions[info & 0xFFFFFF]
        match instruction:
            case BulkCopy() if info & EVENT:
                places = np.array(addresses) & ((1 << OFFSET_BITS) - 1)
                views = list(self._views(block, warp, lanes))
                bulk.start(instruction, block, views, places, np.array(values))
                self._advance(block)
            case BulkCopy():
                bulk.touch(instruction, mask, addresses)
            case Fence() if is_of_bulk(instruction):
                bulk.fence(instruction, block, list(self._views(block, warp, lanes)))
                self._advance(block)
            case Load() if values and is_mbarrier_look(instruction):
                for thread, lane in zip(self._threads(block, warp, lanes), lanes, strict=True):
                    _, place = self._place(instruction, block, addresses[lane])
                    bulk.look(block, thread, place, values[lane])

    def pass_barrier(self, where: int) -> None:
        """All threads of a thread block have passed a barrier."""
        block = where & 0xFFFFFFFF
        row = self._row(block)
        row[STAGE], row[FLOOR] = where >> 32, row[NOW]
        row[NOW] += 1
        self._clocks.join_block(block, self._all_threads(block))

    def leave(self, head: Sequence[int]) -> None:
        """Threads that waited at a counted barrier go on: it has opened."""
        _, when, where, mask, _ = head
        warp, block = when >> 32, where & 0xFFFFFFFF
        waits = self._follower.shadow.waits
        at = self._rank(block) * self._geometry.warps + warp
        gone = int(waits[at]) & mask
        for lane in range(self._geometry.width):
            if gone >> lane & 1:
                (thread,) = self._threads(block, warp, [lane])
                opening = self._barriers.leave(thread)
                if opening is not None:
                    self._clocks.learn(thread, opening.joint())
        waits[at] &= ~gone

    def _access(
        self,
        access: Load | Store | Atomic,
        block: int,
        warp: int,
        lanes: Sequence[int],
        addresses: Sequence[int],
    ) -> None:
        order, flags = order_of(access), int(self._table.flags[access.pc])
        for lane, view in zip(lanes, self._views(block, warp, lanes), strict=True):
            place = self._place(access, block, addresses[lane])
            if flags & READ:
                self._clocks.read(view, place, order)
            if flags & WRITE:
                self._clocks.write(view, place, order, goes_on=bool(flags & READ))
        if flags & WRITE:
            self._advance(block)

    def _come(
        self, block: int, warp: int, lanes: Sequence[int], number: int, *, waits: bool
    ) -> None:
        """A warp comes to a barrier of the thread block, where it counts as all its threads."""
        wanted, which = number >> COUNT_SHIFT, number & ((1 << COUNT_SHIFT) - 1)
        clocks = [self._clocks.snapshot(view) for view in self._views(block, warp, lanes)]
        opening = self._barriers.come((block, which), wanted, self._geometry.width, clocks)
        self._advance(block)
        if waits:
            for thread in self._threads(block, warp, lanes):
                self._barriers.wait(thread, opening)
            self._note_waiting(block, warp, lanes)

    def _meet_in_warp(self, block: int, warp: int, lanes: Sequence[int]) -> None:
        """Lanes of a warp know what any of them knows."""
        row, known = self._row(block), self._follower.shadow.known
        first = (self._rank(block) * self._geometry.warps + warp) * self._geometry.width
        rows = first + np.array(lanes)
        joined = known[rows].max(axis=0)
        joined[lanes] = row[NOW]
        known[rows] = joined
        threads = list(self._threads(block, warp, lanes))
        self._clocks.meet(threads, self._clocks.of(threads))
        row[NOW] += 1

    def _note_waiting(self, block: int, warp: int, lanes: Sequence[int]) -> None:
        waits = self._follower.shadow.waits
        bits = sum(1 << lane for lane in lanes)
        waits[self._rank(block) * self._geometry.warps + warp] |= bits - (bits >> 63 << 64)

    def _place(self, access: Load | Store | Atomic, block: int, address: int) -> tuple[int, int]:
        """What tells a location from all others: whose memory, and the address there."""
        space = access.address.space
        if space is AddressSpace.GENERIC and _SHARED <= address < _SHARED + WINDOW_BYTES:
            space, address = AddressSpace.SHARED, address - _SHARED
        if space is not AddressSpace.SHARED:
            return SPACES[AddressSpace.GLOBAL], address
        named = address >> OFFSET_BITS
        if named:
            block = self._detector.mate(block, named - 1)
        return -1 - block, address & ((1 << OFFSET_BITS) - 1)

    def _views(self, block: int, warp: int, lanes: Sequence[int]) -> Iterator[View]:
        row, width = self._row(block), self._geometry.width
        known = self._follower.shadow.known
        first = (self._rank(block) * self._geometry.warps + warp) * width
        home = (block * self._geometry.warps + warp) * width + 1
        for lane, thread in zip(lanes, self._threads(block, warp, lanes), strict=True):
            mine = known[first + lane].tolist() if self._geometry.is_fine else ()
            mates = tuple((home + other, stamp) for other, stamp in enumerate(mine) if stamp)
            yield View(thread, block, int(row[NOW]), int(row[FLOOR]), mates)

    def _threads(self, block: int, warp: int, lanes: Sequence[int]) -> Iterator[int]:
        first = (block * self._geometry.warps + warp) * self._geometry.width + 1
        return (first + lane for lane in lanes)

    def _all_threads(self, block: int) -> range:
        size = self._geometry.warps * self._geometry.width
        return range(block * size + 1, (block + 1) * size + 1)

    def _advance(self, block: int) -> None:
        """What is done from now on is not what has been released."""
        self._row(block)[NOW] += 1

    def _row(self, block: int) -> Any:
        return self._follower.state[self._rank(block)]

    def _rank(self, block: int) -> int:
        ranks = self._detector.ranks
        return int(ranks[block]) if self._geometry.is_cluster else 0

    def _cluster_of(self, block: int) -> int:
        return self._detector.mate(block, 0)


def _groups(lanes: Sequence[int], members: Sequence[int]) -> Iterator[list[int]]:
    """Lanes that name the same members; all of them where they have one number together."""
    if len(members) == 1:
        yield list(lanes)
        return
    for named in dict.fromkeys(members[lane] for lane in lanes):
        yield [lane for lane in lanes if members[lane] == named]
