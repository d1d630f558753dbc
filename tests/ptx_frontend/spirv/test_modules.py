"""SPIR-V: headers, settings, names, constants, and what is refused with which message."""

from __future__ import annotations

import runpy
import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kernelcast.errors import SpirvError, UnsupportedInstruction
from kernelcast.ptx_frontend.llvm import read_llvm
from kernelcast.ptx_frontend.spirv import read_spirv

assembly: Any = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parents[1] / "spirv_assembly.py"))
)

assemble, kernel_text, text_of = assembly.assemble, assembly.kernel_text, assembly.text_of
results, refusal, X = assembly.results, assembly.refusal, assembly.X
PLAIN = "%r = OpCopyObject %i32 %x"
GOOD = assemble(kernel_text(PLAIN))


@pytest.mark.parametrize("minor", range(7))
def test_versions(minor: int) -> None:
    content = assemble(kernel_text(PLAIN), version=0x10000 | minor << 8)
    assert read_spirv(content, "k.spv") == read_spirv(GOOD, "k.spv")


HEADERS: dict[str, tuple[bytes, type[Exception], str]] = {
    "nothing": (b"", SpirvError, "k.spv: the file is shorter than the header"),
    "odd size": (GOOD[:-1], SpirvError, "k.spv: the size of .* is no multiple of 4"),
    "another file": (b"\x7fELF" * 8, SpirvError, "k.spv: .* magic number"),
    "next version": (
        assemble(kernel_text(PLAIN), version=0x10700),
        UnsupportedInstruction,
        r"k.spv: version 1\.7 is not supported",
    ),
    "bound": (assemble(kernel_text(PLAIN), bound=3), SpirvError, "outside of the bound 3"),
    "cut off": (GOOD[:-8], SpirvError, "ends within a (function|basic block)"),
    "too long": (
        GOOD + struct.pack("<I", 9 << 16),
        SpirvError,
        f"instruction at byte {len(GOOD)} does not fit",
    ),
    "no length": (GOOD + bytes(4), SpirvError, f"instruction at byte {len(GOOD)} does not fit"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_headers_that_are_refused(name: str) -> None:
    content, kind, message = HEADERS[name]
    with pytest.raises(kind, match=message):
        read_spirv(content, "k.spv")


SETTINGS: dict[str, tuple[type[Exception], str]] = {
    "OpCapability 1": (UnsupportedInstruction, "capability Shader is not supported"),
    "OpCapability 68": (UnsupportedInstruction, "capability GroupNonUniformQuad is not supported"),
    "OpCapability 15": (UnsupportedInstruction, "capability ImageMipmap is not supported"),
    "OpCapability 65000": (UnsupportedInstruction, "capability number 65000 is not"),
    '%e = OpExtInstImport "GLSL.std.450"': (UnsupportedInstruction, "'GLSL.std.450'"),
    'OpEntryPoint 5 %k "other"': (UnsupportedInstruction, "'other' is no kernel"),
    'OpEntryPoint 6 %in "one"\nOpEntryPoint 6 %in "two"': (
        UnsupportedInstruction,
        "two names, 'one' and 'two'",
    ),
    "OpMemoryModel 0 1": (UnsupportedInstruction, "Physical32 and Physical64"),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_settings_that_are_refused(setting: str) -> None:
    kind, message = SETTINGS[setting]
    with pytest.raises(kind, match=message):
        text_of(PLAIN, settings=setting)


BODIES: dict[str, tuple[type[Exception], str]] = {
    "%r = OpIAdd %i32 %x %nobody": (SpirvError, r"\(OpIAdd\): %\d+ is not defined before"),
    "%r = OpIAdd %i32 %x %n": (SpirvError, "OpIAdd of i32 and i64"),
    "%r = OpIAdd %i32 %x": (SpirvError, "OpIAdd has too few operands"),
    "%r = OpIAdd %x %x %x": (SpirvError, r"%\d+ is no type"),
    "%r = OpLoad %i32 %x": (SpirvError, "is no pointer"),
    "%r = OpCompositeExtract %i32 %x 0": (SpirvError, "i32 has no members"),
    "%r = OpFunctionCall %i32 %x": (SpirvError, "is no function"),
    "%r = OpExtInst %i32 %std 500 %x": (SpirvError, "OpenCL.std has no instruction 500"),
    "%r = OpLoad %i32 %pin 2 3": (SpirvError, "alignment of 3 bytes is no power of two"),
    "OpReturn\n%r = OpCopyObject %i32 %x\n%l = OpLabel": (
        SpirvError,
        "OpReturn|outside of a basic",
    ),
    "OpBranch %l\n%r = OpIAdd %i32 %x %x": (SpirvError, "outside of a basic block"),
    "OpBranch %nobody\n%l = OpLabel\n%r = OpCopyObject %i32 %x": (
        SpirvError,
        r"a branch leads to %\d+, which is no basic block",
    ),
    "OpBranch %l\n%l = OpLabel\n%r = OpPhi %i32 %n %entry": (SpirvError, "OpPhi of i32 takes i64"),
    "OpBranch %l\n%l = OpLabel\n%r = OpPhi %i32 %x %x": (SpirvError, r"OpPhi of i32 .* from %"),
    "OpBranchConditional %x %l %l\n%l = OpLabel": (SpirvError, "no Boolean"),
    "%x = OpIAdd %i32 %c1 %c1": (SpirvError, "defined twice"),
    "%r = OpAtomicIAdd %i32 %p %c1 %c0 %n": (SpirvError, "a value of another type"),
}


@pytest.mark.parametrize("body", BODIES)
def test_instructions_that_are_refused(body: str) -> None:
    kind, message = BODIES[body]
    with pytest.raises(kind, match=message) as caught:
        text_of(body)
    assert str(caught.value).startswith("test.spv: byte ")


UNSUPPORTED = {
    "%r = OpLoad %i32 %pin 8 %c1": "memory operands 0x8",
    "%r = OpGroupNonUniformQuadSwap %i32 %c3 %x %c0": (
        "(OpGroupNonUniformQuadSwap): OpGroupNonUniformQuadSwap is not supported"
    ),
    "%r = OpUConvert %t24 %x": "(OpTypeInt): integers of 24 bits are not supported",
    "%q = OpBitcast %tpipe %x\n%r = OpCopyObject %i32 %x": "OpTypePipe is not supported",
    "%q = OpBitcast %t2 %pin\n%r = OpCopyObject %i32 %x": "storage class 2 is not supported",
    "%r = OpIAdd %i32 %x %quotient": "OpUDiv of these constants is not supported",
    "%r = OpFunctionCall %i32 %f %x": "(OpTypeInt): integers of 24 bits are not supported",
}
ASKED = """
    %t24 = OpTypeInt 24 0
    %tpipe = OpTypePipe 0
    %t2 = OpTypePointer 2 %i32
    %quotient = OpSpecConstantOp %i32 134 %c1 %c0
    %f24 = OpTypeFunction %i32 %t24"""
ASKING = """
    %f = OpFunction %i32 0 %f24
    %a = OpFunctionParameter %t24
    %fentry = OpLabel
    OpReturnValue %c1
    OpFunctionEnd"""


@pytest.mark.parametrize("body", UNSUPPORTED)
def test_what_is_not_supported_refuses_the_kernels_that_need_it(body: str) -> None:
    message = refusal(body, before=ASKED, after=ASKING)
    assert UNSUPPORTED[body] in message
    assert "byte " in message
    assert (results("%r = OpCopyObject %i32 %x", before=ASKED, after=ASKING) == X).all()


def test_one_kernel_of_two_is_refused() -> None:
    other = """
        %k2 = OpFunction %void 0 %fn
        %in2 = OpFunctionParameter %pi32
        %out2 = OpFunctionParameter %pi32
        %entry2 = OpLabel
        %swap = OpGroupNonUniformQuadSwap %i32 %c3 %c1 %c0
        OpReturn
        OpFunctionEnd"""
    text = text_of(PLAIN, settings='OpEntryPoint 6 %k2 "other"', after=other)
    made = read_llvm(text.encode(), "test.ll", is_text=True)
    assert list(made.kernels) == ["k"]
    assert "OpGroupNonUniformQuadSwap" in str(made.rejected["other"][0])


def test_lines_of_the_source() -> None:
    body = """
        OpLine %file 12 3
        %y = OpIAdd %i32 %x %c1
        OpLine %header 14 5
        %r = OpFunctionCall %i32 %f %y
        OpNoLine"""
    square = """
        %f = OpFunction %i32 0 %fi
        %a = OpFunctionParameter %i32
        %fentry = OpLabel
        OpLine %header 3 70000
        %b = OpIMul %i32 %a %a
        OpReturnValue %b
        OpFunctionEnd"""
    strings = '%file = OpString "folder/k.cl"\n%header = OpString "k.h"'
    text = text_of(body, decorations=strings, before="%fi = OpTypeFunction %i32 %i32", after=square)
    made = read_llvm(text.encode(), "test.ll", is_text=True)
    found = {
        x.mnemonic: None if x.origin is None else (x.origin.file, x.origin.line, x.origin.column)
        for x in made.kernels["k"].instructions
        if not x.is_added
    }
    assert found["add"] == ("folder/k.cl", 12, 3)
    assert found["mul"] == ("k.h", 3, 1)
    assert [y for x, y in found.items() if x.startswith("call f")] == [("k.h", 14, 5)]
    assert found["store global (4 bytes)"] is None


TYPES = {
    "%t = OpTypeVector %i32 5": "a vector has 5 elements",
    "%t = OpTypeVector %v4 4": "elements of a vector are no numbers",
    "%t = OpConstantComposite %v4 %c1 %c2": "has 2 members",
    "%t = OpConstantComposite %v2 %c1 %nan": "is not defined before its use",
    "%t = OpConstantTrue %i32": "OpConstantTrue has the type i32",
}


@pytest.mark.parametrize("line", TYPES)
def test_types_and_constants_that_are_refused(line: str) -> None:
    with pytest.raises(SpirvError, match=TYPES[line]):
        text_of(PLAIN, before=line)


def test_parameters_keep_their_names_and_attributes() -> None:
    decorations = """
        OpDecorate %in 38 6
        OpDecorate %in 44 16
        OpDecorate %group 38 4
        %group = OpDecorationGroup
        OpGroupDecorate %group %out"""
    text = text_of(PLAIN, decorations=decorations)
    wanted = "ptr addrspace(1) readonly align 16 %in, ptr addrspace(1) noalias %0"
    assert f"define spir_kernel void @k({wanted}) {{" in text.replace("%group", "")


@pytest.mark.parametrize(
    "mode", ["OpExecutionMode %k 17 8 4 1", "OpExecutionModeId %k 38 %e %f %c1"]
)
def test_the_required_size_of_a_thread_block(mode: str) -> None:
    before = "%e = OpConstant %i32 8\n%f = OpSpecConstant %i32 4"
    text = text_of(PLAIN, before=before, decorations=mode)
    kernel = read_llvm(text.encode(), "k", is_text=True).kernels["k"]
    assert kernel.required_threads == (8, 4, 1)


def test_an_entry_point_that_only_calls_a_function_is_that_function() -> None:
    text = kernel_text(PLAIN).replace('6 %k "k"', '6 %entry_point "k"')
    text += """
        %entry_point = OpFunction %void 0 %fn
        %in1 = OpFunctionParameter %pi32
        %out1 = OpFunctionParameter %pi32
        %el = OpLabel
        %called = OpFunctionCall %void %k %in1 %out1
        OpReturn
        OpFunctionEnd"""
    translated = read_spirv(assemble(text), "k")
    assert translated.count("define") == 1
    assert "define spir_kernel void @k(" in translated


def test_wrapping_fast_math_and_packing() -> None:
    decorations = """
        OpDecorate %a 4469
        OpDecorate %a 4470
        OpDecorate %f 40 7
        OpDecorate %S 10"""
    body = """
        %a = OpIAdd %i32 %x %c1
        %y = OpConvertSToF %f32 %a
        %f = OpFAdd %f32 %y %y
        %m = OpVariable %pS 7
        %r = OpConvertFToS %i32 %f"""
    before = "%S = OpTypeStruct %i8 %i32\n%pS = OpTypePointer 7 %S"
    text = text_of(body, before=before, decorations=decorations)
    assert "add nuw nsw i32" in text
    assert "fadd nnan ninf nsz float" in text
    assert "alloca <{ i8, i32 }>, align 1" in text


EXPRESSIONS = {
    "128 %c1000 %c7": 1007,
    "130 %c7 %c1000": -993,
    "132 %c1000 %m1": -1000,
    "135 %m1000 %c7": -142,
    "138 %m1000 %c7": -6,
    "137 %c1000 %c7": 6,
    "196 %c1 %c3": 8,
    "195 %m1000 %c3": -125,
    "194 %m1000 %c3": (2**32 - 1000) // 8,
    "199 %c1000 %c7": 0,
    "198 %c1000 %c7": 1000 ^ 7,
    "169 %less %c7 %c3": 7,
    "126 %c7": -7,
    "200 %c7": -8,
    "114 %short": -5,
    "113 %short": 65531,
}


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expressions_of_specialisation_constants(expression: str) -> None:
    before = f"""
        %short = OpSpecConstant %i16 -5
        %m1000 = OpSpecConstant %i32 -1000
        %less = OpSpecConstantOp %bool 177 %m1000 %c7
        %s = OpSpecConstantOp %i32 {expression}"""
    found = results("%r = OpCopyObject %i32 %s", before=before)
    assert np.all(found == EXPRESSIONS[expression])


def test_addresses_in_constants() -> None:
    """A constant table of pointers into another one."""
    before = """
        %table = OpTypeArray %i32 %c3
        %values = OpConstantComposite %table %c7 %c1000 %m1
        %ptable = OpTypePointer 0 %table
        %pc = OpTypePointer 0 %i32
        %t = OpVariable %ptable 0 %values
        %e1 = OpSpecConstantOp %pc 66 %t %c1
        %e0 = OpSpecConstantOp %pc 66 %t %c0
        %places = OpTypeArray %pc %c2
        %pplaces = OpTypePointer 0 %places
        %ppc = OpTypePointer 0 %pc
        %both = OpConstantComposite %places %e1 %e0
        %q = OpVariable %pplaces 0 %both"""
    body = """
        %odd = OpBitwiseAnd %i32 %x %c1
        %a = OpInBoundsAccessChain %ppc %q %odd
        %b = OpLoad %pc %a
        %r = OpLoad %i32 %b"""
    assert np.array_equal(results(body, before=before), np.where(X & 1, 7, 1000))


def test_structs_that_point_to_themselves() -> None:
    before = """
        OpTypeForwardPointer %pnode 7
        %node = OpTypeStruct %i32 %pnode
        %pnode = OpTypePointer 7 %node
        %pp = OpTypePointer 7 %i32
        %ppnode = OpTypePointer 7 %pnode"""
    body = """
        %one = OpVariable %pnode 7
        %two = OpVariable %pnode 7
        %next = OpInBoundsAccessChain %ppnode %one %c1
        OpStore %next %two
        %v = OpInBoundsAccessChain %pp %two %c0
        OpStore %v %x
        %other = OpLoad %pnode %next
        %w = OpInBoundsAccessChain %pp %other %c0
        %r = OpLoad %i32 %w"""
    assert np.array_equal(results(body, before=before), X)


def test_floats_of_all_widths_keep_their_bits() -> None:
    before = """
        %f16 = OpTypeFloat 16
        %f64 = OpTypeFloat 64
        %h = OpConstant %f16 0x3c01
        %s = OpConstant %f32 0x7fc00001
        %t = OpConstant %f32 0x00000001
        %d = OpConstant %f64 0x1 0x3ff00000
        %x1 = OpTypeStruct %f16 %f32 %f32 %f64
        %x2 = OpConstantComposite %x1 %h %s %t %d
        %px = OpTypePointer 2 %x1"""
    before = before.replace("OpTypePointer 2", "OpTypePointer 0") + "\n%var = OpVariable %px 0 %x2"
    text = text_of(PLAIN, before=before, settings="OpCapability 9\nOpCapability 10")
    assert "half 0xH3C01, float 0x7FF8000020000000, float 0x36A0000000000000" in text
    assert "double 0x3FF0000000000001" in text
    assert read_llvm(text.encode(), "k", is_text=True).kernels
