"""Sound modules of LLVM IR and SPIR-V, small and of every kind: what the fuzzer damages."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import llvmlite.binding as llvm

from tests.ptx_frontend.spirv_assembly import assemble, kernel_text

__all__ = ["TEXTS", "bitcode_seeds", "spirv_seeds"]

DATA = Path(__file__).parent / "data"
_HEADER = """target triple = "spir64-unknown-unknown"
declare spir_func i64 @_Z13get_global_idj(i32)
declare spir_func void @_Z7barrierj(i32)
"""
_CONSTANTS = """%S = type { i8, i32, [3 x i16], <4 x float> }
@table = internal addrspace(2) constant [2 x %S] [%S { i8 1, i32 2,
  [3 x i16] [i16 3, i16 4, i16 5], <4 x float> <float 1.0, float 0x3FB99999A0000000,
  float -0.0, float 0x7FF0000000000000> }, %S zeroinitializer], align 16
@text = internal addrspace(2) constant [4 x i8] c"a\\0Ab\\00", align 1
define spir_kernel void @k(ptr addrspace(1) %o) {
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
  %t = getelementptr inbounds [2 x %S], ptr addrspace(2) @table, i64 0, i64 1, i32 2, i64 %i
  %x = load i16, ptr addrspace(2) %t, align 2
  %q = getelementptr i16, ptr addrspace(1) %o, i64 %i
  store i16 %x, ptr addrspace(1) %q, align 2
  ret void
}
"""
_CALLS = """%S = type { i32, i32 }
declare void @llvm.memcpy.p0.p1.i64(ptr, ptr addrspace(1), i64, i1)
define spir_func i32 @helper(i32 %0, ptr byval(%S) align 8 %1) {
  %3 = icmp ugt i32 %0, 7
  br i1 %3, label %4, label %6
4:
  %5 = shl i32 %0, 2
  br label %6
6:
  %7 = phi i32 [ %0, %2 ], [ %5, %4 ]
  ret i32 %7
}
define spir_kernel void @k(ptr addrspace(1) %o) {
  %a = alloca %S, align 8
  call void @llvm.memcpy.p0.p1.i64(ptr align 4 %a, ptr addrspace(1) align 4 %o, i64 8, i1 false)
  %h = call spir_func i32 @helper(i32 3, ptr byval(%S) align 8 %a)
  store i32 %h, ptr addrspace(1) %o, align 4
  ret void
}
"""
_CONTROL = """@tile = internal addrspace(3) global [64 x i32] undef, align 4
define spir_kernel void @k(ptr addrspace(1) %o, i32 %n) {
entry:
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
  switch i32 %n, label %loop [
    i32 1, label %loop
    i32 2, label %end
  ]
loop:
  %j = phi i32 [ 5, %entry ], [ 5, %entry ], [ %next, %loop ]
  %next = add nuw nsw i32 %j, 1
  %s = getelementptr i32, ptr addrspace(3) @tile, i64 %i
  store i32 %next, ptr addrspace(3) %s, align 4
  call spir_func void @_Z7barrierj(i32 1)
  %more = icmp ult i32 %next, 10
  br i1 %more, label %loop, label %end
end:
  ret void
}
"""
_VECTORS = """declare float @llvm.fmuladd.f32(float, float, float)
define spir_kernel void @k(ptr addrspace(1) %o, ptr addrspace(3) %l, float %f, <4 x i8> %v) {
  %w = shufflevector <4 x i8> %v, <4 x i8> poison, <2 x i32> <i32 3, i32 1>
  %z = bitcast <2 x i8> %w to i16
  %y = sitofp i16 %z to float
  %m = call float @llvm.fmuladd.f32(float %y, float %f, float 2.5)
  %old = atomicrmw fadd ptr addrspace(1) %o, float %m monotonic, align 4
  %pair = cmpxchg ptr addrspace(3) %l, i32 1, i32 2 monotonic monotonic
  %was = extractvalue { i32, i1 } %pair, 0
  store i32 %was, ptr addrspace(1) %o, align 4
  ret void
}
"""
TEXTS = tuple(_HEADER + body for body in (_CONSTANTS, _CALLS, _CONTROL, _VECTORS))

_BODIES = (
    "%r = OpIAdd %i32 %x %c7",
    """%v = OpCompositeConstruct %v4 %x %c1 %c2 %c3
    %w = OpVectorShuffle %v4 %v %v 3 2 5 0
    %d = OpVectorExtractDynamic %i32 %w %c2
    %f = OpConvertSToF %f32 %d
    %r = OpConvertFToS %i32 %f""",
    """%big = OpSGreaterThan %bool %x %c7
    OpSelectionMerge %join 0
    OpBranchConditional %big %yes %join
    %yes = OpLabel
    %m = OpIMul %i32 %x %c3
    OpBranch %join
    %join = OpLabel
    %r = OpPhi %i32 %x %entry %m %yes""",
    """%wide = OpSConvert %i64 %x
    %half = OpUConvert %i16 %wide
    %old = OpAtomicIAdd %i32 %p %c1 %c0 %x
    %cnt = OpExtInst %i32 %std 166 %old
    OpControlBarrier %c2 %c2 %c0
    %r = OpBitwiseXor %i32 %cnt %old""",
)


@cache
def bitcode_seeds() -> tuple[bytes, ...]:
    """The texts as LLVM stores them, in an order that differs from process to process."""
    return tuple(bytes(llvm.parse_assembly(text).as_bitcode()) for text in TEXTS)


def spirv_seeds() -> tuple[bytes, ...]:
    """Kernels of a few instructions, and the tours that compilers made."""
    small = [assemble(kernel_text(body)) for body in _BODIES]
    return (*small, *(file.read_bytes() for file in sorted(DATA.glob("spirv_*.spv"))))
