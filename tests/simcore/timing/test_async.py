"""Asynchronous copies in the timing simulator: they overlap, and their waits are counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.profile.timed import timed_warps
from kernelcast.simcore.timing.kernel.asynchronous import grouped_paths
from kernelcast.simcore.timing.kernel.mbarrier_waits import without_tries
from kernelcast.simcore.timing.kernel.stall_reasons import StallReason
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel
from kernelcast.simcore.timing.launch.launch_timing import LaunchTiming, launch_timing
from kernelcast.traces.issue_control import IssueControl
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.trace import InstructionRow
from kernelcast.traces.warp_paths import NO_PATTERN, WarpPaths

DEVICE = load_device("a100-80gb")
TRIPS, CHAIN = 40, 300
HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b) {
.shared .align 16 .b8 tile[4096];
.reg .b64 %rd<9>; .reg .b32 %r<20>; .reg .f32 %f<9>; .reg .pred %p<3>;
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; mov.u32 %r1, %tid.x;
mul.wide.u32 %rd3, %r1, 16; add.s64 %rd1, %rd1, %rd3; add.s64 %rd2, %rd2, %rd3;
mov.u32 %r2, tile; mad.lo.u32 %r2, %r1, 16, %r2; mov.f32 %f1, 0f00000000; mov.u32 %r3, 0;
"""
END = "st.global.f32 [%rd2], %f1; ret; }"
COPY = "cp.async.cg.shared.global [%r2], [%rd1], 16; cp.async.commit_group;"
LOAD = (
    "ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%rd1]; st.shared.v4.b32 [%r2], {%r4, %r5, %r6, %r7};"
)
NEXT = "add.s64 %rd1, %rd1, 512;"
WORK = "\n".join("fma.rn.f32 %f1, %f1, %f1, %f1;" for _ in range(CHAIN))


def loop(body: str) -> str:
    return f"L: {body} add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, {TRIPS}; @%p1 bra L;"


def timed(body: str) -> TimedKernel:
    source: npt.NDArray[np.float32] = np.zeros((TRIPS + 4) * 128, np.float32)
    target = np.zeros(1024, np.float32)
    kernel = kc.load_ptx(HEAD + body + END)["k"]
    trace = kernel.run(grid=1, block=32, args=[source, target], devices=[DEVICE])
    found = trace.profile(DEVICE).derived(timed_warps)
    assert found is not None
    return found


def run(body: str) -> LaunchTiming:
    return launch_timing(timed(body), DEVICE, is_exact=True)


def test_a_copy_that_is_waited_for_later_overlaps_with_work() -> None:
    """Copies alone, arithmetic alone, one after the other, and a pipeline of two stages.

    The pipeline takes as long as the slower of both.
    """
    assert DEVICE.timing is not None
    copies = run(loop(f"{COPY} cp.async.wait_group 0; {NEXT}")).cycles
    work = run(loop(WORK)).cycles
    in_turn = run(loop(f"{COPY} cp.async.wait_group 0; {NEXT} {WORK}")).cycles
    pipeline = run(COPY + NEXT + loop(f"{COPY} {NEXT} {WORK} cp.async.wait_group 1;")).cycles
    latency = DEVICE.timing.dram_latency_cycles
    assert copies == pytest.approx(TRIPS * latency, rel=0.1)
    assert work == pytest.approx(TRIPS * CHAIN * DEVICE.timing.fp32.latency_cycles, rel=0.05)
    assert in_turn == pytest.approx(copies + work, rel=0.05)
    assert pipeline == pytest.approx(max(copies, work), rel=0.05)


def test_a_wait_counts_as_one_for_memory() -> None:
    timing = run(loop(f"{COPY} cp.async.wait_group 0; {NEXT}"))
    reason = max(timing.warp_stalls, key=lambda item: timing.warp_stalls[item])
    assert reason is StallReason.DRAM_LATENCY
    assert reason.ncu == "long_scoreboard"


def test_a_load_through_registers_holds_its_warp_up() -> None:
    """A copy by hand waits for its data at the store to shared memory."""
    by_hand = run(loop(f"{LOAD} {NEXT} {WORK}")).cycles
    pipeline = run(COPY + NEXT + loop(f"{COPY} {NEXT} {WORK} cp.async.wait_group 1;")).cycles
    assert DEVICE.timing is not None
    assert by_hand - pipeline > 0.8 * TRIPS * DEVICE.timing.dram_latency_cycles


def test_groups_that_may_stay_are_not_waited_for() -> None:
    """A wait that leaves n groups behind comes n rounds after its copy."""
    cycles = [
        run(loop(f"{COPY} {NEXT} cp.async.wait_group {left};") + "cp.async.wait_all;").cycles
        for left in (0, 1, 3)
    ]
    assert cycles[0] > 1.8 * cycles[1]
    assert cycles[1] > 1.6 * cycles[2]


def test_commits_and_waits_have_no_latency_of_a_fence() -> None:
    kernel = timed(loop(f"{COPY} {NEXT} cp.async.wait_group 4;"))
    assert Pipeline.FENCE not in kernel.pipeline
    assert kernel.pipeline.count(Pipeline.WAIT) >= 2


def rows(*kinds: tuple[str, str, str]) -> list[InstructionRow]:
    """Instruction rows from (opcode, mnemonic, kind)."""
    return [
        InstructionRow(pc, opcode, mnemonic, "load/store", 0, kind, 0, merged_into=pc)
        for pc, (opcode, mnemonic, kind) in enumerate(kinds)
    ]


def paths(*warps: list[int], address: list[int] | None = None) -> WarpPaths:
    pc = np.concatenate(warps).astype(np.int32)
    return WarpPaths(
        thread_blocks=np.zeros(1, np.int64),
        warps_per_thread_block=len(warps),
        start=np.cumsum([0, *map(len, warps)]),
        pc=pc,
        lanes=np.full(len(pc), 32, np.uint8),
        pattern=np.full(len(pc), NO_PATTERN, np.int32),
        address=np.array(address if address else [0] * len(pc), np.int64),
        patterns=PatternTable.empty(32),
    )


GROUPS = rows(
    ("ld.global", "cp.async.cg.shared.global", "load"),
    ("commit_group", "cp.async.commit_group", "fence"),
    ("wait_group.1", "cp.async.wait_group", "fence"),
    ("wait_group.0", "cp.async.wait_all", "fence"),
)


def test_a_wait_reads_what_the_copies_of_its_groups_write() -> None:
    found = grouped_paths(GROUPS, paths([0, 0, 1, 0, 1, 2, 3]), 10)
    first, second, third = (found.writes[found.pc[at]] for at in (0, 1, 3))
    assert len({*first, *second, *third}) == 3
    assert min(*first, *second, *third) >= 10
    assert set(found.reads[found.pc[5]]) == {*first, *second}
    assert set(found.reads[found.pc[6]]) == set(third)
    assert [found.source[number] for number in found.pc] == [0, 0, 1, 0, 1, 2, 3]


def test_warps_have_groups_of_their_own() -> None:
    found = grouped_paths(GROUPS, paths([0, 1, 0, 1, 2], [0, 1, 2, 3]), 0)
    assert found.reads[found.pc[4]] == found.writes[found.pc[0]]
    assert found.reads[found.pc[7]] == ()
    assert found.reads[found.pc[8]] == found.writes[found.pc[5]]


def test_wait_all_waits_for_copies_without_a_group() -> None:
    found = grouped_paths(GROUPS, paths([0, 3]), 0)
    assert found.reads[found.pc[1]] == found.writes[found.pc[0]] != ()


def machine_rows(*spelled: tuple[str, str, str]) -> tuple[InstructionRow, ...]:
    control = IssueControl(
        address=0, stall_cycles=1, yields=False, written=None, read=None, waits=(), reuse=0
    )
    return tuple(replace(row, control=control) for row in rows(*spelled))


def test_groups_of_products_in_machine_code_end_before_the_next_one_and_at_waits() -> None:
    """Two products, a third, a wait that leaves one group, and one that leaves none."""
    products = machine_rows(
        ("HGMMA", "HGMMA.64x64x16.F32", "warp"),
        ("membar", "WARPGROUP.ARRIVE", "fence"),
        ("wait_group.1", "WARPGROUP.DEPBAR.LE", "fence"),
        ("wait_group.0", "WARPGROUP.DEPBAR.LE", "fence"),
    )
    found = grouped_paths(products, paths([1, 0, 0, 1, 0, 2, 3]), 0)
    first, second, third = (found.writes[found.pc[at]] for at in (1, 2, 4))
    assert set(found.reads[found.pc[5]]) == {*first, *second}
    assert found.reads[found.pc[6]] == third != ()


LOOKS = rows(
    ("mbarrier.wait", "mbarrier.try_wait.parity.shared.b64", "load"),
    ("bra", "bra", "branch"),
    ("ld.shared", "ld.shared.f32", "load"),
)


def test_tries_in_vain_are_no_instructions() -> None:
    path = [0, 1, 0, 1, 0, 1, 2, 0, 1, 0, 1, 2]
    found = without_tries(LOOKS, paths(path, [0, 1, 2], address=[8] * 15))
    assert found.pc.tolist() == [0, 1, 2, 0, 1, 2, 0, 1, 2]
    assert found.start.tolist() == [0, 6, 9]


def test_looks_at_several_mbarriers_all_count() -> None:
    found = without_tries(LOOKS, paths([0, 1, 0, 1], address=[8, 0, 16, 0]))
    assert found.pc.tolist() == [0, 1, 0, 1]
