"""`suld`, `sust` and `sured`: bytes and texels of surfaces, and what happens at the edges."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc
from kernelcast.errors import (
    AssertionTriggered,
    LaunchError,
    MemoryAccessError,
    UnsupportedInstruction,
)

HERE = Path(__file__).parents[2]
shared: Any = SimpleNamespace(**runpy.run_path(str(HERE / "texture_kernels.py")))

Array = npt.NDArray[Any]
Kind = kc.ImageKind
F = np.float32
ENGINES = ["jit", "reference"]
SHAPES: dict[str, tuple[Any, tuple[int, ...], str]] = {
    "1d": (Kind.IMAGE_1D, (9,), "{%r0}"),
    "2d": (Kind.IMAGE_2D, (5, 9), "{%r0, %r1}"),
    "3d": (Kind.IMAGE_3D, (3, 5, 9), "{%r0, %r1, %r2, %r2}"),
    "a1d": (Kind.IMAGE_1D_ARRAY, (5, 9), "{%r1, %r0}"),
    "a2d": (Kind.IMAGE_2D_ARRAY, (3, 5, 9), "{%r2, %r0, %r1, %r1}"),
}


def texels(shape: tuple[int, ...]) -> Array:
    return np.random.default_rng(1).integers(0, 2**32, shape, np.uint32)


def every_place(shape: tuple[int, ...], beyond: int = 0) -> Array:
    """Coordinates, x first, also so many outside."""
    ranges = [np.arange(-beyond, size + beyond) for size in reversed(shape)]
    return np.stack([axis.ravel() for axis in np.meshgrid(*ranges)], axis=1).astype(np.int32)


def in_bytes(where: Array, texel: int) -> Array:
    scale = np.ones(where.shape[1], np.int32)
    scale[0] = texel
    return where * scale


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("engine", ENGINES)
def test_loads_of_every_geometry(shape: str, engine: str) -> None:
    kind, sizes, coordinates = SHAPES[shape]
    kernel = shared.reading(f"suld.b.{shape}.b32.trap {{%o0}}, [%t, {coordinates}];", len(sizes), 1)
    held, where = texels(sizes), every_place(sizes)
    found = shared.results(
        kernel, in_bytes(where, 4), kc.Surface(held, kind), count=1, engine=engine
    )
    np.testing.assert_array_equal(found[:, 0], held[tuple(where.T[::-1])])


@pytest.mark.parametrize("shape", SHAPES)
def test_loads_outside_are_zero_or_of_the_nearest_texel(shape: str) -> None:
    kind, sizes, coordinates = SHAPES[shape]
    held, where = texels(sizes), every_place(sizes, beyond=1)
    index = where.T[::-1]
    limits = np.array(sizes)[:, None]
    inside = ((index >= 0) & (index < limits)).all(axis=0)
    nearest = held[tuple(np.clip(index, 0, limits - 1))]
    for mode, expected in (("clamp", nearest), ("zero", np.where(inside, nearest, 0))):
        kernel = shared.reading(
            f"suld.b.{shape}.b32.{mode} {{%o0}}, [%t, {coordinates}];", len(sizes), 1
        )
        found = shared.results(kernel, in_bytes(where, 4), kc.Surface(held, kind), count=1)
        np.testing.assert_array_equal(found[:, 0], expected)


@pytest.mark.parametrize("shape", SHAPES)
def test_stores_outside_are_dropped_or_go_to_the_nearest_texel(shape: str) -> None:
    kind, sizes, coordinates = SHAPES[shape]
    corners = np.array([[0] * len(sizes), [-1] * len(sizes)], np.int32)
    corners = np.concatenate([corners, np.array([sizes[::-1]], np.int32)])
    for mode in ("clamp", "zero"):
        kernel = shared.reading(
            f"mov.u32 %o0, %tid.x;\nadd.u32 %o0, %o0, 1;\n"
            f"sust.b.{shape}.b32.{mode} [%t, {coordinates}], {{%o0}};",
            len(sizes),
            1,
        )
        held = np.zeros(sizes, np.uint32)
        shared.results(kernel, in_bytes(corners[1:], 4), kc.Surface(held, kind), count=1)
        expected = np.zeros(sizes, np.uint32)
        if mode == "clamp":
            expected[(0,) * len(sizes)], expected[(-1,) * len(sizes)] = 1, 2
        np.testing.assert_array_equal(held, expected)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "instruction",
    [
        "suld.b.2d.b32.trap {%o0}, [%t, {%r0, %r1}];",
        "sust.b.2d.b32.trap [%t, {%r0, %r1}], {%r0};",
    ],
)
@pytest.mark.parametrize("place", [(36, 0), (-4, 0), (0, 5), (0, -1)])
def test_an_access_outside_ends_the_kernel(
    engine: str, instruction: str, place: tuple[int, int]
) -> None:
    kernel = shared.reading(instruction, 2, 1)
    where = np.array([(0, 0), place], np.int32)
    with pytest.raises(AssertionTriggered, match="outside of the surface"):
        shared.results(kernel, where, kc.Surface(texels((5, 9))), count=1, engine=engine)


@pytest.mark.drawn(6)
@pytest.mark.parametrize("vector", [1, 2, 4])
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_widths_of_loads_and_stores(vector: int, bits: int) -> None:
    if vector * bits > 128:
        with pytest.raises(UnsupportedInstruction):
            shared.reading("suld.b.1d.v4.b64.trap {%t, %t, %t, %t}, [%t, {%r0}];", 1)
        return
    letter, width = {8: ("s", 16), 16: ("s", 16), 32: ("r", 32), 64: ("d", 64)}[bits]
    registers = ", ".join(f"%{letter}x{n}" for n in range(vector))
    dots = f".v{vector}" if vector > 1 else ""
    kernel = shared.reading(
        f".reg .b{width} %{letter}x<4>;\n"
        f"suld.b.1d{dots}.b{bits}.trap {{{registers}}}, [%t, {{%r0}}];\n"
        f"add.s32 %r0, %r0, 256;\nsust.b.1d{dots}.b{bits}.trap [%t, {{%r0}}], {{{registers}}};\n"
        "mov.b32 %o0, 0;",
        1,
        1,
    )
    held = np.zeros(512, np.uint8)
    held[:256] = np.random.default_rng(2).integers(0, 256, 256)
    step = vector * bits // 8
    where = np.arange(0, 256, step, dtype=np.int32)[:, None]
    shared.results(kernel, where, kc.Surface(held, Kind.IMAGE_1D), count=1)
    np.testing.assert_array_equal(held[256:], held[:256])


def test_a_wide_access_must_fit_to_its_last_byte() -> None:
    kernel = shared.reading("suld.b.1d.v2.b32.zero {%o0, %o1}, [%t, {%r0}];", 1, 2)
    held = np.arange(1, 10, dtype=np.uint32)  # 36 bytes
    where = np.array([[24], [32], [40]], np.int32)
    found = shared.results(kernel, where, kc.Surface(held, Kind.IMAGE_1D), count=2)
    np.testing.assert_array_equal(found, [[7, 8], [0, 0], [0, 0]])


@pytest.mark.parametrize(
    ("operation", "type_", "expected"),
    [
        *(("add", "u32", 5 + sum(range(32))), ("min", "s32", -16), ("max", "s32", 15)),
        *(("min", "u32", 0), ("and", "b32", 0), ("or", "b32", 0xFFFFFFFF)),
    ],
)
@pytest.mark.parametrize("engine", ENGINES)
def test_reductions(operation: str, type_: str, expected: int, engine: str) -> None:
    kernel = shared.reading(
        f"sured.b.{operation}.2d.{type_}.trap [%t, {{8, 1}}], %r0;\nmov.b32 %o0, 0;", 1, 1
    )
    held = np.full((3, 4), 5, np.int32)
    first = -16 if type_ != "u32" else 0
    values = np.arange(first, first + 32, dtype=np.int32)[:, None]
    shared.results(kernel, values, kc.Surface(held), count=1, engine=engine)
    assert held[1, 2] == np.int64(expected).astype(np.int32)
    assert np.count_nonzero(held == 5) >= 11


def test_64_bit_reductions_and_those_of_texels() -> None:
    kernel = shared.reading(
        "cvt.u64.u32 %h, %r0;\nsured.b.add.1d.u64.zero [%t, {8}], %h;\n"
        "sured.b.add.1d.u64.zero [%t, {800}], %h;\nmov.b32 %o0, 0;",
        1,
        1,
    )
    held = np.zeros((4, 2), np.uint32)
    values = np.full((32, 1), 0xF0000000, np.uint32)
    shared.results(kernel, values, kc.Surface(held, Kind.IMAGE_1D), count=1)
    assert held.view(np.uint64).ravel().tolist() == [0, 32 * 0xF0000000, 0, 0]
    texel = shared.reading("sured.p.add.1d.b32.trap [%t, {1}], %r0;\nmov.b32 %o0, 0;", 1, 1)
    counts = np.zeros(3, np.uint32)
    ones = np.ones((32, 1), np.uint32)
    shared.results(texel, ones, kc.Surface(counts, Kind.IMAGE_1D), count=1)
    assert counts.tolist() == [0, 32, 0]


@pytest.mark.parametrize(
    ("operation", "type_", "expected"),
    [("min", np.int32, -3), ("max", np.int32, 5), ("min", np.uint32, 5), ("max", np.uint32, -3)],
)
def test_reductions_of_texels_have_the_sign_of_the_texels(
    operation: str, type_: type[np.generic], expected: int
) -> None:
    kernel = shared.reading(
        f"sured.p.{operation}.1d.b32.trap [%t, {{1}}], %r0;\nmov.b32 %o0, 0;", 1, 1
    )
    held = np.full(3, 5, type_)
    values = np.full((1, 1), -3, np.int32)
    shared.results(kernel, values, kc.Surface(held, Kind.IMAGE_1D), count=1)
    assert held.view(np.int32).tolist() == [5, expected, 5]


@pytest.mark.parametrize(
    ("order", "channel_type", "dtype", "expected"),
    [
        ("RGBA", "UNORM_INT8", np.uint8, [0, 128, 255, 255]),
        ("RGBA", "SNORM_INT8", np.int8, [-127, 64, 127, 127]),
        ("RGBA", "FLOAT", np.float32, [-1.0, 0.5, 1.0, 3.0]),
        ("RG", "HALF_FLOAT", np.float16, [-1.0, 0.5]),
    ],
)
def test_formatted_stores_convert_numbers(
    order: str, channel_type: str, dtype: Any, expected: list[float]
) -> None:
    kernel = shared.reading(
        "sust.p.2d.v4.b32.trap [%t, {%r4, 1}], {%r0, %r1, %r2, %r3};\nmov.b32 %o0, 0;", 5, 1
    )
    held = np.zeros((2, 3, len(expected)), dtype)
    image = kc.Image(held, kc.ChannelOrder[order], kc.ChannelType[channel_type])
    values = np.array([[-1.0, 0.5, 1.0, 3.0, 0]], F)
    values.view(np.uint32)[0, 4] = 2
    shared.results(kernel, values, kc.Surface(image), count=1)
    np.testing.assert_array_equal(held[1, 2], np.array(expected, dtype))
    assert not held[0].any()
    assert not held[1, :2].any()


def test_formatted_stores_saturate_whole_numbers() -> None:
    kernel = shared.reading(
        "sust.p.2d.v4.b32.zero [%t, {%r4, 0}], {%r0, %r1, %r2, %r3};\nmov.b32 %o0, 0;", 5, 1
    )
    values = np.array([[-200, 200, 7, -1, 0], [1, 1, 1, 1, 9]], np.int32)
    signed, unsigned = np.zeros((1, 2, 4), np.int8), np.zeros((1, 2, 4), np.uint8)
    shared.results(kernel, values, kc.Surface(signed), count=1)
    shared.results(kernel, values, kc.Surface(unsigned), count=1)
    assert signed[0].tolist() == [[-128, 127, 7, -1], [0, 0, 0, 0]]
    # the bits are those of large numbers without a sign
    assert unsigned[0].tolist() == [[255, 200, 7, 255], [0, 0, 0, 0]]


def test_formatted_loads_convert_back() -> None:
    held = np.random.default_rng(3).integers(0, 256, (3, 4, 4), np.uint8)
    image = kc.Image(held, kc.ChannelOrder.RGBA, kc.ChannelType.UNORM_INT8)
    where = every_place((3, 4))
    kernel = shared.reading("suld.p.2d.v4.f32.trap {%o0, %o1, %o2, %o3}, [%t, {%r0, %r1}];", 2)
    found = shared.results(kernel, where, kc.Surface(image)).view(F)
    np.testing.assert_allclose(found, held[where[:, 1], where[:, 0]] / 255, rtol=1e-6)


def test_a_texture_and_a_surface_may_share_their_texels() -> None:
    kernel = shared.reading(
        "ld.param.u64 %h, [s];\nsust.b.2d.b32.trap [%h, {%r0, 0}], {%r0};\n"
        "suld.b.2d.b32.trap {%o0}, [%h, {%r0, 0}];",
        1,
        1,
        objects=".param .u64 t, .param .u64 s",
    )
    held = np.zeros((1, 32), np.uint32)
    where = np.arange(0, 128, 4, dtype=np.int32)[:, None]
    found = shared.results(kernel, where, kc.Texture(held), kc.Surface(held), count=1)
    np.testing.assert_array_equal(found[:, 0], where[:, 0])
    np.testing.assert_array_equal(held[0], where[:, 0])


def test_a_surface_of_another_shape_ends_the_kernel() -> None:
    kernel = shared.reading("suld.b.2d.b32.trap {%o0}, [%t, {%r0, %r1}];", 2, 1)
    where = np.zeros((1, 2), np.int32)
    for wrong in (kc.Surface(texels((2, 3, 4)), Kind.IMAGE_3D), kc.Texture(texels((3, 4)))):
        with pytest.raises(AssertionTriggered, match=r"surface is no \.2d one"):
            shared.results(kernel, where, wrong, count=1)


def test_a_read_only_array_is_not_written() -> None:
    kernel = shared.reading("sust.b.2d.b32.trap [%t, {%r0, %r1}], {%r0};", 2, 1)
    held = texels((3, 4))
    held.flags.writeable = False
    with pytest.raises(MemoryAccessError, match=r"read-only|writ"):
        shared.results(kernel, np.zeros((1, 2), np.int32), kc.Surface(held), count=1)


@pytest.mark.parametrize(
    "instruction",
    [
        "suld.b.cube.b32.trap {%o0}, [%t, {%r0, %r1, %r0, %r0}];",
        "sured.b.xor.2d.b32.trap [%t, {%r0, %r1}], %r0;",
        "sured.b.add.2d.s64.trap [%t, {%r0, %r1}], %h;",
        "sust.b.2d.f32.trap [%t, {%r0, %r1}], {%f0};",
        "suld.2d.b32.trap {%o0}, [%t, {%r0, %r1}];",
    ],
)
def test_other_forms_are_refused(instruction: str) -> None:
    with pytest.raises(UnsupportedInstruction):
        shared.reading(instruction, 2, 1)


def test_a_surface_needs_a_number_of_64_bits() -> None:
    kernel = shared.reading("suld.b.2d.b32.trap {%o0}, [%t, {%r0, %r1}];", 2, 1)
    with pytest.raises(LaunchError, match="is of type surface but the kernel takes f32"):
        shared.run(
            shared.compiled(f"{shared.HEAD}.visible .entry k(.param .f32 s) {{\nret;\n}}\n"),
            kc.Surface(texels((3, 4))),
        )
    assert kernel.parameters[0].type.ptx_name == "u64"
