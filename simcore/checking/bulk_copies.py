"""Copies in bulk as accesses of threads of their own, which nobody knows before a wait.

The engine makes a copy at once. Here its accesses are those of one of the threads of an additional
warp: it knows what the thread that began it knew, and its stamp is one that nothing is ordered
after, until a thread has seen the phase of its mbarrier end, or has waited for its group.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.checking.clocks import Clocks, View
from kernelcast.simcore.checking.findings import Raw
from kernelcast.simcore.checking.plan import Plan
from kernelcast.simcore.checking.records import (
    COPY,
    GLOBAL_SPACE,
    NOW,
    OUTSTANDING,
    PC_BITS,
    PROXY,
    RACE,
    SHARED_SPACE,
    STAMP_BITS,
    THREAD_SHIFT,
    UNINITIALISED,
    Shadow,
)
from kernelcast.simcore.checking.rules import bulk_groups_left, is_proxy_fence
from kernelcast.simcore.isa.ir.bulk_operations import (
    CHUNK_BYTES,
    BulkDirection,
    BulkOperand,
    BulkSide,
)
from kernelcast.simcore.isa.ir.kernel import BulkCopy, Fence
from kernelcast.simcore.isa.ir.mbarrier_words import PHASE_SHIFT

__all__ = ["BulkCopies"]

Ints = npt.NDArray[np.int64]
_WRITE, _READ, _READ2, _STRONG = range(4)
_STAMPS, _PCS = (1 << STAMP_BITS) - 1, (1 << PC_BITS) - 1


class Notes(Protocol):
    """Where findings go, and what threads know by clocks."""

    plan: Plan
    clocks: Clocks

    def note(self, raw: Raw) -> None:
        """Takes a finding."""


class Place(Protocol):
    """Where the thread block runs."""

    state: Any
    shadow: Shadow


@dataclass(slots=True)
class _Copy:
    """One copy: who began it, who makes it, and the cells that it touched, as (cells, numbers)."""

    instruction: BulkCopy
    view: View
    copier: int
    phases: dict[int, int]
    group: int
    reads: list[tuple[Ints, Ints]] = field(default_factory=list)
    writes: list[tuple[Ints, Ints]] = field(default_factory=list)
    is_over: bool = False

    @property
    def word(self) -> int:
        """What cells hold of it while nobody has waited."""
        return (self.copier << STAMP_BITS | OUTSTANDING) << PC_BITS | self.instruction.pc


class BulkCopies:
    """Follows the copies of the thread block that runs at one place, without clusters."""

    def __init__(self, notes: Notes, place: Place) -> None:
        self._notes, self._place = notes, place
        self._geometry = notes.plan.geometry
        self._block = -1
        self._begin(-1)

    def _begin(self, block: int) -> None:
        self._block, self._count = block, 0
        self._pending: list[_Copy] = []
        self._now: dict[int, _Copy] = {}
        self._released: dict[int, dict[int, int]] = {}
        self._groups: dict[int, int] = {}
        self._proxied: dict[int, int] = {}

    def start(
        self, instruction: BulkCopy, block: int, views: Sequence[View], mbarriers: Ints, words: Ints
    ) -> None:
        """The lanes of `views` begin copies; `words` are those of their mbarriers, by lane."""
        if block != self._block:
            self._begin(block)
        width, clocks = self._geometry.width, self._notes.clocks
        view = views[0]
        home = block * self._geometry.warps * width + 1
        copier = home + (self._geometry.warps - 1) * width + self._count % width
        self._count += 1
        clocks.begin(copier, clocks.snapshot(view))
        phases: dict[int, int] = {}
        for one in views if BulkOperand.MBARRIER in instruction.operands else ():
            lane = (one.thread - 1) % width
            phases[int(mbarriers[lane])] = int(words[lane]) >> PHASE_SHIFT & 1
        group = self._groups.get(view.thread, 0)
        copy = _Copy(instruction, view, copier, phases, group)
        self._now[instruction.pc] = copy
        self._pending.append(copy)

    def touch(self, instruction: BulkCopy, mask: int, addresses: Sequence[int]) -> None:
        """What a copy, or the second side of it, touches: 16 bytes from each address on."""
        copy = self._now.get(instruction.pc)
        if instruction.side is BulkSide.ARRIVAL:
            copy = self._pending[-1] if self._pending else None
        if copy is None:
            return
        direction = instruction.operation.direction
        is_buffer = instruction.side is BulkSide.COPY
        is_write = is_buffer is (direction is BulkDirection.STORE)
        at = np.array([a for lane, a in enumerate(addresses) if mask >> lane & 1], np.int64)
        cells, numbers = self._in_buffers(at) if is_buffer else self._in_shared(at)
        if not numbers.size:
            return
        space = GLOBAL_SPACE if is_buffer else SHARED_SPACE
        self._check(copy, space, cells, numbers, is_write=is_write, address=int(at[0]))
        if is_write:
            cells[:, numbers] = 0
            cells[_WRITE, numbers] = copy.word
            copy.writes.append((cells, numbers))
        else:
            before = cells[_READ, numbers]
            cells[_READ2, numbers] = np.where(before != 0, before, cells[_READ2, numbers])
            cells[_READ, numbers] = copy.word
            copy.reads.append((cells, numbers))

    def fence(self, fence: Fence, block: int, views: Sequence[View]) -> None:
        """A group ends, threads wait for groups, or go over to the other proxy."""
        if block != self._block:
            self._begin(block)
        if is_proxy_fence(fence):
            self._proxied |= {view.thread: view.now for view in views}
            return
        for view in views:
            closed = self._groups.setdefault(view.thread, 0)
            if "commit" in fence.mnemonic:
                self._groups[view.thread] = closed + 1
                continue
            done = closed - bulk_groups_left(fence)
            reads_only = fence.mnemonic.endswith(".read")
            for copy in self._pending:
                if copy.view.thread == view.thread and copy.group < done and not copy.phases:
                    self._settle(copy, view.thread, reads_only=reads_only)
        self._forget()

    def look(self, block: int, thread: int, mbarrier: int, word: int) -> None:
        """A thread looks at an mbarrier, whose word it sees."""
        if block != self._block:
            return
        parity = word >> PHASE_SHIFT & 1
        for copy in self._pending:
            if copy.phases.get(mbarrier, parity) != parity:
                stamp = self._settle(copy, thread)
                self._released.setdefault(mbarrier, {})[copy.copier] = stamp
        self._forget()
        self._notes.clocks.learn(thread, self._released.get(mbarrier, {}))

    def _settle(self, copy: _Copy, thread: int, *, reads_only: bool = False) -> int:
        """What a copy did counts as done from now on, and the thread knows it: its stamp."""
        row = self._place.state[0]
        stamp = int(row[NOW])
        word = (copy.copier << STAMP_BITS | stamp) << PC_BITS | copy.instruction.pc
        sides = copy.reads if reads_only else copy.reads + copy.writes
        for cells, numbers in sides:
            for kept in (_WRITE, _READ, _READ2):
                there = cells[kept, numbers]
                cells[kept, numbers] = np.where(there == copy.word, word, there)
        copy.is_over = not reads_only
        self._notes.clocks.learn(thread, {copy.copier: stamp})
        row[NOW] += 1
        return stamp

    def _forget(self) -> None:
        self._pending = [copy for copy in self._pending if not copy.is_over]

    def _in_shared(self, addresses: Ints) -> tuple[Ints, Ints]:
        shift, count = self._geometry.shared_shift, self._geometry.shared_cells
        numbers = _cells(addresses, shift)
        return self._place.shadow.shared, numbers[(numbers >= 0) & (numbers < count)]

    def _in_buffers(self, addresses: Ints) -> tuple[Ints, Ints]:
        shift = self._geometry.buffer_shift
        found = [np.zeros(0, np.int64)]
        for first, end, cell, _ in self._place.shadow.rows.tolist():
            inside = addresses[(addresses >= first) & (addresses < end)]
            if cell >= 0 and inside.size:
                last = cell + (end - first >> shift)
                numbers = cell + _cells(inside - first, shift)
                found.append(numbers[numbers < last])
        return self._place.shadow.buffers, np.concatenate(found)

    def _check(
        self, copy: _Copy, space: int, cells: Ints, numbers: Ints, *, is_write: bool, address: int
    ) -> None:
        home = self._block * self._geometry.warps * self._geometry.width + 1
        end = home + self._geometry.warps * self._geometry.width
        kept = range(len(cells)) if is_write else (w for w in range(len(cells)) if _writes(w))
        told: set[tuple[int, int]] = set()
        for number in kept:
            for word in np.unique(cells[number, numbers]).tolist():
                for kind in self._kinds(copy, space, word, home, end, is_write=is_write):
                    if (kind, word & _PCS) not in told:
                        told.add((kind, word & _PCS))
                        self._notes.note(_raw(copy, kind, word, address, space))
        if is_write or space != SHARED_SPACE or not self._geometry.checks_first:
            return
        first = cells[_WRITE, numbers]
        if len(cells) > _STRONG:
            first = np.where(first != 0, first, cells[_STRONG, numbers])
        who = first >> THREAD_SHIFT
        if ((who < home) | (who >= end)).any():
            self._notes.note(_raw(copy, UNINITIALISED, 0, address, space))

    def _kinds(
        self, copy: _Copy, space: int, word: int, home: int, end: int, *, is_write: bool
    ) -> Iterator[int]:
        """What is wrong between a copy and an earlier access."""
        who, stamp = word >> THREAD_SHIFT, (word >> PC_BITS) & _STAMPS
        is_home = home <= who < end
        if word == 0 or (space == SHARED_SPACE and not is_home):
            return
        if stamp == OUTSTANDING:
            yield COPY
        elif not self._knows(copy.view, who, stamp, is_home=is_home):
            yield RACE
        by_copy = who >= end - self._geometry.width
        if space == SHARED_SPACE and not is_write and not by_copy:
            fenced = max(self._proxied.get(t, -1) for t in (who, copy.view.thread))
            if fenced < stamp:
                yield PROXY

    def _knows(self, view: View, who: int, stamp: int, *, is_home: bool) -> bool:
        if who == view.thread or (is_home and stamp <= view.floor):
            return True
        if dict(view.lanes).get(who, -1) >= stamp:
            return True
        of = (who - 1) // (self._geometry.warps * self._geometry.width)
        return self._notes.clocks.knows(view.thread, view.thread_block, who, of, stamp)


def _writes(kept: int) -> bool:
    """Whether what a cell keeps there is a write."""
    return kept not in (_READ, _READ2) and kept < _STRONG + 2


def _cells(addresses: Ints, shift: int) -> Ints:
    """Numbers of the cells of pieces that begin at addresses."""
    each = max(1, CHUNK_BYTES >> shift)
    return np.asarray(((addresses >> shift)[:, None] + np.arange(each)).reshape(-1))


def _raw(copy: _Copy, kind: int, word: int, address: int, space: int) -> Raw:
    return Raw(
        kind,
        copy.copier,
        copy.instruction.pc,
        OUTSTANDING,
        word >> THREAD_SHIFT,
        (word >> PC_BITS) & _STAMPS,
        word & _PCS,
        address,
        space,
        -1,
    )
