"""`cp.async` and mbarriers against NumPy, on both engines."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelcast.simcore.engine import ENGINES, execute
from kernelcast.simcore.isa.ir import mbarrier_words
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Argument, Launch
from kernelcast.traces.trace import Trace

Compile = Callable[..., Kernel]
ENGINE = pytest.mark.parametrize("engine", sorted(ENGINES))
PLACES = """ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 16; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;
    mov.u32 %r2, tile; mad.lo.u32 %r3, %r1, 16, %r2; mov.u32 %r4, bar;"""
SHARED = ".shared .align 16 .b8 tile[2048]; .shared .align 8 .b64 bar;"
BACK = """ld.shared.v4.b32 {%r10, %r11, %r12, %r13}, [%r3];
    st.global.v4.b32 [%rd2], {%r10, %r11, %r12, %r13}; ret;"""


def run(kernel: Kernel, engine: str, *arguments: Argument, threads: int = 64) -> Trace:
    return execute(kernel, Launch((1, 1, 1), (threads, 1, 1), arguments), engine=engine)


def numbers(threads: int = 64) -> np.ndarray:
    return np.arange(1, threads * 16 + 1, dtype=np.uint32).astype(np.uint8).reshape(threads, 16)


@ENGINE
@pytest.mark.parametrize("size", [4, 8, 16])
def test_whole_copies(compile_ptx: Compile, engine: str, size: int) -> None:
    body = f"""{PLACES} cp.async.ca.shared.global [%r3], [%rd1], {size}; cp.async.commit_group;
        cp.async.wait_group 0; {BACK}"""
    kernel = compile_ptx(body, "u64 a, u64 b", SHARED)
    given, found = numbers(), np.zeros((64, 16), np.uint8)
    trace = run(kernel, engine, given, found)
    assert trace.engine == engine
    assert (found == np.where(np.arange(16) < size, given, 0)).all()


@ENGINE
def test_the_source_ends_where_its_size_says(compile_ptx: Compile, engine: str) -> None:
    """Every size from 0 on, some above 16; nothing is read behind it.

    The last may therefore lie at the end of the buffer.
    """
    body = f"""{PLACES} @%p1 bra END; cp.async.cg.shared.global.L2::128B [%r3], [%rd1], 16, %r1;
        cp.async.wait_all; END: {BACK}"""
    kernel = compile_ptx(body, "u64 a, u64 b", SHARED)
    given, found = numbers(), np.full((64, 16), 7, np.uint8)
    run(kernel, engine, given, found)
    kept = np.arange(16)[None, :] < np.arange(64)[:, None]
    assert (found == np.where(kept, given, 0)).all()


@ENGINE
def test_a_source_may_be_ignored_and_copies_guarded(compile_ptx: Compile, engine: str) -> None:
    body = f"""{PLACES} and.b32 %r5, %r1, 1; setp.eq.u32 %p1, %r5, 0; and.b32 %r5, %r1, 2;
        setp.eq.u32 %p2, %r5, 0; mov.u32 %r6, 9; st.shared.u32 [%r3], %r6;
        @%p2 cp.async.ca.shared.global [%r3], [%rd1], 16, %p1; cp.async.wait_all; {BACK}"""
    kernel = compile_ptx(body, "u64 a, u64 b", SHARED)
    given, found = numbers(), np.zeros((64, 16), np.uint8)
    run(kernel, engine, given, found)
    lane = np.arange(64)
    expected = np.where((lane % 2 == 0)[:, None], 0, given)
    untouched = np.zeros(16, np.uint8)
    untouched[0] = 9
    assert (found == np.where((lane & 2 == 0)[:, None], expected, untouched)).all()


@ENGINE
def test_copies_are_traffic(compile_ptx: Compile, engine: str) -> None:
    body = f"{PLACES} cp.async.ca.shared.global [%r3], [%rd1], 16; cp.async.wait_all; {BACK}"
    kernel = compile_ptx(body, "u64 a, u64 b", SHARED)
    trace = run(kernel, engine, numbers(), np.zeros((64, 16), np.uint8))
    rows = [row for row in trace.instructions if row.mnemonic.startswith("cp.async.ca")]
    by_space = {row.space: row for row in rows}
    assert {(row.kind, row.space, row.access_bytes) for row in rows} == {
        ("load", "global", 16),
        ("store", "shared", 16),
    }
    assert by_space["shared"].is_part
    assert not by_space["global"].is_part
    assert (trace.accesses.pc == by_space["global"].pc).sum() == 2
    shared = trace.pattern_counts.pc == by_space["shared"].pc
    assert trace.pattern_counts.count[shared].sum() == 2


@ENGINE
@pytest.mark.parametrize("noinc", [True, False])
def test_an_mbarrier_waits_for_copies(compile_ptx: Compile, engine: str, noinc: bool) -> None:
    """Each thread reads what its neighbour copied."""
    arrive = "cp.async.mbarrier.arrive.noinc.shared.b64 [%r4];"
    if not noinc:
        arrive = """cp.async.mbarrier.arrive.shared::cta.b64 [%r4];
            mbarrier.arrive.shared.b64 %rd9, [%r4];"""
    body = f"""{PLACES} setp.ne.u32 %p1, %r1, 0; @%p1 bra SET;
        mbarrier.init.shared.b64 [%r4], %ntid.x; SET: bar.sync 0;
        cp.async.ca.shared.global [%r3], [%rd1], 16; {arrive}
        WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r4], 0; @!%p2 bra WAIT;
        xor.b32 %r3, %r3, 512; {BACK}"""
    kernel = compile_ptx(body, "u64 a, u64 b", SHARED)
    given, found = numbers(), np.zeros((64, 16), np.uint8)
    trace = run(kernel, engine, given, found)
    assert trace.engine == engine
    assert (found == np.roll(given, 32, axis=0)).all()
    looks = next(row for row in trace.instructions if row.opcode == mbarrier_words.MBARRIER_WAIT)
    # whoever has to wait is put aside: it looks once more, not as often as it could
    assert trace.classes.warp_issues[0, looks.pc] <= 4


@ENGINE
def test_phases_follow_each_other(compile_ptx: Compile, engine: str) -> None:
    """Two warps hand a number to and fro, by the parity of two mbarriers."""
    body = """ld.param.u64 %rd1, [out]; ld.param.u32 %r9, [n]; mov.u32 %r1, %tid.x;
        mov.u32 %r2, %warpid; mov.u32 %r4, bars; setp.ne.u32 %p1, %r1, 0; @%p1 bra SET;
        mbarrier.init.shared.b64 [%r4], 32; mbarrier.init.shared.b64 [%r4+8], 32; SET: bar.sync 0;
        mov.u32 %r5, 0; mov.u32 %r7, cell; and.b32 %r6, %r1, 31; mad.lo.u32 %r7, %r6, 4, %r7;
        setp.eq.u32 %p3, %r2, 0; @%p3 bra ROUND; add.u32 %r4, %r4, 8; bra WAIT;
        ROUND: ld.shared.u32 %r8, [%r7]; add.u32 %r8, %r8, 1; st.shared.u32 [%r7], %r8;
        xor.b32 %r11, %r4, 8; mbarrier.arrive.shared.b64 _, [%r11];
        WAIT: and.b32 %r10, %r5, 1;
        LOOK: mbarrier.test_wait.parity.shared.b64 %p2, [%r4], %r10; @!%p2 bra LOOK;
        add.u32 %r5, %r5, 1; setp.lt.u32 %p4, %r5, %r9; @%p4 bra ROUND;
        @!%p3 mbarrier.arrive.shared.b64 _, [%r11];
        ld.shared.u32 %r8, [%r7]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;
        st.global.u32 [%rd1], %r8; ret;"""
    shared = ".shared .align 16 .b8 bars[16]; .shared .align 4 .b8 cell[128];"
    kernel = compile_ptx(body, "u64 out, u32 n", shared)
    found = np.zeros(64, np.uint32)
    run(kernel, engine, found, 5)
    assert (found == 9).all()  # five rounds of the first warp, four of the second


@ENGINE
def test_counts_and_states(compile_ptx: Compile, engine: str) -> None:
    """One thread: what is pending before each step, and when the phase is over."""
    steps = (
        "mbarrier.arrive.shared.b64 %rd3, [%r4];",
        "mbarrier.arrive.noComplete.shared.b64 %rd3, [%r4], 2;",
        "mbarrier.arrive.expect_tx.shared.b64 %rd3, [%r4], 64;",
        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r4], 16;",
        "mbarrier.arrive_drop.shared.b64 %rd3, [%r4];",
        "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r4], 64;",
        "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r4], 16;",
        "mbarrier.arrive.shared.b64 %rd3, [%r4];",
    )
    lines = ["ld.param.u64 %rd1, [out]; mov.u32 %r4, bar; mbarrier.init.shared.b64 [%r4], 5;"]
    for number, step in enumerate(steps):
        lines.append(f"""{step} mbarrier.pending_count.b64 %r5, %rd3;
            st.global.u32 [%rd1+{number * 12}], %r5;
            mbarrier.test_wait.shared.b64 %p1, [%r4], %rd3; selp.u32 %r6, 1, 0, %p1;
            st.global.u32 [%rd1+{number * 12 + 4}], %r6;
            mbarrier.try_wait.parity.shared.b64 %p2, [%r4], 0, 99; selp.u32 %r6, 1, 0, %p2;
            st.global.u32 [%rd1+{number * 12 + 8}], %r6;""")
    kernel = compile_ptx("\n".join((*lines, "ret;")), "u64 out", SHARED)
    found = np.zeros((len(steps), 3), np.uint32)
    run(kernel, engine, found, threads=1)
    # (pending before the last arrival, is the phase of that arrival over, is the first one over)
    assert found.tolist() == [
        [5, 0, 0],
        [4, 0, 0],
        [2, 0, 0],
        [2, 0, 0],
        [1, 0, 0],
        [1, 0, 0],
        [1, 1, 1],
        [4, 0, 1],
    ]


def test_words_agree_with_a_simple_model() -> None:
    """Random changes against counters kept apart."""
    random = np.random.default_rng(5)
    for _ in range(50):
        expected = pending = int(random.integers(1, 9))
        phase = transactions = 0
        word = np.array([mbarrier_words.initial_word(expected)], np.uint64)
        for _ in range(30):
            arrivals = int(random.integers(0, pending + 1))
            moved = int(random.integers(-3, 4)) * 16 if arrivals < pending else -transactions
            dropped = int(arrivals == 1 and expected > 2 and random.integers(0, 3) == 0)
            added = mbarrier_words.change(arrivals=arrivals, transactions=moved, dropped=dropped)
            word = mbarrier_words.advanced(word, np.array([added], np.uint64))
            pending, transactions = pending - arrivals, transactions + moved
            expected -= dropped
            if pending == transactions == 0:
                phase, pending = phase ^ 1, expected
            value = int(word[0])
            assert -(value >> mbarrier_words.PENDING_SHIFT) % (1 << 20) == pending
            assert value >> mbarrier_words.PHASE_SHIFT == phase
            assert (value >> mbarrier_words.TRANSACTION_SHIFT) % (1 << 22) == transactions % (
                1 << 22
            )
            assert -(value >> mbarrier_words.EXPECTED_SHIFT) % (1 << 20) == expected


@ENGINE
def test_stores_and_reductions_tell_an_mbarrier(compile_ptx: Compile, engine: str) -> None:
    body = f"""{PLACES} setp.ne.u32 %p1, %r1, 0; @%p1 bra SET;
        mbarrier.init.shared.b64 [%r4], 1; mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 1280;
        SET: bar.sync 0; add.u32 %r5, %r1, 5; mov.b64 %rd5, {{%r1, %r5}};
        st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b64
        [%r3], {{%rd5, %rd5}}, [%r4];
        RED [%r3], %r5, [%r4];
        WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r4], 0; @!%p2 bra WAIT; {BACK}"""
    body = body.replace(
        "RED",
        "red.async.relaxed.cluster.add.shared::cluster.mbarrier::complete_tx::bytes.u32",
    )
    kernel = compile_ptx(body, "u64 a, u64 b", SHARED)
    found = np.zeros((64, 4), np.uint32)
    run(kernel, engine, numbers(), found)
    me = np.arange(64)
    assert (found == np.stack([2 * me + 5, me + 5, me, me + 5], axis=1)).all()
