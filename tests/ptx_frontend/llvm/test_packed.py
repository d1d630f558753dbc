"""Vectors of bits in memory, vectors of addresses, and copies of any length."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

kernels: Any = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "llvm_kernels.py")))
INDEX = np.arange(32)


@pytest.mark.parametrize("count", [4, 8, 20])
def test_vectors_of_bits_in_memory(count: int) -> None:
    """Vectors take as many bits as elements, the first in the lowest bit."""
    numbers = ", ".join(f"i32 {3 * x}" for x in range(count))
    kernel = kernels.with_index(
        f"""  %v = insertelement <{count} x i32> poison, i32 %n, i32 0
  %u = shufflevector <{count} x i32> %v, <{count} x i32> poison, <{count} x i32> zeroinitializer
  %c = icmp sgt <{count} x i32> %u, <{numbers}>
  %a = alloca <{count} x i1>
  store <{count} x i1> %c, ptr %a
  %z = load i{count}, ptr %a
  %l = load <{count} x i1>, ptr %a
  %x = bitcast <{count} x i1> %l to i{count}
  %d = add i{count} %z, %x
  %y = zext i{count} %d to i32
  store i32 %y, ptr addrspace(1) %p
  ret void"""
    )
    wanted = [2 * sum(int(n > 3 * x) << x for x in range(count)) & (1 << count) - 1 for n in INDEX]
    assert kernels.results(kernel).tolist() == wanted


def test_vectors_of_addresses() -> None:
    kernel = kernels.with_index(
        """  %v = insertelement <4 x i32> poison, i32 %n, i32 0
  %u = shufflevector <4 x i32> %v, <4 x i32> poison, <4 x i32> zeroinitializer
  %idx = add <4 x i32> %u, <i32 1, i32 2, i32 3, i32 4>
  %m = and <4 x i32> %idx, splat (i32 31)
  %q = getelementptr i32, ptr addrspace(1) %o2, <4 x i32> %m
  %q2 = getelementptr i8, <4 x ptr addrspace(1)> %q, i64 4
  %q3 = getelementptr i32, <4 x ptr addrspace(1)> %q2, <4 x i64> splat (i64 -1)
  %q4 = extractelement <4 x ptr addrspace(1)> %q3, i32 2
  %a = alloca <4 x ptr addrspace(1)>
  store <4 x ptr addrspace(1)> %q, ptr %a
  %b = load <4 x ptr addrspace(1)>, ptr %a
  %same = icmp eq <4 x ptr addrspace(1)> %b, %q3
  %flag = extractelement <4 x i1> %same, i32 3
  %f = zext i1 %flag to i32
  %x = load i32, ptr addrspace(1) %q4
  %r = add i32 %x, %f
  store i32 %r, ptr addrspace(1) %p
  ret void""",
        "ptr addrspace(1) %o, ptr addrspace(1) %o2",
    )
    data = np.arange(32, dtype=np.int32) * 100
    assert np.array_equal(kernels.results(kernel, data), data[(INDEX + 3) & 31] + 1)


MOVES = """declare void @llvm.memmove.p1.p1.i64(ptr addrspace(1), ptr addrspace(1), i64, i1)
declare void @llvm.memcpy.p1.p4.i64(ptr addrspace(1), ptr addrspace(4), i64, i1)
declare void @llvm.memset.p1.i64(ptr addrspace(1), i8, i64, i1)
define spir_kernel void @k(ptr addrspace(1) %d, i64 %to, i64 %from, i64 %n) {{
  %a = getelementptr i8, ptr addrspace(1) %d, i64 %to
  %b = getelementptr i8, ptr addrspace(1) %d, i64 %from
{}
  ret void
}}"""


def _moved(kernel: Any, data: Any, to: int, source: int, count: int) -> None:
    """What both engines leave is what NumPy leaves in `data`."""
    wanted = data.copy()
    wanted[to : to + count] = data[source : source + count].copy()
    for engine in kernels.ENGINES:
        found = data.copy()
        launch = kernels.Launch((1, 1, 1), (1, 1, 1), (found, to, source, count))
        kernels.execute(kernel, launch, engine=engine)
        assert np.array_equal(found, wanted)


@pytest.mark.parametrize("align", [1, 8])
@pytest.mark.parametrize("length", ["i64 %n", "i64 600"])
def test_moves_between_places_that_overlap(align: int, length: str) -> None:
    pointers = f"ptr addrspace(1) align {align} %a, ptr addrspace(1) align {align} %b"
    call = f"  call void @llvm.memmove.p1.p1.i64({pointers}, {length}, i1 false)"
    kernel = kernels.compiled(MOVES.format(call))
    data = np.random.default_rng(0).integers(0, 256, 720).astype(np.uint8)
    for to, source in ((0, 16), (16, 0), (24, 64)):
        for count in (600,) if "600" in length else (0, 1, 7, 133):
            _moved(kernel, data, to, source, count)


def test_copies_and_fills_of_unknown_length() -> None:
    calls = """  %g = addrspacecast ptr addrspace(1) %b to ptr addrspace(4)
  call void @llvm.memcpy.p1.p4.i64(ptr addrspace(1) align 4 %a, ptr addrspace(4) align 4 %g, i64 %n,
    i1 false)
  call void @llvm.memset.p1.i64(ptr addrspace(1) align 8 %b, i8 7, i64 %n, i1 false)"""
    kernel = kernels.compiled(MOVES.format(calls))
    data = np.random.default_rng(0).integers(0, 256, 1000).astype(np.uint8)
    for count in (0, 5, 401):
        wanted = data.copy()
        wanted[:count], wanted[504 : 504 + count] = data[504 : 504 + count], 7
        counts = {}
        for engine in kernels.ENGINES:
            found = data.copy()
            launch = kernels.Launch((1, 1, 1), (1, 1, 1), (found, 0, 504, count))
            trace = kernels.execute(kernel, launch, engine=engine)
            assert np.array_equal(found, wanted)
            counts = {x.opcode: x.thread for x in kernels.instruction_mix(trace).rows}
        assert counts["call llvm.memcpy.p1.p4.i64()"] == 1
        assert counts["call llvm.memset.p1.i64()"] == 1
