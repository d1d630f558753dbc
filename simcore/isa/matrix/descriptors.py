"""Matrices in shared memory that descriptors speak of: where the pieces of 16 bytes are.

A descriptor names a start, two distances and a swizzle (PTX ISA 9.0, "Asynchronous Warpgroup Level
Matrix Shared Memory Layout", "tcgen05 Shared Memory Descriptor"). What it describes is made of core
matrices: eight rows of 16 bytes. Rows go along the outer dimension (M or N) where the depth is the
leading one, along the depth where the matrix is transposed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["CORE_ROWS", "PIECE_BYTES", "CoreMatrices", "DescriptorKind", "piece_addresses"]

Array = npt.NDArray[Any]
CORE_ROWS, PIECE_BYTES = 8, 16
_FIELD, _UNIT_BITS = 0x3FFF, 4
_LEADING_AT, _STRIDE_AT, _BASE_AT = 16, 32, 49
_BASE_MASK, _LINE_BITS = 7, 7


class DescriptorKind(Enum):
    """Families of descriptors: where the swizzle stands, and log2 of the pieces a mode permutes.

    -1: pieces of 32 bytes by rows of 128.
    """

    WARPGROUP = ("wgmma", 62, (0, 3, 2, 1))
    TENSOR_MEMORY = ("tcgen05", 61, (0, -1, 3, 0, 2, 0, 1, 0))

    def __init__(self, family: str, swizzle_at: int, spans: tuple[int, ...]) -> None:
        self.family = family
        self.swizzle_at = swizzle_at
        self.spans = spans


@dataclass(frozen=True, slots=True)
class CoreMatrices:
    """The core matrices that an operand takes: `outer` times `deep`, eight rows each.

    `outer` counts along M or N, `deep` along the depth, in eights of rows or pieces of 16 bytes
    whichever lies that way; `is_transposed`: rows go along the depth.
    """

    outer: int
    deep: int
    is_transposed: bool

    @property
    def count(self) -> int:
        """The number of core matrices."""
        return self.outer * self.deep

    def split(self, core: Array) -> tuple[Array, Array]:
        """The (outer, deep) place of each core matrix; depth runs fastest."""
        return core // self.deep, core % self.deep


def piece_addresses(
    kind: DescriptorKind, descriptor: Array, outer: Array, deep: Array, row: Array, transposed: bool
) -> Array:
    """Addresses in shared memory of rows of core matrices, int64; arguments broadcast."""
    field = descriptor.astype(np.int64)
    start, leading, stride = (
        ((field >> at) & _FIELD) << _UNIT_BITS for at in (0, _LEADING_AT, _STRIDE_AT)
    )
    spans = np.array(kind.spans)
    mode = (descriptor >> np.uint64(kind.swizzle_at)).astype(np.int64) & (len(spans) - 1)
    pairs = (spans[mode] < 0).astype(np.int64)
    span = np.where(pairs, 3, spans[mode])
    inside, across = (outer, deep) if transposed else (deep, outer)
    piece = inside & ((1 << span) - 1)
    near, far = inside >> span, across
    if transposed:  # without a swizzle the two distances change places
        near_step, far_step = np.where(span, leading, stride), np.where(span, stride, leading)
    else:
        near_step, far_step = leading, stride
    offset = (row << span) * PIECE_BYTES + piece * PIECE_BYTES + near * near_step + far * far_step
    address = start + offset
    line = (address >> _LINE_BITS) - ((field >> _BASE_AT) & _BASE_MASK)
    mask = (1 << (span - pairs)) - 1
    return np.asarray(address ^ ((line & mask) << (_UNIT_BITS + pairs)))
