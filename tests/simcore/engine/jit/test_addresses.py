"""Addresses that wrap around, and accesses that need more room than others, as compiled code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.errors import ExecutionError, MemoryAccessError, PtxSyntaxError
from kernelcast.ptx_frontend.llvm import read_llvm
from kernelcast.simcore.engine import execute
from kernelcast.simcore.engine.jit.analysis.check_groups import stretches
from kernelcast.simcore.engine.jit.runtime import worker
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch
from kernelcast.traces.trace import Trace
from tests.simcore.guarded_memory import GuardedMemory

Compile = Callable[..., Kernel]
ENGINES = ("reference", "jit")
HALF = 1 << 63
# The base lies half of the address space before `out`. Seen from the lowest of them the accesses
# and all lanes reach round the whole address space, and the one in the middle is anywhere.
AROUND = (
    "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;"
    f"add.u64 %rd3, %rd1, %rd2; add.s64 %rd4, %rd3, -{HALF};"
    + "".join(
        f"st.global.u32 [%rd4+{far}], 7;" for far in (-HALF, 4096 - HALF, HALF - 4, 8192 - HALF)
    )
    + "ret;"
)
AROUND_IR = f"""target triple = "spir64-unknown-unknown"
declare spir_func i64 @_Z12get_local_idj(i32)
define spir_kernel void @k(ptr addrspace(1) %out) {{
  %lane = call spir_func i64 @_Z12get_local_idj(i32 0)
  %mine = getelementptr i32, ptr addrspace(1) %out, i64 %lane
  %base = getelementptr i8, ptr addrspace(1) %mine, i64 {-HALF}
  %p = getelementptr i8, ptr addrspace(1) %base, i64 {-HALF}
  %q = getelementptr i8, ptr addrspace(1) %base, i64 {-HALF + 4096}
  %r = getelementptr i8, ptr addrspace(1) %base, i64 {HALF - 4}
  %one = load i32, ptr addrspace(1) %p
  store i32 %one, ptr addrspace(1) %q
  %two = load i32, ptr addrspace(1) %r
  store i32 %two, ptr addrspace(1) %p
  ret void
}}
"""


def _messages(
    kernel: Kernel, arguments: Callable[[], tuple[Any, ...]], threads: int = 32
) -> set[str]:
    """What the engines say."""
    found = set()
    for engine in ENGINES:
        with pytest.raises(MemoryAccessError) as caught:
            execute(kernel, Launch((1, 1, 1), (threads, 1, 1), arguments()), engine=engine)
        found.add(str(caught.value))
    return found


@pytest.mark.parametrize("language", ["ptx", "ir"])
def test_a_group_that_reaches_round_the_address_space_is_not_good_as_a_whole(
    compile_ptx: Compile, language: str
) -> None:
    kernel = compile_ptx(AROUND)
    if language == "ir":
        kernel = read_llvm(AROUND_IR.encode(), "k.ll", is_text=True).kernels["k"]
    memory = GuardedMemory()
    messages = _messages(kernel, lambda: (memory.take(256).view(np.uint32),))
    assert len(messages) == 1
    assert "store of 4 bytes at address 0x7f0000001000" in messages.pop()
    assert memory.release()


def test_far_accesses_are_in_groups_of_their_own(compile_ptx: Compile) -> None:
    kernel = compile_ptx(AROUND)
    groups = [
        sorted(access.address.offset for access in group.accesses)
        for block in kernel.blocks
        for stretch in stretches(block, lambda access: access.address.space.value == "global")
        for group in stretch.groups
    ]
    assert groups == [[-HALF, -HALF + 4096, -HALF + 8192], [HALF - 4]]


@pytest.mark.parametrize("offset", [1 << 64, -HALF - 1, 1 << 70])
def test_offsets_of_more_than_64_bits_are_refused(compile_ptx: Compile, offset: int) -> None:
    with pytest.raises(PtxSyntaxError, match=f"offset {offset} does not fit 64 bits"):
        compile_ptx(f"ld.param.u64 %rd1, [out]; ld.global.u32 %r1, [%rd1+{offset}]; ret;")


@pytest.mark.parametrize("offset", [HALF, HALF - 4, (1 << 64) - 4, -HALF, 1 << 32, (1 << 32) - 4])
@pytest.mark.parametrize("base", ["%rd1", "%r1", "tile"])
def test_offsets_wrap_around_on_both_engines(compile_ptx: Compile, base: str, offset: int) -> None:
    """An address of 32 bits keeps the low ones of its sum."""
    start = ".shared .align 16 .b8 tile[64]; mov.u64 %rd1, tile; mov.u32 %r1, tile;"
    kernel = compile_ptx(f"{start} ld.shared.v4.u32 {{%r2,%r3,%r4,%r5}}, [{base}+{offset}]; ret;")

    def arguments() -> tuple[Any, ...]:
        return (np.zeros(8, np.uint32),)

    if base == "%r1" and offset % (1 << 32) == 0:
        for engine in ENGINES:
            execute(kernel, Launch((1, 1, 1), (32, 1, 1), arguments()), engine=engine)
    else:
        assert len(_messages(kernel, arguments)) == 1


def test_lanes_of_short_addresses_that_wrap_around_are_found(run_ptx: Callable[..., Trace]) -> None:
    """Lane 0 lies 2 GB and more away but takes no part; lane 1 is at the start."""
    results = []
    for engine in ENGINES:
        out = np.zeros(32, np.uint32)
        body = """.shared .align 4 .b8 tile[64]; mov.u32 %r1, %tid.x; mov.u32 %r2, tile;
        mad.lo.u32 %r3, %r1, 0xC0000000, 0x40000000; add.u32 %r3, %r3, %r2; mov.u32 %r4, 7;
        setp.eq.u32 %p1, %r1, 1; @%p1 st.shared.u32 [%r3], %r4; mov.u32 %r5, 0;
        @%p1 ld.shared.u32 %r5, [%r3]; ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 4;
        add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r5; ret;"""
        run_ptx(body, "u64 out", [out])
        results.append((engine, out.tolist()))
    assert results[0][1] == results[1][1] == [0, 7] + [0] * 30


def test_vectors_of_256_bits_are_served_lane_by_lane(compile_ptx: Compile) -> None:
    """Lanes in two buffers: no check of one buffer holds for all of them."""
    parts = "{%r10,%r11,%r12,%r13,%r14,%r15,%r16,%r17}"
    kernel = compile_ptx(
        f"""ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [other]; mov.u32 %r1, %tid.x;
        setp.gt.u32 %p1, %r1, 15; selp.u64 %rd3, %rd2, %rd1, %p1; mul.wide.u32 %rd4, %r1, 32;
        add.s64 %rd3, %rd3, %rd4; ld.global.v8.b32 {parts}, [%rd3]; add.u32 %r10, %r10, 1;
        st.global.v8.b32 [%rd3], {parts}; ret;""",
        "u64 out, u64 other",
        target="sm_100",
    )
    expected = np.arange(256, dtype=np.uint32)
    one, other = expected.copy(), expected + 1000
    execute(kernel, Launch((1, 1, 1), (32, 1, 1), (one, other)), engine="jit")
    changed = np.where(expected % 8 == 0, 1, 0).astype(np.uint32)
    changed[128:] = 0
    np.testing.assert_array_equal(one, expected + changed)
    later = np.where(expected % 8 == 0, 1, 0).astype(np.uint32)
    later[:128] = 0
    np.testing.assert_array_equal(other, expected + 1000 + later)


def test_the_records_of_a_basic_block_fit_the_ring(
    compile_ptx: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small ring stands for a usual one with a basic block of some thousand accesses."""
    monkeypatch.setattr(worker, "_RING_BYTES", 1 << 9)
    memory = GuardedMemory()

    def guarded(size: int) -> npt.NDArray[np.uint8]:
        found: npt.NDArray[np.uint8] = memory.take(max(64, size), granularity=64)
        return found

    monkeypatch.setattr(worker, "aligned", guarded)
    loads = "".join(f"ld.global.u32 %r2, [%rd3+{4 * n}];" for n in range(60))
    kernel = compile_ptx(
        "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;"
        f"add.s64 %rd3, %rd1, %rd2; {loads} ret;"
    )
    out = np.zeros(92, np.uint32)
    traces = [
        execute(kernel, Launch((2, 1, 1), (32, 1, 1), (out,)), engine=engine) for engine in ENGINES
    ]
    assert [len(trace.accesses) for trace in traces] == [120, 120]
    assert memory.release()


@pytest.mark.parametrize("access", ["st.u32 [%rd1], 5", "red.add.u32 [%rd1], 5"])
@pytest.mark.parametrize("space", ["const", "param"])
def test_what_is_constant_is_not_written_through_generic_addresses(
    compile_ptx: Compile, access: str, space: str
) -> None:
    start = {"const": "mov.u64 %rd1, fixed; cvta.const.u64 %rd1, %rd1;"}.get(
        space, f"mov.u64 %rd1, {4 << 40};"
    )
    kernel = compile_ptx(
        f"{start} mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 2; @%p1 {access}; ret;",
        module=".const .align 4 .u32 fixed[4] = {1, 2, 3, 4};",
    )
    messages = _messages(kernel, lambda: (np.zeros(8, np.uint32),))
    assert len(messages) == 1
    assert "store to a read-only array, thread (3, 0, 0)" in messages.pop()


def test_no_overflow_warning_for_single_addresses(compile_ptx: Compile) -> None:
    kernel = compile_ptx(f"mov.u64 %rd1, {HALF - 4}; ld.global.u32 %r1, [%rd1+{HALF - 4}]; ret;")
    with np.errstate(over="raise"), pytest.raises(ExecutionError):
        execute(kernel, Launch((1, 1, 1), (1, 1, 1), (np.zeros(8),)), engine="reference")
