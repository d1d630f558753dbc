"""Micro-kernels whose cycles follow from the device's facts on paper, on real parameter sets."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from micro_kernel import Step, micro_kernel

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.device.timing_facts import PipelineFacts, TimingFacts
from kernelcast.simcore.timing.kernel.component import Component
from kernelcast.simcore.timing.kernel.stall_reasons import StallReason
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel
from kernelcast.simcore.timing.launch.launch_timing import LaunchTiming, launch_timing

DEVICES = ("v100-pcie", "gtx-1070", "quadro-rtx-4000", "mi210", "gtx-480", "tesla-k20c")
WITHIN = 0.05

on_all = pytest.mark.parametrize("name", DEVICES)


def facts(device: Device) -> TimingFacts:
    assert device.timing is not None
    return device.timing


def changed(device: Device, **values: float) -> Device:
    return replace(device, timing=replace(facts(device), **values))  # type: ignore[arg-type]


def loop(device: Device, steps: list[Step], trips: int, warps: int, **sizes: int) -> TimedKernel:
    """One thread block for each SM unless `sizes` says otherwise."""
    every = {"thread_blocks": device.architecture.sm_count} | sizes
    return micro_kernel(steps, trips, warps, warp_width=device.architecture.warp_width, **every)


def run(device: Device, steps: list[Step], trips: int, warps: int, **sizes: int) -> LaunchTiming:
    timing = launch_timing(loop(device, steps, trips, warps, **sizes), device, is_exact=True)
    total = timing.issued + sum(timing.stalls.values())
    assert total == timing.full_cycles * timing.slots_per_cycle
    return timing


def turn(device: Device, cycles: float) -> int:
    """Cycles rounded up to the next issue."""
    every = facts(device).issue_cycles
    return math.ceil(math.ceil(cycles) / every) * every


def unit_cycles(device: Device, unit: PipelineFacts) -> float:
    """Cycles of one warp instruction in the units of one scheduler, or of the SM."""
    schedulers = device.sm.warp_schedulers
    share = unit.lanes / schedulers if unit.lanes >= schedulers else unit.lanes
    return device.architecture.warp_width / share


def dram_cycles(device: Device, sectors: float) -> float:
    """Cycles of so many sectors at one SM's share of the DRAM bandwidth."""
    bandwidth = device.dram.bandwidth_bytes_per_s * facts(device).dram_efficiency
    share = bandwidth / device.architecture.sm_count / device.running_clock_hz
    return sectors * device.l2.sector_bytes / share


@on_all
def test_dependent_multiply_adds_take_their_latency(name: str) -> None:
    device = load_device(name)
    timing = run(device, [Step(Pipeline.FP32, (0, 1), (0,))], 2000, 1)
    unit = facts(device).fp32
    each = turn(device, max(unit.latency_cycles, unit_cycles(device, unit)))
    assert timing.cycles == pytest.approx(2000 * each, rel=WITHIN)


@on_all
def test_independent_multiply_adds_take_units_or_issue_slots(name: str) -> None:
    device = load_device(name)
    timing_facts, schedulers = facts(device), device.sm.warp_schedulers
    warps, trips = 4 * schedulers, 100
    timing = run(device, [Step(Pipeline.FP32, (i, 31), (i,)) for i in range(24)], trips, warps)
    instructions = 24 * trips * warps
    units = instructions * device.architecture.warp_width / timing_facts.fp32.lanes
    slots = schedulers * timing_facts.issues_per_scheduler / timing_facts.issue_cycles
    assert timing.cycles == pytest.approx(max(units, instructions / slots), rel=WITHIN)


@on_all
@pytest.mark.parametrize("level", ["l1", "l2", "dram"])
def test_a_pointer_chase_takes_the_latency_of_its_level(name: str, level: str) -> None:
    device = load_device(name)
    hits = {"l1": (1.0, 0.0), "l2": (0.0, 1.0), "dram": (0.0, 0.0)}[level]
    step = Step(Pipeline.GLOBAL, (0,), (0,), 1.0, 1.0, *hits)
    timing = run(device, [step], 500, 1)
    latency = getattr(facts(device), f"{level}_latency_cycles")
    assert timing.cycles == pytest.approx(500 * latency, rel=WITHIN)
    waited = timing.lost(StallReason[f"{level.upper()}_LATENCY"])
    busy = timing.slots_per_cycle * timing.cycles / device.sm.warp_schedulers
    assert waited > 0.9 * busy


@on_all
@pytest.mark.parametrize("share", [0.1, 0.25, 0.5, 0.7, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0])
def test_a_streaming_copy_follows_littles_law(name: str, share: float) -> None:
    """Bandwidth is the warps' sectors over the latency, until the SM's share of DRAM is reached."""
    device = changed(load_device(name), outstanding_sectors=1e6, dram_latency_cycles=900)
    device = changed(device, dram_mixed_efficiency=1.0)
    sectors = 4.0
    both = dram_cycles(device, 2 * sectors)
    latency = 900.0
    warps = max(1, round(share * latency / both))
    steps = [
        Step(Pipeline.GLOBAL, (0,), (1,), sectors=sectors, bytes_per_lane=1.0),
        Step(Pipeline.GLOBAL, (0, 1), (), sectors=sectors, bytes_per_lane=1.0),
        Step(Pipeline.BRANCH, (1,)),
    ]
    device = changed(device, branch_latency_cycles=0, l2_bandwidth_bytes_per_s=1e15)
    device = changed(device, l2_bytes_per_cycle=1e6, store_retire_cycles=0)
    trips = 60
    timing = run(device, steps, trips, 1, thread_blocks_per_sm=warps,
                 thread_blocks=warps * device.architecture.sm_count)  # fmt: skip
    expected = trips * max(latency, warps * both)
    at_knee = 0.75 < warps * both / latency < 1.33
    assert timing.cycles == pytest.approx(expected, rel=0.15 if at_knee else WITHIN)


@on_all
@pytest.mark.parametrize("passes", [1, 2, 4, 8, 16, 32])
def test_bank_conflicts_take_a_pass_each(name: str, passes: int) -> None:
    device = load_device(name)
    warps, trips = 16, 40
    steps = [Step(Pipeline.SHARED, (8,), (i,), passes=passes) for i in range(24)]
    timing = run(device, steps, trips, warps)
    assert device.measured is not None
    words = device.measured.load_store_ops_per_s / (
        device.architecture.sm_count * device.running_clock_hz
    )
    most = min(device.architecture.warp_width, device.shared.banks)
    each = passes * most / min(most, round(words))
    assert timing.cycles == pytest.approx(24 * trips * warps * each, rel=WITHIN)
    without = launch_timing(
        loop(device, steps, trips, warps), device, frozenset((Component.SHARED_PIPE,))
    )
    assert without.cycles <= timing.cycles


@on_all
@pytest.mark.parametrize("warps", [2, 8, 16])
def test_barriers_wait_for_the_last_warp(name: str, warps: int) -> None:
    device = load_device(name)
    timing = run(device, [Step(Pipeline.BARRIER)], 1000, warps)
    rounds = -(-warps // device.sm.warp_schedulers)
    issue = facts(device).issue_cycles
    arrival = (rounds - 1) * issue
    each = turn(device, max(arrival + facts(device).barrier_latency_cycles, rounds * issue))
    assert timing.cycles == pytest.approx(1000 * each, rel=WITHIN)
    if warps > 2:
        assert timing.lost(StallReason.BARRIER) > 0


@on_all
def test_divergent_halves_take_turns(name: str) -> None:
    """Both sides of a branch are on the path: twice the instructions, half the lanes."""
    device = load_device(name)
    side = [Step(Pipeline.FP32, (i,), (i,)) for i in range(16)]
    other = [Step(Pipeline.FP32, (i,), (i,)) for i in range(16, 32)]
    both, one = run(device, side + other, 200, 8), run(device, side, 200, 8)
    assert both.cycles == pytest.approx(2 * one.cycles, rel=WITHIN)


@pytest.mark.parametrize("name", ["gtx-1070", "quadro-rtx-4000", "gtx-960"])
def test_double_precision_at_a_32nd_of_the_rate(name: str) -> None:
    device = load_device(name)
    assert device.sm.fp32_lanes == 32 * device.sm.fp64_lanes
    warps, trips = 8, 50
    timing = run(device, [Step(Pipeline.FP64, (i,), (i,)) for i in range(8)], trips, warps)
    expected = 8 * trips * warps * 32 / facts(device).fp64.lanes
    assert timing.cycles == pytest.approx(expected, rel=WITHIN)
    assert timing.lost(StallReason.FP64_PIPE) > 0.8 * timing.cycles


@on_all
@pytest.mark.parametrize("words", [1, 4, 32])
def test_constants_take_a_pass_for_each_word(name: str, words: int) -> None:
    device = load_device(name)
    steps = [Step(Pipeline.CONSTANT, (9,), (i,), passes=words) for i in range(24)]
    timing = run(device, steps, 40, 16)
    slots = 16 * 960 / timing.slots_per_cycle
    assert timing.cycles == pytest.approx(max(16 * 960 * words, slots), rel=WITHIN)


@on_all
def test_one_thread_block_takes_as_long_alone(name: str) -> None:
    """A dependent chain shares nothing: one SM or all of them take the same time."""
    device = load_device(name)
    steps = [Step(Pipeline.FP32, (0,), (0,))]
    alone = run(device, steps, 500, 1, thread_blocks=1)
    everywhere = run(device, steps, 500, 1)
    assert alone.cycles == everywhere.cycles
    assert alone.imbalance_cycles == 0


@on_all
def test_one_thread_block_over_a_wave_takes_a_second_turn(name: str) -> None:
    device = load_device(name)
    steps, sms = [Step(Pipeline.FP32, (0,), (0,))], device.architecture.sm_count
    wave = run(device, steps, 2000, 4, thread_blocks=3 * sms)
    more = run(device, steps, 2000, 4, thread_blocks=3 * sms + 1)
    launch = facts(device).thread_block_launch_cycles
    alone = run(device, steps, 2000, 4, thread_blocks=1)
    assert more.cycles == pytest.approx(wave.cycles + launch + alone.cycles, rel=WITHIN)
    assert more.imbalance_cycles == more.cycles - wave.cycles
    even = launch_timing(
        loop(device, steps, 2000, 4, thread_blocks=3 * sms + 1),
        device,
        frozenset((Component.IMBALANCE,)),
    )
    assert even.cycles == wave.cycles


@on_all
def test_the_limit_of_requests_bounds_the_bandwidth(name: str) -> None:
    device = changed(load_device(name), outstanding_sectors=16, l2_bandwidth_bytes_per_s=1e15)
    steps = [Step(Pipeline.GLOBAL, (9,), (i,), l2_hits=1.0) for i in range(8)]
    timing = run(device, steps, 100, 8)
    requests = 8 * 100 * 8
    expected = requests * 4 / 16 * math.ceil(facts(device).l2_latency_cycles)
    assert timing.cycles == pytest.approx(expected, rel=WITHIN)
    assert timing.lost(StallReason.REQUESTS_LATENCY) > 0.5 * timing.cycles


@on_all
def test_thread_blocks_of_one_place_follow_each_other_after_the_turnaround(name: str) -> None:
    device, count = load_device(name), 50
    steps = [Step(Pipeline.FP32, (0,), (0,))]
    one = run(device, steps, 20, 1, thread_blocks=1)
    timing = run(device, steps, 20, 1, thread_blocks=count * device.architecture.sm_count)
    launch = turn(device, facts(device).thread_block_launch_cycles)
    assert timing.cycles == pytest.approx(count * one.cycles + (count - 1) * launch, rel=WITHIN)


@on_all
def test_branches_and_fences_hold_up_their_own_warp(name: str) -> None:
    device = load_device(name)
    issue = facts(device).issue_cycles
    for pipeline, latency in (
        (Pipeline.BRANCH, facts(device).branch_latency_cycles),
        (Pipeline.FENCE, facts(device).fence_latency_cycles),
    ):
        timing = run(device, [Step(pipeline)], 500, 1)
        assert timing.cycles == pytest.approx(500 * turn(device, max(latency, issue)), rel=WITHIN)


def test_two_instructions_of_a_warp_issue_together_where_the_device_can() -> None:
    """An fp32 and an integer stream, independent: one cycle a pair on Kepler."""
    device = load_device("tesla-k20c")
    assert facts(device).issues_per_scheduler == 2
    steps = [
        step
        for i in range(12)
        for step in (Step(Pipeline.FP32, (i,), (i,)), Step(Pipeline.INTEGER, (20 + i,), (20 + i,)))
    ]
    timing = run(device, steps, 50, 16)
    warp, instructions = 32, 16 * 50 * 12
    expected = max(
        instructions / device.sm.warp_schedulers,
        instructions * warp / facts(device).integer.lanes,
        instructions * warp / facts(device).fp32.lanes,
    )
    assert timing.cycles == pytest.approx(expected, rel=WITHIN)
    single = run(changed(device, issues_per_scheduler=1), steps, 50, 16)
    assert single.cycles == pytest.approx(2 * instructions / 4, rel=WITHIN)


def test_folded_instructions_take_no_slot_but_hand_on_what_they_wait_for() -> None:
    device = load_device("v100-pcie")
    chain = [Step(Pipeline.FP32, (0,), (1,)), Step(Pipeline.NONE, (1,), (0,))]
    timing = run(device, chain, 1000, 1)
    assert timing.issued == 1000
    assert timing.cycles == pytest.approx(1000 * facts(device).fp32.latency_cycles, rel=WITHIN)


def test_code_that_outgrows_its_cache_is_fetched_again() -> None:
    """A body of twice the cache's lines misses each of them in each trip."""
    device = changed(
        load_device("v100-pcie"), instruction_cache_bytes=1024, fetch_latency_cycles=64
    )
    size = int(facts(device).instruction_bytes)
    steps = [Step(Pipeline.INTEGER, (), (i % 8,)) for i in range(2048 // size)]
    timing = run(device, steps, 100, 1)
    lines, each = 2048 // 128, 128 // size * 2
    fetched = timing.lost(StallReason.INSTRUCTION_FETCH)
    assert fetched == pytest.approx(100 * lines * (64 - 1), rel=WITHIN)
    assert timing.cycles == pytest.approx(100 * lines * (64 + each - 1), rel=WITHIN)
    fits = run(device, steps[: 1024 // size], 100, 1)
    assert fits.lost(StallReason.INSTRUCTION_FETCH) == 0


def test_stores_end_with_the_bandwidth_that_they_need() -> None:
    device = changed(load_device("v100-pcie"), l2_bandwidth_bytes_per_s=1e15)
    timing = run(device, [Step(Pipeline.GLOBAL, (0,))], 200, 16)
    assert timing.cycles == pytest.approx(dram_cycles(device, 200 * 16 * 4), rel=WITHIN)
    assert timing.lost(StallReason.DRAIN) > 0


def test_a_place_waits_for_stores_where_the_device_does() -> None:
    device = changed(load_device("v100-pcie"), thread_block_launch_cycles=10)
    waits = changed(device, store_retire_cycles=300)
    steps, blocks = [Step(Pipeline.GLOBAL, (0,), l2_hits=1.0)], 40
    sizes = {"thread_blocks": blocks * device.architecture.sm_count}
    at_once, later = run(device, steps, 1, 1, **sizes), run(waits, steps, 1, 1, **sizes)
    assert at_once.cycles == pytest.approx(blocks * 11, rel=WITHIN)
    assert later.cycles == pytest.approx(blocks * 310, rel=WITHIN)


def test_dram_that_reads_and_writes_in_turn_is_slower() -> None:
    """Equal loads and stores have `dram_mixed_efficiency` of the bandwidth.

    A third of stores has less of the loss.
    """
    device = changed(load_device("v100-pcie"), dram_mixed_efficiency=0.8)
    device = changed(device, l2_bandwidth_bytes_per_s=1e15, outstanding_sectors=1e6)
    load, store = Step(Pipeline.GLOBAL, (0,), (1,)), Step(Pipeline.GLOBAL, (0,))
    for steps, share in (([load], 1.0), ([load, store], 0.8), ([load, load, store], 1 - 0.4 / 3)):
        timing = run(device, steps, 60, 32)
        sectors = 4 * len(steps) * 60 * 32
        assert timing.cycles == pytest.approx(dram_cycles(device, sectors) / share, rel=WITHIN)


@pytest.mark.parametrize("name", ["v100-pcie", "quadro-rtx-4000", "gtx-1070", "mi210"])
def test_l1_and_shared_memory_take_turns_where_they_are_one_array(name: str) -> None:
    """GPUs from Volta on; on older ones most of one is hidden behind the other."""
    device = load_device(name)
    words = Step(Pipeline.SHARED, (9,), (0,), passes=8.0)
    lines = Step(Pipeline.GLOBAL, (9,), (1,), passes=4.0, l1_hits=1.0)
    warps, trips = 32, 100
    shared, l1 = (
        run(device, [step], trips, warps).cycles / trips / warps for step in (words, lines)
    )
    both = run(device, [words, lines], trips, warps).cycles / trips / warps
    if name in ("v100-pcie", "quadro-rtx-4000"):
        share = facts(device).l1_wavefront_bytes / 128  # of the banks' width
        assert both == pytest.approx(shared + share * l1, rel=WITHIN)
    else:
        assert both < 0.85 * (shared + l1)


@pytest.mark.parametrize(
    ("name", "passes", "cycles"),
    [("rtx-a6000", 1.0, 2.0), ("rtx-a6000", 4.0, 4.0), ("l40", 1.0, 2.0), ("a100-40gb", 1.0, 1.0)],
)
def test_addresses_of_a_warp_take_load_store_units(name: str, passes: float, cycles: float) -> None:
    """16 of GA102's and Ada's SMs, 32 of GA100's; longer accesses hide them."""
    device, warps, trips = load_device(name), 16, 40
    steps = [Step(Pipeline.SHARED, (99,), (i,), passes=passes) for i in range(24)]
    found = run(device, steps, trips, warps).cycles / trips / warps / len(steps)
    assert found == pytest.approx(cycles, rel=WITHIN)
