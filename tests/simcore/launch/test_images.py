"""Images and samplers as objects: sizes, pitches, formats and what is refused."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import LaunchError
from kernelcast.simcore.isa.ir.image_formats import ImageFormat
from kernelcast.simcore.launch.image_descriptors import DESCRIPTOR_BYTES, descriptor

Order, Type, Kind = kc.ChannelOrder, kc.ChannelType, kc.ImageKind


def image(shape: tuple[int, ...], dtype: Any = np.float32, **fields: Any) -> kc.Image:
    given = {"order": Order.R, "channel_type": Type.FLOAT} | fields
    return kc.Image(np.zeros(shape, dtype), **given)


@pytest.mark.parametrize(
    ("kind", "shape", "extents", "layers", "pitches"),
    [
        (Kind.IMAGE_1D, (7,), (7, 1, 1), 1, (28, 28)),
        (Kind.IMAGE_1D_BUFFER, (7,), (7, 1, 1), 1, (28, 28)),
        (Kind.IMAGE_1D_ARRAY, (3, 7), (7, 1, 1), 3, (28, 28)),
        (Kind.IMAGE_2D, (5, 7), (7, 5, 1), 1, (28, 140)),
        (Kind.IMAGE_2D_ARRAY, (3, 5, 7), (7, 5, 1), 3, (28, 140)),
        (Kind.IMAGE_3D, (3, 5, 7), (7, 5, 3), 1, (28, 140)),
    ],
)
def test_the_shape_of_the_array_is_the_size(
    kind: kc.ImageKind,
    shape: tuple[int, ...],
    extents: tuple[int, ...],
    layers: int,
    pitches: tuple[int, int],
) -> None:
    made = image(shape, kind=kind)
    assert (made.extents, made.layers) == (extents, layers)
    assert (made.row_pitch, made.slice_pitch) == pitches


def test_the_size_may_be_told_of_plain_bytes() -> None:
    made = image((64,), np.uint8, channel_type=Type.UNORM_INT8, order=Order.RGBA, size=(4, 4))
    assert made.extents == (4, 4, 1)


@pytest.mark.parametrize(
    ("shape", "fields", "message"),
    [
        ((4, 2), {"order": Order.RGBA}, "a texel of RGBA FLOAT has 4 numbers, not .4, 2."),
        ((4, 4), {"channel_type": Type.UNORM_INT8}, "needs numbers of 1 bytes, got float32"),
        ((4,), {}, "image2d of size .4,.: 2 needed"),
        ((4, 4), {"size": (0, 4)}, "image2d of size"),
        ((4, 4), {"row_pitch": 8}, "a row pitch of 8 bytes for 4 texels of 4 bytes"),
        ((4, 4), {"row_pitch": 18}, "a row pitch of 18 bytes"),
        ((4, 4), {"row_pitch": 32}, "an image2d of 112 bytes in an array of 64"),
        ((2, 4, 4), {"kind": Kind.IMAGE_3D, "slice_pitch": 32}, "a slice pitch of 32 bytes"),
        ((4, 4), {"order": Order.BGRA}, "there are no images of format BGRA FLOAT"),
        ((4, 4), {"order": Order.RGB}, "there are no images of format RGB FLOAT"),
        ((4, 4), {"order": Order.INTENSITY, "channel_type": Type.SIGNED_INT32}, "no images"),
        ((4, 4), {"order": Order.DEPTH, "channel_type": Type.HALF_FLOAT}, "no images"),
        ((4, 4), {"channel_type": Type.UNORM_SHORT_565}, "no images of format R UNORM_SHORT_565"),
    ],
)
def test_what_is_no_image_is_refused(
    shape: tuple[int, ...], fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(LaunchError, match=message):
        image(shape, **fields)


def test_texels_lie_in_a_contiguous_array() -> None:
    with pytest.raises(LaunchError, match="C-contiguous"):
        kc.Image(np.zeros((4, 8), np.float32)[:, ::2], Order.R, Type.FLOAT)


def test_repeating_needs_normalized_coordinates() -> None:
    with pytest.raises(LaunchError, match="addressing repeat needs normalized coordinates"):
        kc.Sampler(kc.Addressing.REPEAT)


def test_the_bits_of_a_sampler_are_those_of_the_compiler() -> None:
    """CLK_NORMALIZED_COORDS_TRUE is 1, CLK_ADDRESS_MIRRORED_REPEAT 8, CLK_FILTER_LINEAR 0x20."""
    mirrored = kc.Sampler(kc.Addressing.MIRRORED_REPEAT, kc.Filter.LINEAR, True)
    assert mirrored.bits == 0x29
    assert kc.Sampler(kc.Addressing.CLAMP).bits == 0x14


@pytest.mark.parametrize(
    ("order", "type_", "positions"),
    [
        (Order.RGBA, Type.UNORM_INT8, (0, 8, 16, 24)),
        (Order.BGRA, Type.UNORM_INT8, (16, 8, 0, 24)),
        (Order.ARGB, Type.UNORM_INT8, (8, 16, 24, 0)),
        (Order.RGBA, Type.FLOAT, (0, 32, 64, 96)),
    ],
)
def test_channels_lie_in_their_order(
    order: kc.ChannelOrder, type_: kc.ChannelType, positions: tuple[int, ...]
) -> None:
    format_ = ImageFormat(order, type_)
    assert tuple(channel.position for channel in format_.channels()) == positions
    assert format_.texel_bytes * 8 == max(positions) + type_.widths[0]


def test_a_descriptor_begins_with_the_place_of_the_texels() -> None:
    data = descriptor(image((5, 7)), 0x7F0000001000)
    assert len(data) == DESCRIPTOR_BYTES
    assert struct.unpack_from("<Q3I", data) == (0x7F0000001000, 7, 5, 1)
