"""What warps do in each cycle: against a plain machine that is sampled, and closed forms."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from micro_kernel import Step, micro_kernel

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.device.timing_facts import TimingFacts
from kernelcast.simcore.timing.kernel.stall_reasons import NOT_SELECTED, SELECTED, StallReason
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel
from kernelcast.simcore.timing.launch.launch_timing import LaunchTiming, launch_timing

VOLTA = load_device("v100-pcie")
DEVICES = ("v100-pcie", "gtx-1070", "gtx-480", "tesla-k20c", "mi210", "gtx-285")
UNITS = (Pipeline.FP32, Pipeline.FP64, Pipeline.INTEGER, Pipeline.SPECIAL_FUNCTION)


def facts(device: Device = VOLTA) -> TimingFacts:
    assert device.timing is not None
    return device.timing


def changed(device: Device, **values: float) -> Device:
    return replace(device, timing=replace(facts(device), **values))  # type: ignore[arg-type]


def timed(kernel: TimedKernel, device: Device = VOLTA, *, exact: bool = True) -> LaunchTiming:
    """The timing of a kernel, whose account must cover all resident cycles."""
    timing = launch_timing(kernel, device, is_exact=exact)
    assert timing.warp_cycles.sum() == timing.resident_warp_cycles
    assert (timing.warp_cycles >= 0).all()
    return timing


def states(timing: LaunchTiming) -> Counter[int]:
    cycles = timing.warp_cycles.sum(axis=0)
    return Counter({state: int(count) for state, count in enumerate(cycles) if count})


class SampledScheduler:
    """Greedy, then oldest; of every warp its state is noted in each cycle. Units are its own."""

    def __init__(self, steps: list[Step], trips: int, warps: int) -> None:
        self.program = steps * trips
        self.position = [0] * warps
        self.registers: list[dict[int, int]] = [{} for _ in range(warps)]
        self.free = dict.fromkeys(UNITS, 0.0)
        self.samples: Counter[int] = Counter()
        self.last = self.expected = -1

    def operands(self, warp: int) -> int:
        step = self.program[self.position[warp]]
        used = (*step.reads, *step.writes)
        return max([self.registers[warp].get(item, 0) for item in used], default=0)

    def opens(self, warp: int) -> int:
        return max(self.operands(warp), int(self.free[self.program[self.position[warp]].pipeline]))

    def choice(self, live: list[int], now: int) -> int:
        can = [warp for warp in live if self.opens(warp) <= now]
        if self.expected in can:
            return self.expected
        if self.last in can:
            return self.last
        if not can:
            self.expected = min(live, key=self.opens)
        return can[0] if can else -1

    def sample(self, warp: int, chosen: int, now: int) -> int:
        pipeline = self.program[self.position[warp]].pipeline
        if warp == chosen:
            return SELECTED
        if self.operands(warp) > now:
            return StallReason.EXECUTION_DEPENDENCY.code
        if int(self.free[pipeline]) > now:
            return StallReason[f"{pipeline.name}_PIPE"].code
        return NOT_SELECTED

    def run(self) -> Counter[int]:
        now = 0
        while live := [w for w, at in enumerate(self.position) if at < len(self.program)]:
            chosen = self.choice(live, now)
            self.samples.update(self.sample(warp, chosen, now) for warp in live)
            if chosen >= 0:
                self.issue(chosen, now)
            now += 1
        return self.samples

    def issue(self, warp: int, now: int) -> None:
        step = self.program[self.position[warp]]
        unit = getattr(facts(), step.pipeline.value)
        cycles = 32 / (unit.lanes / VOLTA.sm.warp_schedulers)
        self.free[step.pipeline] = max(self.free[step.pipeline], now) + cycles
        for register in step.writes:
            self.registers[warp][register] = now + math.ceil(unit.latency_cycles)
        self.position[warp] += 1
        self.last = warp if self.position[warp] < len(self.program) else -1
        self.expected = -1


registers = st.lists(st.integers(0, 7), max_size=4, unique=True).map(tuple)
unit_steps = st.builds(Step, st.sampled_from(UNITS), registers, registers)


@settings(max_examples=80, deadline=None)
@given(st.lists(unit_steps, min_size=1, max_size=8), st.integers(1, 6), st.integers(1, 9))
def test_warps_do_in_every_cycle_what_samples_say(
    steps: list[Step], trips: int, warps: int
) -> None:
    """Exactly, each state by itself."""
    schedulers = VOLTA.sm.warp_schedulers
    sms = VOLTA.architecture.sm_count
    kernel = micro_kernel(steps, trips, warps * schedulers, thread_blocks=sms)
    sampled = SampledScheduler(steps, trips, warps).run()
    assert states(timed(kernel)) == {state: schedulers * n for state, n in sampled.items()}


shares = st.sampled_from([0.0, 0.3, 1.0])
any_step = st.builds(
    Step,
    st.sampled_from(Pipeline),
    registers,
    registers,
    passes=st.sampled_from([1.0, 2.0, 7.5]),
    sectors=st.sampled_from([1.0, 4.0, 17.3]),
    l1_hits=shares,
    l2_hits=shares,
)


@settings(max_examples=120, deadline=None)
@given(
    st.lists(any_step, min_size=1, max_size=6),
    *(st.integers(1, 3), st.integers(1, 5), st.integers(0, 40), st.integers(1, 4)),
    *(st.sampled_from(DEVICES), st.booleans(), st.sampled_from([0.0, 90.0])),
)
@example([Step(Pipeline.GLOBAL)], 1, 1, 0, 1, "v100-pcie", False, 90.0)
def test_states_add_up_to_the_residence_of_warps(
    code: list[Step],
    trips: int,
    warps: int,
    turns: int,
    per_sm: int,
    name: str,
    exact: bool,
    retire: float,
) -> None:
    device = changed(load_device(name), store_retire_cycles=retire)
    blocks = device.architecture.sm_count * turns + 1
    width = device.architecture.warp_width
    timing = timed(micro_kernel(code, trips, warps, blocks, per_sm, width), device, exact=exact)
    selected = timing.warp_cycles[:, SELECTED].sum()
    assert selected <= timing.issued * facts(device).issue_cycles
    if facts(device).issues_per_scheduler == 1:
        assert selected == timing.issued * facts(device).issue_cycles
    turns = turns or 1
    most = min(turns, per_sm) * warps
    assert timing.resident_warp_cycles <= most * timing.full_cycles + warps * turns * retire


def test_a_full_sm_holds_its_warps_in_every_cycle() -> None:
    """Equal warps, one on each scheduler: all are resident from the first cycle to the last."""
    kernel = micro_kernel([Step(Pipeline.FP32, (0,), (0,))], 500, 4, thread_blocks=80)
    timing = timed(kernel)
    assert timing.resident_warp_cycles == 4 * timing.full_cycles
    waits = math.ceil(facts().fp32.latency_cycles) - 1
    assert timing.warp_stalls[StallReason.EXECUTION_DEPENDENCY] == 4 * 499 * waits


def test_warps_that_take_turns_at_a_narrow_unit() -> None:
    """Eight warps of a scheduler share 16 lanes.

    In one cycle of two all wait for the unit, in the other the oldest is selected until it ends,
    and the others are not.
    """
    code = [Step(Pipeline.FP32) for _ in range(50)]
    found = states(timed(micro_kernel(code, 40, 32, thread_blocks=80)))
    live = [*range(8, 0, -1)]
    assert found[SELECTED] == 4 * 2000 * len(live)
    assert found[StallReason.FP32_PIPE.code] == pytest.approx(4 * 2000 * sum(live), rel=0.001)
    assert found[NOT_SELECTED] == pytest.approx(4 * 2000 * (sum(live) - len(live)), rel=0.001)


def test_long_waits_count_in_every_warp_that_waits() -> None:
    """Loads of 400 cycles, then ten dependent multiply-adds, by four warps a scheduler.

    Each load keeps its warp for its whole latency, whatever the other warps do meanwhile.
    """
    code = [
        Step(Pipeline.GLOBAL, (9,), (1,), sectors=1.0, l2_hits=1.0),
        *[Step(Pipeline.FP32, (1,), (1,)) for _ in range(10)],
    ]
    device = changed(VOLTA, l2_latency_cycles=400.0)
    timing = timed(micro_kernel(code, 200, 16, thread_blocks=80), device)
    chain = 10 * math.ceil(facts().fp32.latency_cycles)
    waited = timing.warp_stalls
    memory, arithmetic = StallReason.L2_LATENCY, StallReason.EXECUTION_DEPENDENCY
    assert waited[memory] / (16 * 200) == pytest.approx(400 - 1, rel=0.02)
    assert waited[arithmetic] / (16 * 200) == pytest.approx(chain - 10, rel=0.1)


def test_a_barrier_is_waited_for_until_it_opens_and_then_the_load() -> None:
    """All warps come to the barrier at once, with loads of 1000 cycles on their way."""
    device = changed(VOLTA, barrier_latency_cycles=0.0, l2_latency_cycles=1000.0)
    load = Step(Pipeline.GLOBAL, (9,), (1,), sectors=1.0, l2_hits=1.0)
    code = [load, Step(Pipeline.BARRIER), Step(Pipeline.FP32, (1,), (2,))]
    timing = timed(micro_kernel(code, 1, 4, thread_blocks=80), device)
    by_pc = timing.warp_cycles
    assert by_pc[1, StallReason.BARRIER.code] <= 8
    waited = by_pc[2, StallReason.L2_LATENCY.code]
    assert waited == pytest.approx(4 * 1000, rel=0.02)


def test_stores_that_are_waited_for_are_drained() -> None:
    device = changed(VOLTA, store_retire_cycles=700.0)
    code = [Step(Pipeline.GLOBAL, (0,), sectors=1.0, l2_hits=1.0)]
    kernel = micro_kernel(code, 1, 4, thread_blocks=80)
    assert timed(kernel, device).warp_stalls[StallReason.DRAIN] == pytest.approx(4 * 700, abs=40)
    assert timed(kernel).warp_stalls[StallReason.DRAIN] == 0


@pytest.mark.parametrize("name", DEVICES)
def test_an_sm_of_which_only_the_time_is_asked_does_the_same_without_the_account(name: str) -> None:
    device = load_device(name)
    sms = device.architecture.sm_count
    steps = [
        Step(Pipeline.GLOBAL, (0,), (1,), l1_hits=0.3, l2_hits=0.5),
        *[Step(unit, (1, 2), (2,)) for unit in UNITS],
        Step(Pipeline.SHARED, (2,), (0,), passes=2.0),
        Step(Pipeline.BARRIER),
    ]
    kernel = micro_kernel(steps, 10, 4, 10 * sms + 3, 3, device.architecture.warp_width)
    whole = timed(kernel, device)
    brief = launch_timing(kernel, device, is_exact=True, only_time=True)
    assert brief.cycles == whole.cycles
    assert (brief.slots == whole.slots).all()
    assert not brief.warp_cycles.any()
    assert whole.warp_cycles.any()
