"""Tensor maps as arguments of a workload: `tensor_map f16[m, k]` with a box and a swizzle."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from kernelcast.errors import LaunchError, WorkloadError
from kernelcast.simcore.launch.tensor_maps import Fill, Swizzle, TensorElement, TensorMap
from kernelcast.workload.arguments import CONTENTS_KEYS, ArgumentSpec, read_argument
from kernelcast.workload.expressions import evaluate_integer
from kernelcast.workload.toml_table import Expression, TomlTable

__all__ = ["TENSOR_MAP_TYPE", "TensorMapSpec", "read_tensor_map"]

TENSOR_MAP_TYPE = re.compile(r"\s*tensor_map\s+(?P<array>.+)", re.DOTALL)
_Member = TypeVar("_Member")
_KEYS = ("box", "swizzle", "fill", "steps", "element")
_SWIZZLES = {swizzle.span: swizzle for swizzle in Swizzle}
_FILLS = {fill.name.lower(): fill for fill in Fill}
_ELEMENTS = {element.name.lower(): element for element in TensorElement}


@dataclass(frozen=True, slots=True)
class TensorMapSpec:
    """One tensor map; `array` makes the tensor, `box` and `steps` are as TensorMap takes them."""

    array: ArgumentSpec
    box: tuple[Expression, ...]
    steps: tuple[Expression, ...]
    swizzle: Swizzle
    fill: Fill
    element: TensorElement | None

    @property
    def name(self) -> str:
        """The argument's name."""
        return self.array.name

    def make(self, names: Mapping[str, int]) -> TensorMap:
        """The tensor map for a problem size; WorkloadError where CUDA has no such map."""
        array, where = self.array.make_whole(names), self.array.where
        assert isinstance(array, np.ndarray)
        box, steps = (
            tuple(evaluate_integer(item, names, f"{where}.{key}") for item in items)
            for key, items in (("box", self.box), ("steps", self.steps))
        )
        try:
            return TensorMap(array, box, self.element, self.swizzle, self.fill, steps)
        except LaunchError as error:
            raise WorkloadError(f"{where}: {error}") from None


def read_tensor_map(table: TomlTable, folder: Path, match: re.Match[str]) -> TensorMapSpec:
    """One `[[args]]` table; WorkloadError naming the key that is wrong."""
    table.allow("name", "type", *_KEYS, *CONTENTS_KEYS)
    kept = {key: value for key, value in table.entries.items() if key not in _KEYS}
    kept["type"] = match["array"]
    array = read_argument(replace(table, entries=kept), folder)
    if not array.is_buffer:
        raise WorkloadError(f"{table.where('type')}: a tensor map is of an array")
    span = table.integer("swizzle", 0)
    if span not in _SWIZZLES:
        known = ", ".join(map(str, _SWIZZLES))
        raise WorkloadError(f"{table.where('swizzle')}: {span} is none of {known} (bytes)")
    return TensorMapSpec(
        array,
        table.expressions("box"),
        table.expressions("steps") if "steps" in table else (),
        _SWIZZLES[span],
        _named(table, "fill", _FILLS) or Fill.ZEROS,
        _named(table, "element", _ELEMENTS),
    )


def _named(table: TomlTable, key: str, known: Mapping[str, _Member]) -> _Member | None:
    if key not in table:
        return None
    text = table.text(key)
    if text not in known:
        raise WorkloadError(f"{table.where(key)}: {text!r} is none of {', '.join(known)}")
    return known[text]
