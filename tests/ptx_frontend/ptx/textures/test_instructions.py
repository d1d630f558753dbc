"""`tex` and `tld4` against the formulas of the CUDA programming guide."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc
from kernelcast.errors import AssertionTriggered, UnsupportedInstruction
from kernelcast.simcore.profile.instruction_counts import instruction_counts

HERE = Path(__file__).parents[2]
oracle: Any = SimpleNamespace(**runpy.run_path(str(HERE / "texture_oracle.py")))
shared: Any = SimpleNamespace(**runpy.run_path(str(HERE / "texture_kernels.py")))

Array = npt.NDArray[Any]
Kind, Addressing, Filter = kc.ImageKind, kc.Addressing, kc.Filter
OUT = "{%o0, %o1, %o2, %o3}"
ENGINES = ["jit", "reference"]
BORDER = (0.25, -1.0, 3.0, 0.5)
SHAPES: dict[str, tuple[str, Any, tuple[int, ...], str]] = {
    "1d": ("1d", Kind.IMAGE_1D, (11,), "{%f0}"),
    "2d": ("2d", Kind.IMAGE_2D, (7, 10), "{%f0, %f1}"),
    "3d": ("3d", Kind.IMAGE_3D, (5, 6, 7), "{%f0, %f1, %f2, %f2}"),
}


def random(shape: tuple[int, ...], seed: int = 0) -> Array:
    return np.random.default_rng(seed).random(shape, np.float32)


def places(axes: int, count: int = 32, low: float = -4.0, high: float = 14.0) -> Array:
    return np.random.default_rng(axes).uniform(low, high, (count, axes)).astype(np.float32)


@pytest.mark.drawn(6)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("filter_", list(Filter))
@pytest.mark.parametrize("how", [Addressing.CLAMP_TO_EDGE, Addressing.BORDER])
def test_unnormalized_coordinates(shape: str, filter_: Any, how: Any) -> None:
    geometry, kind, sizes, coordinates = SHAPES[shape]
    kernel = shared.reading(f"tex.{geometry}.v4.f32.f32 {OUT}, [%t, {coordinates}];", len(sizes))
    texels, where = random((*sizes, 4)), places(len(sizes))
    texture = kc.Texture(texels, kind, addressing=how, filter=filter_, border=BORDER)
    expected = oracle.fetched(texels, where, (how,) * 3, filter_, False, np.array(BORDER))
    for engine in ENGINES:
        found = shared.results(kernel, where, texture, engine=engine).view(np.float32)
        np.testing.assert_allclose(found, expected, rtol=3e-6, atol=1e-6)


@pytest.mark.drawn(10)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("filter_", list(Filter))
@pytest.mark.parametrize("how", ["WRAP", "MIRROR", "CLAMP_TO_EDGE", "BORDER"])
def test_normalized_coordinates(shape: str, filter_: Any, how: str) -> None:
    geometry, kind, sizes, coordinates = SHAPES[shape]
    kernel = shared.reading(f"tex.{geometry}.v4.f32.f32 {OUT}, [%t, {coordinates}];", len(sizes))
    # multiples of 1/1024 away from the borders between texels: nothing depends on rounding
    where = np.round(places(len(sizes), low=-2.5, high=3.5) * 64) / F(64) + F(1 / 512)
    texels, addressing = random((*sizes, 4)), Addressing[how]
    texture = kc.Texture(
        texels, kind, addressing=addressing, filter=filter_, normalized_coordinates=True
    )
    expected = oracle.fetched(texels, where, (addressing,) * 3, filter_, True, np.zeros(4))
    found = shared.results(kernel, where, texture).view(np.float32)
    np.testing.assert_allclose(found, expected, rtol=3e-6, atol=2e-6)


F = np.float32


def test_each_axis_has_its_own_addressing() -> None:
    hows = (Addressing.WRAP, Addressing.BORDER, Addressing.MIRROR)
    kernel = shared.reading(f"tex.3d.v4.f32.f32 {OUT}, [%t, {{%f0, %f1, %f2, %f2}}];", 3)
    texels, where = random((5, 6, 8, 4)), places(3, low=-1.5, high=2.5)
    texture = kc.Texture(texels, Kind.IMAGE_3D, hows, Filter.NEAREST, normalized_coordinates=True)
    expected = oracle.fetched(texels, where, hows, Filter.NEAREST, True, np.zeros(4))
    np.testing.assert_array_equal(
        shared.results(kernel, where, texture).view(np.float32), expected.astype(F)
    )


def test_the_fraction_of_the_linear_filter_has_8_bits() -> None:
    kernel = shared.reading(f"tex.1d.v4.f32.f32 {OUT}, [%t, {{%f0}}];", 1)
    texels = np.array([0.0, 256.0], F)
    texture = kc.Texture(texels, Kind.IMAGE_1D, filter=Filter.LINEAR)
    fractions = np.linspace(0, 1, 64, dtype=F)[:, None]
    found = shared.results(kernel, fractions + F(0.5), texture).view(F)[:, 0]
    np.testing.assert_array_equal(found, np.round(found))
    assert np.abs(found - 256 * fractions[:, 0]).max() <= 0.5
    assert found[-1] == 256


@pytest.mark.drawn(10)
@pytest.mark.parametrize(
    ("dtype", "type_"),
    [
        *((np.uint8, "u32"), (np.int8, "s32"), (np.uint16, "u32"), (np.int16, "s32")),
        *((np.uint32, "u32"), (np.int32, "s32"), (np.int8, "u32")),
    ],
)
@pytest.mark.parametrize("components", [1, 2, 4])
def test_integers_are_read_as_they_are(dtype: Any, type_: str, components: int) -> None:
    kernel = shared.reading(f"tex.2d.v4.{type_}.f32 {OUT}, [%t, {{%f0, %f1}}];", 2)
    limits = np.iinfo(dtype)
    texels = np.random.default_rng(3).integers(
        limits.min, limits.max, (7, 9, components), dtype, endpoint=True
    )
    where = places(2, low=0, high=7)
    found = shared.results(kernel, where, kc.Texture(texels)).view(np.int32)
    x, y = np.floor(where).astype(int).T
    expected = texels[y, x].astype(np.int64).astype(np.uint64).astype(np.uint32).view(np.int32)
    np.testing.assert_array_equal(found[:, :components], expected)


@pytest.mark.parametrize(
    ("dtype", "largest"), [(np.uint8, 255), (np.int8, 127), (np.uint16, 65535), (np.int16, 32767)]
)
@pytest.mark.parametrize("filter_", list(Filter))
def test_integers_are_read_as_shares_of_the_largest(dtype: Any, largest: int, filter_: Any) -> None:
    kernel = shared.reading(f"tex.2d.v4.f32.f32 {OUT}, [%t, {{%f0, %f1}}];", 2)
    limits = np.iinfo(dtype)
    texels = np.random.default_rng(4).integers(
        limits.min, limits.max, (7, 9, 2), dtype, endpoint=True
    )
    texture = kc.Texture(texels, filter=filter_, read_mode=kc.ReadMode.NORMALIZED_FLOAT)
    where = places(2)
    shares = np.maximum(texels / largest, -1.0)
    hows = (Addressing.CLAMP_TO_EDGE,) * 2
    expected = oracle.fetched(shares, where, hows, filter_, False, np.zeros(2))
    found = shared.results(kernel, where, texture).view(F)
    np.testing.assert_allclose(found[:, :2], expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(found[:, 2:], [[0, 1]] * len(where))


def test_halves_come_out_in_three_widths() -> None:
    texels = random((6, 8, 4)).astype(np.float16)
    where = places(2, low=0, high=6)
    hows = (Addressing.CLAMP_TO_EDGE,) * 2
    texture = kc.Texture(texels, filter=Filter.LINEAR)
    expected = oracle.fetched(texels, where, hows, Filter.LINEAR, False, np.zeros(4))
    wide = shared.reading(f"tex.2d.v4.f32.f32 {OUT}, [%t, {{%f0, %f1}}];", 2)
    np.testing.assert_allclose(
        shared.results(wide, where, texture).view(F), expected, rtol=1e-6, atol=1e-6
    )
    packed = shared.reading("tex.2d.v2.f16x2.f32 {%o0, %o1}, [%t, {%f0, %f1}];", 2, 2)
    separate = shared.reading(
        "tex.2d.v4.f16.f32 {%s0, %s1, %s2, %s3}, [%t, {%f0, %f1}];\n"
        "mov.b32 %o0, {%s0, %s1};\nmov.b32 %o1, {%s2, %s3};",
        2,
        2,
    )
    for kernel in (packed, separate):
        found = shared.results(kernel, where, texture, count=2).view(np.float16)
        np.testing.assert_allclose(found, expected.astype(np.float16), rtol=1e-3)


def test_srgb_colours_become_linear_before_the_filter() -> None:
    texels = np.random.default_rng(5).integers(0, 256, (6, 8, 4), np.uint8)
    texture = kc.Texture(
        texels, filter=Filter.LINEAR, read_mode=kc.ReadMode.NORMALIZED_FLOAT, is_srgb=True
    )
    shares = texels / 255
    colours = shares[..., :3]
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    where = places(2, low=0, high=7)
    hows = (Addressing.CLAMP_TO_EDGE,) * 2
    expected = oracle.fetched(
        np.concatenate([linear, shares[..., 3:]], axis=-1), where, hows, Filter.LINEAR, False, 0.0
    )
    kernel = shared.reading(f"tex.2d.v4.f32.f32 {OUT}, [%t, {{%f0, %f1}}];", 2)
    for engine in ENGINES:
        found = shared.results(kernel, where, texture, engine=engine).view(F)
        np.testing.assert_allclose(found, expected, atol=2e-6)


@pytest.mark.parametrize("engine", ENGINES)
def test_linear_memory_is_zero_outside(engine: str) -> None:
    kernel = shared.reading(f"tex.1d.v4.f32.s32 {OUT}, [%t, {{%r0}}];", 1)
    texels = random((20,))
    where = np.arange(-6, 26, dtype=np.int32)[:, None]
    texture = kc.Texture(texels, Kind.IMAGE_1D_BUFFER)
    found = shared.results(kernel, where, texture, engine=engine).view(F)[:, 0]
    np.testing.assert_array_equal(found, np.pad(texels, 6))


def test_integer_coordinates_are_texels() -> None:
    kernel = shared.reading(f"tex.2d.v4.f32.s32 {OUT}, [%t, {{%r0, %r1}}];", 2)
    texels = random((7, 9))
    where = np.random.default_rng(6).integers(-3, 12, (32, 2), np.int32)
    found = shared.results(kernel, where, kc.Texture(texels, filter=Filter.LINEAR)).view(F)[:, 0]
    x, y = where.T
    np.testing.assert_array_equal(found, texels[np.clip(y, 0, 6), np.clip(x, 0, 8)])


@pytest.mark.parametrize("filter_", list(Filter))
def test_layers_are_not_filtered(filter_: Any) -> None:
    lines = shared.reading(f"tex.a1d.v4.f32.f32 {OUT}, [%t, {{%r0, %f1}}];", 2)
    sheets = shared.reading(f"tex.a2d.v4.f32.f32 {OUT}, [%t, {{%r0, %f1, %f2, %f2}}];", 3)
    layers = np.array([0, 1, 2, 3, 2, 9, 1, 0], np.uint32)
    hows = (Addressing.CLAMP_TO_EDGE,) * 2
    for kernel, kind, shape, axes in (
        (lines, Kind.IMAGE_1D_ARRAY, (4, 9), 1),
        (sheets, Kind.IMAGE_2D_ARRAY, (4, 7, 9), 2),
    ):
        texels, where = random((*shape, 1)), places(axes, 8)
        expected = [
            oracle.fetched(texels[min(layer, 3)], where[i : i + 1], hows, filter_, False, 0.0)[0]
            for i, layer in enumerate(layers)
        ]
        inputs = np.concatenate([layers[:, None], where.view(np.uint32)], axis=1)
        texture = kc.Texture(texels, kind, filter=filter_)
        found = shared.results(kernel, inputs, texture).view(F)[:, :1]
        np.testing.assert_allclose(found, expected, rtol=3e-6, atol=1e-6)


def cube_place(direction: Array) -> tuple[int, float, float]:
    """The table of the CUDA programming guide, cubemap textures."""
    x, y, z = (float(part) for part in direction)
    if abs(x) >= abs(y) and abs(x) >= abs(z):
        face, m, s, t = (0, x, -z, -y) if x >= 0 else (1, -x, z, -y)
    elif abs(y) >= abs(z):
        face, m, s, t = (2, y, x, z) if y >= 0 else (3, -y, x, -z)
    else:
        face, m, s, t = (4, z, x, -y) if z >= 0 else (5, -z, -x, -y)
    return face, (s / m + 1) / 2, (t / m + 1) / 2


@pytest.mark.parametrize("filter_", list(Filter))
def test_directions_meet_faces_of_cubes(filter_: Any) -> None:
    directions = np.random.default_rng(8).standard_normal((64, 3)).astype(F)
    cubes = np.random.default_rng(9).integers(0, 2, 64, np.uint32)
    texels = random((12, 8, 8, 4))
    one = shared.reading(f"tex.cube.v4.f32.f32 {OUT}, [%t, {{%f0, %f1, %f2, %f2}}];", 3)
    two = shared.reading(f"tex.acube.v4.f32.f32 {OUT}, [%t, {{%r0, %f1, %f2, %f3}}];", 4)
    hows = (Addressing.CLAMP_TO_EDGE,) * 2
    for kernel, which, inputs in (
        (one, np.zeros(64, int), directions),
        (two, cubes, np.concatenate([cubes[:, None], directions.view(np.uint32)], axis=1)),
    ):
        expected = []
        for cube, direction in zip(which, directions, strict=True):
            face, s, t = cube_place(direction)
            layer = texels[6 * int(cube) + face]
            expected.append(oracle.fetched(layer, np.array([[s, t]]), hows, filter_, True, 0.0)[0])
        count = 12 if kernel is two else 6
        texture = kc.Texture(
            texels[:count], Kind.IMAGE_2D_ARRAY, filter=filter_, normalized_coordinates=True
        )
        found = shared.results(kernel, inputs, texture).view(F)
        # a place may round into the next of 256 shares
        np.testing.assert_allclose(found, expected, atol=2 / 256)
        assert np.mean(np.abs(found - expected) > 2e-6) < 0.02


@pytest.mark.parametrize(("component", "number"), [("r", 0), ("g", 1), ("b", 2), ("a", 3)])
def test_gathers_go_counter_clockwise_from_the_lower_left(component: str, number: int) -> None:
    kernel = shared.reading(f"tld4.{component}.2d.v4.f32.f32 {OUT}, [%t, {{%f0, %f1}}];", 2)
    texels, where = random((7, 9, 4)), places(2, low=1, high=6)
    found = shared.results(kernel, where, kc.Texture(texels)).view(F)
    i, j = np.floor(where - F(0.5)).astype(int).T
    expected = [texels[j + dy, i + dx, number] for dx, dy in ((0, 1), (1, 1), (1, 0), (0, 0))]
    np.testing.assert_array_equal(found, np.stack(expected, axis=1))


def test_a_guard_leaves_the_results_as_they_were() -> None:
    kernel = shared.reading(
        "mov.b32 %o0, 7;\nsetp.gt.f32 %p1, %f0, 3.0;\n"
        "@%p1 tex.2d.v4.f32.f32 {%o0, _, _, _}|%p2, [%t, {%f0, %f1}];\n"
        "selp.b32 %o1, 1, 0, %p2;",
        2,
        2,
    )
    texels, where = random((9, 9)), places(2, low=0, high=8)
    found = shared.results(kernel, where, kc.Texture(texels), count=2)
    x, y = np.floor(where).astype(int).T
    reads = where[:, 0] > 3
    np.testing.assert_array_equal(found[reads, 0].view(F), texels[y, x][reads])
    np.testing.assert_array_equal(found[reads, 1], 1)
    np.testing.assert_array_equal(found[~reads, 0], 7)


def test_a_destination_may_be_a_coordinate() -> None:
    kernel = shared.reading(
        "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%t, {%f0, %f1}];\n"
        + "".join(f"mov.b32 %o{n}, %f{n};\n" for n in range(4)),
        2,
    )
    texels, where = random((9, 9, 4)), places(2, low=0, high=8)
    x, y = np.floor(where).astype(int).T
    found = shared.results(kernel, where, kc.Texture(texels)).view(F)
    np.testing.assert_array_equal(found, texels[y, x])


@pytest.mark.parametrize(("filter_", "texels"), [(Filter.NEAREST, 1), (Filter.LINEAR, 4)])
def test_a_read_counts_once_and_its_texels_reach_memory(filter_: Any, texels: int) -> None:
    kernel = shared.reading(f"tex.2d.v4.f32.f32 {OUT}, [%t, {{%f0, %f1}}];", 2)
    texture = kc.Texture(random((9, 9)), filter=filter_)
    where, out = places(2, low=0, high=8), np.zeros((32, 4), F)
    found = {}
    for engine in ENGINES:
        trace = shared.run(kernel, texture, where, out, engine=engine)
        fetches = [row for row in trace.instructions if row.unit == "texture"]
        assert [row.mnemonic for row in fetches] == ["tex.2d.v4.f32.f32"]
        parts = [row.pc for row in trace.instructions if row.is_part]
        written = [row for row in trace.instructions if row.is_source]
        assert instruction_counts(trace).source_warp_instructions == len(written)
        accessed = [pc for pc in trace.accesses.pc.tolist() if pc in parts]
        assert {trace.instructions[pc].cache for pc in accessed} == {"nc"}
        found[engine] = len(accessed)
    assert found == dict.fromkeys(ENGINES, texels)


@pytest.mark.parametrize(
    ("texture", "reason"),
    [
        (kc.Texture(np.zeros((4, 4, 4), F), Kind.IMAGE_3D), "no .2d one"),
        (kc.Texture(np.zeros((4, 4), np.uint8)), "floating-point"),
        (kc.Surface(np.zeros((4, 4), F)), "no .2d one"),
    ],
)
def test_a_texture_of_another_shape_ends_the_kernel(texture: Any, reason: str) -> None:
    kernel = shared.reading(f"tex.2d.v4.f32.f32 {OUT}, [%t, {{%f0, %f1}}];", 2)
    for engine in ENGINES:
        with pytest.raises(AssertionTriggered, match=reason):
            shared.results(kernel, places(2), texture, engine=engine)


@pytest.mark.parametrize(
    ("instruction", "reason"),
    [
        ("tex.2dms.v4.f32.s32 {%o0,%o1,%o2,%o3}, [%t, {%r0, %r1, %r0, %r0}];", "2dms"),
        ("tex.a2dms.v4.f32.s32 {%o0,%o1,%o2,%o3}, [%t, {%r0, %r1, %r0, %r0}];", "a2dms"),
        ("tex.2d.v4.f32.f32 {%o0,%o1,%o2,%o3}, [%t, {%f0, %f1}], %f1;", "comparison of depth"),
        (
            "tex.level.2d.v4.f32.f32 {%o0,%o1,%o2,%o3}, [%t, {%f0, %f1}], %f0, {%r0, %r1}, %f1;",
            "comparison of depth",
        ),
        ("tex.2d.v4.f64.f32 {%o0,%o1,%o2,%o3}, [%t, {%f0, %f1}];", "type .f64"),
        ("tex.2d.v2.f32.f32 {%o0,%o1}, [%t, {%f0, %f1}];", "type .f32"),
        ("tld4.x.2d.v4.f32.f32 {%o0,%o1,%o2,%o3}, [%t, {%f0, %f1}];", "no form"),
        ("tld4.r.3d.v4.f32.f32 {%o0,%o1,%o2,%o3}, [%t, {%f0, %f1, %f0, %f0}];", "geometry .3d"),
        ("tex.cube.v4.f32.s32 {%o0,%o1,%o2,%o3}, [%t, {%r0, %r1, %r0, %r0}];", "type .s32"),
    ],
)
def test_other_forms_are_refused(instruction: str, reason: str) -> None:
    with pytest.raises(UnsupportedInstruction, match=reason):
        shared.reading(instruction, 2)
