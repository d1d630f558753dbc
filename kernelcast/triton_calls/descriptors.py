"""Tensor descriptors made on the host, as the arguments that Triton's launcher makes of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kernelcast.errors import InputError
from kernelcast.simcore.launch.tensor_map_words import MOST_DIMENSIONS, TensorMapWords

__all__ = ["TENSOR_MAP", "descriptor_arguments", "is_descriptor", "tensor_map"]

TENSOR_MAP = "nvTmaDesc"
"""Triton's type of an argument that is a tensor map."""
_DESCRIPTOR = "tensordesc"
_BOX = re.compile(r"tensordesc<[^[>]*\[(?P<sizes>[^]]*)\]")
_TF32 = 11
"""The number of TF32 among the types of a tensor map's elements."""
_CORNERS = (0, 0, 0)


def is_descriptor(kind: str) -> bool:
    """Whether a type of Triton's is that of a tensor descriptor."""
    return kind.startswith(_DESCRIPTOR)


def descriptor_arguments(
    name: str, kind: str, value: Any, layout: Mapping[str, Any] | None
) -> Iterator[tuple[str, str, Any]]:
    """Name, type and value of the arguments that stand for one descriptor, in their order.

    `layout` is what Triton has chosen for copies by a tensor map; None for a GPU without them,
    whose kernels take the pointer. Without a `value`, names and types only.
    """
    rank = _rank(name, kind)
    shape, strides = (None,) * rank, (None,) * rank
    if value is not None:
        shape, strides = tuple(value.shape), tuple(value.strides)
    if layout is None:
        yield name, "*", value and value.base
        yield from _numbers(f"{name}.shape", "i64", shape)
        yield from _numbers(f"{name}.strides", "i64", strides)
        yield f"{name}.padding", "i1", value and value.padding == "nan"
        yield f"{name}.round_f32_to_tf32", "i1", value and value.round_f32_to_tf32
    else:
        yield name, TENSOR_MAP, value and (value, layout)
    yield from _numbers(f"{name}.shape", "i32", shape)
    yield from _numbers(f"{name}.strides", "i64", strides)


def tensor_map(descriptor: Any, layout: Mapping[str, Any], address: int) -> bytes:
    """The tensor map of a descriptor, 128 bytes, whose tensor begins at `address`."""
    sizes, box = list(descriptor.shape), layout["block_size"]
    if layout["fp4_padded"]:
        sizes[-1] *= 2
    strides = [step * layout["elem_size"] for step in descriptor.strides[:-1]]
    return TensorMapWords(
        address=address,
        strides=_reversed(strides, MOST_DIMENSIONS - 1, 0),
        sizes=_reversed(sizes, MOST_DIMENSIONS, 1),
        box=_reversed(box, MOST_DIMENSIONS, 1),
        steps=(1,) * MOST_DIMENSIONS,
        rank=len(sizes),
        element=_TF32 if descriptor.round_f32_to_tf32 else layout["elem_type"],
        interleave=0,
        swizzle=layout["swizzle"],
        fill=int(descriptor.padding == "nan"),
        lower=_CORNERS,
        upper=_CORNERS,
        channels=0,
        pixels=0,
    ).packed()


def _rank(name: str, kind: str) -> int:
    box = _BOX.match(kind)
    if box is None:
        raise InputError(f"argument {name} is a tensor descriptor of type {kind}: not supported")
    return box["sizes"].count(",") + 1


def _numbers(name: str, kind: str, values: Sequence[Any]) -> Iterator[tuple[str, str, Any]]:
    for index, value in enumerate(values):
        yield f"{name}[{index}]", kind, value


def _reversed(values: Sequence[int], count: int, filler: int) -> tuple[int, ...]:
    """The values with the innermost dimension first, filled up to `count`."""
    return (*values[::-1], *(filler,) * count)[:count]
