"""Barriers for a part of the thread block, votes at barriers, branches by number; both engines."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from kernelcast.errors import BarrierError, ExecutionError
from kernelcast.simcore.engine import ENGINES, execute
from kernelcast.traces.trace import Trace

Run = Callable[..., Trace]


@pytest.fixture(autouse=True, params=sorted(ENGINES))
def every_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test runs once with each engine as the one that `execute` takes by default."""
    defaults = {**(execute.__kwdefaults__ or {}), "engine": request.param}
    monkeypatch.setattr(execute, "__kwdefaults__", defaults)


THREAD = """
    mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd1, %rd1, %rd2; shr.u32 %r2, %r1, 5;"""
REVERSED = """
    .shared .align 4 .b8 tile[1024]; mov.u32 %r3, tile; shl.b32 %r4, %r1, 2;
    add.u32 %r4, %r4, %r3;"""


@pytest.mark.parametrize("barrier", ["bar.sync", "barrier.sync", "barrier.cta.sync.aligned"])
def test_each_pair_of_warps_has_a_barrier_of_its_own(run_ptx: Run, barrier: str) -> None:
    """Threads 0..63 use barrier 1 once, threads 64..127 barrier 2 three times."""
    body = f"""{THREAD}{REVERSED} shr.u32 %r5, %r1, 6; add.u32 %r6, %r5, 1; xor.b32 %r7, %r1, 63;
    shl.b32 %r7, %r7, 2; add.u32 %r7, %r7, %r3; mov.u32 %r9, %r1;
    mul.lo.u32 %r10, %r5, 2;
AGAIN: st.shared.u32 [%r4], %r9; {barrier} %r6, 64; ld.shared.u32 %r9, [%r7];
    {barrier} %r6, 64; add.u32 %r9, %r9, 1000;
    setp.eq.u32 %p1, %r10, 0; sub.u32 %r10, %r10, 1; @!%p1 bra AGAIN;
    st.global.u32 [%rd1], %r9; ret;"""
    out = np.zeros(128, np.uint32)
    run_ptx(body, "u64 out", [out], block=128)
    first = [1000 + (63 ^ i) for i in range(64)]
    assert out.tolist() == [*first, *(3000 + (63 ^ i) for i in range(64, 128))]


def test_producers_go_on_and_consumers_wait(run_ptx: Run) -> None:
    """Warp 0 fills two halves of a buffer, warp 1 reads each when it is full."""
    body = f"""{THREAD}{REVERSED} and.b32 %r5, %r1, 31; shl.b32 %r5, %r5, 2; add.u32 %r5, %r5, %r3;
    setp.ne.u32 %p1, %r2, 0; @%p1 bra READ;
    st.shared.u32 [%r5], %r1; bar.arrive 1, 64; add.u32 %r6, %r1, 100;
    st.shared.u32 [%r5+128], %r6; barrier.arrive 2, 64; st.global.u32 [%rd1], 5; ret;
READ: bar.sync 1, 64; ld.shared.u32 %r7, [%r5]; bar.sync 2, 64; ld.shared.u32 %r8, [%r5+128];
    add.u32 %r7, %r7, %r8; st.global.u32 [%rd1], %r7; ret;"""
    out = np.zeros(64, np.uint32)
    run_ptx(body, "u64 out", [out], block=64)
    assert out.tolist() == [5] * 32 + [2 * i + 100 for i in range(32)]


def test_too_few_threads_at_a_counted_barrier(run_ptx: Run) -> None:
    body = f"{THREAD} setp.ne.u32 %p1, %r2, 0; @%p1 ret; bar.sync 3, 64; ret;"
    with pytest.raises(BarrierError, match=r"too few threads .* 32 of 64 at barrier 3"):
        run_ptx(body, "u64 out", [np.zeros(1)], block=96)


def test_barriers_have_small_numbers(run_ptx: Run) -> None:
    body = f"{THREAD} add.u32 %r3, %r2, 15; bar.sync %r3, 32; ret;"
    with pytest.raises(ExecutionError, match="from 0 to 15, not 16"):
        run_ptx(body, "u64 out", [np.zeros(1)], block=64)


@pytest.mark.parametrize("threads", [64, 128])
def test_a_barrier_that_names_its_count_stays_with_the_engine(run_ptx: Run, threads: int) -> None:
    """All threads come, be they as many as the count says or more."""
    trace = run_ptx(f"{THREAD} bar.sync 1, 64; ret;", "u64 out", [np.zeros(1)], block=threads)
    assert trace.engine == (execute.__kwdefaults__ or {})["engine"]
    assert len(trace.stage_warp_issues) == 2


@pytest.mark.parametrize(
    ("instruction", "wanted"),
    [
        ("bar.red.popc.u32 %r7, 0, %p1", sum),
        ("barrier.cta.red.popc.aligned.u32 %r7, 0, !%p1", lambda flags: len(flags) - sum(flags)),
        ("bar.red.and.pred %p2, 0, %p1; selp.u32 %r7, 1, 0, %p2", all),
        ("bar.red.or.pred %p2, 0, %p1; selp.u32 %r7, 1, 0, %p2", any),
    ],
)
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_votes_at_barriers(
    run_ptx: Run, instruction: str, wanted: Callable[[list[bool]], int], share: float
) -> None:
    """Three rounds with other flags in each; the last thread block has a partial warp."""
    rounds, threads, blocks = 3, 80, 2
    random = Random(instruction)
    flags = np.array(
        [[random.random() < share for _ in range(threads * rounds)] for _ in range(blocks)]
    )
    body = f"""mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, 0;
    ld.param.u64 %rd1, [data]; mul.wide.u32 %rd3, %r2, {threads * rounds}; add.s64 %rd1, %rd1, %rd3;
    cvt.u64.u32 %rd3, %r1; add.s64 %rd1, %rd1, %rd3;
    ld.param.u64 %rd2, [out]; mad.lo.u32 %r4, %r2, {threads * rounds}, %r1;
    mul.wide.u32 %rd4, %r4, 4; add.s64 %rd2, %rd2, %rd4;
AGAIN: ld.global.u8 %r5, [%rd1]; setp.ne.u32 %p1, %r5, 0;
    {instruction};
    st.global.u32 [%rd2], %r7; add.s64 %rd1, %rd1, {threads}; add.s64 %rd2, %rd2, {4 * threads};
    add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, {rounds}; @%p3 bra AGAIN; ret;"""
    out = np.zeros((blocks, rounds, threads), np.uint32)
    data = flags.astype(np.uint8)
    run_ptx(body, "u64 data, u64 out", [data, out], grid=blocks, block=threads)
    for block in range(blocks):
        for turn, row in enumerate(flags[block].reshape(rounds, threads).tolist()):
            assert out[block, turn].tolist() == [int(wanted(row))] * threads


@pytest.mark.parametrize(
    ("instruction", "wanted"),
    [
        ("bar.red.popc.u32 %r7, {at}, %p1", sum),
        ("barrier.cta.red.popc.u32 %r7, {at}, !%p1", lambda flags: len(flags) - sum(flags)),
        ("bar.red.and.pred %p2, {at}, %p1; selp.u32 %r7, 1, 0, %p2", all),
        ("bar.red.or.pred %p2, {at}, %p1; selp.u32 %r7, 1, 0, %p2", any),
    ],
)
@pytest.mark.parametrize("at", ["%r8, 64", "%r8, %r9"])
def test_votes_of_a_part(
    run_ptx: Run, instruction: str, wanted: Callable[[list[bool]], int], at: str
) -> None:
    """Each pair of warps votes at its own barrier, as often as it has rounds: five and two."""
    random = Random(instruction)
    flags = np.array([random.random() < 0.95 for _ in range(5 * 128)])
    body = f"""{THREAD} ld.param.u64 %rd3, [data]; cvt.u64.u32 %rd4, %r1; add.s64 %rd3, %rd3, %rd4;
    shr.u32 %r5, %r1, 6; add.u32 %r8, %r5, 3; mov.u32 %r9, 64; mad.lo.u32 %r6, %r5, -3, 5;
AGAIN: ld.global.u8 %r3, [%rd3]; setp.ne.u32 %p1, %r3, 0;
    {instruction.format(at=at)};
    st.global.u32 [%rd1], %r7; add.s64 %rd3, %rd3, 128; add.s64 %rd1, %rd1, 512;
    sub.u32 %r6, %r6, 1; setp.ne.u32 %p3, %r6, 0; @%p3 bra AGAIN; ret;"""
    out = np.full((5, 2, 64), 99, np.uint32)
    trace = run_ptx(body, "u64 out, u64 data", [out, flags.astype(np.uint8)], block=128)
    for turn, halves in enumerate(flags.reshape(5, 2, 64).tolist()):
        for half, row in enumerate(halves):
            expected = int(wanted(row)) if turn < (5, 2)[half] else 99
            assert out[turn, half].tolist() == [expected] * 64
    assert not any("atom" in r.mnemonic for r in trace.instructions)


def test_votes_of_all_at_a_barrier_whose_number_is_computed(run_ptx: Run) -> None:
    body = f"""{THREAD} and.b32 %r3, %r2, 0; add.u32 %r3, %r3, 7; setp.lt.u32 %p1, %r1, 70;
    bar.red.popc.u32 %r4, %r3, %p1; st.global.u32 [%rd1], %r4; ret;"""
    out = np.zeros(80, np.uint32)
    run_ptx(body, "u64 out", [out], block=80)
    assert out.tolist() == [70] * 80


def test_branches_by_number(run_ptx: Run) -> None:
    body = f"""{THREAD} rem.u32 %r3, %r1, 4;
    LIST: .branchtargets ZERO, ONE, TWO, THREE;
    brx.idx %r3, LIST;
ZERO: mov.u32 %r4, 10; bra END;
TWO: mov.u32 %r4, 30; bra END;
ONE: mov.u32 %r4, 20; bra END;
THREE: mov.u32 %r4, 40;
END: st.global.u32 [%rd1], %r4; ret;"""
    out = np.zeros(32, np.uint32)
    run_ptx(body, "u64 out", [out])
    assert out.tolist() == [10, 20, 30, 40] * 8


def test_operations_without_effect_are_counted(run_ptx: Run) -> None:
    body = f"""{THREAD} nanosleep.u32 20; griddepcontrol.wait; griddepcontrol.launch_dependents;
    prefetch.global.L2 [%rd1]; prefetchu.L1 [%rd1]; discard.global.L2 [%rd1], 128;
    applypriority.global.L2::evict_normal [%rd1], 128; fence.proxy.async; membar.sys;
    fence.acq_rel.gpu; fence.sc.cta; fence.acquire.sys; ret;"""
    trace = run_ptx(body, "u64 out", [np.zeros(64, np.uint32)])
    assert sum(row.kind == "fence" for row in trace.instructions) == 12
