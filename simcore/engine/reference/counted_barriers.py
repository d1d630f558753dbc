"""Barriers with numbers and thread counts, and votes at barriers, in the reference engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.errors import ExecutionError
from kernelcast.simcore.engine.reference.batch import Batch
from kernelcast.simcore.engine.reference.lanes import LaneView, as_bits
from kernelcast.simcore.isa.ir.kernel import (
    BarrierArrive,
    BarrierResult,
    BarrierSync,
    BarrierVote,
    Kernel,
    Operand,
)
from kernelcast.simcore.isa.opcodes.warp import GROUP
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["BarrierVotes", "CountedBarriers", "has_counted_barriers"]

Mask = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
_BARRIERS = 16


def has_counted_barriers(kernel: Kernel) -> bool:
    """Whether a barrier may open before every thread of the thread block waits at it."""
    return any(
        isinstance(block.terminator, BarrierSync) and block.terminator.is_counted
        for block in kernel.blocks
    ) or any(isinstance(i, BarrierArrive) for block in kernel.blocks for i in block.body)


class CountedBarriers:
    """Who waits at which barrier of its thread block, and how many came by without waiting.

    A barrier counts a warp as all its threads, as the PTX manual says. By lane, `numbers` of the
    barriers where they wait, -1 for none, and `counts` that they ask for; `arrived`, shape (thread
    blocks, 16): who came without waiting.
    """

    def __init__(
        self,
        batch: Batch,
        numbers: Ints | None = None,
        counts: Ints | None = None,
        arrived: Ints | None = None,
    ) -> None:
        self._batch = batch
        self._number = np.full(batch.lanes, -1, np.int64) if numbers is None else numbers
        self._count = np.zeros(batch.lanes, np.int64) if counts is None else counts
        empty = np.zeros((batch.count, _BARRIERS), np.int64)
        self._arrived = empty if arrived is None else arrived
        self._group = min(GROUP, batch.width)

    def wait(self, view: LaneView, barrier: BarrierSync) -> None:
        """Makes lanes wait at a barrier; number and thread count may differ by lane."""
        lanes = slice(None) if view.lanes is None else view.lanes
        number: Any = barrier.barrier
        if barrier.number is not None:
            number = self._checked(view, barrier, barrier.number)
        self._number[lanes] = number
        self._count[lanes] = 0 if barrier.count is None else self._value(view, barrier.count)

    def numbers(self, lanes: npt.NDArray[np.intp] | None) -> Ints:
        """Numbers of the barriers where lanes wait; `lanes` None means all lanes."""
        return self._number if lanes is None else self._number[lanes]

    def arrive(self, view: LaneView, instruction: BarrierArrive) -> Ints:
        """The numbers of the barriers that the lanes come to."""
        number = np.full(self._batch.lanes, -1, np.int64)
        lanes = slice(None) if view.lanes is None else view.lanes
        number[lanes] = self._checked(view, instruction, instruction.number)
        for barrier in range(_BARRIERS):
            self._arrived[:, barrier] += self._threads(number == barrier)
        return np.asarray(number[lanes])

    def opened(self, busy: Mask | None = None) -> Mask:
        """The lanes that may go on; they wait no longer.

        `busy`: thread blocks with lanes that do not wait and have not exited.
        """
        found = np.zeros(self._batch.lanes, np.bool_)
        shape = (self._batch.count, -1)
        waits_somewhere = (self._number >= 0).reshape(shape)
        for barrier in np.unique(self._number[self._number >= 0]).tolist():
            here = self._number == barrier
            rows = here.reshape(shape)
            wanted = np.where(rows, self._count.reshape(shape), 0).max(axis=1)
            came = self._threads(here) + self._arrived[:, barrier]
            everybody = (rows == waits_somewhere).all(axis=1)
            if busy is not None:
                everybody &= ~busy
            opens = rows.any(axis=1) & np.where(wanted > 0, came >= wanted, everybody)
            self._arrived[opens, barrier] = 0
            found |= (rows & opens[:, None]).reshape(-1)
        self._number[found] = -1
        return found

    def state(self, lane: int) -> str:
        """How many came to the barrier where a lane waits, for messages."""
        block = lane // self._batch.shape.lanes
        number = int(self._number[lane])
        came = int(self._threads(self._number == number)[block] + self._arrived[block, number])
        wanted = int(self._count[lane])
        if not wanted:
            return "not all threads of the thread block wait at it"
        return f"{came} of {wanted} at barrier {number}"

    def _threads(self, mask: Mask) -> Ints:
        """Threads by thread block, counted as whole warps."""
        groups = mask.reshape(self._batch.count, -1, self._group).any(axis=2)
        return np.asarray(groups.sum(axis=1) * self._group, np.int64)

    def _value(self, view: LaneView, operand: Operand) -> Any:
        return np.asarray(self._batch.operand(view, operand, ScalarType.U32)).astype(np.int64)

    def _checked(
        self, view: LaneView, instruction: BarrierSync | BarrierArrive, operand: Operand
    ) -> Any:
        number = self._value(view, operand)
        if (number >= _BARRIERS).any():
            raise ExecutionError(
                f"barriers have numbers from 0 to {_BARRIERS - 1}, not {int(number.max())}",
                instruction.span,
                origin=instruction.origin,
            )
        return number


class BarrierVotes:
    """What threads vote before a barrier, by thread block; two stages are in flight at a time."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._held = np.zeros((2, batch.count), np.int64)
        self._all = np.zeros((2, batch.count), np.int64)

    def contribute(self, view: LaneView, vote: BarrierVote) -> None:
        """Adds the lanes' predicates to the votes of their thread blocks' stages."""
        value = self._batch.operand(view, vote.predicate, ScalarType.PRED)
        held = np.broadcast_to(value, (view.count,)) != vote.negated
        owner = self._batch.thread_block_of(view.lanes)
        slot = self._batch.counts.stage[owner] & 1
        np.add.at(self._held, (slot, owner), held)
        np.add.at(self._all, (slot, owner), 1)

    def result(self, view: LaneView, instruction: BarrierResult) -> None:
        """Writes the outcome of the vote before the barrier that has just opened."""
        owner = self._batch.thread_block_of(view.lanes)
        slot = (self._batch.counts.stage[owner] + 1) & 1
        held, everybody = self._held[slot, owner], self._all[slot, owner]
        if instruction.destination is None:
            return
        if instruction.reduction == "popc":
            type_, value = ScalarType.U32, held.astype(np.uint32)
        else:
            type_ = ScalarType.PRED
            value = held == everybody if instruction.reduction == "and" else held > 0
        view.write(instruction.destination, as_bits(value, type_, instruction.destination.bits))

    def advance(self, passed: Mask) -> None:
        """Thread blocks have begun a new stage: its votes start at nothing."""
        slot = (self._batch.counts.stage & 1)[passed]
        self._held[slot, np.flatnonzero(passed)] = 0
        self._all[slot, np.flatnonzero(passed)] = 0
