"""Textures and surfaces as arguments: what arrays mean, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import LaunchError
from kernelcast.simcore.launch.image_descriptors import (
    DESCRIPTOR_BYTES,
    DescriptorField,
    descriptor,
)
from kernelcast.simcore.launch.textures import levels_of

Kind, Addressing, Filter = kc.ImageKind, kc.Addressing, kc.Filter
Order, Type = kc.ChannelOrder, kc.ChannelType
NORMALIZED = kc.ReadMode.NORMALIZED_FLOAT


@pytest.mark.parametrize(
    ("shape", "kind", "size", "order"),
    [
        ((9,), Kind.IMAGE_1D, (9,), Order.R),
        ((9, 2), Kind.IMAGE_1D, (9,), Order.RG),
        ((7, 9), Kind.IMAGE_2D, (9, 7), Order.R),
        ((7, 9, 4), Kind.IMAGE_2D, (9, 7), Order.RGBA),
        ((7, 9, 4), Kind.IMAGE_3D, (4, 9, 7), Order.R),
        ((3, 7, 9, 2), Kind.IMAGE_2D_ARRAY, (9, 7, 3), Order.RG),
    ],
)
def test_the_kind_says_what_the_axes_of_an_array_are(
    shape: tuple[int, ...], kind: Any, size: tuple[int, ...], order: Any
) -> None:
    for made in (kc.Texture, kc.Surface):
        (image,) = levels_of(made(np.zeros(shape, np.float32), kind))
        assert (image.size, image.order, image.kind) == (size, order, kind)


@pytest.mark.parametrize(
    ("dtype", "plain", "share"),
    [
        (np.uint8, Type.UNSIGNED_INT8, Type.UNORM_INT8),
        (np.int16, Type.SIGNED_INT16, Type.SNORM_INT16),
        (np.float16, Type.HALF_FLOAT, Type.HALF_FLOAT),
    ],
)
def test_the_read_mode_says_what_integers_are(dtype: Any, plain: Any, share: Any) -> None:
    texels = np.zeros((4, 4), dtype)
    assert kc.Texture(texels).levels[0].channel_type is plain
    assert kc.Texture(texels, read_mode=NORMALIZED).levels[0].channel_type is share
    image = kc.Image(texels, Order.R, plain)
    assert kc.Texture(image, read_mode=NORMALIZED).levels[0].channel_type is share


def test_wrapping_without_normalized_coordinates_is_clamping() -> None:
    texels = np.zeros((4, 4), np.float32)
    for how in (Addressing.WRAP, Addressing.MIRROR):
        clamps = kc.Texture(texels, addressing=Addressing.CLAMP_TO_EDGE)
        assert kc.Texture(texels, addressing=how).sampler_word == clamps.sampler_word
        repeats = kc.Texture(texels, addressing=how, normalized_coordinates=True)
        assert repeats.sampler_word & 14 == how.value


def test_the_last_addressing_holds_for_all_further_axes() -> None:
    texels = np.zeros((4, 4, 4), np.float32)
    given = (Addressing.BORDER, Addressing.CLAMP_TO_EDGE)
    word = kc.Texture(texels, Kind.IMAGE_3D, given).sampler_word
    assert [word >> shift & 14 for shift in (0, 8, 16)] == [4, 2, 2]


def test_levels_have_descriptors_of_their_own() -> None:
    levels = tuple(np.zeros((16 >> n, 8 >> n), np.float32) for n in range(4))
    texture = kc.Texture(levels)
    for n in range(4):
        found = descriptor(texture, 0x1000, n)
        assert len(found) == DESCRIPTOR_BYTES
        words = np.frombuffer(found, np.uint32)
        sizes = words[DescriptorField.WIDTH // 4 :][:2]
        assert sizes.tolist() == [8 >> n, 16 >> n]
        assert words[DescriptorField.LEVELS // 4] == 4 - n


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"texels": np.zeros((4, 4, 3), np.float32)}, "no image2d"),
        ({"texels": np.zeros(4, np.float32)}, "no image2d"),
        ({"texels": np.zeros((4, 4))}, "float64"),
        ({"texels": np.zeros((4, 4), np.int32), "read_mode": NORMALIZED}, "int32"),
        ({"texels": np.zeros((4, 4), np.uint8), "filter": Filter.LINEAR}, "linear filtering"),
        ({"texels": np.zeros((4, 4), np.uint8), "is_srgb": True}, "sRGB"),
        ({"texels": ()}, "at least one level"),
        ({"texels": (np.zeros((8, 8), np.int8), np.zeros((4, 3), np.int8))}, "level 1"),
        ({"texels": np.zeros((4, 4), np.float32), "border": (0.0,)}, "4 numbers"),
        ({"texels": np.zeros((4, 8), np.float32)[:, ::2]}, "contiguous"),
    ],
)
def test_what_cannot_be_a_texture_is_refused(arguments: dict[str, Any], reason: str) -> None:
    with pytest.raises(LaunchError, match=reason):
        kc.Texture(**arguments)
