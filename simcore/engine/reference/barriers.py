"""Threads of a thread block that wait for each other.

A barrier opens when every thread of the thread block that has not exited waits at it, as the
CUDA programming guide defines __syncthreads() since Volta.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np
import numpy.typing as npt

from kernelcast.errors import BarrierError
from kernelcast.simcore.engine.reference.barrier_bypass import BarrierBypassLog
from kernelcast.simcore.engine.reference.batch import Batch
from kernelcast.simcore.engine.reference.counted_barriers import (
    BarrierVotes,
    CountedBarriers,
    has_counted_barriers,
)
from kernelcast.simcore.engine.reference.lanes import LaneView
from kernelcast.simcore.engine.reference.phase_log import PhaseLog
from kernelcast.simcore.isa.analysis.control_flow import post_dominators
from kernelcast.simcore.isa.ir.kernel import BarrierArrive, BarrierSync, Kernel

__all__ = ["BarrierQueue", "barrier_at", "barrier_error"]

Mask = npt.NDArray[np.bool_]


class BarrierQueue:
    """Lanes of a batch that reached a barrier, by the basic block that the barrier ends."""

    def __init__(
        self,
        kernel: Kernel,
        batch: Batch,
        bypasses: BarrierBypassLog,
        phases: PhaseLog | None = None,
    ) -> None:
        self._phases = phases
        self._kernel = kernel
        self._batch = batch
        self._bypasses = bypasses
        self._waiting: dict[int, Mask | None] = {}
        self.votes = BarrierVotes(batch)
        self._counted = CountedBarriers(batch) if has_counted_barriers(kernel) else None

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def masks(self) -> list[Mask | None]:
        """The lanes that wait, by barrier."""
        return list(self._waiting.values())

    def arrive(self, view: LaneView, instruction: BarrierArrive) -> None:
        """Lanes come to a barrier without waiting there."""
        assert self._counted is not None
        numbers = self._counted.arrive(view, instruction)
        if self._phases is not None:
            self._phases.arrive(instruction.pc, view.lanes, numbers)

    def wait(self, basic_block: int, mask: Mask | None, frame: LaneView | None = None) -> None:
        """`frame`: the lanes of the mask, which know the barrier's number and count."""
        if self._counted is not None and frame is not None:
            self._counted.wait(frame, self._barrier(basic_block))
        if self._phases is not None and frame is not None:
            barrier = self._barrier(basic_block)
            numbers = np.asarray(barrier.barrier)
            if self._counted is not None:
                numbers = self._counted.numbers(frame.lanes)
            self._phases.wait(barrier.pc, frame.lanes, numbers)
        self._bypasses.wait(basic_block, mask)
        if basic_block in self._waiting:
            known = self._waiting[basic_block]
            mask = None if known is None or mask is None else known | mask
        self._waiting[basic_block] = mask

    def release(self) -> list[tuple[int, Mask | None]]:
        """Opens all barriers once every lane of the batch waits or has exited.

        Returns (basic block to go on with, lanes). BarrierError when threads of one thread block
        wait at barriers of different number, or threads of one warp at different instructions.
        """
        if self._counted is not None:
            return self._release_some(self._counted)
        if len(self._waiting) > 1:
            self._check()
        self._check_bypasses()
        stages = self._batch.counts.stage
        released: list[tuple[int, Mask | None]] = []
        passed: Mask = np.zeros(self._batch.count, np.bool_)
        for index, mask in self._waiting.items():
            here = self._has_waiting(mask)
            passed |= here
            if self._phases is not None:
                owners = np.flatnonzero(here)
                self._phases.open(np.full(len(owners), self._barrier(index).barrier), owners)
            released.append((self._barrier(index).target, mask))
        stages += passed
        self.votes.advance(passed)
        self._waiting.clear()
        return released

    def release_ready(self, busy: Mask) -> list[tuple[int, Mask | None]]:
        """Opens what can open although lanes of `busy` thread blocks are in flight.

        Those may wait for what comes behind a barrier.
        """
        if self._counted is not None:
            return self._release_some(self._counted, busy)
        later: dict[int, Mask | None] = {}
        for index, waiting in list(self._waiting.items()):
            mask = np.ones(self._batch.lanes, np.bool_) if waiting is None else waiting
            stays = mask & np.repeat(busy, self._batch.shape.lanes)
            if stays.any():
                later[index] = stays
                self._waiting[index] = mask & ~stays
                if not (mask & ~stays).any():
                    del self._waiting[index]
        released = self.release() if self._waiting else []
        self._waiting.update(later)
        return released

    def _release_some(
        self, counted: CountedBarriers, busy: Mask | None = None
    ) -> list[tuple[int, Mask | None]]:
        """Opens the barriers that enough threads came to."""
        numbers = counted.numbers(None).copy()
        opened = counted.opened(busy)
        if self._phases is not None:
            lanes = np.flatnonzero(opened)
            self._phases.open(numbers[lanes], self._batch.thread_block_of(lanes))
        passed = opened.reshape(self._batch.count, -1).any(axis=1)
        stuck = self._waiting_thread_blocks() & ~passed
        if busy is not None:
            stuck[:] = False
        released: list[tuple[int, Mask | None]] = []
        for index, waiting in list(self._waiting.items()):
            mask = np.ones(self._batch.lanes, np.bool_) if waiting is None else waiting
            here = mask.reshape(self._batch.count, -1) & stuck[:, None]
            if here.any():
                lane = int(np.argmax(here.reshape(-1)))
                reason = f"too few threads come to this barrier: {counted.state(lane)}"
                raise self._error(reason, index, lane)
            go, stay = mask & opened, mask & ~opened
            del self._waiting[index]
            if go.any():
                released.append((self._barrier(index).target, go))
            if stay.any():
                self._waiting[index] = stay
        self._batch.counts.stage += passed
        self.votes.advance(np.asarray(passed))
        return released

    def _waiting_thread_blocks(self) -> Mask:
        found = np.zeros(self._batch.count, np.bool_)
        for mask in self._waiting.values():
            found |= self._has_waiting(mask)
        return found

    def _barrier(self, basic_block: int) -> BarrierSync:
        return barrier_at(self._kernel, basic_block)

    def _error(self, reason: str, basic_block: int, lane: int) -> BarrierError:
        return barrier_error(reason, self._barrier(basic_block), self._batch, lane)

    def _check(self) -> None:
        batch = self._batch
        number = np.full(batch.lanes, -1)
        place = np.full(batch.lanes, -1)
        for index, mask in self._waiting.items():
            chosen = slice(None) if mask is None else mask
            number[chosen] = self._barrier(index).barrier
            place[chosen] = index
        self._check_group(number, place, batch.shape.lanes, "thread block")
        # bar.sync is an aligned barrier: all lanes of a warp must execute the same instruction.
        self._check_group(place, place, batch.width, "warp")
        self._check_passed_by()

    def _check_bypasses(self) -> None:
        for index, mask in self._waiting.items():
            absent = self._bypasses.absent(index, mask, self._batch.shape.lanes)
            if absent is not None:
                raise self._error(
                    "not all threads of the thread block reach this barrier: "
                    "this one went round it",
                    index,
                    int(np.argmax(absent)),
                )

    def _check_passed_by(self) -> None:
        """No thread may wait at a later barrier while another of its thread block waits before.

        Barriers in the two arms of a branch may meet; one that post-dominates the other may not.
        """
        waiting = {index: self._has_waiting(mask) for index, mask in self._waiting.items()}
        for early, late in permutations(waiting, 2):
            both = waiting[early] & waiting[late]
            if both.any() and self._is_after(late, early):
                lane = self._first_waiting(early, int(np.argmax(both)))
                raise self._error(
                    "not all threads of the thread block reach this barrier: others passed it by "
                    f"and wait at line {self._barrier(late).span.line}",
                    early,
                    lane,
                )

    def _has_waiting(self, mask: Mask | None) -> Mask:
        """Which thread blocks have lanes in the mask."""
        if mask is None:
            return np.ones(self._batch.count, np.bool_)
        return np.asarray(mask.reshape(self._batch.count, -1).any(axis=1))

    def _first_waiting(self, index: int, thread_block: int) -> int:
        first, mask = thread_block * self._batch.shape.lanes, self._waiting[index]
        return first if mask is None else first + int(np.argmax(mask[first:]))

    def _is_after(self, late: int, early: int) -> bool:
        """Whether every way from `early` to the end leads through `late`."""
        following = post_dominators([block.successors for block in self._kernel.blocks])
        at: int | None = early
        while at is not None and at != late:
            at = following[at]
        return at == late

    def _check_group(
        self, value: npt.NDArray[np.int64], place: npt.NDArray[np.int64], size: int, group: str
    ) -> None:
        """All waiting lanes of each group of `size` must have the same value."""
        rows = value.reshape(-1, size)
        waits = rows >= 0
        most = rows.max(axis=1)
        differs = waits & (rows != most[:, None])
        if not differs.any():
            return
        row = int(np.argmax(differs.any(axis=1)))
        lane = row * size + int(np.argmax(differs[row]))
        other = row * size + int(np.argmax(rows[row] == most[row]))
        line = self._barrier(int(place[other])).span.line
        raise self._error(
            f"not all threads of the {group} reach this barrier: others wait at line {line}",
            int(place[lane]),
            lane,
        )


def barrier_at(kernel: Kernel, basic_block: int) -> BarrierSync:
    """The barrier that ends a basic block."""
    end = kernel.blocks[basic_block].terminator
    assert isinstance(end, BarrierSync)
    return end


def barrier_error(reason: str, barrier: BarrierSync, batch: Batch, lane: int) -> BarrierError:
    """A BarrierError with the barrier and the thread where that lane of the batch waits."""
    return BarrierError(reason, barrier.span, batch.thread_name(lane), barrier.origin)
