"""What a workload says of the texels of an image: their number, format and contents."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TypeVar

import numpy as np

from kernelcast.errors import LaunchError, WorkloadError
from kernelcast.simcore.isa.ir.image_formats import (
    ChannelOrder,
    ChannelType,
    Encoding,
    ImageFormat,
    ImageKind,
)
from kernelcast.simcore.launch.images import Image
from kernelcast.workload.arguments import CONTENTS_KEYS, ArgumentSpec, read_argument
from kernelcast.workload.toml_table import TomlTable

__all__ = ["IMAGE_TYPE", "ImageSpec", "choice", "read_image"]

IMAGE_TYPE = re.compile(
    r"\s*(?P<what>image|texture|surface)(?P<kind>\w+)\s*\[(?P<shape>.*)\]\s*", re.DOTALL
)
_Choice = TypeVar("_Choice", bound=Enum)


@dataclass(frozen=True, slots=True)
class ImageSpec:
    """One image; `texels` makes its numbers, a last axis for the components included."""

    texels: ArgumentSpec
    format: ImageFormat
    kind: ImageKind

    @property
    def name(self) -> str:
        """The argument's name."""
        return self.texels.name

    @property
    def where(self) -> str:
        """The start of messages."""
        return self.texels.where

    def make(self, names: Mapping[str, int]) -> Image:
        """The image for a problem size; WorkloadError where OpenCL has no such image."""
        array = self.texels.make_whole(names)
        assert isinstance(array, np.ndarray)
        try:
            return Image(array, self.format.order, self.format.channel_type, self.kind)
        except LaunchError as error:
            raise WorkloadError(f"{self.where}: {error}") from None


def read_image(
    table: TomlTable,
    folder: Path,
    match: re.Match[str],
    order: ChannelOrder,
    keys: tuple[str, ...] = (),
) -> ImageSpec:
    """An image whose type IMAGE_TYPE matches; `order` is the usual one, `keys` are others'."""
    table.allow("name", "type", "order", "channel_type", *keys, *CONTENTS_KEYS)
    what = match["what"]
    kinds = {kind.title.replace("image", what, 1): kind for kind in ImageKind}
    title = what + match["kind"]
    if title not in kinds:
        raise WorkloadError(f"{table.where('type')}: {title!r} is none of {', '.join(kinds)}")
    chosen = choice(table, "order", ChannelOrder, order)
    type_ = choice(table, "channel_type", ChannelType, ChannelType.FLOAT)
    try:
        format_ = ImageFormat(chosen, type_)
    except LaunchError as error:
        raise WorkloadError(f"{table.where()}: {error}") from None
    last = f", {format_.components}" if format_.components > 1 else ""
    kept = {key: table.entries[key] for key in ("name", *CONTENTS_KEYS) if key in table}
    kept["type"] = f"{_element(format_)}[{match['shape']}{last}]"
    texels = read_argument(replace(table, entries=kept), folder)
    return ImageSpec(texels, format_, kinds[title])


def _element(format_: ImageFormat) -> str:
    """The type of the host's numbers."""
    type_, bits = format_.channel_type, 8 * format_.component_bytes
    if type_.encoding in (Encoding.HALF, Encoding.FLOAT):
        return f"f{bits}"
    return f"{'s' if type_.is_signed else 'u'}{bits}"


def choice(table: TomlTable, key: str, choices: type[_Choice], default: _Choice) -> _Choice:
    """One member of an enumeration by its name, in any case."""
    text = table.text(key, default.name)
    known = choices.__members__
    if text.upper() not in known:
        listed = ", ".join(name.lower() for name in known)
        raise WorkloadError(f"{table.where(key)}: {text!r} is none of {listed}")
    return known[text.upper()]
