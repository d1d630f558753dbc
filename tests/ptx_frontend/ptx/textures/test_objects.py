"""Textures, samplers and surfaces by name, in both texture modes, and what kernels ask of them."""

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
    LaunchError,
    MemoryAccessError,
    PtxSyntaxError,
    UnsupportedInstruction,
)

HERE = Path(__file__).parents[2]
oracle: Any = SimpleNamespace(**runpy.run_path(str(HERE / "texture_oracle.py")))
shared: Any = SimpleNamespace(**runpy.run_path(str(HERE / "texture_kernels.py")))

Array = npt.NDArray[Any]
Kind, Addressing, Filter = kc.ImageKind, kc.Addressing, kc.Filter
F = np.float32
OUT = "{%o0, %o1, %o2, %o3}"
ENGINES = ["jit", "reference"]
WHERE = np.random.default_rng(1).uniform(-3, 12, (32, 2)).astype(F)
TEXELS = np.random.default_rng(2).random((7, 9, 4), F)


def expected(how: Any, filter_: Any, normalized: bool = False) -> Array:
    found: Array = oracle.fetched(TEXELS, WHERE, (how,) * 2, filter_, normalized, np.zeros(4))
    return found


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("through", ["[tex, {%f0, %f1}]", "[%h, {%f0, %f1}]"])
def test_a_texture_of_the_file_is_a_further_argument(engine: str, through: str) -> None:
    kernel = shared.reading(
        f"mov.u64 %h, tex;\ntex.2d.v4.f32.f32 {OUT}, {through};",
        2,
        objects="",
        top=".global .texref tex;\n.global .texref unused;\n",
    )
    assert [(p.name, p.is_texture) for p in kernel.parameters][2:] == [("tex", True)]
    found = shared.results(kernel, WHERE, after=(kc.Texture(TEXELS),), engine=engine).view(F)
    np.testing.assert_array_equal(found, expected(Addressing.CLAMP_TO_EDGE, Filter.NEAREST))


def test_further_arguments_come_in_the_order_of_their_declarations() -> None:
    kernel = shared.reading(
        "suld.b.1d.b32.trap {%o1}, [second, {0}];\n"
        "tex.1d.v4.u32.s32 {%o0, _, _, _}, [first, {0}];\nmov.b32 %o2, 0;\nmov.b32 %o3, 0;",
        1,
        objects="",
        top=".global .texref first;\n.visible .global .surfref second;\n",
    )
    one = kc.Texture(np.array([5], np.uint32), Kind.IMAGE_1D)
    two = kc.Surface(np.array([6], np.uint32), Kind.IMAGE_1D)
    found = shared.results(kernel, np.zeros((1, 1), np.int32), after=(one, two))
    assert found[0].tolist() == [5, 6, 0, 0]
    with pytest.raises(LaunchError, match=r"argument 3 \(first\) is of type surface"):
        shared.results(kernel, np.zeros((1, 1), np.int32), after=(two, one))
    with pytest.raises(LaunchError, match=r"takes 4 arguments .*texture, surface"):
        shared.results(kernel, np.zeros((1, 1), np.int32))
    with pytest.raises(LaunchError, match=r"argument 4 \(second\) is surface, got int"):
        shared.results(kernel, np.zeros((1, 1), np.int32), after=(one, 7))


def test_parameters_may_be_textures_and_samplers() -> None:
    kernel = shared.reading(
        f"tex.2d.v4.f32.f32 {OUT}, [t, s, {{%f0, %f1}}];",
        2,
        objects=".param .texref t, .param .samplerref s",
    )
    texture = kc.Texture(TEXELS, filter=Filter.LINEAR)
    for sampler in (
        kc.Sampler(Addressing.BORDER, Filter.NEAREST),
        kc.Sampler(Addressing.CLAMP_TO_EDGE, Filter.LINEAR),
        kc.Sampler(Addressing.MIRROR, Filter.LINEAR, normalized_coordinates=True),
        kc.Sampler(Addressing.WRAP, Filter.NEAREST, normalized_coordinates=True),
    ):
        found = shared.results(kernel, WHERE, texture, sampler).view(F)
        wanted = expected(sampler.addressing, sampler.filter, sampler.normalized_coordinates)
        close = np.abs(found - wanted).max(axis=1) < 2e-5
        # far from 0 a repeated coordinate may round to the neighbouring share or texel
        assert close.mean() > (0.8 if sampler.normalized_coordinates else 0.99)
    with pytest.raises(LaunchError, match=r"\(s\) is of type texture but the kernel takes sampler"):
        shared.results(kernel, WHERE, texture, texture)


def test_samplers_may_stand_in_the_file() -> None:
    top = (
        ".global .samplerref soft = { addr_mode_0 = clamp_to_border, addr_mode_1 = clamp_to_edge,\n"
        "  filter_mode = linear, force_unnormalized_coords = 1 };\n"
        ".global .samplerref hard = { filter_mode = nearest };\n"
    )
    kernel = shared.reading(f"tex.2d.v4.f32.f32 {OUT}, [%t, soft, {{%f0, %f1}}];", 2, top=top)
    texture = kc.Texture(TEXELS, normalized_coordinates=True)
    hows = (Addressing.BORDER, Addressing.CLAMP_TO_EDGE)
    wanted = oracle.fetched(TEXELS, WHERE, hows, Filter.LINEAR, False, np.zeros(4))
    found = shared.results(kernel, WHERE, texture).view(F)
    np.testing.assert_allclose(found, wanted, rtol=3e-6, atol=1e-6)
    kernel = shared.reading(f"tex.2d.v4.f32.f32 {OUT}, [%t, hard, {{%f0, %f1}}];", 2, top=top)
    inside = (np.arange(64, dtype=F).reshape(32, 2) + F(0.5)) / F(64)
    wanted = oracle.fetched(
        TEXELS, inside, (Addressing.CLAMP_TO_EDGE,) * 2, Filter.NEAREST, True, np.zeros(4)
    )
    found = shared.results(kernel, inside, texture).view(F)
    np.testing.assert_array_equal(found, wanted.astype(F))


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("addr_mode_3 = wrap", "'addr_mode_3'"),
        ("addr_mode_0 = clamp_ogl", "'addr_mode_0'"),
        ("filter_mode = cubic", "'filter_mode'"),
    ],
)
def test_other_fields_of_samplers_are_refused(field: str, message: str) -> None:
    with pytest.raises(UnsupportedInstruction, match=message):
        shared.reading(
            f"tex.2d.v4.f32.f32 {OUT}, [%t, s, {{%f0, %f1}}];",
            2,
            top=f".global .samplerref s = {{ {field} }};\n",
        )


def asked(instruction: str, *objects: Any, top: str = "", names: str = ".param .u64 t") -> int:
    kernel = shared.reading(instruction, 1, 1, objects=names, top=top)
    found = shared.results(kernel, np.zeros((1, 1), np.uint32), *objects, count=1)
    return int(found[0, 0])


@pytest.mark.parametrize(
    ("query", "number"),
    [
        *(("width", 9), ("height", 7), ("depth", 5), ("array_size", 1)),
        *(("channel_order", 0x10B5), ("channel_data_type", 0x10DE), ("num_mipmap_levels", 3)),
        *(("normalized_coords", 1), ("force_unnormalized_coords", 0), ("filter_mode", 1)),
        *(("addr_mode_0", 0), ("addr_mode_1", 4), ("addr_mode_2", 1)),
    ],
)
def test_queries_of_textures(query: str, number: int) -> None:
    sizes = ((5, 7, 9), (2, 3, 4), (1, 1, 2))
    texture = kc.Texture(
        tuple(np.zeros((*size, 4), F) for size in sizes),
        Kind.IMAGE_3D,
        addressing=(Addressing.WRAP, Addressing.BORDER, Addressing.MIRROR),
        filter=Filter.LINEAR,
        normalized_coordinates=True,
    )
    assert asked(f"txq.{query}.b32 %o0, [%t];", texture) == number
    if query == "width":
        assert asked("txq.level.width.b32 %o0, [%t], 2;", texture) == 2


def test_queries_of_samplers_and_surfaces() -> None:
    sampler = kc.Sampler(Addressing.CLAMP_TO_EDGE, Filter.LINEAR)
    names = ".param .samplerref s"
    assert asked("txq.filter_mode.b32 %o0, [s];", sampler, names=names) == 1
    assert asked("txq.addr_mode_1.b32 %o0, [s];", sampler, names=names) == 3
    assert asked("txq.force_unnormalized_coords.b32 %o0, [s];", sampler, names=names) == 1
    top = ".global .samplerref stands = { addr_mode_1 = mirror };\n"
    assert asked("txq.addr_mode_1.b32 %o0, [stands];", kc.Texture(TEXELS), top=top) == 1
    sheets = kc.Surface(np.zeros((5, 7, 9), np.uint16), Kind.IMAGE_2D_ARRAY)
    for query, number in (("width", 9), ("height", 7), ("array_size", 5)):
        assert asked(f"suq.{query}.b32 %o0, [%t];", sheets) == number
    lines = kc.Surface(np.zeros((5, 9), np.int8), Kind.IMAGE_1D_ARRAY)
    assert asked("suq.array_size.b32 %o0, [%t];", lines) == 5


@pytest.mark.parametrize("engine", ENGINES)
def test_which_texture_may_depend_on_the_thread(engine: str) -> None:
    kernel = shared.reading(
        "ld.param.u64 %h, [u];\nsetp.gt.f32 %p1, %f0, 2.0;\nselp.b64 %h, %h, %t, %p1;\n"
        f"tex.2d.v4.f32.f32 {OUT}, [%h, {{%f0, %f1}}];",
        2,
        objects=".param .u64 t, .param .u64 u",
    )
    small = np.random.default_rng(3).integers(0, 256, (3, 2), np.uint8)
    other = kc.Texture(small, filter=Filter.LINEAR, read_mode=kc.ReadMode.NORMALIZED_FLOAT)
    found = shared.results(kernel, WHERE, kc.Texture(TEXELS), other, engine=engine).view(F)
    hows = (Addressing.CLAMP_TO_EDGE,) * 2
    second = oracle.fetched(small[..., None] / 255, WHERE, hows, Filter.LINEAR, False, 0.0)
    first = expected(Addressing.CLAMP_TO_EDGE, Filter.NEAREST)
    chosen = np.where(WHERE[:, 0] > 2, second[:, 0], first[:, 0])
    np.testing.assert_allclose(found[:, 0], chosen, rtol=3e-6, atol=1e-6)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("number", [0, 12345678])
def test_a_number_of_no_texture_is_an_error(engine: str, number: int) -> None:
    kernel = shared.reading(f"tex.2d.v4.f32.f32 {OUT}, [%t, {{%f0, %f1}}];", 2)
    with pytest.raises(MemoryAccessError, match="no argument of the launch is the texture"):
        shared.results(kernel, WHERE, number, engine=engine)


def test_device_functions_take_textures() -> None:
    kernel = shared.reading(
        "{\n.param .b64 a;\n.param .b32 b;\nst.param.b64 [a], %t;\n"
        "call (b), first, (a);\nld.param.b32 %o0, [b];\n}",
        1,
        1,
        top=".func (.param .b32 r) first(.param .b64 a) {\n.reg .b64 %h;\n.reg .b32 %v<4>;\n"
        "ld.param.b64 %h, [a];\ntex.1d.v4.u32.s32 {%v0, %v1, %v2, %v3}, [%h, {0}];\n"
        "st.param.b32 [r], %v0;\nret;\n}\n",
    )
    texture = kc.Texture(np.array([41], np.uint32), Kind.IMAGE_1D)
    assert shared.results(kernel, np.zeros((1, 1), np.int32), texture, count=1)[0, 0] == 41


@pytest.mark.parametrize(
    ("instruction", "error", "message"),
    [
        (f"tex.2d.v4.f32.f32 {OUT}, [nothing, {{%f0, %f1}}];", PtxSyntaxError, "nothing"),
        (f"tex.2d.v4.f32.f32 {OUT}, [x, {{%f0, %f1}}];", PtxSyntaxError, "is no texture"),
        (f"tex.2d.v4.f32.f32 {OUT}, [%t, {{%f0}}];", PtxSyntaxError, "takes 2 coordinates, got 1"),
        ("tex.2d.v4.f32.f32 {%o0, %o1}, [%t, {%f0, %f1}];", PtxSyntaxError, "gives 4 values"),
        (f"tex.2d.v4.f32.f32 {OUT}, [%t];", PtxSyntaxError, "takes .texture, coordinates."),
        ("txq.colour.b32 %o0, [%t];", UnsupportedInstruction, "txq.colour"),
        ("istypep.texref %p1, %t;", UnsupportedInstruction, "istypep"),
    ],
)
def test_what_is_wrong_is_said(instruction: str, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        shared.reading(instruction, 2, top=".global .b32 x;\n")
