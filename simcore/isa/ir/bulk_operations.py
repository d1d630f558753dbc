"""What a copy in bulk does: where from and where to, in which shape.

PTX ISA 9.0, "cp.async.bulk", "cp.reduce.async.bulk", "cp.async.bulk.tensor" and their prefetches.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kernelcast.simcore.isa.types import ScalarType

__all__ = ["CHUNK_BYTES", "BulkDirection", "BulkOperand", "BulkOperation", "BulkSide", "TensorMode"]

CHUNK_BYTES = 16
"""Copies move pieces of so many bytes; in traces lanes side by side move one each."""


class BulkDirection(Enum):
    """(from, to)."""

    LOAD = ("global", "shared")
    STORE = ("shared", "global")
    EXCHANGE = ("shared", "shared")
    PREFETCH = ("global", "")

    @property
    def source(self) -> str:
        """The memory that the copy reads: `global`, `shared`, ..."""
        return self.value[0]

    @property
    def destination(self) -> str:
        """The memory that the copy writes."""
        return self.value[1]


class TensorMode(Enum):
    """How coordinates choose elements of a tensor."""

    TILE = "tile"
    IM2COL = "im2col"
    ROWS = "gather4"
    """Four rows of a matrix, each by its own number (`gather4`, `scatter4`)."""


class BulkOperand(Enum):
    """What an operand of a copy is."""

    DESTINATION = "destination"
    SOURCE = "source"
    TENSOR_MAP = "tensor map"
    COORDINATE = "coordinate"
    OFFSET = "offset"
    """The offset in the filter, for an im2col copy."""
    SIZE = "size"
    MBARRIER = "mbarrier"
    THREAD_BLOCKS = "thread blocks"
    """A mask of ranks in the cluster."""
    BYTE_MASK = "byte mask"
    """Which of every 16 bytes are stored."""


class BulkSide(Enum):
    """The instruction itself stands for the first access of memory, a part of it for the second."""

    COPY = "copy"
    ARRIVAL = "arrival"


@dataclass(frozen=True, slots=True)
class BulkOperation:
    """What one bulk copy does.

    `dimensions` 0 is a plain run of bytes; `reduction` empty overwrites. `element`: what a plain
    reduction works on; that of a tensor stands in its map.
    """

    direction: BulkDirection
    dimensions: int = 0
    mode: TensorMode = TensorMode.TILE
    reduction: str = ""
    element: ScalarType | None = None
    is_of_pair: bool = False
    """`.cta_group::2`: each thread block's bytes are told to the mbarrier of the one of its pair
    whose rank is even or odd as that of the mbarrier given."""

    def space(self, side: BulkSide) -> str:
        """The memory that the side's accesses are in; that of tensors and buffers comes first."""
        ends = (self.direction.source, self.direction.destination)
        if side is BulkSide.COPY:
            return "global" if "global" in ends else "shared"
        return "shared"
