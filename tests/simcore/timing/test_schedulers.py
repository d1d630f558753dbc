"""Which warp issues when: the compiled schedulers against a plain search cycle by cycle."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from micro_kernel import Step, micro_kernel

from kernelcast.errors import ModelNotApplicable
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.device.timing_facts import TimingFacts
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel
from kernelcast.simcore.timing.launch.launch_timing import launch_timing
from kernelcast.simcore.timing.walk.kernel_arrays import kernel_arrays
from kernelcast.traces.warp_paths import NO_PATTERN

DEVICE = load_device("v100-pcie")
UNITS = (Pipeline.FP32, Pipeline.FP64, Pipeline.INTEGER, Pipeline.SPECIAL_FUNCTION)


def facts() -> TimingFacts:
    assert DEVICE.timing is not None
    return DEVICE.timing


class PlainScheduler:
    """Greedy, then oldest, for warps whose units are the scheduler's own."""

    def __init__(self, steps: list[Step], trips: int, warps: int) -> None:
        self.program = steps * trips
        self.position = [0] * warps
        self.registers: list[dict[int, int]] = [{} for _ in range(warps)]
        self.free = dict.fromkeys(UNITS, 0.0)

    def opens(self, warp: int) -> float:
        if self.position[warp] == len(self.program):
            return math.inf
        step = self.program[self.position[warp]]
        operands = [self.registers[warp].get(item, 0) for item in (*step.reads, *step.writes)]
        return max(int(self.free[step.pipeline]), *operands, 0)

    def issue(self, warp: int, now: int) -> None:
        step = self.program[self.position[warp]]
        unit = getattr(facts(), step.pipeline.value)
        lanes = unit.lanes / DEVICE.sm.warp_schedulers
        self.free[step.pipeline] = max(self.free[step.pipeline], now) + 32 / lanes
        for register in step.writes:
            self.registers[warp][register] = now + math.ceil(unit.latency_cycles)
        self.position[warp] += 1

    def run(self) -> int:
        """The end of the last issue."""
        order = range(len(self.position))
        now, last, expected = 0, -1, -1
        while any(self.position[warp] < len(self.program) for warp in order):
            can = [warp for warp in order if self.opens(warp) <= now]
            if expected >= 0 and expected in can:
                chosen = expected
            elif last in can:
                chosen = last
            elif can:
                chosen = can[0]
            else:
                expected = min(order, key=self.opens)
                now += 1
                continue
            self.issue(chosen, now)
            ended = self.position[chosen] == len(self.program)
            now, last, expected = now + 1, -1 if ended else chosen, -1
        return now


@st.composite
def unit_steps(draw: st.DrawFn) -> list[Step]:
    registers = st.lists(st.integers(0, 7), max_size=6, unique=True).map(tuple)
    one = st.builds(Step, st.sampled_from(UNITS), registers, registers)
    return draw(st.lists(one, min_size=1, max_size=8))


@settings(max_examples=80, deadline=None)
@given(steps=unit_steps(), trips=st.integers(1, 6), warps=st.integers(1, 9))
def test_schedulers_issue_as_a_plain_search_says(steps: list[Step], trips: int, warps: int) -> None:
    """Exactly, over many operands and units of different width and latency."""
    schedulers = DEVICE.sm.warp_schedulers
    kernel = micro_kernel(
        steps, trips, warps * schedulers, thread_blocks=DEVICE.architecture.sm_count
    )
    timing = launch_timing(kernel, DEVICE, is_exact=True)
    assert timing.cycles == PlainScheduler(steps, trips, warps).run()
    assert timing.issued == len(steps) * trips * warps * schedulers


@pytest.mark.parametrize("delay", [4, 5, 6, 7])
def test_an_older_warp_woken_at_an_issue_comes_first(delay: int) -> None:
    """A barrier opens in the cycle in which another scheduler issues to its slow unit.

    When that is free, a warp that comes from the barrier just then goes before a younger one that
    has waited, whoever's turn the cycle is.
    """
    slow, chain, busy = DEVICE.sm.warp_schedulers, 20, 32
    unit = replace(facts().special_function, lanes=slow)
    timing = replace(facts(), special_function=unit, barrier_latency_cycles=float(busy))
    steps = [
        Step(Pipeline.WAIT),
        Step(Pipeline.BARRIER),
        Step(Pipeline.SPECIAL_FUNCTION),
        Step(Pipeline.FP32, (0,), (0,)),
    ]
    wait, barrier, special, fused = ([number] for number in range(4))
    woken = [barrier + special + fused * chain, wait * (delay + 1) + barrier, barrier, barrier]
    first, second = wait * delay + special, special
    paths = [*woken, first, [], [], [], second, [], [], []]
    kernel = kernel_of(steps, paths, thread_blocks=3)
    found = launch_timing(kernel, replace(DEVICE, timing=timing), is_exact=True)
    both_issue, apart = delay + 1, math.ceil(facts().fp32.latency_cycles)
    assert found.cycles == both_issue + busy + 1 + (chain - 1) * apart + 1


def kernel_of(steps: list[Step], paths: list[list[int]], thread_blocks: int) -> TimedKernel:
    """Thread blocks with a path for each warp, all on one SM."""
    kernel = micro_kernel(steps, 1, thread_blocks=thread_blocks * DEVICE.architecture.sm_count)
    events = sum(len(path) for path in paths)
    recorded = replace(
        kernel.paths,
        thread_blocks=np.arange(thread_blocks),
        warps_per_thread_block=len(paths) // thread_blocks,
        start=np.cumsum([0, *(len(path) for path in paths)]),
        pc=np.concatenate([np.array(path, np.int32) for path in paths]),
        lanes=np.full(events, 32, np.uint8),
        pattern=np.full(events, NO_PATTERN, np.int32),
        address=np.zeros(events, np.int64),
    )
    return replace(
        kernel, paths=recorded, wavefronts=np.ones(events), thread_blocks_per_sm=thread_blocks
    )


def test_sixty_four_warps_of_a_scheduler_are_followed() -> None:
    """Each takes as many cycles of its unit as any other, whatever its place."""
    schedulers = DEVICE.sm.warp_schedulers
    kernel = micro_kernel(
        [Step(Pipeline.FP32, (0,), (0,))],
        5,
        64 * schedulers,
        thread_blocks=DEVICE.architecture.sm_count,
    )
    cycles = 32 / (facts().fp32.lanes / schedulers)
    assert launch_timing(kernel, DEVICE, is_exact=True).issued == 5 * 64 * schedulers
    assert launch_timing(kernel, DEVICE, is_exact=True).cycles == pytest.approx(
        5 * 64 * cycles, abs=cycles
    )


def test_more_warps_than_a_scheduler_can_hold_are_refused() -> None:
    few = replace(DEVICE, sm=replace(DEVICE.sm, warp_schedulers=1))
    kernel = micro_kernel([Step(Pipeline.FP32)], 1, 65, thread_blocks=80)
    with pytest.raises(ModelNotApplicable, match="65 resident warps on 1 schedulers"):
        launch_timing(kernel, few)


@pytest.mark.parametrize("steps", [1, 3])
def test_programs_of_all_sizes_share_one_compiled_walk(steps: int) -> None:
    """The walk is compiled for each layout of arrays that it meets."""
    kernel = micro_kernel([Step(Pipeline.FP32, (0,), (0,))] * steps, trips=2)
    program = kernel_arrays(kernel, DEVICE)
    arrays = [column for column in program if isinstance(column, np.ndarray)]
    assert all(array.flags.c_contiguous for array in arrays)
