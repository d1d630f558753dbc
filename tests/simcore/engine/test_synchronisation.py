"""Barriers and atomics of the engine."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelcast.errors import BarrierError
from kernelcast.simcore.engine import ENGINES, execute
from kernelcast.simcore.engine.reference.atomics import apply_atomic
from kernelcast.traces.trace import Trace

Run = Callable[..., Trace]


@pytest.fixture(autouse=True, params=sorted(ENGINES))
def every_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test runs once with each engine as the one that `execute` takes by default."""
    defaults = {**(execute.__kwdefaults__ or {}), "engine": request.param}
    monkeypatch.setattr(execute, "__kwdefaults__", defaults)


def test_a_barrier_separates_writers_from_readers(run_ptx: Run) -> None:
    out = np.zeros((3, 128), np.uint32)
    body = """
    .shared .align 4 .b8 tile[512];
    mov.u32 %r4, %tid.x; mov.u32 %r6, tile; shl.b32 %r7, %r4, 2; add.u32 %r8, %r6, %r7;
    st.shared.u32 [%r8], %r4; bar.sync 0;
    sub.u32 %r9, 508, %r7; add.u32 %r10, %r6, %r9; ld.shared.u32 %r11, [%r10];
    mov.u32 %r1, %ctaid.x; mad.lo.u32 %r12, %r1, 128, %r4;
    ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r12, 4; add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r11; ret;"""
    trace = run_ptx(body, "u64 out", [out], grid=3, block=128)
    np.testing.assert_array_equal(out, np.broadcast_to(np.arange(128)[::-1], (3, 128)))
    assert trace.stage_warp_issues.shape[0] == 2
    assert set(trace.accesses.stage.tolist()) == {1}


@pytest.mark.parametrize("first", [16, 32, 40])
def test_exited_threads_count_as_arrived(run_ptx: Run, first: int) -> None:
    out = np.zeros(64, np.uint32)
    body = f"""mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, {first}; @%p1 bra END; bar.sync 0;
    ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], 1;
END: ret;"""
    run_ptx(body, "u64 out", [out], block=64)
    assert out.tolist() == [1] * first + [0] * (64 - first)


@pytest.mark.parametrize("first", [16, 32, 40])
@pytest.mark.parametrize("behind", ["ret;", "add.u32 %r1, %r1, 1; ret;"])
def test_threads_that_go_round_a_barrier(run_ptx: Run, first: int, behind: str) -> None:
    body = f"""mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, {first}; @%p1 bra BEHIND; bar.sync 0;
BEHIND: {behind}"""
    with pytest.raises(BarrierError, match="this one went round it") as caught:
        run_ptx(body, "u64 out", [np.zeros(1)], block=64)
    assert f"thread ({first}, 0, 0)" in str(caught.value)


def test_threads_that_do_something_else_instead_of_waiting(run_ptx: Run) -> None:
    body = """mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 32; @%p1 bra ELSE;
    bar.sync 0; bra.uni BOTH;
ELSE: add.u32 %r2, %r1, 1;
BOTH: mul.lo.u32 %r3, %r1, 3; ret;"""
    with pytest.raises(BarrierError, match=r"went round it, thread \(32, 0, 0\)"):
        run_ptx(body, "u64 out", [np.zeros(1)], block=64)


def test_a_barrier_in_a_loop_that_threads_leave_at_different_times(run_ptx: Run) -> None:
    """Warp w returns after w rounds; the others keep meeting at the barrier of the loop."""
    out = np.zeros(96, np.uint32)
    body = """mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; mov.u32 %r9, 0;
    ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
LOOP: setp.ge.u32 %p1, %r9, %r2; @%p1 bra END;
    add.u32 %r9, %r9, 1; st.global.u32 [%rd3], %r9; bar.sync 0; bra.uni LOOP;
END: ret;"""
    run_ptx(body, "u64 out", [out], block=96)
    np.testing.assert_array_equal(out, np.arange(96) // 32)


def test_a_barrier_that_all_threads_skip_together_now_and_then(run_ptx: Run) -> None:
    """Nobody waits in even rounds; thread 5 returns after the first round."""
    out = np.zeros(64, np.uint32)
    body = """mov.u32 %r1, %tid.x; mov.u32 %r9, 0;
    ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
LOOP: and.b32 %r2, %r9, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra BEHIND; bar.sync 0;
BEHIND: add.u32 %r9, %r9, 1; st.global.u32 [%rd3], %r9;
    setp.eq.u32 %p2, %r1, 5; @%p2 bra END;
    setp.lt.u32 %p3, %r9, 6; @%p3 bra LOOP;
END: ret;"""
    run_ptx(body, "u64 out", [out], block=64)
    np.testing.assert_array_equal(out, np.where(np.arange(64) == 5, 1, 6))


def test_barriers_of_different_number_never_meet(run_ptx: Run) -> None:
    body = """
    mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 32; @%p1 bra OTHER;
    bar.sync 0; bra.uni END;
OTHER: bar.sync 1;
END: ret;"""
    with pytest.raises(BarrierError, match="not all threads of the thread block reach") as caught:
        run_ptx(body, "u64 out", [np.zeros(1)], block=64)
    assert "bar.sync" in str(caught.value)


def test_threads_of_a_warp_at_different_barriers(run_ptx: Run) -> None:
    body = """
    mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 16; @%p1 bra LATER;
    bar.sync 0;
LATER: add.u32 %r1, %r1, 1; bar.sync 0; ret;"""
    with pytest.raises(BarrierError, match="not all threads of the warp reach"):
        run_ptx(body, "u64 out", [np.zeros(1)], block=32)


def test_warps_that_pass_a_barrier_by(run_ptx: Run) -> None:
    """One warp waits at the first barrier, the other at the second, which comes after it."""
    body = """
    mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 32; @%p1 bra LATER;
    bar.sync 0;
LATER: add.u32 %r1, %r1, 1; bar.sync 0; ret;"""
    with pytest.raises(BarrierError, match="passed it by"):
        run_ptx(body, "u64 out", [np.zeros(1)], block=64)


def test_barriers_in_two_arms_of_a_branch_meet(run_ptx: Run) -> None:
    out = np.zeros(64, np.uint32)
    body = """
    .shared .align 4 .b8 tile[256]; mov.u32 %r6, tile;
    mov.u32 %r1, %tid.x; shl.b32 %r7, %r1, 2; add.u32 %r8, %r6, %r7; st.shared.u32 [%r8], %r1;
    setp.ge.u32 %p1, %r1, 32; @%p1 bra OTHER;
    bar.sync 0; bra.uni BOTH;
OTHER: bar.sync 0;
BOTH: sub.u32 %r9, 252, %r7; add.u32 %r10, %r6, %r9; ld.shared.u32 %r11, [%r10];
    ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r11; ret;"""
    run_ptx(body, "u64 out", [out], block=64)
    np.testing.assert_array_equal(out, np.arange(64)[::-1])


def test_histogram(run_ptx: Run) -> None:
    data = np.random.default_rng(2).integers(0, 10, 1000).astype(np.uint32)
    bins = np.zeros(10, np.uint32)
    body = """
    mov.u32 %r1, %ctaid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, 100, %r3;
    ld.param.u64 %rd1, [data]; mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r5, [%rd3];
    ld.param.u64 %rd4, [bins]; mul.wide.u32 %rd5, %r5, 4; add.s64 %rd6, %rd4, %rd5;
    atom.global.add.u32 %r6, [%rd6], 1; ret;"""
    run_ptx(body, "u64 bins, u64 data", [bins, data], grid=10, block=100)
    np.testing.assert_array_equal(bins, np.bincount(data, minlength=10))


def test_a_spin_lock_makes_progress(run_ptx: Run) -> None:
    """Every lane takes a lock in turn; the holder leaves the loop while others of its warp spin."""
    lock, total = np.zeros(1, np.uint32), np.zeros(1, np.uint32)
    body = """
    ld.param.u64 %rd1, [lock]; ld.param.u64 %rd2, [total]; mov.u32 %r9, 0;
TRY: atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra TRY;
    ld.volatile.global.u32 %r2, [%rd2]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%rd2], %r2;
    membar.gl; atom.global.exch.b32 %r3, [%rd1], 0; ret;"""
    run_ptx(body, "u64 lock, u64 total", [lock, total], block=64, grid=2)
    assert total[0] == 128
    assert lock[0] == 0


def python_atomic(operation: str, old: int, operands: tuple[int, ...]) -> int:
    """The definition, one value at a time."""
    first = operands[0]
    return {
        "add": (old + first) % 2**32,
        "min": min(old, first),
        "max": max(old, first),
        "and": old & first,
        "or": old | first,
        "xor": old ^ first,
        "exch": first,
        "inc": 0 if old >= first else old + 1,
        "dec": first if old == 0 or old > first else old - 1,
        "cas": operands[-1] if old == first else old,
    }[operation]


@pytest.mark.parametrize(
    "operation", ["add", "min", "max", "and", "or", "xor", "exch", "inc", "dec", "cas"]
)
@pytest.mark.parametrize("places", [1, 3, 50])
def test_atomics_act_one_lane_after_another(operation: str, places: int) -> None:
    random = np.random.default_rng(3)
    memory = random.integers(0, 6, places).astype(np.uint32)
    element = random.integers(0, places, 96)
    operands = tuple(
        random.integers(0, 6, 96).astype(np.uint32) for _ in range(2 if operation == "cas" else 1)
    )
    expected, returned = memory.tolist(), []
    for lane, where in enumerate(element):
        returned.append(expected[where])
        values = tuple(int(operand[lane]) for operand in operands)
        expected[where] = python_atomic(operation, expected[where], values)
    before = memory.copy()
    old, changed = apply_atomic(memory, element, operation, operands)
    assert old.tolist() == returned
    assert memory.tolist() == expected
    assert changed == (before.tolist() != expected)


def test_signed_and_float_atomics(run_ptx: Run) -> None:
    low, total = np.array([5], np.int32), np.zeros(1, np.float32)
    body = """
    mov.u32 %r1, %tid.x; sub.s32 %r2, 10, %r1; ld.param.u64 %rd1, [low];
    atom.global.min.s32 %r3, [%rd1], %r2;
    ld.param.u64 %rd2, [total]; cvt.rn.f32.s32 %f1, %r2; red.global.add.f32 [%rd2], %f1; ret;"""
    run_ptx(body, "u64 low, u64 total", [low, total])
    assert low[0] == 10 - 31
    assert total[0] == sum(10 - i for i in range(32))


def test_shared_atomics_return_a_permutation(run_ptx: Run) -> None:
    out = np.zeros((2, 64), np.uint32)
    body = """
    .shared .align 4 .u32 next;
    mov.u32 %r4, %tid.x; setp.ne.u32 %p1, %r4, 0; @!%p1 st.shared.u32 [next], 0; bar.sync 0;
    atom.shared.add.u32 %r5, [next], 1;
    mov.u32 %r1, %ctaid.x; mad.lo.u32 %r6, %r1, 64, %r5;
    ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r6, 4; add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r4; ret;"""
    run_ptx(body, "u64 out", [out], grid=2, block=64)
    for row in out:
        assert sorted(row.tolist()) == list(range(64))


def test_barriers_in_a_loop_that_lanes_may_leave_are_passed_natively(
    run_ptx: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All lanes go round equally often, but the code cannot know: the worker is not asked."""
    from kernelcast.simcore.engine.jit.runtime import barrier_check

    def refuse(*_: object) -> None:
        raise AssertionError("asked")

    monkeypatch.setattr(barrier_check.BarrierCheck, "check", refuse)
    body = """.shared .align 4 .b8 sums[512]; mov.u32 %r1, %tid.x; mov.u32 %r2, sums;
    mad.lo.u32 %r2, %r1, 4, %r2; ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd1, %rd1, %rd2; mov.u32 %r3, %r1; mov.u32 %r4, 0;
L:  st.shared.u32 [%r2], %r3; bar.sync 0; xor.b32 %r5, %r1, 1; mov.u32 %r6, sums;
    mad.lo.u32 %r6, %r5, 4, %r6; ld.shared.u32 %r7, [%r6]; add.u32 %r4, %r4, %r7; bar.sync 0;
    add.u32 %r3, %r3, 128; setp.lt.u32 %p1, %r3, 640; @%p1 bra L;
    st.global.u32 [%rd1], %r4; ret;"""
    out = np.zeros(128, np.uint32)
    run_ptx(body, "u64 out", [out], block=128)
    assert out.tolist() == [sum((i ^ 1) + 128 * k for k in range(5)) for i in range(128)]
