"""Copies in bulk that compiled code asks for, done as the reference engine does them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.engine.jit.codegen.memory.records import EVENT, VALUES
from kernelcast.simcore.engine.jit.runtime.cluster_memory import ClusterMemory
from kernelcast.simcore.engine.recording.patterns import WarpRows
from kernelcast.simcore.engine.reference.batch import Batch, GridShape
from kernelcast.simcore.engine.reference.bulk_copies import BulkCopies
from kernelcast.simcore.engine.rules.bulk_requests import BulkRequest
from kernelcast.simcore.isa.analysis.cluster_addresses import OFFSET_MASK
from kernelcast.simcore.isa.ir.bulk_operations import BulkDirection, BulkOperand, BulkSide
from kernelcast.simcore.isa.ir.kernel import BulkCopy, Kernel
from kernelcast.simcore.launch.launch_memory import LaunchMemory

__all__ = ["BulkCopyCalls", "reduces_in_buffers"]

Ints = npt.NDArray[np.int64]
_HEAD_WORDS = 4
_STAGE_SHIFT, _WARP_SHIFT = 32, 32


def reduces_in_buffers(kernel: Kernel) -> bool:
    """Whether copies read, change and write global memory, which they do in several steps."""
    copies = (i.operation for i in kernel.instructions if isinstance(i, BulkCopy))
    return any(c.direction is BulkDirection.STORE and c.reduction for c in copies)


class BulkCopyCalls:
    """Serves the bulk copies of one cluster's thread blocks at a time.

    `take` gets records of their accesses, in the form of the ring; where it `tells`, before those
    of a copy also one of the mbarriers of its lanes, and one of their words.
    """

    def __init__(
        self,
        kernel: Kernel,
        memory: LaunchMemory,
        shape: GridShape,
        shared: ClusterMemory,
        take: Callable[[Ints], None],
        *,
        tells: bool = False,
    ) -> None:
        self._tells = tells
        self._kernel = kernel
        self._memory = memory
        self._shape = shape
        self._shared = shared
        self._take = take
        self._is_used = any(isinstance(i, BulkCopy) for i in kernel.instructions)

    def begin(self, thread_blocks: Ints) -> None:
        """The thread blocks of another cluster, by rank."""
        if not self._is_used:
            return
        batch = Batch(self._kernel, self._shape, self._memory, frozenset(), thread_blocks)
        batch.shared = self._shared
        self._batch = batch
        self._copies = BulkCopies(self._memory, _Records(batch, self._take), batch)

    def copy(
        self, pc: int, rank: int, stage: int, warp: int, mask: int, operands: int | None
    ) -> None:
        """Copies for the lanes of a warp; ExecutionError when hardware would refuse it."""
        instruction = self._kernel.instructions[pc]
        assert isinstance(instruction, BulkCopy)
        shape, count = self._shape, len(instruction.sources)
        kind = ctypes.c_int64 * (count * shape.width + 1)
        words = np.ctypeslib.as_array(kind.from_address(operands or 0))
        counts, number = self._batch.counts, rank * shape.warps + warp
        counts.warp_time[number] = words[-1]
        counts.stage[rank] = stage
        rows = words[:-1].reshape(count, shape.width)
        first = number * shape.width
        lanes = [lane for lane in range(shape.width) if mask >> lane & 1]
        if self._tells and instruction.side is BulkSide.COPY:
            head = [pc, int(words[-1]) | warp << _WARP_SHIFT, 0, mask]
            head[2] = int(self._batch.thread_blocks[rank]) | stage << _STAGE_SHIFT
            self._tell(head, instruction, rows, rank)
        self._copies.perform(_requests(instruction, rows, first, lanes), instruction, 0)

    def _tell(self, head: list[int], instruction: BulkCopy, rows: Ints, rank: int) -> None:
        """The mbarriers of all lanes that copy, and what stands there; zeros without any."""
        places, seen = (np.zeros(self._shape.width, np.int64) for _ in range(2))
        if BulkOperand.MBARRIER in instruction.operands:
            places[:] = rows[instruction.operands.index(BulkOperand.MBARRIER)]
            memory = self._shared.typed(np.dtype(np.int64))
            stride = self._shared.stride
            at = rank * stride + (places & OFFSET_MASK)
            seen[:] = memory[np.minimum(at, rank * stride + stride - 8) >> 3]
        first, second = ([head[0] | bits, *head[1:]] for bits in (EVENT, VALUES))
        self._take(np.array([*first, *places, *second, *seen], np.int64))


def _requests(
    instruction: BulkCopy, rows: Ints, first: int, lanes: list[int]
) -> Iterator[BulkRequest]:
    for lane in lanes:
        values: dict[BulkOperand, list[int]] = {}
        for operand, value in zip(instruction.operands, rows[:, lane].tolist(), strict=True):
            values.setdefault(operand, []).append(value)
        yield BulkRequest(first + lane, values)


class _Records:
    """A Recorder of accesses alone; nothing else is told of them."""

    def __init__(self, batch: Batch, take: Callable[[Ints], None]) -> None:
        self._batch = batch
        self._take = take

    def record_run(self, *_: Any) -> None:
        """Compiled code counts."""

    def record_guard(self, *_: Any) -> None:
        """Compiled code counts."""

    def record_access(self, pc: int, rows: WarpRows, warps: Ints, time: Ints, stage: Ints) -> None:
        """Words as `runtime_code` describes them, with the addresses of all lanes."""
        width, shape = self._batch.width, self._batch.shape
        words = np.zeros((len(rows.first), _HEAD_WORDS + width), np.int64)
        words[:, 0] = pc
        words[:, 1] = time | (warps % shape.warps) << _WARP_SHIFT
        words[:, 2] = warps // shape.warps | stage << _STAGE_SHIFT
        words[:, 3] = -1
        if rows.active is not None:
            bits = np.zeros((len(words), 64), np.uint8)
            bits[:, :width] = rows.active
            words[:, 3] = np.packbits(bits, axis=1, bitorder="little").view(np.int64)[:, 0]
        words[:, _HEAD_WORDS:] = rows.first[:, None] + rows.offsets
        self._take(words.reshape(-1))

    def record_pattern(self, pc: int, rows: WarpRows, stage: Ints) -> None:
        """Records an access as any other; its space is known to make order irrelevant."""
        warps = self._batch.warps[rows.warps]
        self.record_access(pc, rows, warps, np.zeros(len(warps), np.int64), stage)
