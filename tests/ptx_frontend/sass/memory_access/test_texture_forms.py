"""Every form of `tex`, `tld4` and `txq` as machine code gives what the PTX gives."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc
from kernelcast.errors import AssertionTriggered, UnsupportedInstruction
from kernelcast.inputs.native.cubins import assembled_module
from tests.drawn_cases import drawn
from tests.ptx_frontend.sass.memory_access.object_programs import (
    OUT,
    THREADS,
    launched,
    mipmap,
    program,
    rows,
)
from tests.ptx_frontend.sass.native_programs import machine_kernel, needs_tools, outputs
from tests.ptx_frontend.sass.program_checks import assert_as_ptx

Array = npt.NDArray[Any]
Kind, Addressing, Filter = kc.ImageKind, kc.Addressing, kc.Filter
LINEAR: dict[str, Any] = {
    "filter": Filter.LINEAR,
    "level_filter": Filter.LINEAR,
    "normalized_coordinates": True,
}
SHAPES = {
    "1d": ("t1", "{%f0}", "{%i0}", Kind.IMAGE_1D, (12, 4)),
    "2d": ("t2", "{%f0, %f1}", "{%i0, %i1}", Kind.IMAGE_2D, (6, 12, 4)),
    "3d": ("t3", "{%f0, %f1, %f2, %f2}", "{%i0, %i1, %i2, %i2}", Kind.IMAGE_3D, (5, 6, 12, 4)),
    "a1d": ("a1", "{%i2, %f0}", "{%i2, %i0}", Kind.IMAGE_1D_ARRAY, (3, 12, 4)),
    "a2d": (
        "a2",
        "{%i2, %f0, %f1, %f1}",
        "{%i2, %i0, %i1, %i1}",
        Kind.IMAGE_2D_ARRAY,
        (3, 6, 12, 4),
    ),
}
OBJECTS = [shape[0] for shape in SHAPES.values()]
OFFSETS = "{%w0, %w1}"


def textures(**how: Any) -> list[kc.Texture]:
    return [mipmap(shape, kind, 3, **how) for *_, kind, shape in SHAPES.values()]


def inputs(seed: int, low: float = -1.3, high: float = 2.3) -> Array:
    generator = np.random.default_rng(seed)
    return rows(
        generator.uniform(low, high, (THREADS, 6)),
        generator.integers(-2, 14, (THREADS, 3)),
        generator.integers(-8, 8, (THREADS, 3)),
    )


def of_all_shapes(form: str) -> list[str]:
    """The statement for each geometry: T is its name, O the object, F and I coordinates."""
    found = []
    for name, (item, floats, integers, *_) in SHAPES.items():
        statement = form.replace("FLOATS", floats).replace("INTEGERS", integers)
        found.append(statement.replace("NAME", name).replace("ITEM", f"%{item}"))
    return found


FILTERED = of_all_shapes(f"tex.NAME.v4.f32.f32 {OUT}, [ITEM, FLOATS];")
OF_LEVELS = of_all_shapes(f"tex.level.NAME.v4.f32.f32 {OUT}, [ITEM, FLOATS], %f3;")
PLACED = [
    *of_all_shapes(f"tex.NAME.v4.f32.s32 {OUT}, [ITEM, INTEGERS];"),
    *of_all_shapes(f"tex.level.NAME.v4.f32.s32 {OUT}, [ITEM, INTEGERS], %i0;"),
    f"tex.2d.v4.f32.s32 {OUT}, [%t2, {{%i0, %i1}}], {OFFSETS};",
    f"tex.level.a2d.v4.f32.s32 {OUT}, [%a2, {{%i2, %i0, %i1, %i1}}], %i1, {OFFSETS};",
]
SHORTER = "".join(f"mul.f32 %f{n}, %f{n}, 0f3DCCCCCD;\n" for n in range(2, 6))
"""Makes gradients of some texels of the numbers from here on."""
OTHERS = [
    f"tex.2d.v4.f32.f32 {OUT}, [%t2, {{%f0, %f1}}], {OFFSETS};",
    f"tex.3d.v4.f32.f32 {OUT}, [%t3, {{%f0, %f1, %f2, %f2}}], {{%w0, %w1, %w2, %w2}};",
    f"tex.level.a2d.v4.f32.f32 {OUT}, [%a2, {{%i2, %f0, %f1, %f1}}], %f3, {OFFSETS};",
    f"tex.2d.v4.f32.f32 {OUT}|%p1, [%t2, {{%f0, %f1}}];\nselp.b32 %o1, %o1, %o0, %p1;",
    "tex.2d.v4.f32.f32 {%o3, _, %o1, _}, [%t2, {%f0, %f1}];",
    "tex.2d.v2.f16x2.f32 {%o0, %o1}, [%t2, {%f0, %f1}];",
    "tex.2d.v4.f16.f32 {_, %x1, _, %x3}, [%t2, {%f0, %f1}];\nmov.b32 %o0, {%x1, %x3};",
    f"{SHORTER}tex.grad.1d.v4.f32.f32 {OUT}, [%t1, {{%f0}}], {{%f2}}, {{%f3}};",
    f"tex.grad.2d.v4.f32.f32 {OUT}, [%t2, {{%f0, %f1}}], {{%f2, %f3}}, {{%f4, %f5}};",
    f"tex.grad.a1d.v4.f32.f32 {OUT}, [%a1, {{%i2, %f0}}], {{%f2}}, {{%f3}};",
    f"tex.grad.a2d.v4.f32.f32 {OUT}, [%a2, {{%i2, %f0, %f1, %f1}}], {{%f2, %f3}}, {{%f4, %f5}};",
    f"tex.grad.2d.v4.f32.f32 {OUT}, [%t2, {{%f0, %f1}}], {{%f2, %f3}}, {{%f4, %f5}}, {OFFSETS};",
    f"tld4.r.2d.v4.f32.f32 {OUT}, [%t2, {{%f0, %f1}}];",
    f"tld4.b.a2d.v4.f32.f32 {OUT}, [%a2, {{%i2, %f0, %f1, %f1}}];",
    f"tld4.a.2d.v4.f32.f32 {OUT}, [%t2, {{%f0, %f1}}], {OFFSETS};",
    "tld4.g.2d.v4.f32.f32 {_, %o0, _, %o1}, [%t2, {%f0, %f1}];",
    "txq.width.b32 %o0, [%t3];\ntxq.height.b32 %o1, [%t3];\ntxq.depth.b32 %o2, [%t3];",
    "and.b32 %o3, %t, 1;\ntxq.level.width.b32 %o0, [%t2], %o3;\n"
    "txq.level.height.b32 %o1, [%t2], %o3;",
]


def in_registers(statements: list[str]) -> list[str]:
    """Statements with numbers of objects that depend on memory, where nothing but zeros stands."""
    found = ["ld.global.b64 %d0, [%out];"]
    for statement in statements:
        match = re.search(r"\[%([ta]\d)", statement)
        assert match is not None
        moved = statement.replace(f"[%{match[1]}", "[%h")
        found.append(f"add.u64 %h, %{match[1]}, %d0;\n{moved}")
    return found


def refusal(text: str, architecture: str) -> Exception:
    """Why machine code is refused, of PTX that may be refused too."""
    needs_tools(architecture)
    return assembled_module(text, architecture, "k.ptx").rejected["k"][0]


def check(
    statements: list[str],
    architectures: Sequence[str],
    objects: list[kc.Texture],
    engine: str = "reference",
) -> None:
    launch = launched(statements, inputs(len(statements)), *objects)
    assert_as_ptx(program(statements, OBJECTS), launch, architectures, engines=(engine,))


def test_filters_and_levels() -> None:
    how = {"level_bias": 0.3, "least_level": 0.25, **LINEAR}
    check(drawn([*FILTERED, *OF_LEVELS], 3), ("sm_70", "sm_90"), textures(**how))


def test_places_that_are_integers() -> None:
    how = {"addressing": Addressing.BORDER, "border": (1, 2, 3, 4)}
    check(drawn(PLACED, 3), ("sm_80", "sm_120"), textures(**how))


def test_offsets_halves_gradients_and_gathers() -> None:
    check(drawn(OTHERS, 5), ("sm_75", "sm_120"), textures(addressing=Addressing.WRAP, **LINEAR))


def test_numbers_of_textures_in_registers() -> None:
    statements = in_registers([*FILTERED[2:], *PLACED[1::4], PLACED[-1], *OTHERS[1::3], OTHERS[11]])
    check(drawn(statements, 4), ("sm_70", "sm_90"), textures(**LINEAR))


def test_numbers_of_textures_in_uniform_registers() -> None:
    """Which one it is depends on the thread block; the assembler sees that on its own."""
    start = "mov.u32 %t, %ctaid.x;\nmul.wide.u32 %d0, %t, 4096;\nadd.u64 %h, %t2, %d0;\n"
    statements = [
        f"{start}tex.2d.v4.f32.f32 {OUT}, [%h, {{%f0, %f1}}];",
        f"tex.2d.v4.f32.s32 {OUT}, [%h, {{%i0, %i1}}];\ntxq.width.b32 %o3, [%h];",
        f"tld4.r.2d.v4.f32.f32 {OUT}, [%h, {{%f0, %f1}}];",
    ]
    check(statements, drawn(("sm_75", "sm_86", "sm_90", "sm_100"), 2), textures(**LINEAR))


def test_compiled_reads() -> None:
    statements = [FILTERED[0], OTHERS[4], OTHERS[15]]
    check(statements, ("sm_89",), textures(level_bias=0.3, **LINEAR), engine="jit")


def test_texels_that_are_integers_and_lines_outside() -> None:
    """A line is read as a plane: its filter must not see a second row, which has no number."""
    statements = [FILTERED[0], f"tex.1d.v4.s32.f32 {OUT}, [%t2, {{%f0}}];"]
    row = np.array([[1, 2, 3, np.inf], [np.nan, 5, np.inf, 7], [-0.0, 1, -0.0, 9]], np.float32)
    how: dict[str, Any] = {
        "filter": Filter.LINEAR,
        "addressing": Addressing.BORDER,
        "border": (7, 6, 5, 4),
    }
    whole = np.random.default_rng(1).integers(-9, 9, (5, 2), np.int16)
    objects = [kc.Texture(row, Kind.IMAGE_1D, **how), kc.Texture(whole, Kind.IMAGE_1D)]
    text = program(statements, ["t1", "t2"])
    launch = launched(statements, inputs(3, -2, 5), *objects)
    assert_as_ptx(text, launch, ("sm_70", "sm_90", "sm_120"), engines=("reference",))


@pytest.mark.drawn(1)
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90", "sm_120"])
def test_cubes_where_their_coordinates_are_exact(architecture: str) -> None:
    """Machine code divides by the longest coordinate, approximately: here that is a power of 2."""
    generator = np.random.default_rng(5)
    numbers = generator.integers(-64, 65, (THREADS, 6)) / 64
    numbers[np.arange(THREADS), np.arange(THREADS) % 3] = np.where(np.arange(THREADS) % 2, 2.0, -1)
    place = "%f0, %f1, %f2"
    statements = [
        f"tex.cube.v4.f32.f32 {OUT}, [%c, {{{place}, %f2}}];",
        f"tex.level.acube.v4.f32.f32 {OUT}, [%c, {{%i0, {place}}}], %f3;",
        f"tld4.g.cube.v4.f32.f32 {OUT}, [%c, {{{place}, %f2}}];",
        f"tld4.r.acube.v4.f32.f32 {OUT}, [%c, {{%i0, {place}}}];",
    ]
    cube = mipmap((12, 8, 8, 4), Kind.IMAGE_2D_ARRAY, 2, **LINEAR)
    launch = launched(statements, rows(numbers, generator.integers(0, 3, (THREADS, 3))), cube)
    assert_as_ptx(program(statements, ["c"]), launch, (architecture,), engines=("reference",))


def test_texture_of_another_shape_ends_the_kernel() -> None:
    kernel = machine_kernel(program(FILTERED[2:3], OBJECTS), "sm_80")
    wrong = launched(FILTERED[2:3], inputs(1), *[textures()[0]] * len(OBJECTS))
    with pytest.raises(AssertionTriggered, match=r"the texture is no \.3d one"):
        outputs(kernel, wrong, "reference")


@pytest.mark.parametrize(
    ("statement", "architecture", "message"),
    [
        (f"tex.2d.v4.f32.f32 {OUT}, [%t2, {{%f0, %f1}}], %f2;", "sm_80", "comparison of depth"),
        ("txq.channel_order.b32 %o0, [%t2];", "sm_90", "only the driver's tables answer"),
        (
            f"tex.2dms.v4.f32.s32 {OUT}, [%t2, {{%i0, %i1, %i2, %i2}}];",
            "sm_80",
            "a texture of several samples",
        ),
    ],
)
def test_what_is_refused_is_named(statement: str, architecture: str, message: str) -> None:
    text = program([statement], ["t2"])
    with pytest.raises(UnsupportedInstruction, match=message):
        raise refusal(text, architecture)
