"""Copies in bulk, plain and of tensors, in the reference engine: done at once, one after the other.

Traces have the accesses as a whole warp would make them, 16 bytes a lane side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.errors import LaunchError, MemoryAccessError
from kernelcast.simcore.engine.recording.patterns import WarpRows
from kernelcast.simcore.engine.recording.recorder import Recorder
from kernelcast.simcore.engine.reference.atomics import apply_atomic
from kernelcast.simcore.engine.reference.batch import Batch
from kernelcast.simcore.engine.reference.lanes import LaneView
from kernelcast.simcore.engine.reference.memory_access import StoreJournal
from kernelcast.simcore.engine.reference.outstanding_copies import OutstandingCopies
from kernelcast.simcore.engine.reference.phase_log import PhaseLog
from kernelcast.simcore.engine.rules.bulk_requests import (
    BulkElements,
    BulkRequest,
    bulk_elements,
    operand_type,
)
from kernelcast.simcore.isa.analysis.cluster_addresses import OFFSET_MASK
from kernelcast.simcore.isa.ir.bulk_operations import (
    CHUNK_BYTES,
    BulkDirection,
    BulkOperand,
    BulkOperation,
    BulkSide,
)
from kernelcast.simcore.isa.ir.kernel import BulkCopy
from kernelcast.simcore.isa.ir.mbarrier_words import advanced, change
from kernelcast.simcore.launch.allocations import Allocation
from kernelcast.simcore.launch.launch_memory import LaunchMemory
from kernelcast.simcore.launch.memory_spaces import OutOfBounds, is_all

__all__ = ["BulkCopies"]

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
_MASK_BITS = 16
_SMALL = np.float32(2.0**-126)


class BulkCopies:
    """Executes the copies of one batch; `journal` can undo what they store to buffers."""

    def __init__(
        self,
        memory: LaunchMemory,
        recorder: Recorder,
        batch: Batch,
        journal: StoreJournal | None = None,
        outstanding: OutstandingCopies | None = None,
        phases: PhaseLog | None = None,
    ) -> None:
        self._phases = phases
        self._outstanding = outstanding
        self._memory = memory
        self._recorder = recorder
        self._batch = batch
        self._journal = journal
        self._shared_side: list[tuple[int, Ints]] = []
        """What the last instruction touched in shared memory as its second access: (lane, places
        within a thread block)."""

    def copy(self, view: LaneView, instruction: BulkCopy, position: int) -> None:
        """What the lanes of the view ask for."""
        is_first = instruction.side is BulkSide.COPY
        requests = self._requests(view, instruction) if is_first else ()
        self.perform(requests, instruction, position)

    def perform(
        self, requests: Iterable[BulkRequest], instruction: BulkCopy, position: int
    ) -> None:
        """The whole copy at its first side; at the second one what it touched is noted."""
        if instruction.side is BulkSide.ARRIVAL:
            for lane, places in self._shared_side:
                self._note_shared(instruction.pc, lane, places)
            return
        self._shared_side = []
        for request in requests:
            try:
                self._one(request, instruction, position)
            except (LaunchError, OutOfBounds) as fault:
                where = f" at address {fault.address:#x}" if isinstance(fault, OutOfBounds) else ""
                raise MemoryAccessError(
                    f"{instruction.mnemonic}{where}: {fault}",
                    instruction.span,
                    self._batch.thread_name(request.lane),
                    instruction.origin,
                ) from None

    def _requests(self, view: LaneView, instruction: BulkCopy) -> Iterator[BulkRequest]:
        lanes = np.arange(self._batch.lanes) if view.lanes is None else view.lanes
        columns = []
        for operand, source in zip(instruction.operands, instruction.sources, strict=True):
            type_ = operand_type(operand)
            value = self._batch.operand(view, source, type_)
            columns.append((operand, np.broadcast_to(value, (view.count,)).tolist()))
        for row, lane in enumerate(lanes.tolist()):
            values: dict[BulkOperand, list[int]] = {}
            for operand, column in columns:
                values.setdefault(operand, []).append(column[row])
            yield BulkRequest(lane, values)

    def _one(self, request: BulkRequest, instruction: BulkCopy, position: int) -> None:
        direction = instruction.operation.direction
        elements = bulk_elements(request, instruction.operation, self._memory)
        here = request.lane // self._batch.shape.lanes
        if direction is BulkDirection.EXCHANGE:
            self._note_shared(instruction.pc, request.lane, elements.outer)
        else:
            outer = elements.outer[elements.inside]
            self._located(outer, elements.bytes)
            self._note_global(instruction.pc, request.lane, outer, position)
        if direction is BulkDirection.STORE:
            self._shared_side.append((request.lane, elements.inner))
            values = self._in_shared(here, elements.inner, elements.bytes)
            self._to_buffers(elements, values, instruction.operation.reduction)
        elif direction is not BulkDirection.PREFETCH:
            self._to_shared(request, elements, here, instruction)

    def _to_shared(
        self, request: BulkRequest, elements: BulkElements, here: int, instruction: BulkCopy
    ) -> None:
        """Copies elements to the same place in every thread block that the copy is for."""
        operation = instruction.operation
        if operation.direction is BulkDirection.EXCHANGE:
            values = self._in_shared(here, elements.outer, elements.bytes)
        else:
            values = self._from_buffers(elements)
        mask = request.values.get(BulkOperand.THREAD_BLOCKS, [0])[0]
        ranks: list[int | None] = [rank for rank in range(_MASK_BITS) if mask >> rank & 1]
        for rank in ranks or [None]:
            places = self._places(here, elements.inner, elements.bytes, rank)
            if operation.reduction:
                memory = self._batch.shared.bytes
                self._reduce(memory, places, elements, values, operation.reduction)
            else:
                self._batch.shared.bytes[places[:, None] + np.arange(elements.bytes)] = values
            self._shared_side.append((request.lane, elements.inner))
            at_barrier = self._told(here, request, operation, rank)
            if self._outstanding is not None:
                at = int(at_barrier[0])
                self._outstanding.begin_in_bulk(places, elements.bytes, at)
            self._complete(at_barrier, values.nbytes, instruction.pc, request.lane)

    def _told(
        self, here: int, request: BulkRequest, operation: BulkOperation, rank: int | None
    ) -> Ints:
        """The place of the mbarrier that is told of what comes to the thread block `rank`."""
        barrier = np.array([request.value(BulkOperand.MBARRIER)])
        cluster = self._batch.cluster
        if rank is not None and operation.is_of_pair and cluster is not None:
            owner, _ = cluster.resolved(np.array([here]), barrier)
            rank = rank & ~1 | int(cluster.rank[owner[0]]) & 1
        return self._places(here, barrier, 8, rank)

    def _complete(self, place: Ints, size: int, pc: int, lane: int) -> None:
        words = self._batch.shared.typed(np.dtype(np.uint64))
        came = np.array([change(transactions=-size)], np.uint64)
        old = words[place >> 3]
        words[place >> 3] = now = advanced(old, came)
        if self._phases is not None:
            who = np.array([lane])
            self._phases.change(pc, who, place >> 3, old.view(np.int64), now.view(np.int64))

    def _located(self, address: Ints, size: int) -> list[tuple[Allocation, Any]]:
        """(buffer, positions of the addresses in it); OutOfBounds when one is in none."""
        if not address.size:
            return []
        found = self._memory.globals.locate(address, size, 1)
        return [(buffer, slice(None) if is_all(some) else some) for buffer, some in found]

    def _from_buffers(self, elements: BulkElements) -> Bytes:
        """Shape (elements, bytes); what is outside of the tensor is filled."""
        values = np.broadcast_to(elements.filler, (len(elements.inside), elements.bytes)).copy()
        chosen = np.flatnonzero(elements.inside)
        outer = elements.outer[chosen]
        span = np.arange(elements.bytes)
        for buffer, part in self._located(outer, elements.bytes):
            place = outer[part] - buffer.address
            values[chosen[part]] = buffer.bytes[place[:, None] + span]
        if elements.flushes:
            numbers = values.view(np.float32)
            numbers[np.abs(numbers) < _SMALL] *= 0
        return values

    def _to_buffers(self, elements: BulkElements, values: Bytes, reduction: str) -> None:
        chosen = np.flatnonzero(elements.inside)
        outer = elements.outer[chosen]
        for buffer, part in self._located(outer, elements.bytes):
            if not buffer.bytes.flags.writeable:
                raise LaunchError("store to a read-only array")
            place = outer[part] - buffer.address
            if self._journal is not None:
                self._journal.note(buffer.bytes, place, elements.bytes)
            if reduction:
                self._reduce(buffer.bytes, place, elements, values[chosen[part]], reduction)
            else:
                buffer.bytes[place[:, None] + np.arange(elements.bytes)] = values[chosen[part]]

    def _reduce(
        self, memory: Bytes, place: Ints, elements: BulkElements, values: Bytes, operation: str
    ) -> None:
        type_ = elements.type
        assert type_ is not None
        whole = memory[: memory.size // elements.bytes * elements.bytes].view(type_.dtype)
        operands = (np.ascontiguousarray(values).view(type_.dtype).reshape(-1),)
        apply_atomic(whole, place // elements.bytes, operation, operands, type_)

    def _in_shared(self, here: int, address: Ints, size: int) -> Bytes:
        places = self._places(here, address, size, None)
        found: Bytes = self._batch.shared.bytes[places[:, None] + np.arange(size)]
        return found

    def _places(self, here: int, address: Ints, size: int, rank: int | None) -> Ints:
        """Positions in the batch's shared memory; OutOfBounds as for any access.

        `rank` names another thread block of the cluster than the addresses do.
        """
        batch = self._batch
        assert batch.cluster is not None
        owner, place = batch.cluster.resolved(np.full(address.shape, here), address)
        if rank is not None:
            if rank >= batch.cluster.size:
                raise LaunchError(f"there is no thread block of rank {rank} in the cluster")
            owner = np.full(address.shape, batch.cluster.mates[here, rank])
        batch.shared.elements(place, owner, size, 1)
        return np.asarray(owner * batch.shared.stride + place)

    def _note_global(self, pc: int, lane: int, address: Ints, position: int) -> None:
        rows = self._rows(lane, address)
        if rows is None:
            return
        warp, batch = rows.warps, self._batch
        time = batch.counts.warp_time[warp] + position
        self._recorder.record_access(pc, rows, batch.warps[warp], time, batch.stage_of(warp))

    def _note_shared(self, pc: int, lane: int, address: Ints) -> None:
        rows = self._rows(lane, address & OFFSET_MASK)
        if rows is not None:
            self._recorder.record_pattern(pc, rows, self._batch.stage_of(rows.warps))

    def _rows(self, lane: int, address: Ints) -> WarpRows | None:
        """The pieces of 16 bytes that the elements touch, as accesses of the lane's warp."""
        pieces = np.unique(address // CHUNK_BYTES) * CHUNK_BYTES
        if not pieces.size:
            return None
        width = self._batch.width
        count = -(-pieces.size // width)
        padded = np.full(count * width, -1, np.int64)
        padded[: pieces.size] = pieces
        grid = padded.reshape(count, width)
        active = grid >= 0
        first = grid[:, 0].copy()
        warps = np.full(count, lane // width)
        offsets: Any = np.where(active, grid - first[:, None], 0)
        return WarpRows(warps, active, first, offsets)
