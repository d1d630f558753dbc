"""Textures, surfaces and samplers that a file or a kernel declares by name, as machine code."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc
from kernelcast.errors import UnsupportedInstruction
from kernelcast.inputs.native.cubins import assembled_module
from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.launch.launch import Launch
from tests.ptx_frontend.sass.memory_access.object_programs import OUT, THREADS, program, rows
from tests.ptx_frontend.sass.native_programs import needs_tools, outputs
from tests.ptx_frontend.sass.program_checks import assert_as_ptx

Array = npt.NDArray[Any]
Kind = kc.ImageKind
TOP = (
    ".global .texref line;\n.global .texref unused;\n.global .surfref held;\n"
    ".global .texref plane;\n"
)
STATEMENTS = [
    f"tex.2d.v4.f32.f32 {OUT}, [plane, {{%f0, %f1}}];",
    f"tex.1d.v4.s32.s32 {OUT}, [line, {{%i0}}];\ntxq.width.b32 %o1, [line];",
    "suld.b.1d.b32.zero %o0, [held, {%i1}];",
]
LINE = kc.Texture(np.arange(12, dtype=np.int32), Kind.IMAGE_1D)
PLANE = kc.Texture(
    np.random.default_rng(3).normal(size=(6, 9, 4)).astype(np.float32), filter=kc.Filter.LINEAR
)
HELD = kc.Surface(np.arange(5, 15, dtype=np.uint32), Kind.IMAGE_1D)


def arrays(statements: list[str]) -> tuple[Array, Array]:
    generator = np.random.default_rng(4)
    places = generator.integers(0, 9, (THREADS, 3)) * (1, 4, 1)
    given = rows(generator.uniform(-2, 9, (THREADS, 6)), places)
    return np.zeros((THREADS, 4 * len(statements)), np.uint32), given


def launched(statements: list[str], *objects: Any) -> Launch:
    return Launch((1, 1, 1), (THREADS, 1, 1), (*arrays(statements), *objects))


def test_objects_of_the_file_are_further_arguments() -> None:
    text = program(STATEMENTS, [], TOP)
    launch = launched(STATEMENTS, LINE, HELD, PLANE)
    assert_as_ptx(text, launch, ("sm_89",))
    assert_as_ptx(text, launch, ("sm_70", "sm_90", "sm_120"), engines=("reference",))


def test_a_number_of_a_declared_texture_may_be_chosen() -> None:
    statement = (
        "mov.u64 %h, plane;\nsetp.gt.s32 %p1, %i0, 4;\nselp.b64 %h, %h, %other, %p1;\n"
        f"tex.2d.v4.f32.f32 {OUT}, [%h, {{%f0, %f1}}];"
    )
    text = program([statement], ["other"], ".global .texref plane;\n")
    other = kc.Texture(np.random.default_rng(6).normal(size=(4, 4)).astype(np.float32))
    launch = launched([statement], other, PLANE)
    assert_as_ptx(text, launch, ("sm_80", "sm_100"), engines=("reference",))


def test_parameters_may_be_objects() -> None:
    text = program(STATEMENTS, [])
    parameters = ".param .u64 p, .param .u64 q"
    objects = ".param .texref plane, .param .texref line, .param .surfref held"
    text = text.replace(parameters, f"{objects}, {parameters}")
    launch = Launch((1, 1, 1), (THREADS, 1, 1), (PLANE, LINE, HELD, *arrays(STATEMENTS)))
    assert_as_ptx(text, launch, ("sm_75", "sm_90"), engines=("reference",))


INDEPENDENT = f"tex.2d.v4.f32.f32 {OUT}, [plane, soft, {{%f0, %f1}}];"


def independent(statement: str, top: str) -> str:
    text = program([statement], [], top + ".global .texref plane;\n")
    return text.replace(".target sm_70", ".target sm_70, texmode_independent")


def test_a_sampler_of_its_own_from_hopper_on() -> None:
    text = independent(INDEPENDENT, ".global .samplerref soft;\n")
    sampler = kc.Sampler(kc.Addressing.BORDER, kc.Filter.LINEAR)
    texture = kc.Texture(np.random.default_rng(7).normal(size=(6, 9, 4)).astype(np.float32))
    launch = launched([INDEPENDENT], sampler, texture)
    assert_as_ptx(text, launch, ("sm_90", "sm_120"), engines=("reference",))


@pytest.mark.parametrize(
    ("top", "architecture"),
    [
        (".global .samplerref soft;\n", "sm_80"),
        (".global .samplerref soft = { filter_mode = linear };\n", "sm_90"),
    ],
)
def test_other_samplers_are_refused(top: str, architecture: str) -> None:
    needs_tools(architecture)
    text = independent(INDEPENDENT, top)
    module = assembled_module(text, architecture, "k.ptx", read_ptx(text, "k.ptx"))
    with pytest.raises(UnsupportedInstruction, match="is not known"):
        raise module.rejected["k"][0]


def test_a_cubin_tells_of_its_objects_itself() -> None:
    """Objects that are used come in the order of their words."""
    needs_tools("sm_80")
    text = program(STATEMENTS, [], TOP)
    kernel = assembled_module(text, "sm_80", "k.ptx").kernels["k"]
    objects = {"plane": PLANE, "line": LINE, "held": HELD}
    names = [parameter.name for parameter in kernel.parameters[2:]]
    assert sorted(names) == sorted(objects)
    source = read_ptx(text, "k.ptx").kernels["k"]
    expected = outputs(source, launched(STATEMENTS, LINE, HELD, PLANE), "reference")
    found = outputs(kernel, launched(STATEMENTS, *(objects[name] for name in names)), "reference")
    np.testing.assert_array_equal(found[0], expected[0])
