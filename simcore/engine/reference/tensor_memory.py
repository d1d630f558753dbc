"""Tensor memory in the reference engine: 128 lanes of 512 columns for each thread block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from kernelcast.errors import MemoryAccessError
from kernelcast.simcore.engine.reference.batch import Batch
from kernelcast.simcore.engine.reference.lanes import LaneView, as_bits
from kernelcast.simcore.engine.reference.shared_pieces import SharedPieces
from kernelcast.simcore.engine.reference.tensor_allocation import BY_UNITS, allocated
from kernelcast.simcore.engine.reference.tensor_products import (
    ProductSide,
    multiply_in_tensor_memory,
)
from kernelcast.simcore.isa.ir.kernel import Register, TensorMemoryOperation
from kernelcast.simcore.isa.matrix.descriptors import PIECE_BYTES
from kernelcast.simcore.isa.matrix.tensor_memory import (
    TENSOR_COLUMNS,
    TENSOR_LANES,
    Allocation,
    CopyIn,
    RegisterAccess,
    RowShift,
    TensorMemoryFault,
    TensorProduct,
)
from kernelcast.simcore.isa.types import ScalarType
from kernelcast.simcore.launch.memory_spaces import OutOfBounds

__all__ = ["TensorMemory"]

Array = npt.NDArray[Any]
_LANES, _HALF, _WARPS_AROUND = 32, 16, 4
_SHIFTED_COLUMNS = 8
_WORD_BYTES = 4
_LANE_AT, _COLUMN_MASK, _LANE_MASK = 16, 0xFFFF, 0x3FFF


class TensorMemory:
    """What the thread blocks of a batch hold; `owned` says which columns are allocated.

    Nothing is there before the first instruction asks for it.
    """

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._words = np.zeros((0, TENSOR_LANES, TENSOR_COLUMNS), np.uint32)
        self._owned = np.zeros((0, TENSOR_COLUMNS), np.bool_)

    def execute(self, view: LaneView, instruction: TensorMemoryOperation) -> None:
        """Executes an operation; MemoryAccessError where what is asked for is not there."""
        operands = [
            np.broadcast_to(self._batch.operand(view, source, type_), (view.count,))
            for source, type_ in zip(instruction.sources, instruction.types, strict=True)
        ]
        lanes = np.arange(self._batch.lanes) if view.lanes is None else view.lanes
        results = self.perform(instruction, lanes, operands)
        for register, value in zip(instruction.destinations, results, strict=True):
            self._write(view, register, value)

    def perform(
        self, instruction: TensorMemoryOperation, lanes: Array, operands: Sequence[Array]
    ) -> Array:
        """The results, shape (destinations, lanes); `operands`: unsigned numbers of each lane."""
        self._begin()
        operation = instruction.operation
        results = np.zeros((len(instruction.destinations), len(lanes)), np.uint32)
        if isinstance(operation, TensorProduct | CopyIn | RowShift):
            for row, lane in enumerate(lanes.tolist()):
                values = [int(operand[row]) for operand in operands]
                self._guarded(instruction, lane, self._one_thread, operation, lane, values)
            return results
        for rows, lane in self._asking(operation, lanes, instruction):
            part = [operand[rows] for operand in operands]
            found = self._guarded(instruction, lane, self._one_warp, operation, lane, part)
            if found is not None:
                results[:, rows] = found
        return results

    def _begin(self) -> None:
        if not len(self._words):
            count = self._batch.count
            self._words = np.zeros((count, TENSOR_LANES, TENSOR_COLUMNS), np.uint32)
            self._owned = np.zeros((count, TENSOR_COLUMNS), np.bool_)

    def _write(self, view: LaneView, register: Register | None, value: Array) -> None:
        if register is not None:
            view.write(register, as_bits(value, ScalarType.B32, register.bits))

    def _asking(
        self,
        operation: Allocation | RegisterAccess,
        lanes: Array,
        instruction: TensorMemoryOperation,
    ) -> Iterator[tuple[slice, int]]:
        """Places of each warp among the lanes, and its first lane."""
        if not isinstance(operation, Allocation) or operation.step not in BY_UNITS:
            yield from self._warps(lanes, instruction)
            return
        starts = np.unique(lanes // _LANES, return_index=True)[1].tolist()
        for start, end in zip(starts, [*starts[1:], len(lanes)], strict=True):
            yield slice(start, end), int(lanes[start])

    def _warps(
        self, lanes: Array, instruction: TensorMemoryOperation
    ) -> Iterator[tuple[slice, int]]:
        """Places of each warp among the lanes, and its first lane; warps have to be whole."""
        width = _LANES
        first = lanes[::width]
        if (
            len(lanes) % width
            or (lanes.reshape(-1, width) != first[:, None] + np.arange(width)).any()
        ):
            self._fail(instruction, int(lanes[0]), "some lanes of the warp did not come")
        for number, lane in enumerate(first.tolist()):
            yield slice(number * width, (number + 1) * width), lane

    def _guarded(
        self, instruction: TensorMemoryOperation, lane: int, do: Callable[..., Any], *values: Any
    ) -> Any:
        try:
            return do(*values)
        except OutOfBounds as fault:
            self._fail(instruction, lane, f"at address {fault.address:#x}: {fault}")
        except TensorMemoryFault as fault:
            self._fail(instruction, lane, str(fault))

    def _fail(self, instruction: TensorMemoryOperation, lane: int, reason: str) -> NoReturn:
        raise MemoryAccessError(
            f"{instruction.mnemonic}: {reason}",
            instruction.span,
            self._batch.thread_name(lane),
            instruction.origin,
        )

    def _one_warp(
        self, operation: Allocation | RegisterAccess, lane: int, operands: list[Array]
    ) -> Array | None:
        owner = lane // self._batch.shape.lanes
        if isinstance(operation, Allocation):
            owners = self._pair(owner) if operation.is_pair else (owner,)
            given = [int(operand[0]) for operand in operands]
            found = allocated(operation.step, [self._owned[each] for each in owners], given)
            return None if found is None else np.full((1, 1), found, np.uint32)
        warp = lane % self._batch.shape.lanes // _LANES % _WARPS_AROUND
        return self._registers(operation, owner, warp, operands)

    def _registers(
        self, operation: RegisterAccess, owner: int, warp: int, operands: list[Array]
    ) -> Array | None:
        address = int(operands[0][0])
        if (operands[0] != address).any():
            raise TensorMemoryFault("the lanes of the warp give different addresses")
        first_lane, first_column = _place(address)
        lane, column = operation.shape.places(
            operation.count * (2 if operation.is_packed else 1), operation.split
        )
        lane, column = lane + first_lane, column + first_column
        if (lane // _LANES != warp).any():
            raise TensorMemoryFault(
                f"a warp of number {warp} of four reaches lanes from {warp * _LANES} on"
            )
        self._check(owner, int(column.min()), int(column.max()) + 1)
        words = self._words[owner]
        if not operation.is_store:
            found = words[lane, column]
            return _joined(found, operation) if operation.is_packed else found
        values = np.stack(operands[1:])
        if operation.is_packed:
            values = _parted(values, operation)
        if operation.half is None:
            words[lane, column] = values
        else:
            threads = slice(_HALF * operation.half, _HALF * (operation.half + 1))
            words[lane[:, threads], column[:, threads]] = values[:, threads]
        return None

    def _check(self, owner: int, first: int, end: int) -> None:
        """Columns have to be there and allocated."""
        if end > TENSOR_COLUMNS or not self._owned[owner, first:end].all():
            raise TensorMemoryFault(f"columns {first} to {end - 1} are not allocated")

    def _one_thread(
        self, operation: TensorProduct | CopyIn | RowShift, lane: int, values: list[int]
    ) -> None:
        owner = lane // self._batch.shape.lanes
        owners = self._pair(owner) if operation.is_pair else (owner,)
        if isinstance(operation, TensorProduct):
            if operation.is_left_out:
                return
            sides = [self._side(o) for o in owners]
            multiply_in_tensor_memory(operation, values, sides, self._batch.multiply)
            return
        for each in owners:
            if isinstance(operation, CopyIn):
                self._copy(operation, each, values)
            else:
                self._shift(each, values[0])

    def _pair(self, owner: int) -> tuple[int, int]:
        """The pair of thread blocks, of even and odd rank, that a thread block belongs to."""
        cluster = self._batch.cluster
        if cluster is None or cluster.size % 2:
            raise TensorMemoryFault(
                "pairs of thread blocks need clusters of an even number of them"
            )
        first = int(cluster.rank[owner]) & ~1
        return int(cluster.mates[owner, first]), int(cluster.mates[owner, first + 1])

    def _side(self, owner: int) -> ProductSide:
        return ProductSide(
            self._words[owner],
            SharedPieces(self._batch, owner),
            lambda first, end: self._check(owner, first, end),
        )

    def _copy(self, operation: CopyIn, owner: int, values: list[int]) -> None:
        _, column = _place(values[0])
        pieces = operation.bits // 8 // PIECE_BYTES
        words = SharedPieces(self._batch, owner).rows(values[1], operation.rows, pieces)
        if operation.element_bits:
            words = _spread(words, operation.element_bits)
        content = np.ascontiguousarray(words).view(np.uint32).reshape(operation.rows, -1)
        end = column + content.shape[1]
        self._check(owner, column, end)
        count = operation.height
        for lane, row in zip(operation.lanes, operation.first_rows, strict=True):
            self._words[owner, lane : lane + count, column:end] = content[row : row + count]

    def _shift(self, owner: int, address: int) -> None:
        lane, column = _place(address)
        if lane % _LANES:
            raise TensorMemoryFault(f"lane {lane} is no multiple of {_LANES}")
        self._check(owner, column, column + _SHIFTED_COLUMNS)
        rows = self._words[owner, lane : lane + _LANES, column : column + _SHIFTED_COLUMNS]
        rows[1:] = rows[:-1].copy()


def _place(address: int) -> tuple[int, int]:
    """(lane, column); bits above these say which byte a scale begins with."""
    return address >> _LANE_AT & _LANE_MASK, address & _COLUMN_MASK


def _joined(words: Array, operation: RegisterAccess) -> Array:
    """The lower halves of two neighbouring registers in one."""
    pairs = words.reshape(operation.registers, 2, _LANES) & np.uint32(0xFFFF)
    joined: Array = pairs[:, 0] | pairs[:, 1] << np.uint32(16)
    return joined


def _parted(values: Array, operation: RegisterAccess) -> Array:
    halves = np.stack((values & np.uint32(0xFFFF), values >> np.uint32(16)), axis=1)
    return halves.reshape(2 * operation.registers, _LANES)


def _spread(content: Array, bits: int) -> Array:
    """Elements of 4 or 6 bits, 16 in each 16 bytes, to a byte each (`.b4x16_p64`, `.b6x16_p32`)."""
    pieces = content.reshape(-1, PIECE_BYTES)
    elements = np.arange(PIECE_BYTES) * bits
    wide = np.concatenate((pieces, np.zeros((len(pieces), 1), np.uint8)), axis=1).astype(np.uint16)
    both = wide[:, elements // 8] | wide[:, elements // 8 + 1] << np.uint16(8)
    codes = both >> (elements % 8).astype(np.uint16) & np.uint16((1 << bits) - 1)
    shift = np.uint16(2 if bits == _WORD_BYTES else 0)
    return (codes << shift).astype(np.uint8).reshape(content.shape)
