"""Textures and surfaces as arguments of a workload: `texture2d[h, w]`, `surface3d[d, h, w]`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kernelcast.errors import LaunchError, WorkloadError
from kernelcast.simcore.launch.images import Addressing, Filter
from kernelcast.simcore.launch.textures import ReadMode, Surface, Texture
from kernelcast.workload.image_specs import ImageSpec, choice
from kernelcast.workload.toml_table import TomlTable

__all__ = ["TEXTURE_KEYS", "SurfaceSpec", "TextureSpec", "read_texture"]

TEXTURE_KEYS = ("addressing", "filter", "coordinates", "read_mode", "srgb", "border")
_COORDINATES = {"normalized": True, "unnormalized": False}
_SRGB = {"yes": True, "no": False}


@dataclass(frozen=True, slots=True)
class TextureSpec:
    """The image of a texture, and how it is sampled: arguments of `Texture` by name."""

    image: ImageSpec
    sampling: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The argument's name."""
        return self.image.name

    def make(self, names: Mapping[str, int]) -> Texture:
        """The texture for a problem size; WorkloadError for what CUDA does not create."""
        try:
            return Texture(self.image.make(names), **self.sampling)
        except LaunchError as error:
            raise WorkloadError(f"{self.image.where}: {error}") from None


@dataclass(frozen=True, slots=True)
class SurfaceSpec:
    """A surface argument: an image without sampling."""

    image: ImageSpec

    @property
    def name(self) -> str:
        """The argument's name."""
        return self.image.name

    def make(self, names: Mapping[str, int]) -> Surface:
        """The surface for a problem size."""
        return Surface(self.image.make(names))


def read_texture(table: TomlTable, image: ImageSpec) -> TextureSpec:
    """The keys of a texture besides those of its image; WorkloadError naming the wrong one."""
    sampling: dict[str, Any] = {
        "addressing": _addressing(table),
        "filter": choice(table, "filter", Filter, Filter.NEAREST),
        "normalized_coordinates": _one_of(table, "coordinates", _COORDINATES, "unnormalized"),
        "read_mode": choice(table, "read_mode", ReadMode, ReadMode.ELEMENT_TYPE),
        "is_srgb": _one_of(table, "srgb", _SRGB, "no"),
    }
    if "border" in table:
        sampling["border"] = _border(table)
    return TextureSpec(image, sampling)


def _addressing(table: TomlTable) -> tuple[Addressing, ...]:
    """One for all axes, or a list with one for each."""
    is_list = isinstance(table.entries.get("addressing"), list)
    if not is_list:
        return (choice(table, "addressing", Addressing, Addressing.CLAMP_TO_EDGE),)
    known = {name.lower(): one for name, one in Addressing.__members__.items()}
    found = []
    for text in table.texts("addressing"):
        if text.lower() not in known:
            where = table.where("addressing")
            raise WorkloadError(f"{where}: {text!r} is none of {', '.join(known)}")
        found.append(known[text.lower()])
    if not found:
        raise WorkloadError(f"{table.where('addressing')} is empty")
    return tuple(found)


def _border(table: TomlTable) -> tuple[float, float, float, float]:
    """Red, green, blue and alpha, as numbers."""
    numbers = table.expressions("border")
    if len(numbers) != 4 or not all(isinstance(number, int | float) for number in numbers):
        raise WorkloadError(f"{table.where('border')} must be a list of 4 numbers")
    red, green, blue, alpha = (float(number) for number in numbers)
    return red, green, blue, alpha


def _one_of(table: TomlTable, key: str, meanings: Mapping[str, bool], default: str) -> bool:
    text = table.text(key, default)
    if text not in meanings:
        raise WorkloadError(f"{table.where(key)}: {text!r} is neither {' nor '.join(meanings)}")
    return meanings[text]
