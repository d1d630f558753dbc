"""Descriptors: what a kernel reads of its images, in the memory of parameters behind these.

The value of an image, texture or surface argument is its descriptor's place there; those of the
levels of a mipmap follow each other. Engines take what they say as fixed for a launch, as they take
integer parameters.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from kernelcast.simcore.isa.ir.image_formats import Encoding
from kernelcast.simcore.isa.ir.kernel import Kernel, Parameter
from kernelcast.simcore.launch.images import Image
from kernelcast.simcore.launch.launch import Launch
from kernelcast.simcore.launch.textures import ImageArgument, Surface, Texture, levels_of

__all__ = [
    "CHANNEL_BYTES",
    "DESCRIPTOR_BYTES",
    "ChannelField",
    "DescriptorField",
    "EncodingCode",
    "PlacedImage",
    "ShapeBits",
    "descriptor",
    "descriptor_words",
    "parameter_memory_bytes",
    "placed_images",
]


class DescriptorField(IntEnum):
    """Places in a descriptor, bytes; 32 bits each but the address of the texels."""

    TEXELS = 0
    WIDTH = 8
    HEIGHT = 12
    DEPTH = 16
    LAYERS = 20
    ROW_PITCH = 24
    SLICE_PITCH = 28
    TEXEL_BYTES = 32
    CHANNEL_TYPE = 36
    CHANNEL_ORDER = 40
    ENCODING = 44
    SIGN_MASK = 48
    """All ones for numbers with a sign."""
    SAMPLER = 52
    """The sampler of a texture: the number that `sampler_word` makes."""
    LEVELS = 56
    """Levels of the mipmap from this one on."""
    IS_SRGB = 60
    CHANNELS = 64
    BORDER = 128
    """Four numbers of 32 bits, in the type that a read gives."""
    IS_LEVEL_LINEAR = 144
    LEVEL_BIAS = 148
    """The bias of the level; as the next two, a single-precision number."""
    LEAST_LEVEL = 152
    LARGEST_LEVEL = 156
    SHAPE = 160
    """What `ShapeBits` say."""


class ShapeBits(IntEnum):
    """The shape of an image as a number: its dimensions, and what is added to them."""

    LAYERS = 0x10
    INTEGER = 0x20
    """The texels are integers, which cannot be read as floating-point numbers."""
    SURFACE = 0x40


class ChannelField(IntEnum):
    """Places in the part of a descriptor that tells of one channel."""

    POSITION = 0
    BITS = 4
    LARGEST = 8
    """The largest number that the bits hold."""
    STORED_MASK = 12
    """The bits that a write keeps."""


class EncodingCode(IntEnum):
    """How bits become a floating-point number."""

    NORMALIZED = 0
    HALF = 1
    FLOAT = 2


CHANNEL_BYTES = 16
DESCRIPTOR_BYTES = 192
_ALIGNMENT = 64
_CODES = {Encoding.HALF: EncodingCode.HALF, Encoding.FLOAT: EncodingCode.FLOAT}


def descriptor(argument: ImageArgument, address: int, level: int = 0) -> bytes:
    """The descriptor of one level, whose texels begin at `address`; images have level 0 only."""
    levels = levels_of(argument)
    found = _image_part(levels[level], address, argument, len(levels) - level)
    if isinstance(argument, Texture):
        found += struct.pack(
            "<4II3f", *argument.border_bits, argument.is_level_linear, *argument.level_range
        )
    shape = struct.pack("<I", _shape(levels[level], isinstance(argument, Surface)))
    return (found.ljust(DescriptorField.SHAPE, b"\0") + shape).ljust(DESCRIPTOR_BYTES, b"\0")


def _shape(image: Image, is_surface: bool) -> int:
    found = image.kind.dimensions
    found |= ShapeBits.LAYERS if image.kind.is_array else 0
    found |= ShapeBits.INTEGER if image.channel_type.is_integer else 0
    return found | (ShapeBits.SURFACE if is_surface else 0)


def _image_part(image: Image, address: int, argument: ImageArgument, levels: int) -> bytes:
    """All up to the channels."""
    format_, type_ = image.format, image.channel_type
    texture = argument if isinstance(argument, Texture) else None
    head = struct.pack(
        "<Q14I",
        address,
        *image.extents,
        image.layers,
        image.row_pitch,
        image.slice_pitch,
        format_.texel_bytes,
        type_.number,
        image.order.number,
        _CODES.get(type_.encoding, EncodingCode.NORMALIZED),
        0xFFFFFFFF if type_.is_signed else 0,
        texture.sampler_word if texture else 0,
        levels,
        texture.is_srgb if texture else 0,
    )
    return head + b"".join(
        struct.pack(
            "<4I",
            channel.position,
            channel.bits,
            (1 << max(channel.bits - type_.is_signed, 0)) - 1,
            (1 << channel.bits) - 1 if channel.is_stored else 0,
        )
        for channel in format_.channels()
    )


@dataclass(frozen=True, slots=True)
class PlacedImage:
    """One level of an image argument, and where its descriptor is in the memory of parameters."""

    parameter: Parameter
    argument: ImageArgument
    level: int
    place: int

    @property
    def image(self) -> Image:
        """The image of the level that the descriptor describes."""
        return levels_of(self.argument)[self.level]


def placed_images(kernel: Kernel, launch: Launch) -> Iterator[PlacedImage]:
    """Images in the order of the arguments; one that is passed twice has two descriptors."""
    place = _first(kernel)
    for value, parameter in zip(launch.arguments, kernel.parameters, strict=True):
        if isinstance(value, ImageArgument):
            for level in range(len(levels_of(value))):
                yield PlacedImage(parameter, value, level, place)
                place += DESCRIPTOR_BYTES


def parameter_memory_bytes(kernel: Kernel, launch: Launch) -> int:
    """Parameters and descriptors."""
    count = sum(len(levels_of(value)) for value in launch.arguments)
    return _first(kernel) + count * DESCRIPTOR_BYTES if count else kernel.parameter_bytes


def descriptor_words(placed: PlacedImage) -> Iterator[tuple[int, int, int]]:
    """(place, bytes, value) of what is fixed in it: all but the address of the texels."""
    words = struct.unpack(
        f"<{DESCRIPTOR_BYTES // 4}I", descriptor(placed.argument, 0, placed.level)
    )
    for number, word in enumerate(words):
        if 4 * number >= DescriptorField.WIDTH:
            yield placed.place + 4 * number, 4, word


def _first(kernel: Kernel) -> int:
    return -(-kernel.parameter_bytes // _ALIGNMENT) * _ALIGNMENT
