"""Damaged LLVM IR, text and bitcode, ends in a KernelcastError and harms nobody."""

from __future__ import annotations

import random
import re

import llvmlite.binding as llvm
import pytest

from kernelcast.errors import KernelcastError
from kernelcast.ptx_frontend.llvm import read_llvm

TEXT_MUTANTS = 350
BITCODE_MUTANTS = 150
TEXT = """target triple = "spir64-unknown-unknown"
%S = type { i8, i32, [3 x i16], <4 x float> }
@table = internal addrspace(2) constant [2 x %S] [%S { i8 1, i32 2,
  [3 x i16] [i16 3, i16 4, i16 5], <4 x float> <float 1.0, float 0x3FB99999A0000000,
  float -0.0, float 0x7FF0000000000000> }, %S zeroinitializer], align 16
@tile = internal addrspace(3) global [64 x i32] undef, align 4
@text = internal addrspace(2) constant [4 x i8] c"a\\0Ab\\00", align 1
declare spir_func i64 @_Z13get_global_idj(i32)
declare spir_func void @_Z7barrierj(i32)
declare float @llvm.fmuladd.f32(float, float, float)
declare void @llvm.memcpy.p0.p1.i64(ptr, ptr addrspace(1), i64, i1)
define spir_func i32 @helper(i32 %0, ptr byval(%S) align 16 %1) {
  %3 = icmp ugt i32 %0, 7
  br i1 %3, label %4, label %6
4:
  %5 = shl i32 %0, 2
  br label %6
6:
  %7 = phi i32 [ %0, %2 ], [ %5, %4 ]
  ret i32 %7
}
define spir_kernel void @k(ptr addrspace(1) %o, ptr addrspace(3) %l, float %f, <4 x i8> %v) {
entry:
  %a = alloca %S, align 16
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
  %n = trunc i64 %i to i32
  call void @llvm.memcpy.p0.p1.i64(ptr align 4 %a, ptr addrspace(1) align 4 %o, i64 32, i1 false)
  %h = call spir_func i32 @helper(i32 %n, ptr byval(%S) align 16 %a)
  switch i32 %h, label %loop [
    i32 1, label %one
    i32 2, label %end
  ]
one:
  %t = getelementptr inbounds [2 x %S], ptr addrspace(2) @table, i64 0, i64 1, i32 2, i64 %i
  %x = load i16, ptr addrspace(2) %t, align 2
  %c = icmp slt i16 %x, 3
  br i1 %c, label %loop, label %end
loop:
  %j = phi i32 [ 0, %entry ], [ 5, %one ], [ %next, %loop ]
  %next = add nuw nsw i32 %j, 1
  %s = getelementptr i32, ptr addrspace(3) @tile, i64 %i
  store i32 %next, ptr addrspace(3) %s, align 4
  call spir_func void @_Z7barrierj(i32 1)
  %more = icmp ult i32 %next, 10
  br i1 %more, label %loop, label %end
end:
  %w = shufflevector <4 x i8> %v, <4 x i8> poison, <2 x i32> <i32 3, i32 1>
  %z = bitcast <2 x i8> %w to i16
  %y = sitofp i16 %z to float
  %m = call float @llvm.fmuladd.f32(float %y, float %f, float 2.5)
  %old = atomicrmw fadd ptr addrspace(1) %o, float %m monotonic, align 4
  %pair = cmpxchg ptr addrspace(3) %l, i32 1, i32 2 monotonic monotonic
  %was = extractvalue { i32, i1 } %pair, 0
  %q = getelementptr i32, ptr addrspace(1) %o, i64 %i
  store i32 %was, ptr addrspace(1) %q, align 4
  ret void
}
"""


def outcome(content: bytes, is_text: bool) -> str:
    """`kernels`, or the kind of error; any other exception ends the test."""
    try:
        read_llvm(content, "mutant", is_text)
    except KernelcastError as error:
        return type(error).__name__
    return "kernels"


def test_the_module_that_is_damaged_is_sound() -> None:
    assert read_llvm(TEXT.encode(), "whole", is_text=True).kernels
    assert read_llvm(bitcode(), "whole", is_text=False).kernels


def bitcode() -> bytes:
    """The same module as LLVM stores it."""
    return bytes(llvm.parse_assembly(TEXT).as_bitcode())


def test_damaged_text() -> None:
    """Words are replaced by others of the module, by numbers, left out and put in."""
    random_ = random.Random(20)
    pieces = re.findall(r"\s+|[%@!]?[\w.]+|.", TEXT)
    words = [piece for piece in pieces if piece.strip()]
    numbers = ["0", "1", "-1", str(2**31), str(2**63), str(2**40), "65536"]
    outcomes = set()
    for _ in range(TEXT_MUTANTS):
        mutant = list(pieces)
        for _ in range(random_.choice([1, 1, 2, 3])):
            at = random_.randrange(len(mutant))
            changed = random_.choice([random_.choice(words), random_.choice(numbers), ""])
            mutant[at] = random_.choice([changed, f"{mutant[at]} {changed}"])
        outcomes.add(outcome("".join(mutant).encode(), is_text=True))
    assert {"kernels", "IrSyntaxError"} <= outcomes


def test_damaged_bitcode() -> None:
    """Bits are turned over, ends are cut off; LLVM may break down over them, in its process."""
    random_ = random.Random(21)
    whole = bitcode()
    outcomes = set()
    for number in range(BITCODE_MUTANTS):
        mutant = bytearray(whole)
        for _ in range(random_.choice([1, 1, 2, 4])):
            mutant[random_.randrange(len(mutant))] ^= 1 << random_.randrange(8)
        if number % 10 == 0:
            del mutant[random_.randrange(len(mutant)) :]
        outcomes.add(outcome(bytes(mutant), is_text=False))
    assert {"kernels", "IrSyntaxError"} <= outcomes


@pytest.mark.parametrize("content", [b"", b"\0", b"BC\xc0\xde", b"define", b"@", b"!0 = !{"])
def test_beginnings_of_modules(content: bytes) -> None:
    for is_text in (True, False):
        assert outcome(content, is_text) in ("kernels", "IrSyntaxError")
