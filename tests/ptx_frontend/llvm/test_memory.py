"""LLVM IR: memory of every kind, accesses, atomics and arguments, against NumPy."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kernelcast.errors import MemoryAccessError
from kernelcast.simcore.engine import execute
from kernelcast.simcore.isa.ir.kernel import Load, Store
from kernelcast.simcore.isa.types import AddressSpace
from kernelcast.simcore.launch.launch import Launch

shared: Any = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "llvm_kernels.py")))
ENGINES = shared.ENGINES
THREADS = shared.THREADS
with_index = shared.with_index
results = shared.results
source_counts = shared.source_counts


def test_addresses_that_differ_by_constants_have_one_base() -> None:
    """A common base lets the accesses be known to be neighbours."""
    loads = "".join(
        f"""
  %a{j} = getelementptr [32 x [4 x float]], ptr addrspace(3) @tile, i64 0, i64 %i, i64 {j}
  %x{j} = load float, ptr addrspace(3) %a{j}, align 4
  store float %x{j}, ptr addrspace(1) %p, align 4"""
        for j in range(4)
    )
    kernel = with_index(
        f"{loads}\n  ret void",
        before="@tile = internal addrspace(3) global [32 x [4 x float]] undef, align 16",
    )
    bases = {
        x.address.base
        for x in kernel.instructions
        if isinstance(x, Load) and x.address.space is AddressSpace.SHARED
    }
    assert len(bases) == 1


INDEX = np.arange(THREADS)


def test_structs_arrays_and_constant_variables() -> None:
    before = """%S = type { i8, i32, [3 x i16], i64 }
@table = internal addrspace(2) constant [4 x %S] [
  %S { i8 1, i32 -2, [3 x i16] [i16 3, i16 4, i16 5], i64 6 }, %S zeroinitializer,
  %S { i8 7, i32 8, [3 x i16] [i16 9, i16 10, i16 11], i64 12 }, %S undef], align 8
@text = internal addrspace(2) constant [4 x i8] c"ab\\00\\FF", align 1
@link = internal addrspace(2) constant ptr addrspace(2) getelementptr (
  i8, ptr addrspace(2) @text, i64 1), align 8
"""
    kernel = with_index(
        """
  %m = and i64 %i, 3
  %f1 = getelementptr inbounds %S, ptr addrspace(2) @table, i64 %m, i32 1
  %x1 = load i32, ptr addrspace(2) %f1, align 4
  %f2 = getelementptr inbounds %S, ptr addrspace(2) @table, i64 %m, i32 2, i64 1
  %h = load i16, ptr addrspace(2) %f2, align 2
  %x2 = sext i16 %h to i32
  %f3 = getelementptr inbounds [4 x %S], ptr addrspace(2) @table, i64 0, i64 2, i32 3
  %l = load i64, ptr addrspace(2) %f3, align 8
  %x3 = trunc i64 %l to i32
  %t = load ptr addrspace(2), ptr addrspace(2) @link, align 8
  %c = load i8, ptr addrspace(2) %t, align 1
  %x4 = zext i8 %c to i32
  %s1 = add i32 %x1, %x2
  %s2 = add i32 %x3, %x4
  %s = mul i32 %s1, %s2
  store i32 %s, ptr addrspace(1) %p, align 4
  ret void""",
        before=before,
    )
    sums = np.array([-2 + 4, 0, 8 + 10, 0])[INDEX % 4]
    assert np.array_equal(results(kernel), sums * (12 + ord("b")))


def test_private_and_local_memory() -> None:
    """An array that every thread has, and one that the thread block shares."""
    kernel = with_index(
        """
  %a = alloca [4 x i32], align 4
  %q = getelementptr [4 x i32], ptr %a, i64 0, i64 2
  store i32 %n, ptr %q, align 4
  %s = getelementptr [32 x i32], ptr addrspace(3) @tile, i64 0, i64 %i
  %x = load i32, ptr %q, align 4
  store i32 %x, ptr addrspace(3) %s, align 4
  call spir_func void @_Z7barrierj(i32 1)
  %back = sub i64 31, %i
  %t = getelementptr [32 x i32], ptr addrspace(3) @tile, i64 0, i64 %back
  %y = load i32, ptr addrspace(3) %t, align 4
  store i32 %y, ptr addrspace(1) %p, align 4
  ret void""",
        before="@tile = internal addrspace(3) global [32 x i32] undef, align 4",
    )
    assert kernel.shared_bytes == 4 * THREADS
    assert np.array_equal(results(kernel), INDEX[::-1])
    counts = source_counts(kernel)
    assert counts["store private (4 bytes)"] == THREADS
    assert counts["load local (4 bytes)"] == THREADS
    assert counts["call _Z7barrierj()"] == THREADS


def test_local_arguments_lie_one_after_the_other() -> None:
    """Sizes in bytes are their arguments; the second array begins at a multiple of 16."""
    kernel = with_index(
        """
  %s = getelementptr i32, ptr addrspace(3) %a, i64 %i
  store i32 %n, ptr addrspace(3) %s, align 4
  %t = getelementptr i32, ptr addrspace(3) %b, i64 %i
  store i32 -1, ptr addrspace(3) %t, align 4
  call spir_func void @_Z7barrierj(i32 1)
  %back = sub i64 31, %i
  %u = getelementptr i32, ptr addrspace(3) %a, i64 %back
  %x = load i32, ptr addrspace(3) %u, align 4
  store i32 %x, ptr addrspace(1) %p, align 4
  ret void""",
        "ptr addrspace(1) %o, ptr addrspace(3) %a, ptr addrspace(3) %b",
    )
    assert kernel.uses_dynamic_shared
    assert np.array_equal(results(kernel, 132, 128), INDEX[::-1])


def test_generic_addresses_reach_all_memories() -> None:
    kernel = with_index(
        """
  %a = alloca i32, align 4
  store i32 11, ptr %a, align 4
  %s = getelementptr [32 x i32], ptr addrspace(3) @tile, i64 0, i64 %i
  store i32 22, ptr addrspace(3) %s, align 4
  store i32 33, ptr addrspace(1) %p, align 4
  %g0 = addrspacecast ptr %a to ptr addrspace(4)
  %g1 = addrspacecast ptr addrspace(3) %s to ptr addrspace(4)
  %g2 = addrspacecast ptr addrspace(1) %p to ptr addrspace(4)
  %r = urem i32 %n, 3
  %c0 = icmp eq i32 %r, 0
  %c1 = icmp eq i32 %r, 1
  %g3 = select i1 %c1, ptr addrspace(4) %g1, ptr addrspace(4) %g2
  %g = select i1 %c0, ptr addrspace(4) %g0, ptr addrspace(4) %g3
  %x = load i32, ptr addrspace(4) %g, align 4
  %back = addrspacecast ptr addrspace(4) %g2 to ptr addrspace(1)
  store i32 %x, ptr addrspace(1) %back, align 4
  ret void""",
        before="@tile = internal addrspace(3) global [32 x i32] undef, align 4",
    )
    assert np.array_equal(results(kernel), np.array([11, 22, 33])[INDEX % 3])


def test_accesses_are_as_wide_as_the_alignment_allows() -> None:
    """Three ways to move 16 bytes: at once, by elements, by bytes."""
    sizes = {}
    for align in (16, 4, 1):
        kernel = with_index(
            f"""
  %a = getelementptr <4 x i32>, ptr addrspace(1) %b, i64 %i
  %x = load <4 x i32>, ptr addrspace(1) %a, align {align}
  %y = add <4 x i32> %x, <i32 1, i32 2, i32 3, i32 4>
  store <4 x i32> %y, ptr addrspace(1) %a, align {align}
  %z = load i32, ptr addrspace(1) %a, align {min(align, 4)}
  store i32 %z, ptr addrspace(1) %p, align 4
  ret void""",
            "ptr addrspace(1) %o, ptr addrspace(1) %b",
        )
        data = np.random.default_rng(3).integers(-99, 99, (THREADS, 4), dtype=np.int32)
        assert np.array_equal(results(kernel, data), data[:, 0] + 1)
        wide = [
            len(x.destinations) * x.type.bytes if isinstance(x, Load) else 0
            for x in kernel.instructions
        ]
        sizes[align] = max(wide)
        assert sum(isinstance(x, Store) and not x.is_added for x in kernel.instructions) == 2
    assert sizes == {16: 16, 4: 8, 1: 8}, "a parameter has 8 bytes"


def test_an_address_need_not_be_aligned() -> None:
    kernel = with_index(
        """
  %d = mul i64 %i, 9
  %a = getelementptr i8, ptr addrspace(1) %b, i64 %d
  %c = getelementptr i8, ptr addrspace(1) %a, i64 1
  %x = load i64, ptr addrspace(1) %c, align 1
  %y = add i64 %x, 5
  store i64 %y, ptr addrspace(1) %c, align 1
  %z = load i32, ptr addrspace(1) %c, align 1
  store i32 %z, ptr addrspace(1) %p, align 4
  ret void""",
        "ptr addrspace(1) %o, ptr addrspace(1) %b",
    )
    data = np.random.default_rng(4).integers(0, 200, (THREADS, 9), dtype=np.uint8)
    wanted = data[:, 1:5].copy().view(np.uint32).reshape(-1).astype(np.int64) + 5
    assert np.array_equal(results(kernel, data), wanted.astype(np.uint32).view(np.int32))


def test_atomics() -> None:
    kernel = with_index(
        """
  %old = atomicrmw add ptr addrspace(1) %b, i32 %n monotonic, align 4
  %b1 = getelementptr i32, ptr addrspace(1) %b, i64 1
  %u1 = atomicrmw sub ptr addrspace(1) %b1, i32 %n seq_cst
  %b2 = getelementptr i32, ptr addrspace(1) %b, i64 2
  %u2 = atomicrmw max ptr addrspace(1) %b2, i32 %n syncscope("workgroup") acq_rel
  %b3 = getelementptr i32, ptr addrspace(1) %b, i64 3
  %u3 = atomicrmw umin ptr addrspace(1) %b3, i32 %n monotonic
  %b4 = getelementptr i32, ptr addrspace(1) %b, i64 4
  %f = sitofp i32 %n to float
  %u4 = atomicrmw fadd ptr addrspace(1) %b4, float %f monotonic
  %pair = cmpxchg ptr addrspace(1) %p, i32 0, i32 %n acq_rel monotonic
  %was = extractvalue { i32, i1 } %pair, 1
  %x = load atomic i32, ptr addrspace(1) %p monotonic, align 4
  %y = select i1 %was, i32 %x, i32 -1
  store atomic i32 %y, ptr addrspace(1) %p release, align 4
  fence seq_cst
  ret void""",
        "ptr addrspace(1) %o, ptr addrspace(1) %b",
    )
    for engine in ENGINES:
        out, data = np.zeros(THREADS, np.int32), np.array([0, 0, 7, 99, 0], np.int32)
        execute(kernel, Launch((1, 1, 1), (THREADS, 1, 1), (out, data)), engine=engine)
        total = int(INDEX.sum())
        assert data[:4].tolist() == [total, -total, 31, 0]
        assert data[4:].view(np.float32)[0] == total
        assert np.array_equal(out, INDEX)


@pytest.mark.parametrize("length", [12, 16, 700])
def test_copies_and_fills_of_memory(length: int) -> None:
    kernel = with_index(
        f"""
  %a = alloca [176 x i32], align 4
  call void @llvm.memset.p0.i64(ptr align 4 %a, i8 5, i64 704, i1 false)
  call void @llvm.memcpy.p0.p1.i64(
    ptr align 4 %a, ptr addrspace(1) align 4 %b, i64 {length}, i1 false)
  %q = getelementptr [176 x i32], ptr %a, i64 0, i64 %i
  %x = load i32, ptr %q, align 4
  store i32 %x, ptr addrspace(1) %p, align 4
  ret void""",
        "ptr addrspace(1) %o, ptr addrspace(1) %b",
        """declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p1.i64(ptr, ptr addrspace(1), i64, i1)
""",
    )
    data = np.arange(176, dtype=np.int32)
    wanted = np.where(length > INDEX * 4, data[:THREADS], 0x05050505)
    assert np.array_equal(results(kernel, data), wanted)
    assert source_counts(kernel, data)["call llvm.memcpy.p0.p1.i64()"] == THREADS


def test_arguments_of_every_kind() -> None:
    before = "%S = type { i8, i32 }\n"
    kernel = with_index(
        """
  %f = getelementptr %S, ptr %s, i64 0, i32 1
  %x = load i32, ptr %f, align 4
  %v = extractelement <4 x i16> %h, i64 2
  %y = sext i16 %v to i32
  %z = sext i8 %b to i32
  %d = fptosi double %r to i32
  %t0 = add i32 %x, %y
  %t1 = mul i32 %z, %d
  %t = sub i32 %t0, %t1
  store i32 %t, ptr addrspace(1) %p, align 4
  ret void""",
        "ptr addrspace(1) %o, i8 %b, ptr byval(%S) align 4 %s, <4 x i16> %h, double %r",
        before,
    )
    struct = np.array([3, -70000], np.int32).tobytes()
    halves = np.array([1, 2, -300, 4], np.int16).tobytes()
    assert np.all(results(kernel, np.int8(-7), struct, halves, 5.9) == -70000 - 300 + 35)


@pytest.mark.parametrize(
    ("access", "message"),
    [
        ("%x = atomicrmw add ptr addrspace(1) %far, i32 1 monotonic", "atomic of 4 bytes"),
        ("store <2 x i64> zeroinitializer, ptr addrspace(1) %far", "store of 16 bytes"),
        ("store [2 x i16] zeroinitializer, ptr addrspace(1) %far", "store of 2 bytes"),
    ],
)
def test_faults_of_what_an_instruction_adds_are_told_as_its_own(access: str, message: str) -> None:
    """Added instructions are not always those of a call, whose stack may be full."""
    kernel = with_index(
        f"  %far = getelementptr i8, ptr addrspace(1) %o, i64 {1 << 40}\n  {access}\n  ret void"
    )
    for engine in ENGINES:
        with pytest.raises(MemoryAccessError, match=f"{message} at address"):
            execute(kernel, Launch((1, 1, 1), (1, 1, 1), (np.zeros(4),)), engine=engine)
