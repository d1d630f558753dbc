"""SPIR-V: which functions of OpenCL C its instructions and variables become."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kernelcast.errors import UnsupportedInstruction
from kernelcast.ptx_frontend.llvm import read_llvm
from kernelcast.ptx_frontend.spirv import read_spirv

assembly: Any = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parents[1] / "spirv_assembly.py"))
)

results, refusal, text_of = assembly.results, assembly.refusal, assembly.text_of
X = assembly.X
INDEX = np.arange(assembly.THREADS)
TYPES = """
    %half = OpTypeFloat 16
    %ph = OpTypePointer 5 %half
    %pf = OpTypePointer 5 %f32
    %lf = OpTypePointer 4 %f32
    %pc = OpTypePointer 0 %i8
    %ev = OpTypeEvent
    %pe = OpTypePointer 7 %ev
    %pfi = OpTypePointer 7 %i32
    %pff = OpTypePointer 7 %f32
    %gi = OpTypePointer 8 %i32
    %c2l = OpConstant %i64 2 0
    %c1l = OpConstant %i64 1 0
    %fk = OpConstant %f32 0x3f800000
    %vf = OpConstantComposite %v4f %fk %fk %fk %fk
    %vi = OpConstantComposite %v4 %c1 %c2 %c3 %c0
    %noevent = OpConstantNull %ev
    %format = OpConstantNull %pc
    %hp = OpConstantNull %ph
    %fp = OpConstantNull %pf
    %lp = OpConstantNull %lf
"""
CALLS = {
    "%q = OpExtInst %v4f %std 171 %n %fp 4": "<4 x float> @_Z6vload4mPU3AS1Kf(i64 ",
    "%q = OpExtInst %void %std 172 %vf %n %fp": "void @_Z7vstore4Dv4_fmPU3AS1f(<4 x float> ",
    "%q = OpExtInst %f32 %std 173 %n %hp": "float @_Z10vload_halfmPU3AS1KDh(i64 ",
    "%q = OpExtInst %v4f %std 174 %n %hp 4": "<4 x float> @_Z11vload_half4mPU3AS1KDh(i64 ",
    "%q = OpExtInst %void %std 175 %fk %n %hp": "void @_Z11vstore_halffmPU3AS1Dh(float ",
    "%q = OpExtInst %void %std 176 %fk %n %hp 1": "void @_Z15vstore_half_rtzfmPU3AS1Dh(float ",
    "%q = OpExtInst %void %std 177 %vf %n %hp": "void @_Z12vstore_half4Dv4_fmPU3AS1Dh(<4 x ",
    "%q = OpExtInst %void %std 178 %vf %n %hp 2": "void @_Z16vstore_half4_rtpDv4_fmPU3AS1Dh(<4 ",
    "%q = OpExtInst %v4f %std 179 %n %hp 4": "<4 x float> @_Z12vloada_half4mPU3AS1KDh(i64 ",
    "%q = OpExtInst %void %std 181 %vf %n %hp 3": "void @_Z17vstorea_half4_rtnDv4_fmPU3AS1Dh(",
    "%q = OpExtInst %v4f %std 182 %vf %vi": "<4 x float> @_Z7shuffleDv4_fDv4_j(<4 x float> ",
    "%q = OpExtInst %v4f %std 183 %vf %vf %vi": "<4 x float> @_Z8shuffle2Dv4_fS_Dv4_j(<4 x ",
    "%q = OpExtInst %i32 %std 184 %format %x": "i32 (ptr addrspace(2), ...) @printf(ptr ",
    "%q = OpExtInst %void %std 185 %fp %n": "void @_Z8prefetchPU3AS1Kfm(ptr addrspace(1) ",
    "%q = OpExtInst %f32 %std 97 %fk %fk": "float @_Z3maxff(float ",
    "%q = OpExtInst %f32 %std 98 %fk %fk": "float @_Z3minff(float ",
    "%q = OpExtInst %i64 %std 165 %x %x": "i64 @_Z8upsampleij(i32 ",
    "%q = OpExtInst %i64 %std 164 %x %x": "i64 @_Z8upsamplejj(i32 ",
    "%q = OpExtInst %f32 %std 46 %x": "float @_Z3nanj(i32 ",
    "%q = OpExtInst %v4f %std 187 %vf %vf %vi": "<4 x float> @_Z6selectDv4_fS_Dv4_i(<4 x ",
    "%q = OpExtInst %v4f %std 34 %vf %vi": "<4 x float> @_Z5ldexpDv4_fDv4_i(<4 x float> ",
    "%w = OpVariable %pff 7\n%q = OpExtInst %f32 %std 58 %fk %w": "float @_Z6sincosfPf(float ",
    "%w = OpVariable %pfi 7\n%q = OpExtInst %f32 %std 31 %fk %w": "float @_Z5frexpfPi(float ",
    "%q = OpGroupAsyncCopy %ev %c2 %lp %fp %n %c1l %noevent": (
        "ptr @_Z21async_work_group_copyPU3AS3fPU3AS1Kfm9ocl_event(ptr addrspace(3) null, "
    ),
    "%q = OpGroupAsyncCopy %ev %c2 %fp %lp %n %c2l %noevent": (
        "ptr @_Z29async_work_group_strided_copyPU3AS1fPU3AS3Kfmm9ocl_event(ptr addrspace(1) "
    ),
    "%w = OpVariable %pe 7\nOpGroupWaitEvents %c2 %c1 %w": (
        "void @_Z17wait_group_eventsiP9ocl_event(i32 1, ptr "
    ),
    "%w = OpPtrCastToGeneric %gi %p\n%q = OpGenericCastToPtrExplicit %pi32 %w 5": (
        "ptr addrspace(1) @__to_global(ptr addrspace(4) "
    ),
    "%q = OpIsInf %bool %fk": "i32 @_Z5isinff(float ",
}


@pytest.mark.parametrize("operation", CALLS)
def test_calls(operation: str) -> None:
    body = f"{operation}\n%r = OpCopyObject %i32 %x"
    text = text_of(body, before=TYPES, settings="OpCapability 9\nOpCapability 18\nOpCapability 38")
    assert f"call spir_func {CALLS[operation]}" in text


def _variable(number: int, type_: str) -> dict[str, str]:
    return {
        "decorations": f"OpDecorate %w 11 {number}",
        "before": f"%pw = OpTypePointer 1 {type_}\n%w = OpVariable %pw 1",
        "settings": "OpCapability 38",
    }


VECTORS: dict[int, Any] = {24: 1, 25: 32, 26: 0, 28: INDEX, 27: INDEX, 31: 32, 32: 32, 33: 0}


@pytest.mark.parametrize("number", VECTORS)
def test_variables_of_three_dimensions(number: int) -> None:
    """A variable is read as one element, and whole where several are used at once."""
    body = """
        %v = OpLoad %v3l %w
        %e = OpCompositeExtract %i64 %v 0
        %r = OpUConvert %i32 %e"""
    parts = _variable(number, "%v3l")
    assert np.array_equal(results(body, **parts), np.broadcast_to(VECTORS[number], INDEX.shape))
    whole = body.replace("%v 0", "%s 0").replace("%e =", "%s = OpIAdd %v3l %v %v\n%e =")
    assert np.array_equal(
        results(whole, **parts), np.broadcast_to(VECTORS[number], INDEX.shape) * 2
    )


SCALARS: dict[int, tuple[str, Any]] = {29: ("%i64", INDEX), 34: ("%i64", INDEX), 30: ("%i32", None)}


@pytest.mark.parametrize("number", SCALARS)
def test_variables_of_one_number(number: int) -> None:
    type_, wanted = SCALARS[number]
    convert = "OpUConvert %i32 %v" if type_ == "%i64" else "OpCopyObject %i32 %v"
    found = results(f"%v = OpLoad {type_} %w\n%r = {convert}", **_variable(number, type_))
    assert np.all((found >= 1) & (found <= 3)) if wanted is None else np.array_equal(found, wanted)


def test_an_element_by_variable_and_one_of_another_width() -> None:
    body = """
        %v = OpLoad %v3l %w
        %i = OpBitwiseAnd %i64 %n %zero
        %e = OpVectorExtractDynamic %i64 %v %i
        %r = OpUConvert %i32 %e"""
    parts = _variable(28, "%v3l")
    parts["before"] += "\n%zero = OpConstant %i64 0 0"
    text = text_of(body, **parts)
    assert "extractelement" not in text
    assert np.array_equal(results(body, **parts), INDEX)
    narrow = results(
        "%v = OpLoad %v3 %w\n%r = OpCompositeExtract %i32 %v 0", **_variable(28, "%v3")
    )
    assert np.array_equal(narrow, INDEX)


def test_variables_that_no_kernel_has() -> None:
    message = refusal("%r = OpLoad %i32 %w", **_variable(15, "%i32"))
    assert "built-in variable 15 is not supported" in message
    assert (results("%r = OpCopyObject %i32 %x", **_variable(15, "%i32")) == X).all()


def test_places_within_built_in_variables() -> None:
    parts = _variable(28, "%v3l")
    parts["before"] += "\n%pe = OpTypePointer 1 %i64"
    message = refusal("%e = OpAccessChain %pe %w %c1\n%r = OpCopyObject %i32 %x", **parts)
    assert "built-in variable is not loaded as a whole" in message


def test_32_bit_pointers_have_32_bit_sizes() -> None:
    text = assembly.kernel_text("%r = OpCopyObject %i32 %x").replace(
        "OpMemoryModel 2", "OpMemoryModel 1"
    )
    made = read_spirv(assembly.assemble(text), "k.spv")
    assert "call spir_func i32 @_Z13get_global_idj" in made
    with pytest.raises(UnsupportedInstruction, match="pointers of 32 bits"):
        read_llvm(made.encode(), "k.spv", is_text=True)


def test_volatile_accesses() -> None:
    body = "%y = OpLoad %i32 %pin 3 4\nOpStore %p %y 1\n%r = OpLoad %i32 %pin 4"
    text = text_of(body)
    assert "load volatile i32, ptr addrspace(1) %v" in text
    assert "store volatile i32 " in text
    assert text.count("volatile") == 2


def test_copies_have_an_alignment_for_each_pointer() -> None:
    """The second one only where the module names it."""
    copies = "OpCopyMemorySized %p %pin %size 2 16\nOpCopyMemorySized %p %pin %size 2 8 3 2"
    body = f"{copies}\nOpCopyMemory %p %pin 1 2 1\n%r = OpCopyObject %i32 %x"
    text = text_of(body, before="%size = OpConstant %i64 4 0")
    found = re.findall(r"call void @llvm.memcpy.*align (\d+) .*align (\d+) .*i1 (\w+)", text)
    assert found == [("16", "16", "false"), ("8", "2", "true"), ("4", "1", "true")]
