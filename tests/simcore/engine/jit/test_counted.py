"""Barriers for a part of the thread block on the JIT engine; oracles are closed forms.
engine.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from kernelcast.errors import BarrierError
from kernelcast.simcore.engine import execute
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Argument, Launch
from kernelcast.traces.trace import Trace

Compile = Callable[..., Kernel]

THREAD = """
    .shared .align 4 .b8 tile[4096]; mov.u32 %r1, %tid.x; mov.u32 %r2, tile; shr.u32 %r3, %r1, 5;
    and.b32 %r4, %r1, 31; ld.param.u64 %rd1, [out]; mov.u32 %r20, %ctaid.x;
    mov.u32 %r21, %ntid.x; mad.lo.u32 %r21, %r20, %r21, %r1;
    mul.wide.u32 %rd2, %r21, 4; add.s64 %rd1, %rd1, %rd2; shl.b32 %r5, %r4, 2;
    add.u32 %r5, %r5, %r2;"""


def run_both(
    kernel: Kernel,
    make: Callable[[], list[Argument]],
    threads: int,
    *,
    grid: int = 1,
    width: int = 32,
) -> tuple[list[list[Argument]], list[Trace]]:
    """What both engines leave in the arguments, and their traces."""
    left, traces = [], []
    for engine in ("reference", "jit"):
        arguments = make()
        launch = Launch((grid, 1, 1), (threads, 1, 1), tuple(arguments))
        traces.append(execute(kernel, launch, engine=engine, warp_width=width))
        left.append(arguments)
    assert traces[1].engine == "jit"
    return left, traces


def assert_same_counts(one: Trace, other: Trace) -> None:
    np.testing.assert_array_equal(one.stage_warp_issues, other.stage_warp_issues)
    np.testing.assert_array_equal(one.warp_time, other.warp_time)
    np.testing.assert_array_equal(one.classes.warp_issues, other.classes.warp_issues)
    np.testing.assert_array_equal(one.classes.lane_executions, other.classes.lane_executions)


def pipeline(rounds: int) -> str:
    """Warp 0 fills a slot when it is empty, warp 1 adds up what comes; barriers 1 and 2."""
    return f"""{THREAD} mov.u32 %r6, 0; mov.u32 %r7, 0;
    setp.ne.u32 %p1, %r3, 0; @%p1 bra CONSUMER;
PRODUCER: setp.eq.u32 %p2, %r6, 0; @%p2 bra FREE; bar.sync 2, 64;
FREE: mad.lo.u32 %r8, %r6, 100, %r4; st.shared.u32 [%r5], %r8; bar.arrive 1, 64;
    add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, {rounds}; @%p3 bra PRODUCER;
    bar.sync 2, 64; ret;
CONSUMER: bar.sync 1, 64; ld.shared.u32 %r8, [%r5]; add.u32 %r7, %r7, %r8; bar.arrive 2, 64;
    add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, {rounds}; @%p3 bra CONSUMER;
    st.global.u32 [%rd1], %r7; ret;"""


@pytest.mark.parametrize("rounds", [1, 2, 25])
@pytest.mark.parametrize("width", [32, 64])
def test_producer_and_consumer(compile_ptx: Compile, rounds: int, width: int) -> None:
    """More rounds than a worker has stages at first. Warps of 64 hold both sides."""
    kernel = compile_ptx(pipeline(rounds), "u64 out")
    left, traces = run_both(kernel, lambda: [np.zeros((3, 64), np.uint32)], 64, grid=3, width=width)
    total = sum(100 * i for i in range(rounds))
    expected = np.zeros((3, 64), np.uint32)
    expected[:, 32:] = total + rounds * np.arange(32)
    for arguments in left:
        np.testing.assert_array_equal(arguments[0], expected)
    assert_same_counts(*traces)


@pytest.mark.parametrize("seed", range(6))
def test_groups_of_warps_with_barriers_of_their_own(compile_ptx: Compile, seed: int) -> None:
    """Warps fall into groups at random; each group passes a value round as often as it likes."""
    random, warps = Random(seed), 8
    group = [random.randrange(3) for _ in range(warps)]
    rounds = [random.randrange(1, 6) for _ in range(3)]
    members = [[w for w in range(warps) if group[w] == g] for g in range(3)]
    follower = [
        members[group[w]][(members[group[w]].index(w) + 1) % len(members[group[w]])]
        for w in range(warps)
    ]
    table = np.array(
        [
            [group[w] + 4, 32 * len(members[group[w]]), rounds[group[w]], follower[w]]
            for w in range(warps)
        ],
        np.uint32,
    )
    body = f"""{THREAD} ld.param.u64 %rd3, [table]; mul.wide.u32 %rd4, %r3, 16;
    add.s64 %rd3, %rd3, %rd4; ld.global.u32 %r10, [%rd3]; ld.global.u32 %r11, [%rd3+4];
    ld.global.u32 %r12, [%rd3+8]; ld.global.u32 %r13, [%rd3+12];
    shl.b32 %r14, %r3, 7; add.u32 %r14, %r14, %r5; shl.b32 %r15, %r13, 7; add.u32 %r15, %r15, %r5;
    mov.u32 %r16, %r1;
AGAIN: st.shared.u32 [%r14], %r16; bar.sync %r10, %r11; ld.shared.u32 %r16, [%r15];
    bar.sync %r10, %r11; add.u32 %r16, %r16, 1000; sub.u32 %r12, %r12, 1;
    setp.ne.u32 %p1, %r12, 0; @%p1 bra AGAIN; st.global.u32 [%rd1], %r16; ret;"""
    kernel = compile_ptx(body, "u64 out, u64 table")
    left, traces = run_both(kernel, lambda: [np.zeros(256, np.uint32), table], 256)
    expected = []
    for warp in range(warps):
        source = warp
        for _ in range(rounds[group[warp]]):
            source = follower[source]
        expected += [32 * source + i + 1000 * rounds[group[warp]] for i in range(32)]
    for arguments in left:
        assert np.asarray(arguments[0]).tolist() == expected
    assert_same_counts(*traces)


def test_half_warps_at_different_barriers(compile_ptx: Compile) -> None:
    """Each half meets the other warp's same half; a barrier counts a warp as all its threads."""
    body = f"""{THREAD} shr.u32 %r6, %r4, 4; add.u32 %r6, %r6, 3; xor.b32 %r7, %r3, 1;
    shl.b32 %r8, %r3, 7; add.u32 %r8, %r8, %r5; shl.b32 %r9, %r7, 7; add.u32 %r9, %r9, %r5;
    st.shared.u32 [%r8], %r1; barrier.sync %r6, 64; ld.shared.u32 %r10, [%r9];
    st.global.u32 [%rd1], %r10; ret;"""
    left, traces = run_both(compile_ptx(body, "u64 out"), lambda: [np.zeros(64, np.uint32)], 64)
    for arguments in left:
        assert np.asarray(arguments[0]).tolist() == [i ^ 32 for i in range(64)]
    assert_same_counts(*traces)


def test_warps_that_arrive_too_seldom(compile_ptx: Compile) -> None:
    """Both engines say how many came, those included that did not wait."""
    body = f"""{THREAD} setp.eq.u32 %p1, %r3, 0; @%p1 bra WAIT; bar.arrive 5, 128; ret;
WAIT: bar.sync 5, 128; ret;"""
    launch = Launch((1, 1, 1), (96, 1, 1), (np.zeros(96, np.uint32),))
    texts = []
    for engine in ("reference", "jit"):
        with pytest.raises(BarrierError, match="96 of 128 at barrier 5") as caught:
            execute(compile_ptx(body, "u64 out"), launch, engine=engine)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


def test_a_lock_between_counted_barriers(compile_ptx: Compile) -> None:
    """Warps spin for a lock while others of their pair wait at the pair's barrier."""
    body = f"""{THREAD} ld.param.u64 %rd3, [state]; shr.u32 %r6, %r3, 1; add.u32 %r6, %r6, 1;
    bar.sync %r6, 64; setp.ne.u32 %p1, %r4, 0; @%p1 bra JOIN;
TRY: atom.global.cas.b32 %r7, [%rd3], 0, 1; setp.ne.u32 %p2, %r7, 0; @%p2 bra TRY;
    ld.volatile.global.u32 %r8, [%rd3+4]; add.u32 %r8, %r8, 1;
    st.volatile.global.u32 [%rd3+4], %r8; membar.gl; atom.global.exch.b32 %r9, [%rd3], 0;
JOIN: bar.sync %r6, 64; ret;"""
    kernel = compile_ptx(body, "u64 out, u64 state")
    left, _ = run_both(
        kernel, lambda: [np.zeros(256, np.uint32), np.zeros(2, np.uint32)], 128, grid=2
    )
    for arguments in left:
        assert np.asarray(arguments[1]).tolist() == [0, 8]
