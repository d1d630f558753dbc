"""Warps that wait for copies and for one another at mbarriers in the timing simulator."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from micro_kernel import Step, micro_kernel

import kernelcast as kc
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.profile.timed import timed_warps
from kernelcast.simcore.timing.kernel.component import Component
from kernelcast.simcore.timing.kernel.stall_reasons import StallReason
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel
from kernelcast.simcore.timing.launch.launch_timing import LaunchTiming, launch_timing
from kernelcast.traces.phase_table import PhaseTable

DEVICE = load_device("h100-sxm")
assert DEVICE.timing is not None
FMA = DEVICE.timing.fp32.latency_cycles
LATENCY = DEVICE.timing.dram_latency_cycles
TRIPS, BYTES, MOST_STAGES = 40, 2048, 8


def work(chain: int) -> str:
    return "\n".join("fma.rn.f32 %f1, %f1, %f1, %f1;" for _ in range(chain))


def ring(stages: int, consumers: int, produce: str, consume: str) -> str:
    """A warp that fills `stages` buffers in turn and others that empty them.

    %r3 is the round, %r6 the address of its mbarrier of full buffers, %r7 that of empty ones, %r5
    the parity of its phase, %r8 the buffer.
    """
    shift = stages.bit_length() - 1
    place = f"""and.b32 %r6, %r3, {stages - 1}; shl.b32 %r8, %r6, 11; add.u32 %r8, %r8, %r2;
        shl.b32 %r6, %r6, 3; add.u32 %r6, %r6, %r4; add.u32 %r7, %r6, {8 * MOST_STAGES};
        shr.u32 %r5, %r3, {shift}; and.b32 %r5, %r5, 1;"""
    init = "\n".join(
        f"@%p1 mbarrier.init.shared.b64 [bar+{8 * i}], 1;"
        f"@%p1 mbarrier.init.shared.b64 [bar+{8 * (MOST_STAGES + i)}], {consumers};"
        for i in range(stages)
    )
    again = f"add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, {TRIPS};"
    return f""".version 8.0
        .target sm_90
        .address_size 64
        .visible .entry k(.param .u64 a, .param .u64 b) {{
        .shared .align 128 .b8 tile[{BYTES * MOST_STAGES}];
        .shared .align 8 .b64 bar[{2 * MOST_STAGES}];
        .reg .b64 %rd<9>; .reg .b32 %r<20>; .reg .f32 %f<9>; .reg .pred %p<9>;
        ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; mov.u32 %r1, %tid.x;
        setp.eq.u32 %p1, %r1, 0; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd2, %rd2, %rd3;
        mov.u32 %r2, tile; mov.u32 %r4, bar; mov.f32 %f1, 0f00000000; mov.u32 %r3, 0;
        {init} bar.sync 0; setp.ge.u32 %p3, %r1, 32; @%p3 bra CONSUMER; @!%p1 bra END;
        P: {place} xor.b32 %r5, %r5, 1;
        E: mbarrier.try_wait.parity.shared.b64 %p4, [%r7], %r5; @!%p4 bra E;
        mbarrier.arrive.expect_tx.shared.b64 _, [%r6], {BYTES};
        {produce} {again} @%p2 bra P; bra END;
        CONSUMER: and.b32 %r9, %r1, 31; setp.eq.u32 %p5, %r9, 0;
        C: {place}
        F: mbarrier.try_wait.parity.shared.b64 %p4, [%r6], %r5; @!%p4 bra F;
        {consume} bar.warp.sync 0xffffffff;
        @%p5 mbarrier.arrive.shared.b64 _, [%r7]; {again} @%p2 bra C;
        END: st.global.f32 [%rd2], %f1; ret; }}"""


COPY = (
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
    f"[%r8], [%rd1], {BYTES}, [%r6]; add.s64 %rd1, %rd1, {BYTES};"
)
"""A round's copy."""
NO_COPY = f"mbarrier.complete_tx.shared.b64 [%r6], {BYTES};"


def timed(text: str, consumers: int = 1) -> TimedKernel:
    source: npt.NDArray[np.uint8] = np.zeros(TRIPS * BYTES, np.uint8)
    target: npt.NDArray[np.float32] = np.zeros(32 + 32 * consumers, np.float32)
    trace = kc.load_ptx(text)["k"].run(
        grid=1, block=32 + 32 * consumers, args=[source, target], devices=[DEVICE]
    )
    found = trace.profile(DEVICE).derived(timed_warps)
    assert found is not None
    return found


def run(
    stages: int, chain: int, consumers: int = 1, produce: str = COPY, *without: Component
) -> LaunchTiming:
    kernel = timed(ring(stages, consumers, produce, work(chain)), consumers)
    return launch_timing(kernel, DEVICE, frozenset(without), is_exact=True)


@cache
def cycles_of(stages: int, chain: int, produce: str = COPY) -> int:
    return run(stages, chain, produce=produce).cycles


@pytest.mark.parametrize("chain", [60, 200])
def test_with_one_stage_copies_and_work_take_turns(chain: int) -> None:
    """The buffer is full or free: each round takes a copy and its work, one after the other."""
    copies, alone = cycles_of(1, 0), TRIPS * chain * FMA
    assert copies > TRIPS * LATENCY
    assert cycles_of(1, chain) == pytest.approx(copies + alone, rel=0.05)


@pytest.mark.drawn(2)
@pytest.mark.parametrize("stages", [2, 4, 8])
def test_with_more_stages_the_slower_of_both_counts(stages: int) -> None:
    """Long work hides all copies, without work the copies are all there is.

    `NO_COPY` has the producer say that the bytes have come.
    """
    alone = cycles_of(stages, 300, NO_COPY)
    assert alone == pytest.approx(TRIPS * 300 * FMA, rel=0.08)
    assert cycles_of(stages, 0) < alone
    assert cycles_of(stages, 300) == pytest.approx(max(cycles_of(stages, 0), alone), rel=0.05)


@pytest.mark.drawn(2)
@pytest.mark.parametrize(("stages", "chain"), [(2, 0), (2, 30), (2, 100), (4, 0)])
def test_a_ring_of_stages_has_as_many_copies_on_their_way(stages: int, chain: int) -> None:
    """A buffer is copied to, worked on and free again after L + W.

    As many of them are under way as there are stages: a round takes (L + W) / n where W is shorter
    than that.
    """
    turn = cycles_of(1, 0) + TRIPS * chain * FMA
    assert cycles_of(stages, chain) == pytest.approx(turn / stages, rel=0.05)


def test_bytes_that_take_longer_than_the_latency_bound_the_ring() -> None:
    """A ring that always has copies under way takes the bandwidth of one SM."""
    assert DEVICE.timing is not None
    slow = replace(DEVICE, timing=replace(DEVICE.timing, l2_bytes_per_cycle=4.0))
    kernel = timed(ring(8, 1, COPY, ""))
    found = launch_timing(kernel, slow, is_exact=True)
    assert found.cycles == pytest.approx(TRIPS * BYTES / 4.0 + LATENCY, rel=0.05)
    assert found.warp_stalls[StallReason.DRAM_LATENCY] > 0.5 * found.cycles


def test_three_consumers_free_a_buffer_together() -> None:
    """Each on a scheduler of its own: the same time as one, and all arrive."""
    assert run(2, 200, consumers=3).cycles == pytest.approx(cycles_of(2, 200), rel=0.05)


@pytest.mark.parametrize(("stages", "chain"), [(1, 200), (2, 0), (4, 200)])
def test_accounts_of_waiting_warps_add_up(stages: int, chain: int) -> None:
    timing = run(stages, chain, consumers=2)
    assert timing.slots.sum() == timing.full_cycles * timing.slots_per_cycle
    assert timing.warp_cycles.sum() == timing.resident_warp_cycles


def test_waits_count_as_what_they_are_for() -> None:
    """Consumers wait for memory, the producer for consumers."""
    copies, busy = run(2, 0).warp_stalls, run(2, 300).warp_stalls
    assert max(copies, key=lambda reason: copies[reason]) is StallReason.DRAM_LATENCY
    assert StallReason.DRAM_LATENCY.ncu == "long_scoreboard"
    assert busy[StallReason.BARRIER] > 0.8 * TRIPS * 300 * FMA
    assert busy[StallReason.DRAM_LATENCY] < 2 * LATENCY


def test_without_barriers_buffers_are_always_free() -> None:
    """What is left is work, and one copy that nothing hides."""
    free = run(1, 300, 1, COPY, Component.BARRIER).cycles
    assert free == pytest.approx(TRIPS * 300 * FMA + LATENCY, rel=0.1)
    assert run(1, 300).cycles > 1.5 * free


def test_thread_blocks_in_turn_have_mbarriers_of_their_own() -> None:
    """Every thread block fills the same buffers anew."""
    kernel = timed(ring(2, 1, COPY, work(100)))
    sms = DEVICE.architecture.sm_count
    many = replace(kernel, thread_blocks=6 * sms, thread_blocks_per_sm=1)
    one = launch_timing(kernel, DEVICE, is_exact=True)
    found = launch_timing(many, DEVICE, is_exact=True)
    assert DEVICE.timing is not None
    each = one.cycles + DEVICE.timing.thread_block_launch_cycles
    assert found.cycles == pytest.approx(6 * each, rel=0.05)
    assert launch_timing(many, DEVICE).cycles == pytest.approx(found.cycles, rel=0.01)


HEAD = """.version 8.0
    .target sm_90
    .address_size 64
    .visible .entry k(.param .u64 a, .param .u64 b) {
    .shared .align 16 .b8 tile[4096]; .shared .align 8 .b64 bar;
    .reg .b64 %rd<9>; .reg .b32 %r<20>; .reg .f32 %f<9>; .reg .pred %p<9>;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; mov.u32 %r1, %tid.x; mov.u32 %r3, 0;
    mov.u32 %r2, tile; mad.lo.u32 %r2, %r1, 16, %r2; mul.wide.u32 %rd3, %r1, 16;
    add.s64 %rd1, %rd1, %rd3; mov.f32 %f1, 0f00000000; setp.eq.u32 %p1, %r1, 0;
"""
END = "END: st.global.f32 [%rd2], %f1; ret; }"


def loop(name: str, trips: int, body: str) -> str:
    again = f"add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, {trips}; @%p2 bra {name};"
    return f"{name}: {body} {again}"


def test_groups_of_warps_meet_at_barriers_of_their_own() -> None:
    """Many short rounds and few long ones take as long as either; in step they would take more."""
    many, few = (loop("M", 40, f"{work(50)} bar.sync 1, 64;"),
                 loop("F", 10, f"{work(200)} bar.sync 2, 64;"))  # fmt: skip
    text = f"{HEAD} setp.lt.u32 %p3, %r1, 64; @%p3 bra F; {many} bra END; {few} {END}"
    found = launch_timing(timed(text, 3), DEVICE, is_exact=True)
    assert DEVICE.timing is not None
    rounds = 40 * (50 * FMA + DEVICE.timing.barrier_latency_cycles)
    assert found.cycles == pytest.approx(rounds, rel=0.2)
    assert found.cycles < 0.8 * (10 * 200 + 30 * 50) * FMA
    assert found.slots.sum() == found.full_cycles * found.slots_per_cycle


def test_an_mbarrier_is_told_when_copies_of_a_thread_are_there() -> None:
    """`cp.async.mbarrier.arrive` holds nobody up; who waits at the mbarrier does so for memory."""
    told = "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];"
    copy = f"cp.async.cg.shared.global [%r2], [%rd1], 16; {told} add.s64 %rd1, %rd1, 512;"
    look = "mbarrier.try_wait.parity.shared.b64 %p4, [bar], %r5;"
    wait = f"and.b32 %r5, %r3, 1; W: {look} @!%p4 bra W;"
    init = "@%p1 mbarrier.init.shared.b64 [bar], 64; bar.sync 0;"
    found = launch_timing(timed(f"{HEAD} {init} {loop('L', 40, copy + wait)} {END}"), DEVICE)
    assert DEVICE.timing is not None
    assert found.cycles == pytest.approx(40 * LATENCY, rel=0.15)
    assert found.warp_stalls[StallReason.DRAM_LATENCY] > found.cycles


def table(event: list[int], barrier: list[int], is_wait: list[bool], owner: int) -> PhaseTable:
    """Phase 0 of each of two barriers of a thread block."""
    phase = np.zeros(len(event), np.int32)
    where = np.array(event, np.int64), np.array(barrier, np.int32), phase
    return PhaseTable(*where, np.array(is_wait), np.full(2, owner, np.int32))


def two_warps(phases: PhaseTable) -> LaunchTiming:
    """Each warp has a look and an arrival: events 0 and 1, 2 and 3."""
    kernel = micro_kernel([Step(Pipeline.SHARED, (0,), (1,)), Step(Pipeline.SHARED)], 1, warps=2)
    paths = replace(kernel.paths, phases=phases)
    return launch_timing(replace(kernel, paths=paths), DEVICE, is_exact=True)


def test_warps_that_wait_for_each_other_go_on() -> None:
    """No run leaves such paths; yet every wait ends, and every slot is accounted for."""
    found = two_warps(table([0, 1, 2, 3], [0, 1, 1, 0], [True, False, True, False], 0))
    assert found.thread_blocks == 1
    assert found.slots.sum() == found.full_cycles * found.slots_per_cycle
    assert found.warp_cycles.sum() == found.resident_warp_cycles


def test_what_other_thread_blocks_owe_holds_nobody_up() -> None:
    """A barrier of another thread block, and one at which nobody arrives, hold nobody up."""
    free = two_warps(PhaseTable.empty()).cycles
    foreign = two_warps(table([0, 3], [0, 0], [True, False], 1)).cycles
    alone = two_warps(table([0], [0], [True], 0)).cycles
    foreign_alone = two_warps(table([0], [0], [True], 1)).cycles
    held = two_warps(table([0, 3], [0, 0], [True, False], 0)).cycles
    assert foreign == alone == foreign_alone == free < held
