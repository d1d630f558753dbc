"""Every form of `suld`, `sust` and `sured` as machine code gives what the PTX gives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc
from kernelcast.errors import AssertionTriggered
from kernelcast.ptx_frontend import read_ptx
from tests.ptx_frontend.sass.memory_access.object_programs import OUT, launched, program, rows
from tests.ptx_frontend.sass.native_programs import ENGINES, machine_kernel, outputs

Array = npt.NDArray[Any]
Kind = kc.ImageKind
SHAPES = {
    "1d": ("s1", "{%i0}", Kind.IMAGE_1D, (12,)),
    "2d": ("s2", "{%i0, %i1}", Kind.IMAGE_2D, (3, 12)),
    "3d": ("s3", "{%i0, %i1, %i2, %i2}", Kind.IMAGE_3D, (2, 3, 12)),
    "a1d": ("b1", "{%i2, %i0}", Kind.IMAGE_1D_ARRAY, (2, 12)),
    "a2d": ("b2", "{%i2, %i0, %i1, %i1}", Kind.IMAGE_2D_ARRAY, (2, 3, 12)),
}
OBJECTS = [name for name, *_ in SHAPES.values()]
TEXEL_BYTES = 16
TEXELS, BYTES = "shr.s32 %i0, %i0, 4;", "shl.b32 %i0, %i0, 4;"
"""Statements that make x count texels, which it does not at first, and bytes again."""


def of_all_shapes(form: str) -> list[str]:
    return [
        form.replace("NAME", name).replace("ITEM", f"%{item}, {place}")
        for name, (item, place, *_) in SHAPES.items()
    ]


IN_REGISTER = "ld.global.b64 %d0, [%out];\nadd.u64 %h, %s2, %d0;\n"
"""The number of a surface that the assembler does not know; where it reads, zeros stand."""
LOADS = [
    IN_REGISTER + "suld.b.2d.b32.clamp %o1, [%h, {%i0, %i1}];",
    *of_all_shapes("suld.b.NAME.b32.clamp %o0, [ITEM];\nsuld.b.NAME.b32.zero %o1, [ITEM];"),
    "suld.b.2d.b8.zero %x0, [%s2, {%i0, %i1}];\ncvt.u32.u16 %o0, %x0;\n"
    "suld.b.2d.b16.clamp %x1, [%s2, {%i0, %i1}];\ncvt.u32.u16 %o1, %x1;",
    "suld.b.2d.v2.b8.zero {%x0, %x1}, [%s2, {%i0, %i1}];\nmov.b32 %o0, {%x0, %x1};\n"
    "suld.b.2d.cs.b64.clamp %d1, [%s2, {%i0, %i1}];\nmov.b64 {%o1, %o2}, %d1;",
    "suld.b.2d.v4.b16.zero {%x0, %x1, %x2, %x3}, [%s2, {%i0, %i1}];\n"
    "mov.b32 %o0, {%x0, %x1};\nmov.b32 %o1, {%x2, %x3};",
    f"suld.b.2d.cg.v4.b32.zero {OUT}, [%s2, {{%i0, %i1}}];",
    "and.b32 %o3, %i1, 1;\nshl.b32 %o3, %o3, 4;\nsuld.b.2d.b32.trap %o0, [%s2, {%o3, 2}];",
]
STORES = [
    IN_REGISTER + "sust.b.2d.b32.zero [%h, {%i0, %i1}], %w1;",
    *of_all_shapes("sust.b.NAME.b32.zero [ITEM], %w0;"),
    "cvt.u16.u32 %x0, %w1;\nadd.u32 %i0, %i0, 4;\nsust.b.2d.b8.zero [%s2, {%i0, %i1}], %x0;",
    "add.u32 %i0, %i0, 2;\nsust.b.2d.wt.b16.zero [%s2, {%i0, %i1}], %x0;",
    "cvt.u16.u32 %x1, %w2;\nadd.u32 %i0, %i0, 2;\n"
    "sust.b.2d.v2.b16.zero [%s2, {%i0, %i1}], {%x0, %x1};",
    "mov.b64 %d1, {%w1, %w2};\nsub.u32 %i0, %i0, 8;\n"
    "sust.b.1d.b64.zero [%s1, {%i0}], %d1;\nsust.b.a1d.v4.b32.zero [%b1, {%i2, %i0}], "
    "{%w0, %w1, %w2, %i0};",
    *of_all_shapes(f"{TEXELS}\nsust.p.NAME.v4.b32.clamp [ITEM], {{%r0, %r1, %r2, %r3}};\n{BYTES}"),
    f"{TEXELS}\nsust.p.2d.v2.b32.zero [%s2, {{%i0, %i1}}], {{%r0, %r1}};\n"
    f"sust.p.3d.b32.zero [%s3, {{%i0, %i1, %i2, %i2}}], {{%r0}};\n{BYTES}",
]
SUMS = [
    f"sured.b.{operation}.{name}.{type_}.clamp [%{item}, {place}], "
    f"{'%d1' if type_[1:] == '64' else '%w0'};"
    for (operation, type_), (name, (item, place, *_)) in zip(
        (
            *(("add", "u32"), ("min", "s32"), ("add", "u64"), ("max", "u32"), ("and", "b32")),
            *(("or", "b32"), ("max", "s64"), ("add", "s32"), ("max", "s32"), ("min", "u32")),
        ),
        [pair for pair in SHAPES.items() if pair[0][0] != "a"] * 4,
        strict=False,
    )
]
SUMS[0] = f"{IN_REGISTER}mov.b64 %d1, {{%w0, %w1}};\n{SUMS[0]}"
SUMS += [
    "sured.b.add.2d.u32.zero [%h, {%i0, %i1}], %w1;",
    f"{TEXELS}\nsured.p.min.1d.b32.zero [%s1, {{%i0}}], %w1;\n"
    f"sured.p.max.2d.b32.zero [%s2, {{%i0, %i1}}], %w1;\n"
    "sured.p.add.2d.b32.zero [%s2, {%i0, %i1}], %w2;\n"
    f"sured.p.or.2d.b32.zero [%s2, {{%i0, %i1}}], %w2;\n{BYTES}",
]


def surfaces(type_: type[np.generic], components: int) -> list[kc.Surface]:
    generator = np.random.default_rng(components)
    return [
        kc.Surface(generator.integers(0, 99, (*shape, components)).astype(type_), kind)
        for *_, kind, shape in SHAPES.values()
    ]


def places() -> Array:
    """One in each lane of a warp, some outside.

    More warps could access a texel in any order.
    """
    lanes = np.arange(28)
    return np.stack([lanes % 14 - 1, (lanes + lanes // 14) % 4, lanes // 7 % 2], axis=-1)


def inputs() -> Array:
    where, generator = places(), np.random.default_rng(8)
    numbers = generator.normal(scale=40, size=(len(where), 6))
    words = generator.integers(-(2**31), 2**31, (len(where), 3))
    return rows(numbers, where * (TEXEL_BYTES, 1, 1), words)


def check(statements: list[str], architecture: str, held: list[kc.Surface]) -> None:
    """What threads read, and what surfaces hold then, are those of the PTX."""
    text = program(statements, OBJECTS)
    kernels = [read_ptx(text, "k.ptx").kernels["k"], machine_kernel(text, architecture)]
    expected: list[Array] = []
    for kernel, engine in ((kernels[0], "reference"), *((kernels[1], name) for name in ENGINES)):
        copies = [replace(surface, texels=surface.texels.copy()) for surface in held]  # type: ignore[union-attr]
        out, _ = outputs(kernel, launched(statements, inputs(), *copies), engine)
        found = [out, *(np.asarray(copy.texels) for copy in copies)]
        expected = expected or found
        for one, other in zip(expected, found, strict=True):
            np.testing.assert_array_equal(one.view(np.uint8), other.view(np.uint8), engine)
    changed = {id(LOADS): 0, id(SUMS): 3}.get(id(statements), len(held))
    for one, item in zip(expected[1 : 1 + changed], held, strict=False):
        assert (one != item.texels).any()


@pytest.mark.drawn(2)
@pytest.mark.parametrize("architecture", ["sm_70", "sm_90", "sm_120"])
def test_loads(architecture: str) -> None:
    check(LOADS, architecture, surfaces(np.uint32, 4))


@pytest.mark.drawn(1)
@pytest.mark.parametrize(
    ("architecture", "type_"), [("sm_75", np.float32), ("sm_90", np.int32), ("sm_120", np.uint32)]
)
def test_stores(architecture: str, type_: type[np.generic]) -> None:
    check(STORES, architecture, surfaces(type_, 4))


@pytest.mark.drawn(1)
@pytest.mark.parametrize(
    ("architecture", "type_"), [("sm_80", np.int32), ("sm_90", np.uint32), ("sm_100", np.int32)]
)
def test_reductions(architecture: str, type_: type[np.generic]) -> None:
    check(SUMS, architecture, surfaces(type_, 4))


@pytest.mark.parametrize("architecture", ["sm_70", "sm_90"])
def test_an_access_outside_ends_the_kernel(architecture: str) -> None:
    statements = ["suld.b.2d.b32.trap %o0, [%s2, {%i0, %i1}];"]
    kernel = machine_kernel(program(statements, OBJECTS), architecture)
    launch = launched(statements, inputs(), *surfaces(np.uint32, 4))
    for engine in ENGINES:
        with pytest.raises(AssertionTriggered, match="outside of the surface"):
            outputs(kernel, launch, engine)
