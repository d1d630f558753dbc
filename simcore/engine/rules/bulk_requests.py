"""What one thread asks of the copy engine: which elements go where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.errors import LaunchError
from kernelcast.simcore.engine.rules.tensor_boxes import swizzled, tensor_box
from kernelcast.simcore.host.limits import MOST_PREFETCHED_BYTES, MOST_SHARED_BYTES
from kernelcast.simcore.isa.ir.bulk_operations import (
    CHUNK_BYTES,
    BulkDirection,
    BulkOperand,
    BulkOperation,
)
from kernelcast.simcore.isa.opcodes.guarded_arithmetic import OUTSIDE_NAN
from kernelcast.simcore.isa.types import WINDOW_BYTES, WINDOWS, AddressSpace, ScalarType
from kernelcast.simcore.launch.launch_memory import LaunchMemory
from kernelcast.simcore.launch.tensor_maps import (
    TENSOR_MAP_BYTES,
    DescribedTensor,
    Fill,
    TensorElement,
)

__all__ = ["BulkElements", "BulkRequest", "bulk_elements", "operand_type"]

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
_TENSOR_ALIGNMENT = 128
_FLUSHED = (TensorElement.F32_FTZ, TensorElement.TF32_FTZ)
_TYPES = {
    BulkOperand.COORDINATE: ScalarType.S32,
    BulkOperand.OFFSET: ScalarType.U16,
    BulkOperand.SIZE: ScalarType.U32,
    BulkOperand.THREAD_BLOCKS: ScalarType.U16,
    BulkOperand.BYTE_MASK: ScalarType.U16,
}
_NANS = {"f16": OUTSIDE_NAN, "bf16": OUTSIDE_NAN, "f32": 0x7FFF_FFFF, "f64": 0x7FFF_FFFF_FFFF_FFFF}


def operand_type(operand: BulkOperand) -> ScalarType:
    """How an operand is read: addresses as signed numbers of 64 bits."""
    return _TYPES.get(operand, ScalarType.S64)


@dataclass(frozen=True, slots=True)
class BulkRequest:
    """The operands of one lane."""

    lane: int
    values: Mapping[BulkOperand, Sequence[int]]

    def value(self, operand: BulkOperand) -> int:
        """The first value of an operand."""
        return self.values[operand][0]


@dataclass(frozen=True, slots=True)
class BulkElements:
    """The elements of a copy in the order of shared memory; arrays of shape (elements,).

    `outer`: addresses in global memory, or of the source where both ends are shared memory;
    `inner`: addresses in shared memory. What is not `inside` of the tensor is filled, or not
    written.
    """

    type: ScalarType | None
    bytes: int
    outer: Ints
    inner: Ints
    inside: npt.NDArray[np.bool_]
    filler: Bytes
    flushes: bool = False


def bulk_elements(
    request: BulkRequest, operation: BulkOperation, memory: LaunchMemory
) -> BulkElements:
    """The elements that a copy moves; LaunchError says why there are none."""
    if operation.dimensions:
        return _of_tensor(request, operation, memory)
    return _of_run(request, operation, memory)


def _of_run(request: BulkRequest, operation: BulkOperation, memory: LaunchMemory) -> BulkElements:
    """A run of bytes, in pieces of 16 or of the elements that are reduced."""
    source = request.value(BulkOperand.SOURCE)
    destination = request.values.get(BulkOperand.DESTINATION, [0])[0]
    size = request.value(BulkOperand.SIZE)
    for what, number in (("source", source), ("destination", destination), ("size", size)):
        if number % CHUNK_BYTES:
            raise LaunchError(f"{what} {number:#x} is no multiple of {CHUNK_BYTES}")
    _check_size(size, operation, memory)
    mask = request.values.get(BulkOperand.BYTE_MASK)
    width = CHUNK_BYTES if operation.element is None else operation.element.bytes
    if mask is not None:
        width = 1
    distance = np.arange(0, size, width, dtype=np.int64)
    is_store = operation.direction.destination == "global"
    outer, inner = (destination, source) if is_store else (source, destination)
    return BulkElements(
        operation.element,
        width,
        outer + distance,
        inner + distance,
        np.ones(len(distance), np.bool_) if mask is None else _chosen(distance, mask[0]),
        np.zeros(width, np.uint8),
    )


def _check_size(size: int, operation: BulkOperation, memory: LaunchMemory) -> None:
    """Raises LaunchError for too large a size, before anything is made for each element.

    Sizes have 32 bits.
    """
    most, where = MOST_SHARED_BYTES, "shared memory"
    if operation.direction is BulkDirection.PREFETCH:
        most, where = MOST_PREFETCHED_BYTES, "a prefetch"
        largest = max((a.size for a in memory.globals.allocations), default=0)
        if largest < most:
            most, where = largest, "any buffer"
    if size > most:
        raise LaunchError(f"{size} bytes are more than the {most} of {where}")


def _chosen(distance: Ints, mask: int) -> npt.NDArray[np.bool_]:
    """A bit for each of 16 bytes."""
    chosen: npt.NDArray[np.bool_] = (mask >> distance % CHUNK_BYTES) & 1 == 1
    return chosen


def _of_tensor(
    request: BulkRequest, operation: BulkOperation, memory: LaunchMemory
) -> BulkElements:
    tensor = DescribedTensor.read(_content(memory, request.value(BulkOperand.TENSOR_MAP)))
    if tensor.rank != operation.dimensions:
        raise LaunchError(f"the tensor map has {tensor.rank} dimensions")
    if tensor.is_interleaved:
        raise LaunchError("interleaved tensor maps are not supported")
    box = tensor_box(
        tensor,
        operation.mode,
        request.values[BulkOperand.COORDINATE],
        request.values.get(BulkOperand.OFFSET, ()),
    )
    is_store = operation.direction.destination == "global"
    end = BulkOperand.SOURCE if is_store else BulkOperand.DESTINATION
    first = request.values.get(end, [0])[0]
    if first % _TENSOR_ALIGNMENT:
        raise LaunchError(f"address {first:#x} in shared memory is no multiple of 128")
    element = tensor.element
    inner = first + element.size * np.arange(len(box.address), dtype=np.int64)
    filler = _NANS.get(element.scalar, 0) if tensor.fill is Fill.NAN else 0
    return BulkElements(
        ScalarType.named(element.scalar),
        element.size,
        box.address,
        swizzled(inner, tensor.swizzle),
        box.inside,
        np.frombuffer(filler.to_bytes(element.size, "little"), np.uint8),
        element in _FLUSHED,
    )


def _content(memory: LaunchMemory, address: int) -> bytes:
    """The tensor map at a generic address."""
    flat, offset = np.zeros(0, np.uint8), 0
    for space, kept in (
        (AddressSpace.PARAM, memory.parameters),
        (AddressSpace.CONST, memory.constants),
    ):
        if WINDOWS[space] <= address < WINDOWS[space] + WINDOW_BYTES:
            flat, offset = kept.bytes[: kept.size], address - WINDOWS[space]
    allocation = memory.globals.find(address)
    if allocation is not None:
        flat, offset = allocation.bytes, address - allocation.address
    content: bytes = flat[offset : offset + TENSOR_MAP_BYTES].tobytes()
    if len(content) < TENSOR_MAP_BYTES:
        raise LaunchError(f"there is no tensor map at address {address:#x}")
    return content
