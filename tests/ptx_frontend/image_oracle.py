"""What reads and writes of images give, computed with NumPy: for the tests of images."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.isa.ir.image_formats import (
    ChannelOrder,
    ChannelType,
    ImageFormat,
    ImageKind,
)
from kernelcast.simcore.launch.images import Addressing, Filter, Image, Sampler

Array = npt.NDArray[Any]
F = np.float32

_HOST: dict[ChannelType, type[np.generic]] = {
    ChannelType.SNORM_INT8: np.int8,
    ChannelType.SNORM_INT16: np.int16,
    ChannelType.UNORM_INT8: np.uint8,
    ChannelType.UNORM_INT16: np.uint16,
    ChannelType.UNORM_SHORT_565: np.uint16,
    ChannelType.UNORM_SHORT_555: np.uint16,
    ChannelType.UNORM_INT_101010: np.uint32,
    ChannelType.SIGNED_INT8: np.int8,
    ChannelType.SIGNED_INT16: np.int16,
    ChannelType.SIGNED_INT32: np.int32,
    ChannelType.UNSIGNED_INT8: np.uint8,
    ChannelType.UNSIGNED_INT16: np.uint16,
    ChannelType.UNSIGNED_INT32: np.uint32,
    ChannelType.HALF_FLOAT: np.float16,
    ChannelType.FLOAT: np.float32,
}
_NAMES = {
    ChannelOrder.R: "r",
    ChannelOrder.A: "a",
    ChannelOrder.RG: "rg",
    ChannelOrder.RA: "ra",
    ChannelOrder.RGBA: "rgba",
    ChannelOrder.BGRA: "bgra",
    ChannelOrder.ARGB: "argb",
}
_PACKED = {
    ChannelType.UNORM_SHORT_565: ((11, 31), (5, 63), (0, 31)),
    ChannelType.UNORM_SHORT_555: ((10, 31), (5, 31), (0, 31)),
    ChannelType.UNORM_INT_101010: ((20, 1023), (10, 1023), (0, 1023)),
}


def texels(format_: ImageFormat, shape: tuple[int, ...], seed: int = 0) -> Array:
    """Any bits that are numbers, `shape` slowest axis first."""
    random = np.random.default_rng(seed)
    dtype: np.dtype[Any] = np.dtype(_HOST[format_.channel_type])
    components = (
        1 if format_.channel_type in _PACKED else max(1, len(_NAMES.get(format_.order, "x")))
    )
    if components > 1:
        shape = (*shape, components)
    if dtype.kind == "f":
        return (random.standard_normal(shape) * 3).astype(dtype)
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


def colours(image: Image) -> Array:
    """Red, green, blue and alpha of every texel, (..., 4), in the type that a read gives."""
    type_, order, data = image.channel_type, image.order, image.texels
    if type_ in _PACKED:
        parts = [F(1) * (data >> shift & most) / F(most) for shift, most in _PACKED[type_]]
        return np.stack([*parts, np.ones_like(parts[0])], -1).astype(F)
    values = data if data.ndim == len(image.size) + 1 else data[..., None]
    decoded = _decoded(values, type_)
    one = np.ones(decoded.shape[:-1], decoded.dtype)
    grey = decoded[..., 0]
    if order is ChannelOrder.INTENSITY:
        return np.stack([grey] * 4, -1)
    if order is ChannelOrder.LUMINANCE:
        return np.stack([grey] * 3 + [one], -1)
    channels = dict(zip(_NAMES[order], np.moveaxis(decoded, -1, 0), strict=True))
    others = {"r": one * 0, "g": one * 0, "b": one * 0, "a": one}
    return np.stack([channels.get(name, others[name]) for name in "rgba"], -1)


def _decoded(values: Array, type_: ChannelType) -> Array:
    name = type_.name
    if name.startswith("UNORM"):
        return values.astype(F) / F(np.iinfo(values.dtype).max)
    if name.startswith("SNORM"):
        return np.asarray(np.maximum(values.astype(F) / F(np.iinfo(values.dtype).max), F(-1)))
    if name.startswith("SIGNED"):
        return values.astype(np.int32)
    if name.startswith("UNSIGNED"):
        return values.astype(np.uint32)
    return values.astype(F)


def border(image: Image, dtype: Any) -> Array:
    opaque = (ChannelOrder.R, ChannelOrder.RG, ChannelOrder.RGB, ChannelOrder.LUMINANCE)
    return np.array([0, 0, 0, image.order in opaque], dtype)


def sampled(image: Image, sampler: Sampler, coordinates: Array) -> Array:
    """Reads at coordinates (n, axes), x first."""
    table, spatial = colours(image), image.kind.dimensions
    axes = [
        _axis(coordinates[:, number].astype(F), image.size[number], sampler)
        for number in range(spatial)
    ]
    layer = None
    if image.kind.is_array:
        nearest = np.rint(coordinates[:, spatial]).astype(np.int64)
        layer = np.clip(nearest, 0, image.layers - 1)
    if sampler.filter is Filter.NEAREST:
        return _fetched(image, table, [axis[0] for axis in axes], layer)
    total = np.zeros((len(coordinates), 4), F)
    for corner in range(1 << spatial):
        weight = np.ones(len(coordinates), F)
        places = []
        for number, (first, second, share) in enumerate(axes):
            is_second = corner >> number & 1
            weight = weight * (share if is_second else F(1) - share)
            places.append(second if is_second else first)
        total = total + weight[:, None] * _fetched(image, table, places, layer)
    return total


def _fetched(image: Image, table: Array, places: list[Array], layer: Array | None) -> Array:
    inside = np.ones(len(places[0]), bool)
    for place, size in zip(places, image.size, strict=False):
        inside &= (place >= 0) & (place < size)
    clipped = [np.clip(p, 0, s - 1) for p, s in zip(places, image.size, strict=False)]
    index = [*([] if layer is None else [layer]), *reversed(clipped)]
    found = table[tuple(index)]
    return np.where(inside[:, None], found, border(image, table.dtype))


def _axis(s: Array, size: int, sampler: Sampler) -> tuple[Array, Array, Array]:
    """(first, second, weight of the second)."""
    how, n = sampler.addressing, F(size)
    if how is Addressing.REPEAT:
        s = (s - np.floor(s)) * n
    elif how is Addressing.MIRRORED_REPEAT:
        s = np.abs(s - F(2) * np.rint(F(0.5) * s)) * n
    elif sampler.normalized_coordinates:
        s = s * n
    if sampler.filter is Filter.LINEAR:
        s = s - F(0.5)
    first = np.floor(s).astype(np.int64)
    second, weight = first + 1, s - np.floor(s)
    found = []
    for number in (first, second):
        if how is Addressing.REPEAT:
            number = np.where(number < 0, number + size, number)
            number = np.where(number > size - 1, number - size, number)
        elif how in (Addressing.CLAMP_TO_EDGE, Addressing.MIRRORED_REPEAT):
            number = np.clip(number, 0, size - 1)
        found.append(number)
    return found[0], found[1], weight


def encoded(format_: ImageFormat, values: Array) -> Array:
    """What a write of (..., 4) stores, as host numbers; the nearest, even ones when two are."""
    type_ = format_.channel_type
    dtype: np.dtype[Any] = np.dtype(_HOST[type_])
    if type_ in _PACKED:
        whole = np.zeros(values.shape[:-1], dtype)
        for number, (shift, most) in enumerate(_PACKED[type_]):
            part = np.clip(np.rint(values[..., number] * F(most)), 0, most).astype(dtype)
            whole |= part << dtype.type(shift)
        return whole
    grey = (ChannelOrder.INTENSITY, ChannelOrder.LUMINANCE)
    names = "r" if format_.order in grey else _NAMES[format_.order]
    picked = np.stack([values[..., "rgba".index(name)] for name in names], -1)
    if len(names) == 1:
        picked = picked[..., 0]
    if dtype.kind == "f":
        return picked.astype(dtype)
    limits = np.iinfo(dtype)
    if values.dtype.kind == "f":
        picked = np.rint(picked * F(limits.max)).astype(np.float64)
    return np.asarray(np.clip(picked, limits.min, limits.max).astype(dtype))


def shape_of(kind: ImageKind) -> tuple[int, ...]:
    """The shape of a small image, slowest axis first."""
    return (3, 5, 7)[-kind.axes :] if not kind.is_array or kind.axes == 3 else (3, 7)
