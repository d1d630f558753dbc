"""How texels lie in memory: channel orders and channel types of OpenCL (1.2, 5.3.1)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kernelcast.errors import LaunchError

__all__ = ["Channel", "ChannelOrder", "ChannelType", "Encoding", "ImageFormat", "ImageKind"]

_CHANNELS = "rgba"


class ImageKind(Enum):
    """A shape of images: OpenCL's name, spatial dimensions, and whether there are layers."""

    IMAGE_1D = ("image1d", 1, False)
    IMAGE_1D_BUFFER = ("image1d_buffer", 1, False)
    IMAGE_1D_ARRAY = ("image1d_array", 1, True)
    IMAGE_2D = ("image2d", 2, False)
    IMAGE_2D_ARRAY = ("image2d_array", 2, True)
    IMAGE_3D = ("image3d", 3, False)

    def __init__(self, title: str, dimensions: int, is_array: bool) -> None:
        self.title = title
        self.dimensions = dimensions
        self.is_array = is_array

    @property
    def axes(self) -> int:
        """Numbers that say where a texel is, the layer included."""
        return self.dimensions + self.is_array


class Encoding(Enum):
    """What the bits of a channel mean."""

    NORMALIZED = "normalized"
    INTEGER = "integer"
    HALF = "half"
    FLOAT = "float"


class ChannelOrder(Enum):
    """OpenCL's number, and the channels of a texel from its lowest bits on."""

    R = (0x10B0, "r")
    A = (0x10B1, "a")
    RG = (0x10B2, "rg")
    RA = (0x10B3, "ra")
    RGB = (0x10B4, "rgb")
    RGBA = (0x10B5, "rgba")
    BGRA = (0x10B6, "bgra")
    ARGB = (0x10B7, "argb")
    INTENSITY = (0x10B8, "i")
    LUMINANCE = (0x10B9, "l")
    DEPTH = (0x10BD, "d")

    def __init__(self, number: int, components: str) -> None:
        self.number = number
        self.components = components

    def component(self, channel: str) -> int | None:
        """Which component of the texel a read gives as `channel`; None for a constant."""
        if self is ChannelOrder.INTENSITY:
            return 0
        if self is ChannelOrder.LUMINANCE:
            return None if channel == "a" else 0
        name = "d" if self is ChannelOrder.DEPTH and channel == "r" else channel
        return self.components.index(name) if name in self.components else None


class ChannelType(Enum):
    """OpenCL's number, bits of each component, encoding, and whether there is a sign.

    The three packed types keep red in their highest bits.
    """

    SNORM_INT8 = (0x10D0, (8,), Encoding.NORMALIZED, True)
    SNORM_INT16 = (0x10D1, (16,), Encoding.NORMALIZED, True)
    UNORM_INT8 = (0x10D2, (8,), Encoding.NORMALIZED, False)
    UNORM_INT16 = (0x10D3, (16,), Encoding.NORMALIZED, False)
    UNORM_SHORT_565 = (0x10D4, (5, 6, 5), Encoding.NORMALIZED, False)
    UNORM_SHORT_555 = (0x10D5, (5, 5, 5), Encoding.NORMALIZED, False)
    UNORM_INT_101010 = (0x10D6, (10, 10, 10), Encoding.NORMALIZED, False)
    SIGNED_INT8 = (0x10D7, (8,), Encoding.INTEGER, True)
    SIGNED_INT16 = (0x10D8, (16,), Encoding.INTEGER, True)
    SIGNED_INT32 = (0x10D9, (32,), Encoding.INTEGER, True)
    UNSIGNED_INT8 = (0x10DA, (8,), Encoding.INTEGER, False)
    UNSIGNED_INT16 = (0x10DB, (16,), Encoding.INTEGER, False)
    UNSIGNED_INT32 = (0x10DC, (32,), Encoding.INTEGER, False)
    HALF_FLOAT = (0x10DD, (16,), Encoding.HALF, True)
    FLOAT = (0x10DE, (32,), Encoding.FLOAT, True)

    def __init__(
        self, number: int, widths: tuple[int, ...], encoding: Encoding, is_signed: bool
    ) -> None:
        self.number = number
        self.widths = widths
        self.encoding = encoding
        self.is_signed = is_signed

    @property
    def is_packed(self) -> bool:
        """Whether a texel of three channels fills one number of 16 or 32 bits."""
        return len(self.widths) > 1

    @property
    def is_integer(self) -> bool:
        """Whether `read_imagei` or `read_imageui` reads it, not `read_imagef`."""
        return self.encoding is Encoding.INTEGER


@dataclass(frozen=True, slots=True)
class Channel:
    """`bits` bits of a texel from bit `position` on; 0 bits for a channel that it does not have.

    `is_stored`: whether a write fills them from this channel.
    """

    position: int
    bits: int
    is_stored: bool


_GREY = (ChannelOrder.INTENSITY, ChannelOrder.LUMINANCE)
_GREY_TYPES = (
    *(ChannelType.UNORM_INT8, ChannelType.UNORM_INT16, ChannelType.SNORM_INT8),
    *(ChannelType.SNORM_INT16, ChannelType.HALF_FLOAT, ChannelType.FLOAT),
)


@dataclass(frozen=True, slots=True)
class ImageFormat:
    """A channel order with a channel type; LaunchError for a pair that OpenCL does not have."""

    order: ChannelOrder
    channel_type: ChannelType

    def __post_init__(self) -> None:
        order, type_ = self.order, self.channel_type
        fits = type_.is_packed == (order is ChannelOrder.RGB)
        if order in _GREY:
            fits = type_ in _GREY_TYPES
        elif order in (ChannelOrder.BGRA, ChannelOrder.ARGB):
            fits = type_.widths == (8,)
        elif order is ChannelOrder.DEPTH:
            fits = type_ in (ChannelType.UNORM_INT16, ChannelType.FLOAT)
        if not fits:
            raise LaunchError(f"there are no images of format {self}")

    def __str__(self) -> str:
        return f"{self.order.name} {self.channel_type.name}"

    @property
    def components(self) -> int:
        """Numbers of the host that make a texel."""
        return 1 if self.channel_type.is_packed else len(self.order.components)

    @property
    def component_bytes(self) -> int:
        """Bytes of one component of a texel; of the whole texel if the type is packed."""
        if self.channel_type.is_packed:
            return 4 if sum(self.channel_type.widths) > 16 else 2
        return self.channel_type.widths[0] // 8

    @property
    def texel_bytes(self) -> int:
        """Bytes of one texel in memory."""
        return self.components * self.component_bytes

    def channels(self) -> tuple[Channel, ...]:
        """Red, green, blue and alpha."""
        return tuple(self._channel(name) for name in _CHANNELS)

    def _channel(self, name: str) -> Channel:
        index, widths = self.order.component(name), self.channel_type.widths
        if index is None:
            return Channel(0, 0, False)
        if self.channel_type.is_packed:
            return Channel(sum(widths[index + 1 :]), widths[index], True)
        # grey images are written from red alone
        is_stored = name == "r" or self.order not in _GREY
        return Channel(index * widths[0], widths[0], is_stored)
