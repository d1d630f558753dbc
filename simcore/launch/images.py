"""Images and samplers as arguments of a launch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy.typing as npt

from kernelcast.errors import LaunchError
from kernelcast.simcore.isa.ir.image_formats import (
    ChannelOrder,
    ChannelType,
    ImageFormat,
    ImageKind,
)

__all__ = ["AXIS_BITS", "Addressing", "Filter", "Image", "Sampler", "sampler_word"]

AXIS_BITS = 8
"""Bits of a sampler from the addressing of one axis to that of the next."""
_AXES = 3

_LARGEST = 2**31 - 1


class Addressing(Enum):
    """What coordinates outside of an image mean, as the bits of a sampler in a kernel.

    The first names are OpenCL's, the last three CUDA's; what CUDA calls clamp is CLAMP_TO_EDGE.
    """

    NONE = 0
    CLAMP_TO_EDGE = 2
    CLAMP = 4
    REPEAT = 6
    MIRRORED_REPEAT = 8
    BORDER = CLAMP
    WRAP = REPEAT
    MIRROR = MIRRORED_REPEAT


class Filter(Enum):
    """How texels are combined at a coordinate: the nearest one, or linear interpolation."""

    NEAREST = 0x10
    LINEAR = 0x20


@dataclass(frozen=True, slots=True)
class Sampler:
    """How an image is read at coordinates; repeating needs normalized ones (LaunchError)."""

    addressing: Addressing = Addressing.CLAMP
    filter: Filter = Filter.NEAREST
    normalized_coordinates: bool = False

    def __post_init__(self) -> None:
        repeats = self.addressing in (Addressing.REPEAT, Addressing.MIRRORED_REPEAT)
        if repeats and not self.normalized_coordinates:
            name = self.addressing.name.lower()
            raise LaunchError(f"a sampler with addressing {name} needs normalized coordinates")

    @property
    def bits(self) -> int:
        """The number that compilers write for a sampler that stands in the kernel."""
        return self.filter.value | self.addressing.value | int(self.normalized_coordinates)

    @property
    def word(self) -> int:
        """What the kernel finds in the parameter: `bits`, and the addressing of further axes."""
        return sampler_word((self.addressing,), self.filter, self.normalized_coordinates)


def sampler_word(
    addressing: tuple[Addressing, ...], filter: Filter, normalized_coordinates: bool
) -> int:
    """A sampler as a number: OpenCL's bits for the first axis, and the addressing of each axis.

    The last addressing that is given holds for all further axes.
    """
    word = filter.value | int(normalized_coordinates)
    for axis in range(_AXES):
        word |= addressing[min(axis, len(addressing) - 1)].value << (AXIS_BITS * axis)
    return word


@dataclass(frozen=True, eq=False)
class Image:
    """Texels in a C-contiguous array, read and written in place.

    `size` is (width[, height[, depth or layers]]), one number for each axis of `kind`. Without it
    the array's shape tells: slowest axis first, components last where a texel has several.
    Pitches are bytes from row to row, and from slice or layer to the next; 0 for no gaps.
    """

    texels: npt.NDArray[Any]
    order: ChannelOrder
    channel_type: ChannelType
    kind: ImageKind = ImageKind.IMAGE_2D
    size: tuple[int, ...] = ()
    row_pitch: int = 0
    slice_pitch: int = 0

    def __post_init__(self) -> None:
        texel = self.format.texel_bytes
        if not self.size:
            object.__setattr__(self, "size", self._size_of_array())
        if len(self.size) != self.kind.axes or min(self.size) < 1 or max(self.size) > _LARGEST:
            raise LaunchError(f"{self.kind.title} of size {self.size}: {self.kind.axes} needed")
        if not self.row_pitch:
            object.__setattr__(self, "row_pitch", self.size[0] * texel)
        rows = self.size[1] if self.kind.dimensions > 1 else 1
        if not self.slice_pitch:
            object.__setattr__(self, "slice_pitch", self.row_pitch * rows)
        self._check(texel, rows)

    @property
    def format(self) -> ImageFormat:
        """The channel order and type of a texel; LaunchError for a pair that OpenCL lacks."""
        return ImageFormat(self.order, self.channel_type)

    @property
    def extents(self) -> tuple[int, int, int]:
        """Width, height and depth; 1 where there is no such axis."""
        spatial = (*self.size[: self.kind.dimensions], 1, 1)
        return spatial[0], spatial[1], spatial[2]

    @property
    def layers(self) -> int:
        """Layers of an image array; 1 for a single image."""
        return self.size[-1] if self.kind.is_array else 1

    def _size_of_array(self) -> tuple[int, ...]:
        shape, components = self.texels.shape, self.format.components
        if self.texels.dtype.itemsize != self.format.component_bytes:
            raise LaunchError(
                f"an image of format {self.format} without a size needs numbers of "
                f"{self.format.component_bytes} bytes, got {self.texels.dtype}"
            )
        if components > 1:
            if not shape or shape[-1] != components:
                raise LaunchError(f"a texel of {self.format} has {components} numbers, not {shape}")
            shape = shape[:-1]
        return tuple(reversed(shape))

    def _check(self, texel: int, rows: int) -> None:
        if self.texels.dtype.hasobject or not self.texels.flags.c_contiguous:
            raise LaunchError("the texels of an image must be a C-contiguous array of numbers")
        width, slices = self.size[0], math.prod(self.size) // (self.size[0] * rows)
        least = width * texel
        if not least <= self.row_pitch <= _LARGEST or self.row_pitch % texel:
            raise LaunchError(
                f"a row pitch of {self.row_pitch} bytes for {width} texels of {texel} bytes"
            )
        least += (rows - 1) * self.row_pitch
        if self.slice_pitch > _LARGEST or self.slice_pitch % texel or self.slice_pitch < least:
            raise LaunchError(f"a slice pitch of {self.slice_pitch} bytes for {least} bytes")
        needed = (slices - 1) * self.slice_pitch + least
        if self.texels.nbytes < needed:
            raise LaunchError(
                f"an {self.kind.title} of {needed} bytes in an array of {self.texels.nbytes}"
            )
