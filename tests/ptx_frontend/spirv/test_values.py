"""SPIR-V: composites, memory, control flow and what threads do together."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

assembly: Any = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parents[1] / "spirv_assembly.py"))
)

results, X, text_of = assembly.results, assembly.X, assembly.text_of

INDEX = np.arange(assembly.THREADS)
SHAPES = """
    %c5 = OpConstant %i32 5
    %c4 = OpConstant %i64 4 0
    %c32 = OpConstant %i64 32 0
    %a4 = OpTypeArray %i32 %c7
    %S = OpTypeStruct %i16 %v4 %a4
    %pS = OpTypePointer 7 %S
    %pv4 = OpTypePointer 7 %v4
    %pp = OpTypePointer 7 %i32
    %pairs = OpTypeStruct %i32 %i32
    %vc = OpConstantComposite %v4 %c1 %c2 %c3 %c7
    %vn = OpConstantNull %v4
    %an = OpConstantNull %a4
    %s9 = OpConstant %i16 9
    %sc = OpConstantComposite %S %s9 %vc %an
"""

VALUES: dict[str, tuple[str, Any]] = {
    "construct and extract": (
        "%v = OpCompositeConstruct %v4 %x %c1 %c2 %c3\n%r = OpCompositeExtract %i32 %v 0",
        X,
    ),
    "construct from vectors": (
        """%a = OpCompositeConstruct %v2 %c1 %x
        %v = OpCompositeConstruct %v4 %c7 %a %c2\n%r = OpCompositeExtract %i32 %v 2""",
        X,
    ),
    "element by variable": (
        "%i = OpBitwiseAnd %i32 %x %c3\n%r = OpVectorExtractDynamic %i32 %vc %i",
        np.array([1, 2, 3, 7])[X & 3],
    ),
    "insert by variable": (
        """%i = OpBitwiseAnd %i32 %x %c3\n%v = OpVectorInsertDynamic %v4 %vc %x %i
        %r = OpCompositeExtract %i32 %v 1""",
        np.where(X & 3 == 1, X, 2),
    ),
    "shuffle of different sizes": (
        """%a = OpCompositeConstruct %v2 %x %c1000
        %v = OpVectorShuffle %v3 %a %vc 5 0 4294967295
        %b = OpCompositeExtract %i32 %v 0\n%c = OpCompositeExtract %i32 %v 1
        %r = OpIAdd %i32 %b %c""",
        X + 7,
    ),
    "shuffle with a shorter second": (
        """%a = OpCompositeConstruct %v2 %c1000 %x
        %v = OpVectorShuffle %v2 %vc %a 5 2
        %b = OpCompositeExtract %i32 %v 0\n%c = OpCompositeExtract %i32 %v 1
        %r = OpIAdd %i32 %b %c""",
        X + 3,
    ),
    "element of a vector in a struct": (
        """%t = OpCompositeInsert %S %x %sc 1 2\n%u = OpCompositeInsert %S %c5 %t 2 3
        %b = OpCompositeExtract %i32 %u 1 2\n%c = OpCompositeExtract %i32 %u 2 3
        %r = OpIAdd %i32 %b %c""",
        X + 5,
    ),
    "insert into a vector": (
        "%v = OpCompositeInsert %v4 %x %vc 3\n%r = OpCompositeExtract %i32 %v 3",
        X,
    ),
    "carry": (
        """%s = OpIAddCarry %pairs %x %x\n%r = OpCompositeExtract %i32 %s 1""",
        X < 0,
    ),
    "borrow": (
        """%s = OpISubBorrow %pairs %x %c7\n%r = OpCompositeExtract %i32 %s 1""",
        X.view(np.uint32) < 7,
    ),
    "high half": (
        """%s = OpUMulExtended %pairs %x %c1000\n%r = OpCompositeExtract %i32 %s 1""",
        X.view(np.uint32).astype(np.int64) * 1000 >> 32,
    ),
    "any": (
        """%v = OpCompositeConstruct %v4 %x %c1 %c2 %c3\n%b = OpSLessThan %v4b %v %vn
        %c = OpAny %bool %b\n%r = OpSelect %i32 %c %c1 %c0""",
        X < 0,
    ),
    "all": (
        """%v = OpCompositeConstruct %v4 %x %c1 %c2 %c3\n%b = OpSGreaterThan %v4b %v %vn
        %c = OpAll %bool %b\n%r = OpSelect %i32 %c %c1 %c0""",
        X > 0,
    ),
    "scaled vector and dot product": (
        """%cut = OpBitwiseAnd %i32 %x %c1000\n%f = OpConvertSToF %f32 %cut
        %w = OpConvertSToF %v4f %vc\n%s = OpVectorTimesScalar %v4f %w %f
        %d = OpDot %f32 %s %w\n%r = OpConvertFToS %i32 %d""",
        (X & 1000) * (1 + 4 + 9 + 49),
    ),
    "not a number": (
        """%f = OpConvertSToF %f32 %x\n%s = OpExtInst %f32 %std 61 %f\n%c = OpIsNan %bool %s
        %r = OpSelect %i32 %c %c1 %c0""",
        X < 0,
    ),
    "variable with a beginning": (
        """%m = OpVariable %pS 7 %sc\n%e = OpInBoundsAccessChain %pp %m %c1 %c3
        %r = OpLoad %i32 %e 2 4""",
        np.full(len(X), 7),
    ),
    "store and load": (
        """%m = OpVariable %pS 7\nOpStore %m %sc\n%i = OpBitwiseAnd %i32 %x %c3
        %e = OpAccessChain %pp %m %c2 %i\nOpStore %e %x 3 4
        %r = OpLoad %i32 %e 1""",
        X,
    ),
    "copies": (
        """%m = OpVariable %pS 7 %sc\n%q = OpVariable %pS 7\nOpLifetimeStart %q 0
        OpCopyMemory %q %m
        %e = OpInBoundsAccessChain %pp %q %c1 %c2\n%a = OpLoad %i32 %e
        OpCopyMemorySized %e %pin %c4 2 4\n%b = OpLoad %i32 %e\nOpLifetimeStop %q 0
        %r = OpIAdd %i32 %a %b""",
        X + 3,
    ),
    "difference of pointers": (
        "%d = OpPtrDiff %i64 %p %out\n%r = OpUConvert %i32 %d",
        INDEX,
    ),
    "pointers as numbers": (
        """%a = OpConvertPtrToU %i64 %pin\n%b = OpConvertUToPtr %pi32 %a
        %c = OpPtrEqual %bool %b %pin\n%y = OpLoad %i32 %b 2 4
        %r = OpSelect %i32 %c %y %c0""",
        X,
    ),
    "an undefined value that is multiplied by zero": (
        "%u = OpUndef %i32\n%z = OpIMul %i32 %u %c0\n%r = OpIAdd %i32 %z %x",
        X,
    ),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_and_memory(name: str) -> None:
    body, wanted = VALUES[name]
    assert np.array_equal(results(body, before=SHAPES), np.asarray(wanted, np.int64))


def test_a_loop_with_a_phi_that_copies_a_later_value() -> None:
    """The sum of 1 to x mod 8."""
    body = """
        %limit = OpBitwiseAnd %i32 %x %c7
        OpBranch %head
        %head = OpLabel
        %i = OpPhi %i32 %c0 %entry %copy %body
        %s = OpPhi %i32 %c0 %entry %sum %body
        %more = OpULessThan %bool %i %limit
        OpLoopMerge %end %body 0
        OpBranchConditional %more %body %end
        %body = OpLabel
        %next = OpIAdd %i32 %i %c1
        %copy = OpCopyObject %i32 %next
        %sum = OpIAdd %i32 %s %copy
        OpBranch %head
        %end = OpLabel
        %r = OpCopyObject %i32 %s"""
    limit = X & 7
    assert np.array_equal(results(body), limit * (limit + 1) // 2)


def test_switch_of_64_bits_and_two_edges_to_one_phi() -> None:
    """Two cases lead to the same place: LLVM's phi names the switch for each of them."""
    body = """
        %w = OpSConvert %i64 %x
        OpSwitch %w %other 4294967295 4294967295 %same 8 0 %same 7 0 %seven
        %seven = OpLabel
        OpBranch %same
        %other = OpLabel
        OpBranch %end
        %same = OpLabel
        %q = OpPhi %i32 %c1 %entry %c2 %seven
        OpBranch %end
        %end = OpLabel
        %r = OpPhi %i32 %c0 %other %q %same"""
    assert np.array_equal(results(body), np.where(X == 7, 2, (X == 8) | (X == -1)))


def test_functions_that_kernels_call() -> None:
    after = """
        %twice = OpFunction %i32 0 %fi
        %a = OpFunctionParameter %i32
        %tl = OpLabel
        %t = OpShiftLeftLogical %i32 %a %c1
        OpReturnValue %t
        OpFunctionEnd"""
    body = "%r = OpFunctionCall %i32 %twice %x"
    before = "%fi = OpTypeFunction %i32 %i32"
    found = results(body, before=before, after=after)
    assert np.array_equal(found, (X.astype(np.int64) * 2).astype(np.int32))


ATOMICS = {
    "OpAtomicIAdd %i32 %cell %c1 %c0 %c7": 14,
    "OpAtomicISub %i32 %cell %c1 %c0 %c2": 5,
    "OpAtomicIIncrement %i32 %cell %c1 %c0": 8,
    "OpAtomicIDecrement %i32 %cell %c1 %c0": 6,
    "OpAtomicSMin %i32 %cell %c1 %c0 %m1": -1,
    "OpAtomicUMin %i32 %cell %c1 %c0 %m1": 7,
    "OpAtomicSMax %i32 %cell %c1 %c0 %m1": 7,
    "OpAtomicUMax %i32 %cell %c1 %c0 %m1": -1,
    "OpAtomicAnd %i32 %cell %c1 %c0 %c3": 3,
    "OpAtomicOr %i32 %cell %c1 %c0 %c1000": 7 | 1000,
    "OpAtomicXor %i32 %cell %c1 %c0 %c3": 4,
    "OpAtomicExchange %i32 %cell %c1 %c0 %c2": 2,
    "OpAtomicCompareExchange %i32 %cell %c1 %c0 %c0 %c3 %c7": 3,
    "OpAtomicCompareExchange %i32 %cell %c1 %c0 %c0 %c3 %c2": 7,
}


@pytest.mark.parametrize("operation", ATOMICS)
def test_atomics_give_the_old_value(operation: str) -> None:
    """Each works on the thread's own element of the output, which holds 7 before."""
    body = f"""
        OpAtomicStore %p %c1 %c0 %c7
        %old = {operation.replace("%cell", "%p")}
        %new = OpAtomicLoad %i32 %p %c1 %c0
        %high = OpIMul %i32 %old %c1000
        %r = OpIAdd %i32 %high %new"""
    assert np.array_equal(results(body), np.full(len(X), 7000 + ATOMICS[operation]))


def test_flags() -> None:
    body = """
        %a = OpAtomicFlagTestAndSet %bool %p %c1 %c0
        %b = OpAtomicFlagTestAndSet %bool %p %c1 %c0
        OpAtomicFlagClear %p %c1 %c0
        %c = OpAtomicFlagTestAndSet %bool %p %c1 %c0
        %both = OpSelect %i32 %b %c2 %c0
        %first = OpSelect %i32 %a %c1 %c0
        %last = OpSelect %i32 %c %c7 %c0
        %sum = OpIAdd %i32 %both %first
        %r = OpIAdd %i32 %sum %last"""
    assert np.array_equal(results(body), np.full(len(X), 2))


def test_local_memory_between_barriers() -> None:
    """Each thread takes what its neighbour has put there."""
    before = """
        %size = OpConstant %i32 32
        %last = OpConstant %i32 31
        %tile = OpTypeArray %i32 %size
        %ptile = OpTypePointer 4 %tile
        %pl = OpTypePointer 4 %i32
        %shared = OpVariable %ptile 4
        %semantics = OpConstant %i32 0x110"""
    body = """
        %me = OpUConvert %i32 %n
        %e = OpInBoundsAccessChain %pl %shared %me
        OpStore %e %x 2 4
        OpControlBarrier %c2 %c2 %semantics
        %other = OpBitwiseXor %i32 %me %last
        %o = OpInBoundsAccessChain %pl %shared %other
        %r = OpLoad %i32 %o 2 4"""
    assert np.array_equal(results(body, before=before), X[::-1])


CALLS = {
    "OpControlBarrier %c2 %c2 %w": "@_Z7barrierj(i32 1)",
    "OpControlBarrier %c2 %c2 %both": "@_Z7barrierj(i32 3)",
    "OpControlBarrier %c3 %c3 %w": "@_Z17sub_group_barrierj(i32 1)",
    "OpMemoryBarrier %c1 %w": "@_Z9mem_fencej(i32 1)",
    "OpMemoryBarrier %c1 %acquire": "@_Z14read_mem_fencej(i32 2)",
    "OpMemoryBarrier %c1 %release": "@_Z15write_mem_fencej(i32 2)",
    "%q = OpGroupIAdd %i32 %c2 0 %x": "i32 @_Z21work_group_reduce_addi(i32 ",
    "%q = OpGroupUMax %i32 %c3 1 %x": "i32 @_Z28sub_group_scan_inclusive_maxj(i32 ",
    "%q = OpGroupSMin %i32 %c2 2 %x": "i32 @_Z29work_group_scan_exclusive_mini(i32 ",
    "%q = OpGroupBroadcast %i32 %c2 %x %n": "i32 @_Z20work_group_broadcastim(i32 ",
    "%q = OpGroupAll %bool %c2 %truth": "i32 @_Z14work_group_alli(i32 ",
}


@pytest.mark.parametrize("operation", CALLS)
def test_calls_of_what_threads_do_together(operation: str) -> None:
    before = """
        %w = OpConstant %i32 0x118
        %both = OpConstant %i32 0x308
        %acquire = OpConstant %i32 0x202
        %release = OpConstant %i32 0x204
        %truth = OpConstantTrue %bool"""
    body = f"{operation}\n%r = OpCopyObject %i32 %x"
    text = text_of(body, before=before, settings="OpCapability 18")
    result = "void " if CALLS[operation][0] == "@" else ""
    assert f"call spir_func {result}{CALLS[operation]}" in text
