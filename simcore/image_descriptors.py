"""Descriptors: what a kernel reads of its images, in the memory of parameters behind these.

The value of an image argument is its descriptor's place there. Engines take what it says as fixed
for a launch, as they take integer parameters.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from kernelcast.simcore.image_formats import Encoding
from kernelcast.simcore.images import Image
from kernelcast.simcore.isa.kernel import Kernel, Parameter
from kernelcast.simcore.launch import Launch

__all__ = [
    "CHANNEL_BYTES",
    "DESCRIPTOR_BYTES",
    "ChannelField",
    "DescriptorField",
    "EncodingCode",
    "PlacedImage",
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
    CHANNELS = 64


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
DESCRIPTOR_BYTES = DescriptorField.CHANNELS + 4 * CHANNEL_BYTES
_CODES = {Encoding.HALF: EncodingCode.HALF, Encoding.FLOAT: EncodingCode.FLOAT}


def descriptor(image: Image, address: int) -> bytes:
    """The descriptor of an image whose texels begin at `address`."""
    format_, type_ = image.format, image.channel_type
    head = struct.pack(
        "<Q11I12x",
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
    """An image argument, and where its descriptor is in the memory of parameters."""

    parameter: Parameter
    image: Image
    place: int


def placed_images(kernel: Kernel, launch: Launch) -> Iterator[PlacedImage]:
    """In the order of the arguments; an image that is passed twice has two descriptors."""
    place = _first(kernel)
    for value, parameter in zip(launch.arguments, kernel.parameters, strict=True):
        if isinstance(value, Image):
            yield PlacedImage(parameter, value, place)
            place += DESCRIPTOR_BYTES


def parameter_memory_bytes(kernel: Kernel, launch: Launch) -> int:
    """Parameters and descriptors."""
    count = sum(isinstance(value, Image) for value in launch.arguments)
    return _first(kernel) + count * DESCRIPTOR_BYTES if count else kernel.parameter_bytes


def descriptor_words(placed: PlacedImage) -> Iterator[tuple[int, int, int]]:
    """(place, bytes, value) of what is fixed in it: all but the address of the texels."""
    words = struct.unpack(f"<{DESCRIPTOR_BYTES // 4}I", descriptor(placed.image, 0))
    for number, word in enumerate(words):
        if 4 * number >= DescriptorField.WIDTH:
            yield placed.place + 4 * number, 4, word


def _first(kernel: Kernel) -> int:
    return -(-kernel.parameter_bytes // DESCRIPTOR_BYTES) * DESCRIPTOR_BYTES
