"""What control bits of machine code say of the issue, on micro-kernels with closed forms."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from micro_kernel import Step, micro_kernel, scheduled

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.timing.kernel.component import Component
from kernelcast.simcore.timing.kernel.machine_schedule import machine_schedule
from kernelcast.simcore.timing.kernel.stall_reasons import StallReason
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel, timing_facts
from kernelcast.simcore.timing.launch.launch_timing import LaunchTiming, launch_timing
from kernelcast.traces.issue_control import IssueControl
from kernelcast.traces.trace import InstructionRow

TRIPS = 2000
WITHIN = 0.02
LOAD = Step(Pipeline.GLOBAL, writes=(0,), bytes_per_lane=1.0)
"""A load of one pass."""
FROM_L1 = replace(LOAD, l1_hits=1.0, l2_hits=1.0)
FROM_L2 = replace(LOAD, l2_hits=1.0)


def code(
    device: Device,
    steps: list[Step],
    stalls: list[int],
    warps: int = 1,
    trips: int = TRIPS,
    **columns: Any,
) -> TimedKernel:
    """One thread block for each SM, as machine code; `columns` as in `scheduled`."""
    kernel = micro_kernel(steps, trips, warps, thread_blocks=device.architecture.sm_count)
    return scheduled(kernel, stalls, **columns)


def timed(device: Device, kernel: TimedKernel, *without: Component) -> LaunchTiming:
    return launch_timing(kernel, device, without=frozenset(without), is_exact=True)


def a_trip(device: Device, kernel: TimedKernel, *without: Component) -> float:
    """Cycles of one trip through the steps."""
    return timed(device, kernel, *without).full_cycles / TRIPS


@pytest.fixture(params=["v100-pcie", "a100-40gb", "rtx-a6000", "h100-sxm"])
def gpu(request: pytest.FixtureRequest) -> Device:
    return load_device(request.param)


@pytest.mark.parametrize("stall", [2, 4, 9, 15])
def test_a_warp_stalls_as_long_as_the_assembler_says(gpu: Device, stall: int) -> None:
    """Whatever latency the device's file has."""
    kernel = code(gpu, [Step(Pipeline.FP32)], [stall])
    assert a_trip(gpu, kernel) == pytest.approx(stall, rel=WITHIN)
    timing = timed(gpu, kernel)
    lost = timing.stalls[StallReason.EXECUTION_DEPENDENCY]
    assert lost == pytest.approx((stall - 1) * timing.issued, rel=WITHIN)


def test_registers_do_not_matter_beside_stalls(gpu: Device) -> None:
    """A chain through registers takes the latency in a source form, the stall in machine code."""
    steps = [Step(Pipeline.SPECIAL_FUNCTION)] * 2
    kernel = code(gpu, steps, [1, 1])
    busy = 32 / (timing_facts(gpu).special_function.lanes / gpu.sm.warp_schedulers)
    assert a_trip(gpu, kernel) == pytest.approx(2 * busy, rel=WITHIN)


def test_a_load_is_waited_for_by_its_scoreboard(gpu: Device) -> None:
    latency = math.ceil(timing_facts(gpu).l1_latency_cycles)
    waits, goes = Step(Pipeline.INTEGER, reads=(0,)), Step(Pipeline.INTEGER)
    waited = code(gpu, [FROM_L1, waits], [1, 2])
    assert a_trip(gpu, waited) == pytest.approx(latency + 2, rel=WITHIN)
    assert a_trip(gpu, code(gpu, [FROM_L1, goes], [1, 2])) < 6


def test_a_scoreboard_is_free_when_all_that_hold_it_are_done(gpu: Device) -> None:
    """The slower access comes first: the faster one behind it must not end the wait."""
    facts = timing_facts(gpu)
    kernel = code(gpu, [FROM_L2, FROM_L1, Step(Pipeline.INTEGER, reads=(0,))], [1, 1, 1])
    assert a_trip(gpu, kernel) == pytest.approx(facts.l2_latency_cycles + 2, rel=0.05)


def test_what_overwrites_operands_waits_until_they_are_read(gpu: Device) -> None:
    """A queue of L1 in front of them makes that longer."""
    store = Step(Pipeline.GLOBAL, sectors=0.0, bytes_per_lane=0.0)
    waits = Step(Pipeline.INTEGER, reads=(3,))
    kernel = code(gpu, [store, waits], [1, 1], reads=[3, -1])
    assert a_trip(gpu, kernel) == pytest.approx(11, rel=WITHIN)
    queued = replace(kernel, wavefronts=np.where(kernel.paths.pc == 0, 64.0, 1.0))
    assert a_trip(gpu, queued) == pytest.approx(65, rel=0.05)


def test_a_branch_that_is_not_taken_costs_its_stall(gpu: Device) -> None:
    steps = [Step(Pipeline.BRANCH), Step(Pipeline.INTEGER)]
    latency = timing_facts(gpu).branch_latency_cycles
    falls = code(gpu, steps, [5, 2])
    jumps = code(gpu, steps, [5, 2], addresses=[0, 320])
    assert a_trip(gpu, falls) == pytest.approx(5 + 2, rel=WITHIN)
    assert a_trip(gpu, jumps) == pytest.approx(max(5, latency) + 2, rel=WITHIN)
    assert a_trip(gpu, jumps, Component.BRANCH) == pytest.approx(1 + 2, rel=WITHIN)


def test_lanes_that_come_together_cost_the_latency_of_it(gpu: Device) -> None:
    """Warps go on behind a `BSYNC` that long after it, whether or not their lanes had parted."""
    latency = timing_facts(gpu).reconvergence_latency_cycles
    assert latency > 5
    kernel = code(gpu, [Step(Pipeline.RECONVERGENCE), Step(Pipeline.INTEGER)], [5, 2])
    assert a_trip(gpu, kernel) == pytest.approx(round(latency) + 2, rel=WITHIN)
    assert a_trip(gpu, kernel, Component.BRANCH) == pytest.approx(1 + 2, rel=WITHIN)


@pytest.mark.parametrize(
    ("banks", "cycles"),
    [([(3, 0), (3, 0)], 3.0), ([(2, 1), (1, 2)], 1.5), ([(1, 1), (1, 1)], 1.0)],
)
def test_a_bank_gives_one_register_a_cycle(banks: list[tuple[int, int]], cycles: float) -> None:
    """A GPU with 32 lanes of single precision a scheduler: one warp instruction a cycle."""
    gpu = load_device("rtx-a6000")
    assert timing_facts(gpu).fp32.lanes == 32 * gpu.sm.warp_schedulers
    kernel = code(gpu, [Step(Pipeline.FP32)] * 2, [1, 1], 8, banks=banks)
    each = timed(gpu, kernel).full_cycles * gpu.sm.warp_schedulers / (2 * 8 * TRIPS)
    assert each == pytest.approx(cycles, rel=WITHIN)


def test_banks_do_not_slow_down_narrow_units() -> None:
    """Two cycles of sixteen lanes hide two reads of one bank."""
    gpu = load_device("v100-pcie")
    kernel = code(gpu, [Step(Pipeline.FP32)] * 2, [1, 1], 8, banks=[(2, 1), (2, 1)])
    each = timed(gpu, kernel).full_cycles * gpu.sm.warp_schedulers / (2 * 8 * TRIPS)
    assert each == pytest.approx(2.0, rel=WITHIN)


def test_the_next_instruction_follows_at_once_without_arithmetic_latency(gpu: Device) -> None:
    kernel = code(gpu, [Step(Pipeline.INTEGER)], [15])
    busy = 32 / (timing_facts(gpu).integer.lanes / gpu.sm.warp_schedulers)
    relieved = a_trip(gpu, kernel, Component.ARITHMETIC_LATENCY)
    assert relieved == pytest.approx(busy, rel=WITHIN)


def test_code_is_fetched_from_where_it_lies(gpu: Device) -> None:
    """Lines that do not fit come from L2 again and again, eight at a time, two cycles each."""
    size = int(timing_facts(gpu).instruction_cache_bytes)
    steps = [Step(Pipeline.INTEGER)] * (size // 128 + 64)
    apart = [128 * number for number in range(len(steps))]
    trips = 10
    far = code(gpu, steps, [2] * len(steps), trips=trips, addresses=apart)
    eight = math.ceil(timing_facts(gpu).fetch_latency_cycles) + 7 * 2
    expected = trips * len(steps) / 8 * eight
    assert timed(gpu, far).full_cycles == pytest.approx(expected, rel=WITHIN)


def test_code_is_cold_as_a_launch_begins(gpu: Device) -> None:
    """Once straight on: what follows the first eight lines is waited for, the first time only."""
    steps = [Step(Pipeline.INTEGER)] * (8 * 40)
    stalls = [2] * len(steps)
    once, twice = (timed(gpu, code(gpu, steps, stalls, trips=trips)) for trips in (1, 2))
    warm = timed(gpu, code(gpu, steps, stalls, trips=1), Component.INSTRUCTION_FETCH)
    latency = math.ceil(timing_facts(gpu).fetch_latency_cycles)
    assert warm.full_cycles == pytest.approx(2 * len(steps), rel=WITHIN)
    # a line takes 16 cycles, and is asked for when the eighth before it is come to
    late = latency - 8 * 16
    assert once.full_cycles - warm.full_cycles == pytest.approx(4 * late, rel=0.1)
    assert twice.full_cycles - once.full_cycles == pytest.approx(2 * len(steps), rel=WITHIN)


def test_other_lines_of_code_cost_nothing_before_they_are_needed(gpu: Device) -> None:
    few = [Step(Pipeline.INTEGER)] * 60
    cold = timed(gpu, code(gpu, few, [2] * len(few), trips=1))
    assert cold.full_cycles == pytest.approx(2 * len(few), rel=WITHIN)


@pytest.mark.parametrize("turns", [1, 2])
def test_products_of_64_bits_take_their_unit_twice_as_long(gpu: Device, turns: int) -> None:
    """Eight warps of each scheduler keep the unit busy."""
    kernel = code(gpu, [Step(Pipeline.INTEGER_MULTIPLY)], [1], warps=32, unit_turns=[turns])
    lanes = timing_facts(gpu).integer_multiply.lanes
    assert a_trip(gpu, kernel) == pytest.approx(turns * 32 * 32 / lanes, rel=WITHIN)


def test_the_assembler_names_products_of_64_bits() -> None:
    def row(mnemonic: str) -> InstructionRow:
        control = IssueControl(
            address=0, stall_cycles=1, yields=False, written=None, read=None, waits=(), reuse=0
        )
        return InstructionRow(0, mnemonic, mnemonic, "integer", 0, "", 0, control=control)

    rows = [row("IMAD.WIDE.U32"), row("IMAD"), row("IMAD.MOV.U32")]
    schedule = machine_schedule(rows, timing_facts(load_device("h100-sxm")))
    assert schedule is not None
    assert schedule.unit_turns.tolist() == [2, 1, 1]
