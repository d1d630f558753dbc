"""PTX of many texture and surface statements, to run as machine code and compare with the PTX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import kernelcast as kc
from kernelcast.simcore.launch.launch import Launch

__all__ = ["THREADS", "launched", "mipmap", "program", "rows"]

Array = npt.NDArray[Any]
THREADS = 40
WORDS = 12
"""Words of input of each thread: six numbers, three places or layers, and three offsets."""
OUT = "{%o0, %o1, %o2, %o3}"


def program(statements: Sequence[str], objects: Sequence[str], top: str = "") -> str:
    """A kernel whose parameters are output, input and the objects, numbers of 64 bits each.

    Statements read %f0.. (%r0.. as bits), %i0.. and %w0.. and leave their results in %o0 to %o3.
    """
    takes = "".join(f", .param .u64 {name}" for name in objects)
    loads = "".join(f"ld.param.u64 %{name}, [{name}];\n" for name in objects)
    inputs = "".join(
        f"ld.global.b32 %{letter}{n}, [%in+{4 * (first + n)}];\n"
        for letter, first, count in (("r", 0, 6), ("i", 6, 3), ("w", 9, 3))
        for n in range(count)
    )
    floats = "".join(f"mov.b32 %f{n}, %r{n};\n" for n in range(6))
    zeroes = "".join(f"mov.b32 %o{n}, 0;\n" for n in range(4))
    body = "".join(
        f"{zeroes}{statement}\nst.global.v4.b32 [%out+{16 * n}], {OUT};\n"
        for n, statement in enumerate(statements)
    )
    handles = "".join(f".reg .b64 %{name};\n" for name in objects)
    return (
        ".version 8.1\n.target sm_70\n.address_size 64\n"
        f"{top}.visible .entry k(.param .u64 p, .param .u64 q{takes}) {{\n"
        ".reg .b64 %out, %in, %h, %d<4>;\n.reg .b32 %t, %r<6>, %i<3>, %w<3>, %o<4>;\n"
        f".reg .f32 %f<6>;\n.reg .b16 %x<4>;\n.reg .pred %p<2>;\n{handles}{loads}"
        "ld.param.u64 %out, [p];\nld.param.u64 %in, [q];\nmov.u32 %t, %tid.x;\n"
        f"mad.wide.u32 %out, %t, {16 * len(statements)}, %out;\n"
        f"mad.wide.u32 %in, %t, {4 * WORDS}, %in;\n{inputs}{floats}{body}ret;\n}}\n"
    )


def rows(numbers: Array, places: Array, offsets: Array | None = None) -> Array:
    """The input: six numbers, three places and three offsets of each thread."""
    found = np.zeros((len(numbers), WORDS), np.uint32)
    found[:, :6] = numbers.astype(np.float32).view(np.uint32)
    found[:, 6:9] = places.astype(np.int32).view(np.uint32)
    if offsets is not None:
        found[:, 9:] = offsets.astype(np.int32).view(np.uint32)
    return found


def launched(statements: Sequence[str], inputs: Array, *objects: Any) -> Launch:
    """One thread block whose threads take a row each."""
    out = np.zeros((len(inputs), 4 * len(statements)), np.uint32)
    return Launch((1, 1, 1), (len(inputs), 1, 1), (out, inputs, *objects))


def mipmap(shape: Sequence[int], kind: kc.ImageKind, levels: int, **how: Any) -> kc.Texture:
    """A texture of random numbers; `shape` has components last."""
    generator, size = np.random.default_rng(len(shape)), list(shape)
    first = len(shape) - 1 - kind.dimensions
    found = []
    for _ in range(levels):
        found.append(generator.normal(size=size).astype(np.float32))
        size = [
            max(length // 2, 1) if first <= n < len(size) - 1 else length
            for n, length in enumerate(size)
        ]
    return kc.Texture(tuple(found), kind, **how)
