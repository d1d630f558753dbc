"""LLVM IR: control flow, calls and vectors, in kernels that NumPy can follow."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from kernelcast.execution.instruction_mix import Counting, instruction_mix
from kernelcast.simcore.engine import execute
from kernelcast.simcore.launch.launch import Launch

shared: Any = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "llvm_kernels.py")))
THREADS = shared.THREADS
with_index = shared.with_index
results = shared.results
source_counts = shared.source_counts


def test_native_code_has_no_jump_to_the_next_basic_block() -> None:
    kernel = with_index("""
  br label %next
next:
  %c = icmp eq i32 %n, 3
  br i1 %c, label %left, label %right
left:
  br label %end
right:
  br label %end
end:
  ret void""")
    trace = execute(kernel, Launch((1, 1, 1), (THREADS, 1, 1), (np.zeros(THREADS, np.int32),)))
    native = {row.opcode: row.thread for row in instruction_mix(trace, Counting.MERGED).rows}
    assert native["br"] == THREADS + 1
    assert source_counts(kernel)["br"] == 3 * THREADS


INDEX = np.arange(THREADS)


def test_phis_of_a_loop_swap_at_once() -> None:
    kernel = with_index("""
  br label %loop
loop:
  %a = phi i32 [ 0, %entry ], [ %b, %loop ]
  %b = phi i32 [ 1, %entry ], [ %sum, %loop ]
  %j = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = add i32 %a, %b
  %next = add i32 %j, 1
  %more = icmp slt i32 %j, %n
  br i1 %more, label %loop, label %end
end:
  store i32 %a, ptr addrspace(1) %p, align 4
  ret void""")
    fibonacci = [0, 1]
    while len(fibonacci) < THREADS:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    wanted = np.array(fibonacci[:THREADS], np.uint32).astype(np.int32)
    assert np.array_equal(results(kernel), wanted)
    turns = THREADS + int(INDEX.sum())
    counts = source_counts(kernel)
    assert counts["phi"] == 3 * turns
    assert counts["add"] == 2 * turns
    assert counts["br"] == turns + THREADS
    assert counts["ret"] == THREADS


def test_a_phi_may_keep_the_values_of_both_ways_of_one_branch() -> None:
    kernel = with_index("""
  %odd = trunc i32 %n to i1
  br i1 %odd, label %join, label %other
other:
  br label %join
join:
  %x = phi i32 [ 7, %entry ], [ %n, %other ]
  store i32 %x, ptr addrspace(1) %p, align 4
  ret void""")
    assert np.array_equal(results(kernel), np.where(INDEX % 2, 7, INDEX))


def test_switch() -> None:
    kernel = with_index("""
  switch i32 %n, label %other [
    i32 0, label %zero
    i32 5, label %end
    i32 -1, label %zero
    i32 9, label %zero
  ]
zero:
  br label %end
other:
  %twice = shl i32 %n, 1
  br label %end
end:
  %x = phi i32 [ 100, %zero ], [ %twice, %other ], [ 50, %entry ]
  store i32 %x, ptr addrspace(1) %p, align 4
  ret void""")
    wanted = np.where(np.isin(INDEX, (0, 9)), 100, np.where(INDEX == 5, 50, 2 * INDEX))
    assert np.array_equal(results(kernel), wanted)
    counts = source_counts(kernel)
    assert counts["switch"] == THREADS
    assert counts["shl"] == THREADS - 3


def test_functions_are_inlined_and_count_calls_and_returns() -> None:
    kernel = with_index(
        """
  %x = call spir_func i32 @twice_or_less(i32 %n)
  %y = call spir_func i32 @twice_or_less(i32 %x)
  store i32 %y, ptr addrspace(1) %p, align 4
  ret void""",
        before="""define spir_func i32 @twice_or_less(i32 %0) {
  %2 = icmp sgt i32 %0, 9
  br i1 %2, label %3, label %5
3:
  %4 = mul i32 %0, 2
  ret i32 %4
5:
  %6 = phi i32 [ %0, %1 ]
  %7 = sub i32 %6, 1
  ret i32 %7
}""",
    )
    once = np.where(INDEX > 9, 2 * INDEX, INDEX - 1)
    assert np.array_equal(results(kernel), np.where(once > 9, 2 * once, once - 1))
    counts = source_counts(kernel)
    assert counts["call twice_or_less()"] == 2 * THREADS
    assert counts["ret"] == 3 * THREADS


def test_vectors_and_fields() -> None:
    kernel = with_index("""
  %v0 = insertelement <4 x i32> poison, i32 %n, i64 0
  %v1 = shufflevector <4 x i32> %v0, <4 x i32> <i32 10, i32 20, i32 30, i32 40>,
    <4 x i32> <i32 0, i32 5, i32 0, i32 7>
  %m = and i32 %n, 3
  %v2 = insertelement <4 x i32> %v1, i32 99, i32 %m
  %k = lshr i32 %n, 3
  %x = extractelement <4 x i32> %v2, i32 %k
  %s0 = insertvalue { i32, [2 x i32] } poison, i32 %x, 1, 1
  %s1 = insertvalue { i32, [2 x i32] } %s0, i32 1000, 0
  %y = extractvalue { i32, [2 x i32] } %s1, 1, 1
  %z = extractvalue { i32, [2 x i32] } %s1, 0
  %r = add i32 %y, %z
  store i32 %r, ptr addrspace(1) %p, align 4
  ret void""")
    vectors = np.stack([INDEX, np.full(THREADS, 20), INDEX, np.full(THREADS, 40)], 1)
    vectors[INDEX, INDEX % 4] = 99
    assert np.array_equal(results(kernel), vectors[INDEX, INDEX // 8] + 1000)


AGGREGATES = """
  %b = trunc i32 %n to i8
  %c = mul i8 %b, 9
  %s = call { i8, i1 } @llvm.sadd.with.overflow.i8(i8 %c, i8 100)
  %v = extractvalue { i8, i1 } %s, 0
  %o1 = extractvalue { i8, i1 } %s, 1
  %m = call { i32, i1 } @llvm.umul.with.overflow.i32(i32 %n, i32 268435456)
  %o2 = extractvalue { i32, i1 } %m, 1
  %w0 = insertelement <2 x i32> <i32 5, i32 7>, i32 %n, i64 0
  %sum = call i32 @llvm.vector.reduce.add.v2i32(<2 x i32> %w0)
  %most = call i32 @llvm.vector.reduce.smax.v2i32(<2 x i32> %w0)
  %order = call i32 @llvm.scmp.i32.i32(i32 %n, i32 7)
  %a1 = sext i8 %v to i32
  %a2 = zext i1 %o1 to i32
  %a3 = zext i1 %o2 to i32
  %t1 = mul i32 %a2, 1000
  %t2 = mul i32 %a3, 3000
  %t3 = mul i32 %sum, 10000
  %t4 = mul i32 %most, 1000000
  %t5 = mul i32 %order, 100000000
  %u1 = add i32 %a1, %t1
  %u2 = add i32 %u1, %t2
  %u3 = add i32 %u2, %t3
  %u4 = add i32 %u3, %t4
  %u5 = add i32 %u4, %t5
  store i32 %u5, ptr addrspace(1) %p, align 4
  ret void"""

AGGREGATE_FUNCTIONS = """declare { i8, i1 } @llvm.sadd.with.overflow.i8(i8, i8)
declare { i32, i1 } @llvm.umul.with.overflow.i32(i32, i32)
declare i32 @llvm.vector.reduce.add.v2i32(<2 x i32>)
declare i32 @llvm.vector.reduce.smax.v2i32(<2 x i32>)
declare i32 @llvm.scmp.i32.i32(i32, i32)
"""


def test_overflow_reduction_and_order() -> None:
    kernel = with_index(AGGREGATES, before=AGGREGATE_FUNCTIONS)
    byte = (INDEX * 9).astype(np.int8).astype(int)
    total = byte + 100
    wanted = (
        (total + 128) % 256
        - 128
        + 1000 * (total > 127)
        + 3000 * (INDEX >= 16)
        + 10000 * (INDEX + 7)
        + 1000000 * np.maximum(INDEX, 7)
        + 100000000 * np.sign(INDEX - 7)
    )
    assert np.array_equal(results(kernel), wanted)


def test_a_name_may_be_used_above_its_definition() -> None:
    """Basic blocks may stand in any order."""
    kernel = with_index("""
  br label %second
first:
  %y = add i32 %x, 1
  store i32 %y, ptr addrspace(1) %q, align 4
  ret void
second:
  %x = mul i32 %n, 3
  %q = getelementptr i8, ptr addrspace(1) %p, i64 0
  br label %first""")
    assert np.array_equal(results(kernel), 3 * INDEX + 1)
