"""Which level of a mipmap a read takes."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc

HERE = Path(__file__).parents[2]
oracle: Any = SimpleNamespace(**runpy.run_path(str(HERE / "texture_oracle.py")))
shared: Any = SimpleNamespace(**runpy.run_path(str(HERE / "texture_kernels.py")))

Array = npt.NDArray[Any]
Addressing, Filter = kc.Addressing, kc.Filter
F = np.float32
OUT = "{%o0, %o1, %o2, %o3}"
ENGINES = ["jit", "reference"]


def random(shape: tuple[int, ...], seed: int = 0) -> Array:
    return np.random.default_rng(seed).random(shape, np.float32)


def mipmap(size: int = 16) -> tuple[Array, ...]:
    return tuple(random((size >> n, size >> n), seed=20 + n) for n in range(4))


@pytest.mark.parametrize("between", list(Filter))
@pytest.mark.parametrize("engine", ENGINES)
def test_levels_of_a_mipmap(between: Any, engine: str) -> None:
    kernel = shared.reading(f"tex.level.2d.v4.f32.f32 {OUT}, [%t, {{%f0, %f1}}], %f2;", 3)
    levels = mipmap()
    texture = kc.Texture(
        levels,
        filter=Filter.LINEAR,
        normalized_coordinates=True,
        level_filter=between,
        level_bias=0.25,
        least_level=0.5,
    )
    rng = np.random.default_rng(1)
    inputs = np.concatenate([rng.random((32, 2)), rng.uniform(-2, 5, (32, 1))], axis=1).astype(F)
    wanted = np.clip(inputs[:, 2] + F(0.25), 0.5, 3)
    hows = (Addressing.CLAMP_TO_EDGE,) * 2
    each = np.stack(
        [
            oracle.fetched(t[..., None], inputs[:, :2], hows, Filter.LINEAR, True, 0.0)[:, 0]
            for t in levels
        ]
    )
    lanes = np.arange(32)
    if between is Filter.NEAREST:
        expected = each[np.floor(wanted + 0.5).astype(int), lanes]
    else:
        below = np.floor(wanted).astype(int)
        share = oracle.weights_of(below, wanted)
        expected = (1 - share) * each[below, lanes] + share * each[np.minimum(below + 1, 3), lanes]
    found = shared.results(kernel, inputs, texture, engine=engine).view(F)[:, 0]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_gradients_choose_the_level_of_the_longer_one() -> None:
    kernel = shared.reading(
        f"tex.grad.2d.v4.f32.f32 {OUT}, [%t, {{%f0, %f1}}], {{%f2, %f3}}, {{%f4, %f5}};", 6
    )
    levels = tuple(np.full((32 >> n, 32 >> n), float(n), F) for n in range(5))
    texture = kc.Texture(levels, normalized_coordinates=True)
    inputs = np.full((8, 6), 0.5, F)
    # in texels of level 0: lengths 5, 1, 8, 2, 2, 0, 100, 16
    inputs[:, 2:4] = np.array([[3, 4], [1, 0], [0, 8], [0, 1], [2, 0], [0, 0], [100, 0], [0, 0]])
    inputs[:, 4:6] = np.array([[1, 1], [0, 1], [0, 0], [2, 0], [0, 1], [0, 0], [1, 0], [0, 16]])
    inputs[:, 2:] /= 32
    found = shared.results(kernel, inputs, texture).view(F)[:, 0]
    np.testing.assert_array_equal(found, [2, 0, 3, 1, 1, 0, 4, 4])


def test_whole_levels_for_whole_coordinates() -> None:
    kernel = shared.reading(f"tex.level.2d.v4.f32.s32 {OUT}, [%t, {{%r0, %r1}}], %r2;", 3)
    levels = mipmap()
    inputs = np.array([[x, y, n] for n in range(4) for x, y in ((0, 1), (1, 0))], np.int32)
    found = shared.results(kernel, inputs, kc.Texture(levels)).view(F)[:, 0]
    np.testing.assert_array_equal(found, [levels[n][y, x] for x, y, n in inputs])
