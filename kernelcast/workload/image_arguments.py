"""Images, textures, surfaces and samplers as arguments of a workload, by their types' names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from kernelcast.errors import LaunchError, WorkloadError
from kernelcast.simcore.isa.ir.image_formats import ChannelOrder
from kernelcast.simcore.launch.images import Addressing, Filter, Sampler
from kernelcast.workload.arguments import ArgumentSpec, read_argument
from kernelcast.workload.image_specs import IMAGE_TYPE, ImageSpec, choice, read_image
from kernelcast.workload.tensor_map_arguments import TENSOR_MAP_TYPE, TensorMapSpec, read_tensor_map
from kernelcast.workload.texture_arguments import (
    TEXTURE_KEYS,
    SurfaceSpec,
    TextureSpec,
    read_texture,
)
from kernelcast.workload.toml_table import TomlTable

__all__ = ["AnyArgumentSpec", "SamplerSpec", "read_any_argument"]

_SAMPLER = "sampler"
_NORMALIZED, _UNNORMALIZED = "normalized", "unnormalized"


@dataclass(frozen=True, slots=True)
class SamplerSpec:
    """A sampler argument, which no size changes."""

    name: str
    sampler: Sampler

    def make(self, _names: Mapping[str, int]) -> Sampler:
        """The sampler, whatever the sizes."""
        return self.sampler


AnyArgumentSpec: TypeAlias = (
    ArgumentSpec | ImageSpec | SamplerSpec | TextureSpec | SurfaceSpec | TensorMapSpec
)


def read_any_argument(table: TomlTable, folder: Path) -> AnyArgumentSpec:
    """One `[[args]]` table; WorkloadError naming the key that is wrong."""
    type_ = table.text("type")
    if (tensor := TENSOR_MAP_TYPE.fullmatch(type_)) is not None:
        return read_tensor_map(table, folder, tensor)
    if type_.strip() == _SAMPLER:
        return _read_sampler(table)
    match = IMAGE_TYPE.fullmatch(type_)
    if match is None:
        return read_argument(table, folder)
    if match["what"] == "image":
        return read_image(table, folder, match, ChannelOrder.RGBA)
    if match["what"] == "surface":
        return SurfaceSpec(read_image(table, folder, match, ChannelOrder.R))
    image = read_image(table, folder, match, ChannelOrder.R, TEXTURE_KEYS)
    return read_texture(table, image)


def _read_sampler(table: TomlTable) -> SamplerSpec:
    table.allow("name", "type", "addressing", "filter", "coordinates")
    coordinates = table.text("coordinates", _UNNORMALIZED)
    if coordinates not in (_NORMALIZED, _UNNORMALIZED):
        raise WorkloadError(
            f"{table.where('coordinates')}: {coordinates!r} is neither {_NORMALIZED} nor "
            f"{_UNNORMALIZED}"
        )
    try:
        sampler = Sampler(
            choice(table, "addressing", Addressing, Addressing.CLAMP),
            choice(table, "filter", Filter, Filter.NEAREST),
            coordinates == _NORMALIZED,
        )
    except LaunchError as error:
        raise WorkloadError(f"{table.where()}: {error}") from None
    return SamplerSpec(table.text("name"), sampler)
