"""Texel offsets of `tex` and `tld4`: the same as coordinates so many texels further on."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc
from kernelcast.errors import UnsupportedInstruction

HERE = Path(__file__).parents[2]
oracle: Any = SimpleNamespace(**runpy.run_path(str(HERE / "texture_oracle.py")))
shared: Any = SimpleNamespace(**runpy.run_path(str(HERE / "texture_kernels.py")))

Array = npt.NDArray[Any]
Kind, Addressing, Filter = kc.ImageKind, kc.Addressing, kc.Filter
OUT = "{%o0, %o1, %o2, %o3}"
ENGINES = ["jit", "reference"]
SIZES = (4, 8)
"""Powers of two: an offset is exact in normalized coordinates."""
BORDER = np.array((0.25, -1.0, 3.0, 0.5))


def inputs(low: float, high: float, scale: int) -> tuple[Array, Array, Array]:
    """(rows of two coordinates and two offsets, coordinates, offsets)."""
    generator = np.random.default_rng(9)
    where = np.round(generator.uniform(low, high, (64, 2)) * scale) / np.float32(scale)
    where = (where + 1 / (8 * scale)).astype(np.float32)
    offsets = generator.integers(-8, 8, (64, 2)).astype(np.int32)
    return np.hstack((where.view(np.uint32), offsets.view(np.uint32))), where, offsets


def texels_of(sizes: tuple[int, ...]) -> Array:
    return np.random.default_rng(2).random((*sizes, 4), np.float32)


@pytest.mark.parametrize("filter_", list(Filter))
@pytest.mark.parametrize("how", ["WRAP", "MIRROR", "CLAMP_TO_EDGE", "BORDER"])
def test_normalized_coordinates(filter_: Any, how: str) -> None:
    rows, where, offsets = inputs(-2.5, 3.5, 64)
    addressing, texels = Addressing[how], texels_of(SIZES)
    texture = kc.Texture(
        texels,
        addressing=addressing,
        filter=filter_,
        normalized_coordinates=True,
        border=tuple(BORDER),
    )
    kernel = shared.reading(f"tex.2d.v4.f32.f32 {OUT}, [%t, {{%f0, %f1}}], {{%r2, %r3}};", 4)
    moved = (where + offsets / np.array(SIZES[::-1])).astype(np.float32)
    expected = oracle.fetched(texels, moved, (addressing,) * 2, filter_, True, BORDER)
    for engine in ENGINES:
        found = shared.results(kernel, rows, texture, engine=engine).view(np.float32)
        np.testing.assert_allclose(found, expected, rtol=3e-6, atol=2e-6)


@pytest.mark.parametrize("how", [Addressing.CLAMP_TO_EDGE, Addressing.BORDER])
def test_unnormalized_coordinates(how: Any) -> None:
    rows, where, offsets = inputs(-4, 12, 32)
    texels = texels_of((7, 10))
    texture = kc.Texture(texels, addressing=how, filter=Filter.LINEAR, border=tuple(BORDER))
    kernel = shared.reading(
        f"tex.level.2d.v4.f32.f32 {OUT}, [%t, {{%f0, %f1}}], 0f00000000, {{%r2, %r3}};", 4
    )
    moved = (where + offsets).astype(np.float32)
    expected = oracle.fetched(texels, moved, (how,) * 2, Filter.LINEAR, False, BORDER)
    for engine in ENGINES:
        found = shared.results(kernel, rows, texture, engine=engine).view(np.float32)
        np.testing.assert_allclose(found, expected, rtol=3e-6, atol=1e-6)


def test_integer_coordinates_of_a_layer() -> None:
    generator = np.random.default_rng(4)
    rows = np.stack([generator.integers(0, n, 64) for n in (3, 5, 6, 1)], axis=1).astype(np.uint32)
    texels = generator.random((3, 6, 5, 4), np.float32)
    texture = kc.Texture(texels, Kind.IMAGE_2D_ARRAY)
    kernel = shared.reading(
        f"tex.a2d.v4.f32.s32 {OUT}, [%t, {{%r0, %r1, %r2, %r2}}], {{-2, 1, 0, 0}};", 4
    )
    layer, x, y, _ = rows.astype(int).T
    expected = texels[layer, np.clip(y + 1, 0, 5), np.clip(x - 2, 0, 4)]
    for engine in ENGINES:
        found = shared.results(kernel, rows, texture, engine=engine).view(np.float32)
        np.testing.assert_array_equal(found, expected)


def test_gathers() -> None:
    """Counter-clockwise from the lower left of the four texels around a place."""
    rows, where, offsets = inputs(-4, 12, 32)
    texels = texels_of((7, 10))
    kernel = shared.reading(f"tld4.g.2d.v4.f32.f32 {OUT}, [%t, {{%f0, %f1}}], {{%r2, %r3}};", 4)
    first = np.floor(where.astype(np.float64) + offsets - 0.5).astype(int)
    expected = np.stack(
        [
            texels[np.clip(first[:, 1] + dy, 0, 6), np.clip(first[:, 0] + dx, 0, 9), 1]
            for dx, dy in ((0, 1), (1, 1), (1, 0), (0, 0))
        ],
        axis=1,
    )
    for engine in ENGINES:
        found = shared.results(kernel, rows, kc.Texture(texels), engine=engine).view(np.float32)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("instruction", "reason"),
    [
        ("tex.cube.v4.f32.f32 {out}, [%t, {%f0, %f1, %f0, %f0}], {%r0, %r1, %r2, %r2};", "offsets"),
        ("tex.2d.v4.f32.f32 {out}, [%t, {%f0, %f1}], {%r0, %r1}, %f1;", "comparison of depth"),
        ("tld4.r.2d.v4.f32.f32 {out}, [%t, {%f0, %f1}], %f1;", "comparison of depth"),
    ],
)
def test_what_is_refused(instruction: str, reason: str) -> None:
    with pytest.raises(UnsupportedInstruction, match=reason):
        shared.reading(instruction.replace("{out}", OUT), 4)
