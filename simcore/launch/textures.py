"""Textures and surfaces as arguments of a launch: what CUDA's texture and surface objects hold."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from kernelcast.errors import LaunchError
from kernelcast.simcore.isa.ir.image_formats import ChannelOrder, ChannelType, ImageKind
from kernelcast.simcore.launch.images import Addressing, Filter, Image, sampler_word

__all__ = ["ImageArgument", "ReadMode", "Surface", "Texels", "Texture", "levels_of"]

Texels: TypeAlias = Image | npt.NDArray[Any]
"""An image, or an array of its texels: slowest axis first, components last where there are 2 or 4.
"""

_ORDERS = {1: ChannelOrder.R, 2: ChannelOrder.RG, 4: ChannelOrder.RGBA}
_TYPES: Mapping[str, tuple[ChannelType, ChannelType]] = {
    "uint8": (ChannelType.UNSIGNED_INT8, ChannelType.UNORM_INT8),
    "uint16": (ChannelType.UNSIGNED_INT16, ChannelType.UNORM_INT16),
    "int8": (ChannelType.SIGNED_INT8, ChannelType.SNORM_INT8),
    "int16": (ChannelType.SIGNED_INT16, ChannelType.SNORM_INT16),
    "uint32": (ChannelType.UNSIGNED_INT32, ChannelType.UNSIGNED_INT32),
    "int32": (ChannelType.SIGNED_INT32, ChannelType.SIGNED_INT32),
    "float16": (ChannelType.HALF_FLOAT, ChannelType.HALF_FLOAT),
    "float32": (ChannelType.FLOAT, ChannelType.FLOAT),
}
"""How texels are read by the array's type: as they are, and as numbers from 0 or -1 to 1."""
_MOST_LEVEL = 1000.0


class ReadMode(Enum):
    """What a read gives of integer texels: themselves, or their share of the largest number."""

    ELEMENT_TYPE = "element_type"
    NORMALIZED_FLOAT = "normalized_float"


@dataclass(frozen=True, eq=False)
class Texture:
    """Texels and how they are sampled; LaunchError for what CUDA does not create.

    `texels`: one image, or the levels of a mipmap from the largest on. `kind` says what an array
    is; cube maps are arrays of 6 layers: +x, -x, +y, -y, +z, -z. `addressing` is one for all axes
    or one for each; wrapping and mirroring need normalized coordinates and are clamping without
    (CUDA runtime API, cudaTextureDesc). 1D buffers are linear memory: zero outside, no filter.
    """

    texels: Texels | tuple[Texels, ...]
    kind: ImageKind = ImageKind.IMAGE_2D
    addressing: Addressing | tuple[Addressing, ...] = Addressing.CLAMP_TO_EDGE
    filter: Filter = Filter.NEAREST
    normalized_coordinates: bool = False
    read_mode: ReadMode = ReadMode.ELEMENT_TYPE
    is_srgb: bool = False
    border: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    level_filter: Filter = Filter.NEAREST
    level_bias: float = 0.0
    least_level: float = 0.0
    largest_level: float = _MOST_LEVEL
    levels: tuple[Image, ...] = field(init=False)

    def __post_init__(self) -> None:
        texels = self.texels if isinstance(self.texels, tuple) else (self.texels,)
        is_normalized = self.read_mode is ReadMode.NORMALIZED_FLOAT
        levels = tuple(_image(item, self.kind, is_normalized) for item in texels)
        if not levels:
            raise LaunchError("a texture needs at least one level")
        object.__setattr__(self, "levels", levels)
        object.__setattr__(self, "kind", levels[0].kind)
        self._check(levels[0])

    @property
    def sampler_word(self) -> int:
        """Addressing, filter and normalized coordinates as a number."""
        if self.kind is ImageKind.IMAGE_1D_BUFFER:
            return sampler_word((Addressing.BORDER,), Filter.NEAREST, False)
        given = self.addressing
        axes = given if isinstance(given, tuple) else (given,)
        return sampler_word(
            tuple(self._effective(axis) for axis in axes), self.filter, self.normalized_coordinates
        )

    @property
    def is_level_linear(self) -> bool:
        """Whether two mipmap levels are interpolated."""
        return self.level_filter is Filter.LINEAR

    @property
    def level_range(self) -> tuple[float, float, float]:
        """Bias, least and largest level."""
        return self.level_bias, self.least_level, min(self.largest_level, len(self.levels) - 1.0)

    @property
    def border_bits(self) -> tuple[int, int, int, int]:
        """The border's colour, in the type that a read gives; linear memory has none."""
        colour = self.border
        if self.kind is ImageKind.IMAGE_1D_BUFFER:
            colour = (0.0, 0.0, 0.0, 0.0)
        if self.levels[0].channel_type.is_integer:
            red, green, blue, alpha = (int(part) & 0xFFFFFFFF for part in colour)
        else:
            red, green, blue, alpha = struct.unpack("<4I", struct.pack("<4f", *colour))
        return red, green, blue, alpha

    def _effective(self, addressing: Addressing) -> Addressing:
        repeats = addressing in (Addressing.WRAP, Addressing.MIRROR)
        if addressing is Addressing.NONE or (repeats and not self.normalized_coordinates):
            return Addressing.CLAMP_TO_EDGE
        return addressing

    def _check(self, largest: Image) -> None:
        type_ = largest.channel_type
        if type_.is_integer and self.filter is Filter.LINEAR:
            raise LaunchError("linear filtering needs texels that are read as floating-point")
        if self.is_srgb and type_ is not ChannelType.UNORM_INT8:
            raise LaunchError(f"sRGB needs texels of UNORM_INT8, got {type_.name}")
        if len(self.border) != 4:
            raise LaunchError(f"a border's colour has 4 numbers, got {len(self.border)}")
        for number, (level, size) in enumerate(zip(self.levels, _halved(largest), strict=False)):
            if (level.format, level.kind, level.size) != (largest.format, largest.kind, size):
                raise LaunchError(
                    f"level {number} of a mipmap is {level.kind.title} {level.size} of "
                    f"{level.format}, expected {largest.kind.title} {size} of {largest.format}"
                )


@dataclass(frozen=True, eq=False)
class Surface:
    """Texels that a kernel reads and writes by surface instructions, in place."""

    texels: Texels
    kind: ImageKind = ImageKind.IMAGE_2D
    image: Image = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "image", _image(self.texels, self.kind, is_normalized=False))
        object.__setattr__(self, "kind", self.image.kind)


ImageArgument: TypeAlias = Image | Texture | Surface
"""What has a descriptor."""


def levels_of(argument: object) -> tuple[Image, ...]:
    """The images of an argument: of a texture its levels; none for what is no image."""
    match argument:
        case Image():
            return (argument,)
        case Texture():
            return argument.levels
        case Surface():
            return (argument.image,)
    return ()


def _image(texels: Texels, kind: ImageKind, is_normalized: bool) -> Image:
    if not isinstance(texels, np.ndarray):
        return _normalized(texels) if is_normalized else texels
    components = texels.shape[-1] if texels.ndim == kind.axes + 1 else 1
    if components not in _ORDERS or texels.ndim not in (kind.axes, kind.axes + 1):
        raise LaunchError(
            f"an array of shape {texels.shape} is no {kind.title}: {kind.axes} axes, and one for "
            "1, 2 or 4 components"
        )
    types = _TYPES.get(texels.dtype.name)
    if types is None:
        raise LaunchError(f"texels of type {texels.dtype} are none of {', '.join(_TYPES)}")
    if is_normalized and texels.dtype.itemsize == 4:
        raise LaunchError(f"texels of type {texels.dtype} have no normalized_float read mode")
    size = tuple(reversed(texels.shape[: kind.axes]))
    return Image(texels, _ORDERS[components], types[is_normalized], kind, size)


def _normalized(image: Image) -> Image:
    if not image.channel_type.is_integer:
        return image
    for plain, normalized in _TYPES.values():
        if plain is image.channel_type and normalized is not plain:
            return Image(
                image.texels,
                image.order,
                normalized,
                image.kind,
                image.size,
                image.row_pitch,
                image.slice_pitch,
            )
    raise LaunchError(f"texels of {image.format} have no normalized_float read mode")


def _halved(image: Image) -> Iterator[tuple[int, ...]]:
    """The sizes of the levels, layers included; halves are rounded down."""
    size, spatial = image.size, image.kind.dimensions
    while True:
        yield size
        size = (*(max(axis // 2, 1) for axis in size[:spatial]), *size[spatial:])
