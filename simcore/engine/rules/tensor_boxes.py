"""Which elements of a tensor a copy moves, and where they lie in shared memory.

PTX ISA 9.0, "Tensor": tiled and im2col modes, bounding boxes, traversal strides, swizzling.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.errors import LaunchError
from kernelcast.simcore.host.limits import MOST_SHARED_BYTES
from kernelcast.simcore.isa.ir.bulk_operations import TensorMode
from kernelcast.simcore.launch.tensor_maps import DescribedTensor, Swizzle

__all__ = ["TensorBox", "swizzled", "tensor_box"]

Ints = npt.NDArray[np.int64]
_ROW_SHIFT = 7
_PIECE_SHIFT = 4


@dataclass(frozen=True, slots=True)
class TensorBox:
    """Elements of a tensor copy in the order of shared memory.

    Holds their addresses in global memory, and which of them are in the tensor at all; shapes
    (elements,).
    """

    address: Ints
    inside: npt.NDArray[np.bool_]


def tensor_box(
    tensor: DescribedTensor, mode: TensorMode, coordinates: Sequence[int], offsets: Sequence[int]
) -> TensorBox:
    """The box at `coordinates`, innermost dimension first."""
    match mode:
        case TensorMode.TILE:
            positions = _tile(tensor, coordinates)
        case TensorMode.IM2COL:
            positions = _columns(tensor, coordinates, offsets)
        case TensorMode.ROWS:
            positions = _rows(tensor, coordinates)
    _check_size(positions, tensor.element.size)
    address = np.full(1, tensor.address, np.int64)
    inside = np.ones(1, np.bool_)
    for position, size, stride in zip(positions, tensor.sizes, tensor.strides, strict=True):
        address = address + position * stride
        inside = inside & (position >= 0) & (position < size)
    return TensorBox(address.reshape(-1), np.broadcast_to(inside, address.shape).reshape(-1))


def _check_size(positions: Sequence[Ints], element_bytes: int) -> None:
    """Raises LaunchError for more than shared memory can hold: a box has up to 256^5 elements."""
    shapes = [position.shape for position in positions]
    size = element_bytes * math.prod(np.broadcast_shapes(*shapes))
    if size > MOST_SHARED_BYTES:
        raise LaunchError(f"a box of {size} bytes: shared memory has {MOST_SHARED_BYTES} at most")


def _tile(tensor: DescribedTensor, coordinates: Sequence[int]) -> list[Ints]:
    """Coordinates by dimension, outermost first, shaped so that they broadcast to the box."""
    found = []
    for axis, (first, box, step) in enumerate(
        zip(coordinates, tensor.box, tensor.steps, strict=True)
    ):
        step = step if axis else 1  # the innermost dimension is dense
        position = first + step * np.arange(-(-box // step))
        found.append(_along(position, axis, tensor.rank))
    return found


def _rows(tensor: DescribedTensor, coordinates: Sequence[int]) -> list[Ints]:
    columns = coordinates[0] + np.arange(tensor.box[0])
    return [_along(columns, 0, 2), _along(np.array(coordinates[1:]), 1, 2)]


def _along(position: Ints, axis: int, rank: int) -> Ints:
    shape = [1] * rank
    shape[rank - 1 - axis] = len(position)
    return position.reshape(shape)


def _columns(
    tensor: DescribedTensor, coordinates: Sequence[int], offsets: Sequence[int]
) -> list[Ints]:
    """Pixels one after the other, through the bounding box of all images, and their channels."""
    spatial = tensor.rank - 2
    channels = coordinates[0] + np.arange(tensor.channels)
    number = np.arange(tensor.pixels)
    found = [channels.reshape(1, -1)]
    for axis in range(spatial):
        size, step = tensor.sizes[axis + 1], tensor.steps[axis + 1]
        lower, last = tensor.lower[axis], size - 1 + tensor.upper[axis]
        count = max(1, (last - lower) // step + 1)
        number = number + (coordinates[axis + 1] - lower) // step
        position = lower + number % count * step + offsets[axis]
        number = number // count
        found.append(position.reshape(-1, 1))
    found.append((coordinates[-1] + number).reshape(-1, 1))
    return found


def swizzled(address: Ints, swizzle: Swizzle) -> Ints:
    """The swizzled addresses of bytes of shared memory.

    The number of the 128-byte row, or its lowest bits, is added without carry to that of the
    16-byte piece.
    """
    if swizzle is Swizzle.NONE:
        return address
    pieces = swizzle.span // 16
    row = (address >> _ROW_SHIFT) & (pieces - 1)
    return address ^ (row << _PIECE_SHIFT)
