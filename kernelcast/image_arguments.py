"""Images and samplers as arguments of a workload: `image2d[h, w]` with a format, `sampler`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TypeAlias, TypeVar

import numpy as np

from kernelcast.arguments import CONTENTS_KEYS, ArgumentSpec, read_argument
from kernelcast.errors import LaunchError, WorkloadError
from kernelcast.simcore.image_formats import (
    ChannelOrder,
    ChannelType,
    Encoding,
    ImageFormat,
    ImageKind,
)
from kernelcast.simcore.images import Addressing, Filter, Image, Sampler
from kernelcast.toml_table import TomlTable

__all__ = ["AnyArgumentSpec", "ImageSpec", "SamplerSpec", "read_any_argument"]

_IMAGE = re.compile(r"\s*(?P<kind>image\w+)\s*\[(?P<shape>.*)\]\s*", re.DOTALL)
_SAMPLER = "sampler"
_NORMALIZED, _UNNORMALIZED = "normalized", "unnormalized"
_Choice = TypeVar("_Choice", bound=Enum)


@dataclass(frozen=True, slots=True)
class ImageSpec:
    """One image; `texels` makes its numbers, a last axis for the components included."""

    texels: ArgumentSpec
    format: ImageFormat
    kind: ImageKind

    @property
    def name(self) -> str:
        return self.texels.name

    def make(self, names: Mapping[str, int]) -> Image:
        array = self.texels.make(names)
        assert isinstance(array, np.ndarray)
        try:
            return Image(array, self.format.order, self.format.channel_type, self.kind)
        except LaunchError as error:
            raise WorkloadError(f"{self.texels.where}: {error}") from None

    def make_lazy(self, names: Mapping[str, int]) -> Image:
        """The same: texels are made at once."""
        return self.make(names)


@dataclass(frozen=True, slots=True)
class SamplerSpec:
    name: str
    sampler: Sampler

    def make(self, _names: Mapping[str, int]) -> Sampler:
        return self.sampler

    def make_lazy(self, names: Mapping[str, int]) -> Sampler:
        return self.make(names)


AnyArgumentSpec: TypeAlias = ArgumentSpec | ImageSpec | SamplerSpec


def read_any_argument(table: TomlTable, folder: Path) -> AnyArgumentSpec:
    """One `[[args]]` table; WorkloadError naming the key that is wrong."""
    type_ = table.text("type")
    if type_.strip() == _SAMPLER:
        return _read_sampler(table)
    match = _IMAGE.fullmatch(type_)
    return read_argument(table, folder) if match is None else _read_image(table, folder, match)


def _read_image(table: TomlTable, folder: Path, match: re.Match[str]) -> ImageSpec:
    table.allow("name", "type", "order", "channel_type", *CONTENTS_KEYS)
    kinds = {kind.title: kind for kind in ImageKind}
    if match["kind"] not in kinds:
        raise WorkloadError(f"{table.where('type')}: {match['kind']!r} is none of {_list(kinds)}")
    order = _choice(table, "order", ChannelOrder, ChannelOrder.RGBA)
    type_ = _choice(table, "channel_type", ChannelType, ChannelType.FLOAT)
    try:
        format_ = ImageFormat(order, type_)
    except LaunchError as error:
        raise WorkloadError(f"{table.where()}: {error}") from None
    last = f", {format_.components}" if format_.components > 1 else ""
    kept = {key: table.entries[key] for key in ("name", *CONTENTS_KEYS) if key in table}
    kept["type"] = f"{_element(format_)}[{match['shape']}{last}]"
    texels = read_argument(replace(table, entries=kept), folder)
    return ImageSpec(texels, format_, kinds[match["kind"]])


def _element(format_: ImageFormat) -> str:
    """The type of the host's numbers."""
    type_, bits = format_.channel_type, 8 * format_.component_bytes
    if type_.encoding in (Encoding.HALF, Encoding.FLOAT):
        return f"f{bits}"
    return f"{'s' if type_.is_signed else 'u'}{bits}"


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
            _choice(table, "addressing", Addressing, Addressing.CLAMP),
            _choice(table, "filter", Filter, Filter.NEAREST),
            coordinates == _NORMALIZED,
        )
    except LaunchError as error:
        raise WorkloadError(f"{table.where()}: {error}") from None
    return SamplerSpec(table.text("name"), sampler)


def _choice(table: TomlTable, key: str, choices: type[_Choice], default: _Choice) -> _Choice:
    """One member of an enumeration by its name, in any case."""
    text = table.text(key, default.name)
    known = {choice.name: choice for choice in choices}
    if text.upper() not in known:
        raise WorkloadError(f"{table.where(key)}: {text!r} is none of {_list(known)}")
    return known[text.upper()]


def _list(names: Mapping[str, object]) -> str:
    return ", ".join(name.lower() for name in names)
