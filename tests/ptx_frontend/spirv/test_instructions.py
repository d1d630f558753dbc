"""SPIR-V: what instructions compute, in kernels that NumPy can follow."""

from __future__ import annotations

import runpy
import struct
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

assembly: Any = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parents[1] / "spirv_assembly.py"))
)

results, X = assembly.results, assembly.X
U = X.view(np.uint32)
L = X.astype(np.int64)


def wrapped(values: Any) -> Any:
    """The low 32 bits."""
    return (np.asarray(values, np.int64) & 0xFFFFFFFF).astype(np.uint32).view(np.int32)


def towards_zero(divisor: int) -> Any:
    return np.sign(L) * np.sign(divisor) * (np.abs(L) // abs(divisor))


INTEGER: dict[str, Any] = {
    "OpIAdd %i32 %x %c7": L + 7,
    "OpISub %i32 %c7 %x": 7 - L,
    "OpIMul %i32 %x %c1000": L * 1000,
    "OpUDiv %i32 %x %c7": U // 7,
    "OpSDiv %i32 %x %c7": towards_zero(7),
    "OpUMod %i32 %x %c7": U % 7,
    "OpSRem %i32 %x %c7": L - 7 * towards_zero(7),
    "OpSMod %i32 %x %c7": L % 7,
    "OpSMod %i32 %x %m7": L % -7,
    "OpSNegate %i32 %x": -L,
    "OpNot %i32 %x": ~L,
    "OpBitwiseAnd %i32 %x %c1000": L & 1000,
    "OpBitwiseOr %i32 %x %c1000": L | 1000,
    "OpBitwiseXor %i32 %x %c1000": L ^ 1000,
    "OpShiftLeftLogical %i32 %x %c3": L << 3,
    "OpShiftRightLogical %i32 %x %c3": U >> 3,
    "OpShiftRightArithmetic %i32 %x %c3": L >> 3,
    "OpShiftRightLogical %i32 %x %l3": U >> 3,
    "OpShiftLeftLogical %i32 %x %s3": L << 3,
    "OpBitCount %i32 %x": [bin(u).count("1") for u in U.tolist()],
    "OpBitReverse %i32 %x": [int(f"{u:032b}"[::-1], 2) for u in U.tolist()],
    "OpCopyObject %i32 %x": L,
    "OpExtInst %i32 %std 156 %x %c7": np.maximum(L, 7),
    "OpExtInst %i32 %std 157 %x %c7": np.maximum(U, 7),
    "OpExtInst %i32 %std 141 %x": np.abs(L),
    "OpExtInst %i32 %std 151 %x": [32 - u.bit_length() for u in U.tolist()],
    "OpExtInst %i32 %std 160 %x %c1000": L * 1000 >> 32,
    "OpExtInst %i32 %std 203 %x %c1000": U.astype(np.int64) * 1000 >> 32,
}
CONSTANTS = """
%m7 = OpConstant %i32 -7
%l3 = OpConstant %i64 3 0
%s3 = OpConstant %i16 3
"""


@pytest.mark.parametrize("operation", INTEGER)
def test_integers(operation: str) -> None:
    found = results(f"%r = {operation}", before=CONSTANTS)
    assert np.array_equal(found, wrapped(INTEGER[operation]))


COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "OpIEqual": lambda s, u: s == 7,
    "OpINotEqual": lambda s, u: s != 7,
    "OpUGreaterThan": lambda s, u: u > 7,
    "OpSGreaterThan": lambda s, u: s > 7,
    "OpUGreaterThanEqual": lambda s, u: u >= 7,
    "OpSGreaterThanEqual": lambda s, u: s >= 7,
    "OpULessThan": lambda s, u: u < 7,
    "OpSLessThan": lambda s, u: s < 7,
    "OpULessThanEqual": lambda s, u: u <= 7,
    "OpSLessThanEqual": lambda s, u: s <= 7,
}


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_and_selection(name: str) -> None:
    body = f"""
        %c = {name} %bool %x %c7
        %d = OpLogicalNot %bool %c
        %one = OpSelect %i32 %c %c1 %c0
        %minus = OpSelect %i32 %d %m1 %c0
        %other = OpSelect %i32 %c %c1000 %c3
        %s = OpIAdd %i32 %one %minus
        %r = OpIAdd %i32 %s %other"""
    truth = COMPARISONS[name](X, U)
    assert np.array_equal(results(body), np.where(truth, 1 + 1000, -1 + 3))


@pytest.mark.parametrize(("number", "opcode"), [(1, "zext"), (-1, "sext"), (3, "select")])
def test_extended_booleans_in_vectors(number: int, opcode: str) -> None:
    before = f"""
        %one = OpConstant %i32 {number}
        %ones = OpConstantComposite %v4 %one %one %one %one
        %zeros = OpConstantComposite %v4 %c0 %c0 %c0 %c0"""
    body = """
        %v = OpCompositeConstruct %v4 %x %x %x %x
        %c = OpSLessThan %v4b %v %zeros
        %s = OpSelect %v4 %c %ones %zeros
        %r = OpCompositeExtract %i32 %s 2"""
    assert np.array_equal(results(body, before=before), np.where(X < 0, number, 0))
    assert f"{opcode} <4 x i1> %" in assembly.text_of(body, before=before)


LOGIC = {"And": np.logical_and, "Or": np.logical_or, "Equal": np.equal, "NotEqual": np.not_equal}


@pytest.mark.parametrize("name", LOGIC)
def test_logic(name: str) -> None:
    body = f"""
        %a = OpSLessThan %bool %x %c7
        %b = OpSGreaterThan %bool %x %c0
        %c = OpLogical{name} %bool %a %b
        %r = OpSelect %i32 %c %c1 %c0"""
    assert np.array_equal(results(body), LOGIC[name](X < 7, X > 0))


FLOAT_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "Equal": np.equal,
    "NotEqual": np.not_equal,
    "LessThan": np.less,
    "GreaterThan": np.greater,
    "LessThanEqual": np.less_equal,
    "GreaterThanEqual": np.greater_equal,
}


@pytest.mark.parametrize("is_ordered", [True, False])
@pytest.mark.parametrize("name", FLOAT_COMPARISONS)
def test_comparisons_with_not_a_number(name: str, is_ordered: bool) -> None:
    """Elements from 8 on are no numbers: ordered comparisons say no, unordered ones yes."""
    body = f"""
        %f = OpConvertSToF %f32 %x
        %late = OpSGreaterThanEqual %bool %n32 %c8
        %y = OpSelect %f32 %late %nan %f
        %c = OpF{"Ord" if is_ordered else "Unord"}{name} %bool %y %seven
        %r = OpSelect %i32 %c %c1 %c0"""
    body = "%n32 = OpUConvert %i32 %n\n" + body
    before = """
        %c8 = OpConstant %i32 8
        %nan = OpConstant %f32 0x7fc00000
        %seven = OpConstant %f32 0xc0e00000"""
    wanted = FLOAT_COMPARISONS[name](X.astype(np.float32), np.float32(-7))
    wanted[8:] = not is_ordered
    assert np.array_equal(results(body, before=before), wanted)


def bits(value: float) -> str:
    return hex(struct.unpack("<I", struct.pack("<f", value))[0])


F = np.clip(X, -1000, 1000).astype(np.float32) / 4
FLOATS: dict[str, Any] = {
    "OpFAdd %f32 %f %k": F + 2.5,
    "OpFSub %f32 %f %k": F - 2.5,
    "OpFMul %f32 %f %k": F * 2.5,
    "OpFDiv %f32 %f %k": (F / np.float32(2.5)),
    "OpFRem %f32 %f %k": np.fmod(F, np.float32(2.5)),
    "OpFMod %f32 %f %k": np.mod(F, np.float32(2.5)),
    "OpFMod %f32 %f %mk": np.mod(F, np.float32(-2.5)),
    "OpFNegate %f32 %f": -F,
    "OpQuantizeToF16 %f32 %f": F.astype(np.float16).astype(np.float32),
    "OpExtInst %f32 %std 95 %f %mk %k": np.clip(F, -2.5, 2.5),
    "OpExtInst %f32 %std 26 %f %k %mk": F * 2.5 - 2.5,
    "OpExtInst %f32 %std 23 %f": np.abs(F),
}


@pytest.mark.parametrize("operation", FLOATS)
def test_floats(operation: str) -> None:
    before = f"""
        %limit = OpConstant %i32 1000
        %low = OpConstant %i32 -1000
        %four = OpConstant %f32 {bits(4)}
        %k = OpConstant %f32 {bits(2.5)}
        %mk = OpConstant %f32 {bits(-2.5)}"""
    body = f"""
        %cut = OpExtInst %i32 %std 149 %x %low %limit
        %whole = OpConvertSToF %f32 %cut
        %f = OpFDiv %f32 %whole %four
        %y = {operation}
        %r = OpBitcast %i32 %y"""
    found = results(body, before=before).view(np.float32)
    assert np.array_equal(found, np.asarray(FLOATS[operation], np.float32))


CONVERSIONS: dict[str, tuple[str, Any]] = {
    "truncation": ("%y = OpUConvert %i8 %x\n%r = OpUConvert %i32 %y", U & 255),
    "sign": ("%y = OpSConvert %i8 %x\n%r = OpSConvert %i32 %y", X.astype(np.int8)),
    "saturation": ("%y = OpSConvert %i8 %x\n%r = OpSConvert %i32 %y", np.clip(X, -128, 127)),
    "unsigned": ("%y = OpSatConvertSToU %i8 %x\n%r = OpUConvert %i32 %y", np.clip(X, 0, 255)),
    "from unsigned": (
        "%y = OpSatConvertUToS %i8 %x\n%r = OpSConvert %i32 %y",
        np.minimum(U, 127),
    ),
    "rounding": (
        "%f = OpConvertSToF %f32 %x\n%h = OpFMul %f32 %f %k\n%r = OpConvertFToS %i32 %h",
        np.floor(X.astype(np.float32) * np.float32(0.1)),
    ),
}


@pytest.mark.parametrize("name", CONVERSIONS)
def test_conversions(name: str) -> None:
    body, wanted = CONVERSIONS[name]
    decorations = {"saturation": "OpDecorate %y 28", "rounding": "OpDecorate %r 39 3"}
    before = f"%k = OpConstant %f32 {bits(0.1)}"
    found = results(body, before=before, decorations=decorations.get(name, ""))
    assert np.array_equal(found, np.asarray(wanted, np.int64).astype(np.int32))
