"""Masks, reconvergence, guards and limits of the engine, against closed forms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelcast.errors import AssertionTriggered, LimitExceeded
from kernelcast.simcore.engine import ENGINES, execute
from kernelcast.simcore.launch.launch import Limits
from kernelcast.traces.trace import Trace

Run = Callable[..., Trace]


@pytest.fixture(autouse=True, params=sorted(ENGINES))
def every_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test runs once with each engine as the one that `execute` takes by default."""
    defaults = {**(execute.__kwdefaults__ or {}), "engine": request.param}
    monkeypatch.setattr(execute, "__kwdefaults__", defaults)


GLOBAL_INDEX = """
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
"""
STORE_R5 = """
    ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r5;
"""


def issues_of(trace: Trace, prefix: str) -> int:
    warps, _ = trace.classes.totals()
    return sum(int(warps[row.pc]) for row in trace.instructions if row.mnemonic.startswith(prefix))


def lanes_of(trace: Trace, prefix: str) -> int:
    _, lanes = trace.classes.totals()
    return sum(int(lanes[row.pc]) for row in trace.instructions if row.mnemonic.startswith(prefix))


def test_every_thread_of_a_3d_launch_runs_once(run_ptx: Run) -> None:
    out = np.zeros((2 * 3 * 2, 5 * 3 * 2), np.uint32)
    body = (
        """
    mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z;
    mov.u32 %r6, %ntid.x; mov.u32 %r7, %ntid.y;
    mad.lo.u32 %r8, %r3, %r7, %r2; mad.lo.u32 %r8, %r8, %r6, %r1;
    mov.u32 %r9, %ctaid.x; mov.u32 %r10, %ctaid.y; mov.u32 %r11, %ctaid.z;
    mov.u32 %r12, %nctaid.x; mov.u32 %r13, %nctaid.y;
    mad.lo.u32 %r14, %r11, %r13, %r10; mad.lo.u32 %r14, %r14, %r12, %r9;
    mad.lo.u32 %r4, %r14, 30, %r8;
    shl.b32 %r5, %r1, 4; add.u32 %r5, %r5, %r2; shl.b32 %r5, %r5, 4; add.u32 %r5, %r5, %r3;
    shl.b32 %r5, %r5, 4; add.u32 %r5, %r5, %r9; shl.b32 %r5, %r5, 4; add.u32 %r5, %r5, %r10;
    shl.b32 %r5, %r5, 4; add.u32 %r5, %r5, %r11;
    """
        + STORE_R5
        + "ret;"
    )
    run_ptx(body, "u64 out", [out], grid=(2, 3, 2), block=(5, 3, 2))
    for (bz, by, bx), row in zip(np.ndindex(2, 3, 2), out, strict=True):
        for (tz, ty, tx), value in zip(np.ndindex(2, 3, 5), row, strict=True):
            digits = (tx, ty, tz, bx, by, bz)
            assert value == sum(d << (4 * (5 - i)) for i, d in enumerate(digits))


def test_both_sides_of_a_branch_run_and_meet_again(run_ptx: Run) -> None:
    out = np.zeros(64, np.uint32)
    body = (
        GLOBAL_INDEX
        + """
    and.b32 %r6, %r4, 1; setp.eq.u32 %p1, %r6, 0;
    @%p1 bra EVEN;
    mul.lo.u32 %r5, %r4, 3; bra.uni JOIN;
EVEN: mul.lo.u32 %r5, %r4, 5;
JOIN: sub.u32 %r5, %r5, 1;
    """
        + STORE_R5
        + "ret;"
    )
    trace = run_ptx(body, "u64 out", [out], grid=1, block=64)
    index = np.arange(64)
    np.testing.assert_array_equal(out, (index * np.where(index % 2, 3, 5) - 1).astype(np.uint32))
    # Both warps take both sides: two multiplications each, but one subtraction.
    assert issues_of(trace, "mul.lo.u32") == 4
    assert lanes_of(trace, "mul.lo.u32") == 64
    assert issues_of(trace, "sub.u32") == 2
    assert issues_of(trace, "st.global") == 2


def test_a_loop_runs_as_long_as_the_slowest_lane_of_each_warp(run_ptx: Run) -> None:
    trips = np.random.default_rng(0).integers(0, 20, 96).astype(np.uint32)
    out = np.zeros(96, np.uint32)
    body = (
        GLOBAL_INDEX
        + """
    ld.param.u64 %rd5, [trips]; mul.wide.u32 %rd6, %r4, 4; add.s64 %rd7, %rd5, %rd6;
    ld.global.u32 %r8, [%rd7]; mov.u32 %r5, 0; mov.u32 %r9, 0;
LOOP: setp.ge.u32 %p1, %r9, %r8;
    @%p1 bra DONE;
    xor.b32 %r5, %r5, %r9; add.u32 %r9, %r9, 1; bra.uni LOOP;
DONE:
    """
        + STORE_R5
        + "ret;"
    )
    trace = run_ptx(body, "u64 out, u64 trips", [out, trips], grid=3, block=32)
    expected = [np.bitwise_xor.reduce(np.arange(n, dtype=np.uint32)) for n in trips]
    np.testing.assert_array_equal(out, np.array(expected, np.uint32))
    slowest = trips.reshape(3, 32).max(axis=1)
    assert issues_of(trace, "xor.b32") == slowest.sum()
    assert lanes_of(trace, "xor.b32") == trips.sum()
    assert issues_of(trace, "setp.ge") == (slowest + 1).sum()
    assert issues_of(trace, "st.global") == 3


def test_nested_loops_and_early_return(run_ptx: Run) -> None:
    out = np.zeros(100, np.uint32)
    body = (
        GLOBAL_INDEX
        + """
    setp.ge.u32 %p1, %r4, 100; @%p1 bra END;
    mov.u32 %r5, 0; mov.u32 %r9, 0; rem.u32 %r10, %r4, 7;
OUTER: setp.ge.u32 %p2, %r9, %r10; @%p2 bra OUT;
    mov.u32 %r11, 0;
INNER: add.u32 %r5, %r5, %r11; add.u32 %r11, %r11, 1;
    setp.le.u32 %p3, %r11, %r9; @%p3 bra INNER;
    add.u32 %r9, %r9, 1; bra.uni OUTER;
OUT:
    """
        + STORE_R5
        + "END: ret;"
    )
    run_ptx(body, "u64 out", [out], grid=4, block=32)
    expected = [sum(sum(range(i + 1)) for i in range(n % 7)) for n in range(100)]
    np.testing.assert_array_equal(out, np.array(expected, np.uint32))


def test_partial_warps_and_padding_lanes(run_ptx: Run) -> None:
    out = np.zeros(3 * 40, np.uint32)
    body = GLOBAL_INDEX + "add.u32 %r5, %r4, 7;" + STORE_R5 + "ret;"
    trace = run_ptx(body, "u64 out", [out], grid=3, block=40)
    np.testing.assert_array_equal(out, np.arange(120) + 7)
    assert issues_of(trace, "st.global") == 6
    assert lanes_of(trace, "st.global") == 120


def test_guarded_instructions_issue_but_count_only_lanes_that_hold(run_ptx: Run) -> None:
    out = np.zeros(64, np.uint32)
    body = (
        GLOBAL_INDEX
        + """
    mov.u32 %r5, 1; setp.lt.u32 %p1, %r4, 10;
    @%p1 add.u32 %r5, %r5, 41;
    @!%p1 sub.u32 %r5, %r5, 1;
    """
        + STORE_R5
        + "ret;"
    )
    trace = run_ptx(body, "u64 out", [out], block=64)
    np.testing.assert_array_equal(out, np.where(np.arange(64) < 10, 42, 0))
    assert (issues_of(trace, "add.u32"), lanes_of(trace, "add.u32")) == (2, 10)
    assert (issues_of(trace, "sub.u32"), lanes_of(trace, "sub.u32")) == (2, 54)


def test_a_branch_counts_every_lane_that_decides(run_ptx: Run) -> None:
    body = "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 8; @%p1 bra L; add.u32 %r2, %r1, 1; L: ret;"
    trace = run_ptx(body, "u64 out", [0], block=48)
    assert (issues_of(trace, "bra"), lanes_of(trace, "bra")) == (2, 48)


def test_warp_width_is_a_run_parameter(run_ptx: Run) -> None:
    out = np.zeros(128, np.uint32)
    body = GLOBAL_INDEX + "mov.u32 %r5, %laneid;" + STORE_R5 + "ret;"
    trace = run_ptx(body, "u64 out", [out], block=128, warp_width=64)
    np.testing.assert_array_equal(out, np.arange(128) % 64)
    assert issues_of(trace, "st.global") == 2
    assert trace.patterns.offsets.shape[1] == 64


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("eq", [1 << lane for lane in range(32)]),
        ("lt", [(1 << lane) - 1 for lane in range(32)]),
        ("le", [(2 << lane) - 1 for lane in range(32)]),
        ("gt", [0xFFFFFFFF & ~((2 << lane) - 1) for lane in range(32)]),
        ("ge", [0xFFFFFFFF & ~((1 << lane) - 1) for lane in range(32)]),
    ],
)
def test_lane_masks(run_ptx: Run, name: str, expected: list[int]) -> None:
    out = np.zeros(32, np.uint32)
    body = GLOBAL_INDEX + f"mov.u32 %r5, %lanemask_{name};" + STORE_R5 + "ret;"
    run_ptx(body, "u64 out", [out])
    assert out.tolist() == expected


def test_a_lane_that_exits_in_a_loop_keeps_its_value(run_ptx: Run) -> None:
    """A register with one value for all lanes must not leak into lanes that left earlier."""
    out = np.zeros(32, np.uint32)
    body = (
        GLOBAL_INDEX
        + """
    mov.u32 %r9, 0;
LOOP: add.u32 %r9, %r9, 1;
    setp.le.u32 %p1, %r9, %r4; @%p1 bra LOOP;
    mov.u32 %r5, %r9;
    """
        + STORE_R5
        + "ret;"
    )
    run_ptx(body, "u64 out", [out])
    np.testing.assert_array_equal(out, np.arange(32) + 1)


def test_moves_do_not_tie_registers_together(run_ptx: Run) -> None:
    """A copy keeps its value when the original changes in some lanes only."""
    out = np.zeros(32, np.uint32)
    body = (
        GLOBAL_INDEX
        + """
    add.u32 %r9, %r4, 100; mov.u32 %r5, %r9;
    setp.lt.u32 %p1, %r4, 16; @%p1 bra CHANGE; bra.uni NEXT;
CHANGE: mov.u32 %r9, 0;
NEXT: setp.lt.u32 %p2, %r4, 8; @%p2 bra AGAIN; bra.uni LAST;
AGAIN: mov.u32 %r5, %r9;
LAST:
    """
        + STORE_R5
        + "ret;"
    )
    run_ptx(body, "u64 out", [out])
    index = np.arange(32)
    np.testing.assert_array_equal(out, np.where(index < 8, 0, index + 100))


def test_an_unchanging_endless_loop_is_proved(run_ptx: Run) -> None:
    """The JIT engine proves nothing: it is at its limit of instructions at once."""
    with pytest.raises(LimitExceeded, match=r"nothing changes|more than") as caught:
        run_ptx("mov.u32 %r1, 1;\nL: setp.eq.u32 %p1, %r1, 1;\n@%p1 bra L;\nret;", "u64 out", [0])
    assert caught.value.span is not None


def test_batches_that_do_the_same_are_no_standstill(run_ptx: Run) -> None:
    """Two batches of thread blocks pass through equal states; neither loops for ever."""
    body = "mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 600; @%p1 bra L; ret;"
    trace = run_ptx(body, "u64 out", [0], grid=130, block=1024)
    assert issues_of(trace, "add.u32") == 130 * 32 * 600


def test_instruction_limit(run_ptx: Run) -> None:
    with pytest.raises(LimitExceeded, match="1,000 instructions"):
        run_ptx(
            "mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1;\nbra.uni L;",
            "u64 out",
            [0],
            limits=Limits(seconds=None, instructions_per_warp=1000),
        )


def test_time_limit(run_ptx: Run) -> None:
    with pytest.raises(LimitExceeded, match="still running"):
        run_ptx(
            "mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1;\nbra.uni L;",
            "u64 out",
            [0],
            limits=Limits(seconds=1.0, instructions_per_warp=None),  # longer than it is compiled
        )


def test_trap_names_its_thread(run_ptx: Run) -> None:
    body = "mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 5; @%p1 bra BAD; ret; BAD: trap;"
    with pytest.raises(AssertionTriggered, match=r"thread \(5, 0, 0\)"):
        run_ptx(body, "u64 out", [0])


def test_thread_block_classes_and_times(run_ptx: Run) -> None:
    """Three of five thread blocks take the short way: two classes."""
    body = (
        GLOBAL_INDEX
        + """
    setp.lt.u32 %p1, %r1, 3; @%p1 bra END;
    add.u32 %r5, %r4, 1;
    """
        + STORE_R5
        + "END: ret;"
    )
    trace = run_ptx(body, "u64 out", [np.zeros(160, np.uint32)], grid=5)
    classes = trace.classes.of_thread_block
    assert len(set(classes[:3])) == 1
    assert len(set(classes[3:])) == 1
    assert classes[0] != classes[4]
    per_block = trace.classes.warp_issues.sum(axis=1)[classes]
    np.testing.assert_array_equal(trace.warp_time, per_block)
