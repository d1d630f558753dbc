"""Launches: each slot has one account, steady stretches are repeated, components left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from micro_kernel import Step, micro_kernel

from kernelcast.errors import ModelNotApplicable
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.timing.kernel.component import Component
from kernelcast.simcore.timing.kernel.stall_reasons import (
    REASON_COUNT,
    STATE_COUNT,
    StallReason,
)
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel
from kernelcast.simcore.timing.launch.launch_timing import launch_timing
from kernelcast.simcore.timing.walk.sm_state import STATES
from kernelcast.traces.warp_paths import WarpPaths

DEVICES = ("v100-pcie", "gtx-480", "tesla-k20c", "mi210", "gtx-285")
STREAM = [
    Step(Pipeline.GLOBAL, (0,), (1,), l2_hits=0.5),
    Step(Pipeline.SHARED, (1,), (2,), passes=2),
    Step(Pipeline.FP32, (2, 3), (3,)),
    Step(Pipeline.BARRIER),
    Step(Pipeline.GLOBAL, (0, 3)),
    Step(Pipeline.BRANCH, (3,)),
]

pipelines = st.sampled_from([item for item in Pipeline if item is not Pipeline.BARRIER])
registers = st.lists(st.integers(0, 5), max_size=2).map(tuple)
shares = st.sampled_from([0.0, 0.3, 1.0])
steps = st.builds(
    Step,
    pipelines,
    registers,
    registers,
    passes=st.sampled_from([1.0, 2.0, 7.5]),
    sectors=st.sampled_from([1.0, 4.0, 17.3, 32.0]),
    l1_hits=shares,
    l2_hits=shares,
)


def changed(device: Device, **values: float) -> Device:
    assert device.timing is not None
    return replace(device, timing=replace(device.timing, **values))  # type: ignore[arg-type]


def ragged(kernel: TimedKernel, pcs: list[list[int]], warps: int) -> TimedKernel:
    """The kernel with paths of these instructions, `warps` to a recorded thread block."""
    pc = np.array([number for path in pcs for number in path], np.int32)
    paths = WarpPaths(
        thread_blocks=np.arange(len(pcs) // warps),
        warps_per_thread_block=warps,
        start=np.cumsum([0, *map(len, pcs)], dtype=np.int64),
        pc=pc,
        lanes=np.full(len(pc), 32, np.uint8),
        pattern=np.full(len(pc), -1, np.int32),
        address=np.zeros(len(pc), np.int64),
        patterns=kernel.paths.patterns,
    )
    return replace(kernel, paths=paths, wavefronts=np.ones(len(pc)))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(steps, min_size=1, max_size=6),
    st.integers(1, 3),
    st.integers(1, 6),
    st.integers(0, 9),
    st.integers(1, 4),
    st.sampled_from(DEVICES),
    st.data(),
)
def test_every_slot_is_issued_or_lost_once(
    code: list[Step],
    warps: int,
    recorded: int,
    extra: int,
    per_sm: int,
    name: str,
    data: st.DataObject,
) -> None:
    device = load_device(name)
    blocks = device.architecture.sm_count * max(3, recorded) + extra
    kernel = micro_kernel(code, 1, 1, blocks, per_sm, device.architecture.warp_width)
    path = st.lists(st.integers(0, len(code) - 1), max_size=12)
    pcs = data.draw(st.lists(path, min_size=warps * recorded, max_size=warps * recorded))
    kernel = ragged(kernel, pcs, warps)
    timing = launch_timing(kernel, device, is_exact=True)
    total = timing.issued + sum(timing.stalls.values())
    assert total == timing.full_cycles * timing.slots_per_cycle == timing.slots.sum()
    folded = [step.pipeline is Pipeline.NONE for step in code]
    blocks_of_sm = [k % recorded for k in range(timing.thread_blocks)]
    walked = [pc for k in blocks_of_sm for path in pcs[k * warps : (k + 1) * warps] for pc in path]
    assert timing.issued == sum(not folded[pc] for pc in walked) == timing.instructions
    assert timing.lost_by_pc.sum() <= sum(timing.stalls.values())
    assert (timing.slots >= 0).all()


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("more", [0, 1])
def test_a_steady_stretch_stands_for_the_rest(name: str, more: int) -> None:
    device = load_device(name)
    blocks = device.architecture.sm_count * 200 + more
    code = [replace(STREAM[0], l2_hits=0.0), *STREAM[1:]]
    kernel = micro_kernel(code, 10, 4, blocks, 4, device.architecture.warp_width)
    exact, skipped = launch_timing(kernel, device, is_exact=True), launch_timing(kernel, device)
    assert skipped.is_steady
    assert skipped.simulated_instructions < 0.5 * exact.simulated_instructions
    assert skipped.cycles == pytest.approx(exact.cycles, rel=0.01)
    assert skipped.issued == pytest.approx(exact.issued, rel=0.01)
    for reason, slots in exact.stalls.items():
        assert skipped.lost(reason) == pytest.approx(slots, abs=0.02 * exact.slots.sum()), reason
    total = skipped.issued + sum(skipped.stalls.values())
    assert total == skipped.full_cycles * skipped.slots_per_cycle


def test_stores_are_not_steady_while_they_pile_up() -> None:
    """Short thread blocks that only store: the queue fills before bandwidth limits them."""
    device = changed(load_device("v100-pcie"), outstanding_sectors=4096)
    kernel = micro_kernel([Step(Pipeline.GLOBAL, (0,))], 1, 8, 80 * 4000, 2)
    exact, skipped = launch_timing(kernel, device, is_exact=True), launch_timing(kernel, device)
    assert skipped.cycles == pytest.approx(exact.cycles, rel=0.02)


BETTER = [
    ("dram_efficiency", 1.0),
    ("l2_bytes_per_cycle", 1e6),
    ("l2_bandwidth_bytes_per_s", 1e15),
    ("outstanding_sectors", 1e6),
    ("dram_latency_cycles", 200.0),
    ("shared_latency_cycles", 2.0),
    ("barrier_latency_cycles", 1.0),
    ("branch_latency_cycles", 0.0),
    ("thread_block_launch_cycles", 0.0),
    ("l1_wavefront_bytes", 1e6),
]


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize(("fact", "value"), BETTER)
def test_a_better_machine_is_never_slower(name: str, fact: str, value: float) -> None:
    device = load_device(name)
    kernel = micro_kernel(
        STREAM, 20, 4, device.architecture.sm_count * 8, 4, device.architecture.warp_width
    )
    before = launch_timing(kernel, device, is_exact=True)
    after = launch_timing(kernel, changed(device, **{fact: value}), is_exact=True)
    assert after.cycles <= 1.01 * before.cycles


CASES = [
    (Component.FP64, Step(Pipeline.FP64), StallReason.FP64_PIPE),
    (Component.BARRIER, Step(Pipeline.BARRIER), StallReason.BARRIER),
    (Component.FENCE, Step(Pipeline.FENCE), StallReason.FENCE),
    (Component.BRANCH, Step(Pipeline.BRANCH), StallReason.BRANCH),
    (Component.ARITHMETIC_LATENCY, Step(Pipeline.SPECIAL_FUNCTION, (0,), (0,)), None),
    (Component.MEMORY_LATENCY, Step(Pipeline.GLOBAL, (0,), (0,)), StallReason.DRAM_LATENCY),
    (Component.SHARED_LATENCY, Step(Pipeline.SHARED, (0,), (0,)), StallReason.SHARED_DEPENDENCY),
    (Component.CONSTANT_LATENCY, Step(Pipeline.CONSTANT, (0,), (0,)), None),
]


@pytest.mark.parametrize(("component", "step", "reason"), CASES)
def test_what_is_left_out_costs_nothing(
    component: Component, step: Step, reason: StallReason | None
) -> None:
    device = load_device("quadro-rtx-4000")
    kernel = micro_kernel([step], 200, 2, device.architecture.sm_count)
    with_it = launch_timing(kernel, device)
    without = launch_timing(kernel, device, frozenset((component,)))
    assert without.cycles < 0.7 * with_it.cycles
    if reason is not None:
        assert with_it.lost(reason) > 10 * without.lost(reason)


def test_without_conflicts_accesses_take_the_fewest_passes() -> None:
    device = load_device("v100-pcie")
    kernel = micro_kernel([Step(Pipeline.SHARED)], 100, 8, 80)
    passes = np.where(np.arange(800) % 2, 16.0, 2.0)
    kernel = replace(kernel, wavefronts=passes, ideal_wavefronts=np.full(800, 2.0))
    conflicts = launch_timing(kernel, device)
    free = launch_timing(kernel, device, frozenset((Component.BANK_CONFLICTS,)))
    assert conflicts.cycles == pytest.approx(800 * 9, rel=0.05)
    assert free.cycles == pytest.approx(800 * 2, rel=0.05)


def test_dram_bandwidth_can_be_left_out() -> None:
    device = load_device("v100-pcie")
    kernel = micro_kernel([Step(Pipeline.GLOBAL, (0,), (1,))], 100, 32, 80 * 8, 2)
    bound = launch_timing(kernel, device)
    free = launch_timing(kernel, device, frozenset((Component.DRAM_BANDWIDTH,)))
    assert free.cycles < 0.8 * bound.cycles
    assert free.lost(StallReason.DRAM_BANDWIDTH) == 0


def test_the_launch_itself_takes_its_overhead() -> None:
    device = load_device("v100-pcie")
    kernel = micro_kernel([Step(Pipeline.FP32)], 10)
    assert device.timing is not None
    timing = launch_timing(kernel, device)
    expected = device.timing.launch_overhead_s + timing.cycles / device.architecture.clock_hz
    assert timing.seconds == pytest.approx(expected)
    without = launch_timing(kernel, device, frozenset((Component.LAUNCH_OVERHEAD,)))
    assert without.seconds == pytest.approx(timing.cycles / device.architecture.clock_hz)


def test_paths_that_hold_half_of_the_work_count_twice() -> None:
    device = load_device("v100-pcie")
    kernel = micro_kernel([Step(Pipeline.FP32, (0,), (0,))], 1000)
    whole = launch_timing(kernel, device)
    half = launch_timing(replace(kernel, path_share=0.5), device)
    assert half.cycles == whole.cycles
    work = whole.seconds - whole.overhead_s
    assert half.seconds - half.overhead_s == pytest.approx(2 * work)


def test_a_few_busy_sms_have_the_bandwidth_for_themselves() -> None:
    """One thread block on one of 80 SMs is bound by its own port of L2, not by a share of DRAM."""
    device = changed(load_device("v100-pcie"), outstanding_sectors=1e6)
    code = [Step(Pipeline.GLOBAL, (0,), (i,)) for i in range(1, 9)]
    alone = launch_timing(micro_kernel(code, 50, 32, 1), device)
    everywhere = launch_timing(micro_kernel(code, 50, 32, 80), device)
    assert device.timing is not None
    port = 32 * 50 * 8 * 4 * 32 / device.timing.l2_bytes_per_cycle
    assert alone.cycles == pytest.approx(port, rel=0.1)
    assert everywhere.cycles > 2 * alone.cycles


def test_warps_without_events_end_at_once() -> None:
    device = load_device("v100-pcie")
    kernel = micro_kernel([Step(Pipeline.FP32), Step(Pipeline.NONE)], 1, 1, 80 * 7, 2)
    nothing = launch_timing(ragged(kernel, [[], []], 2), device)
    assert nothing.cycles == nothing.issued == nothing.slots.sum() == 0
    folded = launch_timing(ragged(kernel, [[1, 1], []], 2), device)
    assert folded.issued == 0
    half = launch_timing(ragged(kernel, [[0, 0], []], 2), device)
    assert half.issued == 14


def test_warps_that_end_early_do_not_hold_up_a_barrier() -> None:
    device = load_device("v100-pcie")
    kernel = micro_kernel([Step(Pipeline.FP32), Step(Pipeline.BARRIER)], 1)
    timing = launch_timing(ragged(kernel, [[0], [1, 0, 1], [1, 0]], 3), device)
    assert timing.issued == 6


def test_where_there_is_nothing_to_time() -> None:
    device, kernel = load_device("v100-pcie"), micro_kernel([Step(Pipeline.FP32)], 1)
    with pytest.raises(ModelNotApplicable, match="no timing facts"):
        launch_timing(kernel, replace(device, timing=None))
    with pytest.raises(ModelNotApplicable, match="no path"):
        launch_timing(ragged(kernel, [], 1), device)


def test_reasons_have_codes_of_their_own() -> None:
    codes = [reason.code for reason in StallReason]
    assert codes == list(range(1, REASON_COUNT))
    assert STATE_COUNT <= STATES


def test_an_sm_catches_up_with_bandwidth_that_it_left_unused() -> None:
    """Thread blocks that first compute and then load leave DRAM to others meanwhile.

    Others load then, so that DRAM has no pauses; in a launch of one wave all SMs load at once, and
    each has its share only.
    """
    device = changed(load_device("v100-pcie"), thread_block_launch_cycles=0.0)
    chain = [Step(Pipeline.FP32, (0,), (0,)) for _ in range(100)]
    loads = [Step(Pipeline.GLOBAL, (0,), (1,), bytes_per_lane=1.0) for _ in range(8)]
    sms = device.architecture.sm_count
    many, one = (
        launch_timing(micro_kernel(chain + loads, 1, 8, sms * blocks, 2), device, is_exact=True)
        for blocks in (64, 2)
    )
    assert many.cycles < 0.97 * 32 * one.cycles
    bandwidth = device.dram.bandwidth_bytes_per_s * device.timing.dram_efficiency  # type: ignore[union-attr]
    least_s = sms * 64 * 8 * 8 * 4 * device.l2.sector_bytes / bandwidth
    assert device.seconds(many.cycles) >= least_s
