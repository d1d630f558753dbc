"""Tensor maps: what a copy of tensors knows of the array in global memory.

Kernels treat them as 128 bytes without meaning (`tensor_map_words`), of which `tensormap.replace`
writes single fields. Sizes and steps go from the innermost dimension on, as CUDA's
`cuTensorMapEncodeTiled` takes them, the reverse of a NumPy shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.errors import LaunchError
from kernelcast.simcore.launch.tensor_map_words import (
    MOST_DIMENSIONS,
    TENSOR_MAP_BYTES,
    TensorMapWords,
)

__all__ = [
    "TENSOR_MAP_BYTES",
    "DescribedTensor",
    "Fill",
    "Swizzle",
    "TensorElement",
    "TensorMap",
]

_MOST_BOX = 256
_MOST_STEP = 8
_CORNERS = 3
_STRIDE_ALIGNMENT = 16


class TensorElement(Enum):
    """Types of elements: the number in a tensor map (PTX ISA 9.0, tensormap.replace), bytes."""

    U8 = (0, 1, "u8")
    U16 = (1, 2, "u16")
    U32 = (2, 4, "u32")
    S32 = (3, 4, "s32")
    U64 = (4, 8, "u64")
    S64 = (5, 8, "s64")
    F16 = (6, 2, "f16")
    F32 = (7, 4, "f32")
    F32_FTZ = (8, 4, "f32")
    F64 = (9, 8, "f64")
    BF16 = (10, 2, "bf16")
    TF32 = (11, 4, "f32")
    TF32_FTZ = (12, 4, "f32")

    def __init__(self, number: int, size: int, scalar: str) -> None:
        self.number = number
        self.size = size
        self.scalar = scalar

    @classmethod
    def numbered(cls, number: int) -> TensorElement:
        """The element of that number; LaunchError for packed ones of 4 and 6 bits, or none."""
        for element in cls:
            if element.number == number:
                return element
        raise LaunchError(f"elements of type {number} of a tensor map are not supported")


class Swizzle(Enum):
    """Bytes of shared memory within which pieces of 16 bytes change places."""

    NONE = 0
    BYTES_32 = 1
    BYTES_64 = 2
    BYTES_128 = 3

    @property
    def span(self) -> int:
        """The length in bytes of the permuted stretch; 0 without swizzling."""
        return 0 if self is Swizzle.NONE else 16 << self.value


class Fill(Enum):
    """The value that stands for elements outside of the tensor."""

    ZEROS = 0
    NAN = 1


@dataclass(frozen=True, slots=True)
class DescribedTensor:
    """A tensor map as copies read it; sizes, box and steps of `rank` dimensions."""

    address: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    steps: tuple[int, ...]
    element: TensorElement
    swizzle: Swizzle
    fill: Fill
    is_interleaved: bool
    lower: tuple[int, ...]
    upper: tuple[int, ...]
    channels: int
    pixels: int

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.sizes)

    @classmethod
    def read(cls, content: bytes) -> DescribedTensor:
        """Reads a tensor map; LaunchError when the bytes are none of ours.

        A kernel may make one itself: all zeros, of which `tensormap.replace` sets the fields.
        """
        words = TensorMapWords.read(content)
        if not words.is_map:
            raise LaunchError(
                "this memory holds no tensor map: give one as an argument, kc.TensorMap"
            )
        element, rank = TensorElement.numbered(words.element), words.rank
        return cls(
            address=words.address,
            sizes=words.sizes[:rank],
            strides=(element.size, *words.strides[: rank - 1]),
            box=words.box[:rank],
            steps=words.steps[:rank],
            element=element,
            swizzle=Swizzle(words.swizzle),
            fill=Fill(words.fill),
            is_interleaved=words.interleave != 0,
            lower=words.lower,
            upper=words.upper,
            channels=words.channels,
            pixels=words.pixels,
        )


@dataclass(frozen=True, eq=False)
class TensorMap:
    """`array` as copies of tensors see it: boxes of `box` elements, innermost dimension first.

    `sizes` and `strides` (bytes, of all dimensions but the innermost) are by default those of the
    array; `steps` is how far apart in each dimension the elements of a box are. `lower`, `upper`,
    `channels` and `pixels` make it an im2col map (CUDA driver API, `cuTensorMapEncodeIm2col`).
    LaunchError where the driver would refuse it.
    """

    array: npt.NDArray[Any]
    box: Sequence[int] = ()
    element: TensorElement | None = None
    swizzle: Swizzle = Swizzle.NONE
    fill: Fill = Fill.ZEROS
    steps: Sequence[int] = ()
    sizes: Sequence[int] = ()
    strides: Sequence[int] = ()
    lower: Sequence[int] = ()
    upper: Sequence[int] = ()
    channels: int = 0
    pixels: int = 0
    _sizes: tuple[int, ...] = field(init=False, repr=False)
    _element: TensorElement = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_sizes", tuple(self.sizes) or self.array.shape[::-1])
        object.__setattr__(self, "_element", self.element or _element_of(self.array.dtype))
        self._check()

    def encoded(self, address: int) -> bytes:
        """The 128 bytes for an array that begins at `address` in global memory."""
        corners = [_padded(corner, _CORNERS, 0) for corner in (self.lower, self.upper)]
        return TensorMapWords(
            address=address,
            strides=_padded(self._strides(), MOST_DIMENSIONS - 1, 0),
            sizes=_padded(self._sizes, MOST_DIMENSIONS, 1),
            box=_padded(self.box, MOST_DIMENSIONS, 1),
            steps=_padded(self.steps, MOST_DIMENSIONS, 1),
            rank=len(self._sizes),
            element=self._element.number,
            interleave=0,
            swizzle=self.swizzle.value,
            fill=self.fill.value,
            lower=corners[0],
            upper=corners[1],
            channels=self.channels,
            pixels=self.pixels,
        ).packed()

    def _strides(self) -> tuple[int, ...]:
        if self.strides:
            return tuple(self.strides)
        found, distance = [], self._element.size
        for size in self._sizes[:-1]:
            distance *= size
            found.append(distance)
        return tuple(found)

    def _check(self) -> None:
        rank = len(self._sizes)
        if not self.array.flags.c_contiguous:
            raise LaunchError("the array of a tensor map is not C-contiguous")
        if not 1 <= rank <= MOST_DIMENSIONS:
            raise LaunchError(f"a tensor map has 1 to {MOST_DIMENSIONS} dimensions, got {rank}")
        if not self.channels and len(self.box) != rank:
            raise LaunchError(f"the box of a tensor map of {rank} dimensions: {tuple(self.box)}")
        if self.box and not all(1 <= size <= _MOST_BOX for size in self.box):
            raise LaunchError(f"sizes of a box are from 1 to {_MOST_BOX}, got {tuple(self.box)}")
        if self.steps and not all(1 <= step <= _MOST_STEP for step in self.steps):
            raise LaunchError(f"steps are from 1 to {_MOST_STEP}, got {tuple(self.steps)}")
        if any(stride % _STRIDE_ALIGNMENT for stride in self._strides()):
            raise LaunchError(
                f"strides of a tensor map are multiples of {_STRIDE_ALIGNMENT} bytes, "
                f"got {self._strides()}"
            )
        self._check_row()

    def _check_row(self) -> None:
        row = (self.channels or self.box[0]) * self._element.size
        if row % _STRIDE_ALIGNMENT:
            raise LaunchError(f"rows of a box are multiples of 16 bytes, got {row}")
        if self.swizzle.span and row > self.swizzle.span:
            raise LaunchError(f"rows of {row} bytes do not fit a swizzle of {self.swizzle.span}")


def _padded(values: Sequence[int], count: int, filler: int) -> tuple[int, ...]:
    return (*values, *(filler,) * count)[:count]


def _element_of(dtype: np.dtype[Any]) -> TensorElement:
    name = {"f": "f", "u": "u", "i": "s"}.get(dtype.kind, "?") + str(8 * dtype.itemsize)
    name = {"s8": "u8", "s16": "u16"}.get(name, name)
    for element in TensorElement:
        if element.scalar == name:
            return element
    raise LaunchError(f"a tensor map has no elements of type {dtype}")
