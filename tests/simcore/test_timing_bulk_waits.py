"""Copies in bulk and their mbarriers in the timing simulator: waits and overlap."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc
from kernelcast.simcore.device_file import load_device
from kernelcast.simcore.timing.asynchronous import grouped_paths
from kernelcast.simcore.timing.bulk_waits import BulkWait, bulk_waits
from kernelcast.simcore.timing.launch_timing import LaunchTiming, launch_timing
from kernelcast.simcore.timing.stall_reasons import StallReason
from kernelcast.traces.trace import InstructionRow, PatternTable
from kernelcast.traces.warp_paths import NO_PATTERN, WarpPaths

DEVICE = load_device("h100-sxm")
TRIPS, BYTES = 40, 2048
LONG, SHORT = 600, 20
HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b) {
.shared .align 128 .b8 tile[4096]; .shared .align 8 .b64 bar[2];
.reg .b64 %rd<9>; .reg .b32 %r<20>; .reg .f32 %f<9>; .reg .pred %p<9>;
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;
mul.wide.u32 %rd3, %r1, 4; add.s64 %rd2, %rd2, %rd3;
mov.u32 %r2, tile; mov.u32 %r4, bar; mov.f32 %f1, 0f00000000; mov.u32 %r3, 0; mov.u32 %r5, 0;
@%p1 mbarrier.init.shared.b64 [bar], 1; @%p1 mbarrier.init.shared.b64 [bar+8], 1; bar.sync 0;
"""
"""%r3 is the round, %r5 the number of the next copy; one even, one odd mbarrier."""
END = "st.global.f32 [%rd2], %f1; ret; }"
PLACE = (
    "and.b32 %r6, %r5, 1; shl.b32 %r7, %r6, 3; add.u32 %r7, %r7, %r4; "
    "shl.b32 %r8, %r6, 11; add.u32 %r8, %r8, %r2; add.u32 %r5, %r5, 1;"
)
EXPECT = f"@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r7], {BYTES};"
ASK = (
    "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
    f"[%r8], [%rd1], {BYTES}, [%r7]; add.s64 %rd1, %rd1, {BYTES};"
)
COPY = PLACE + EXPECT + ASK
COPY_THEN_EXPECT = PLACE + ASK + EXPECT
WAIT = """and.b32 %r10, %r3, 1; shl.b32 %r10, %r10, 3; add.u32 %r10, %r10, %r4;
    shr.u32 %r11, %r3, 1; and.b32 %r11, %r11, 1;
    W: mbarrier.try_wait.parity.shared.b64 %p3, [%r10], %r11; @!%p3 bra W;"""


def work(chain: int) -> str:
    return "\n".join("fma.rn.f32 %f1, %f1, %f1, %f1;" for _ in range(chain))


def loop(body: str) -> str:
    return f"L: {body} add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, {TRIPS}; @%p2 bra L;"


def run(body: str) -> LaunchTiming:
    source: npt.NDArray[np.uint8] = np.zeros((TRIPS + 2) * BYTES, np.uint8)
    kernel = kc.load_ptx(HEAD + body + END)["k"]
    target: npt.NDArray[np.float32] = np.zeros(32, np.float32)
    trace = kernel.run(grid=1, block=32, args=[source, target], devices=[DEVICE])
    found = trace.profile(DEVICE).timed
    assert found is not None
    return launch_timing(found, DEVICE, is_exact=True)


@pytest.mark.parametrize("copy", [COPY, COPY_THEN_EXPECT], ids=["expected first", "copied first"])
def test_two_stages_overlap_one_does_not(copy: str) -> None:
    """Copies alone and arithmetic alone; one after the other they take the sum, with a second stage
    as long as the slower of both."""
    assert DEVICE.timing is not None
    copies = run(loop(copy + WAIT)).cycles
    alone = run(loop(work(LONG))).cycles
    in_turn = run(loop(copy + WAIT + work(LONG))).cycles
    pipeline = run(copy + loop(copy + WAIT + work(LONG))).cycles
    assert copies > TRIPS * DEVICE.timing.dram_latency_cycles
    assert alone == pytest.approx(TRIPS * LONG * DEVICE.timing.fp32.latency_cycles, rel=0.05)
    assert in_turn == pytest.approx(copies + alone, rel=0.05)
    assert pipeline == pytest.approx(max(copies, alone), rel=0.05)


def test_short_work_leaves_the_copies_to_wait_for() -> None:
    """A copy that takes L, asked for one round ahead of work that takes W < L: two rounds take
    L + W."""
    assert DEVICE.timing is not None
    copies = run(loop(COPY + WAIT)).cycles
    alone = TRIPS * DEVICE.timing.fp32.latency_cycles * SHORT
    pipeline = run(COPY + loop(COPY + WAIT + work(SHORT))).cycles
    assert pipeline == pytest.approx((copies + alone) / 2, rel=0.05)


def test_copies_wait_for_the_latency_of_memory() -> None:
    timing = run(loop(COPY + WAIT))
    reason = max(timing.warp_stalls, key=lambda item: timing.warp_stalls[item])
    assert reason is StallReason.DRAM_LATENCY
    assert reason.ncu == "long_scoreboard"


def test_twice_as_many_stages_wait_half_as_often() -> None:
    """Without work, two copies are on their way at a time."""
    one, two = run(loop(COPY + WAIT)).cycles, run(COPY + loop(COPY + WAIT)).cycles
    assert one > 1.6 * two


def rows() -> list[InstructionRow]:
    kinds = [
        ("cp.async.bulk", "cp.async.bulk.shared::cluster.global", "load"),
        ("atom.shared.mbarrier", "mbarrier.arrive.expect_tx.shared.b64", "atomic"),
        ("mbarrier.wait", "mbarrier.try_wait.parity.shared.b64", "load"),
        ("atom.shared.mbarrier", "mbarrier.arrive.shared.b64", "atomic"),
    ]
    return [
        InstructionRow(pc, opcode, mnemonic, "load/store", 0, kind, 0, merged_into=pc)
        for pc, (opcode, mnemonic, kind) in enumerate(kinds)
    ]


COPIED, EXPECTED, LOOKED, ARRIVED = range(4)
A, B = 64, 72


def paths(*warps: list[tuple[int, int]]) -> WarpPaths:
    """Of each warp (pc, address)."""
    events = [event for warp in warps for event in warp]
    return WarpPaths(
        thread_blocks=np.zeros(1, np.int64),
        warps_per_thread_block=len(warps),
        start=np.cumsum([0, *map(len, warps)]),
        pc=np.array([pc for pc, _ in events], np.int32),
        lanes=np.full(len(events), 32, np.uint8),
        pattern=np.full(len(events), NO_PATTERN, np.int32),
        address=np.array([address for _, address in events], np.int64),
        patterns=PatternTable.empty(32),
    )


def test_a_copy_belongs_to_the_mbarrier_that_expects_it() -> None:
    first = [(EXPECTED, A), (COPIED, 0), (COPIED, 0), (EXPECTED, B), (COPIED, 0)]
    looks = [(LOOKED, B), (ARRIVED, B), (LOOKED, A), (LOOKED, A)]
    found = list(bulk_waits(rows(), paths([*first, *looks])))
    assert found == [BulkWait(5, (4,)), BulkWait(7, (1, 2))]


def test_copies_may_come_before_what_expects_them() -> None:
    first = [(COPIED, 0), (COPIED, 0), (EXPECTED, A), (COPIED, 0), (EXPECTED, B)]
    found = list(bulk_waits(rows(), paths([*first, (LOOKED, B), (LOOKED, A)])))
    assert found == [BulkWait(5, (3,)), BulkWait(6, (0, 1))]


def test_other_warps_wait_for_nothing() -> None:
    assert not list(bulk_waits(rows(), paths([(EXPECTED, A), (COPIED, 0)], [(LOOKED, A)])))


def test_copies_on_their_way_write_registers_of_their_own() -> None:
    stages = [[(EXPECTED, place), (COPIED, 0)] for place in (A, B, A, B)]
    looks = [(LOOKED, A), (LOOKED, B)]
    steps = [*stages[0], *stages[1], looks[0], *stages[2], looks[1], *stages[3], looks[0]]
    found = grouped_paths(rows(), paths(steps), 10)
    copied = [at for at, (pc, _) in enumerate(steps) if pc == COPIED]
    written = [found.writes[found.pc[at]] for at in copied]
    assert all(now != later for now, later in pairwise(written))
    waits = [at for at, (pc, _) in enumerate(steps) if pc == LOOKED]
    assert [found.reads[found.pc[at]] for at in waits] == written[:3]
    assert found.reads[LOOKED] == found.writes[COPIED] == ()
