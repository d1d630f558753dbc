"""What is not walked again: repeated stretches, and what SMs of one launch have in common.

Both beside walking all of it, the former beside closed forms as well.
"""

from __future__ import annotations

import math
import runpy
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from kernelcast.simcore.timing.launch.launch_timing import launch_timing
from kernelcast.simcore.timing.launch.sm_simulator import SmSimulator, Snapshot
from kernelcast.simcore.timing.launch.steady_stretch import are_alike, steady_stretch
from kernelcast.simcore.timing.walk.kernel_arrays import kernel_arrays
from kernelcast.simcore.timing.walk.sm_machine import sm_machine
from kernelcast.simcore.timing.walk.sm_state import ACCOUNT_WORDS

random_kernels: Any = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parents[1] / "random_timing_kernels.py"))
)
SLOTS_A_CYCLE = 4


def snapshot(completed: int, cycles: float, backlog: float = 0.0, lost: float = 0.0) -> Snapshot:
    """A quarter of the slots issue, `lost` of the others are lost for the first reason."""
    slots = round(cycles) * SLOTS_A_CYCLE
    counts = np.zeros((2, 1, ACCOUNT_WORDS), np.int64)
    counts[0, 0, :3] = slots // 4, round(lost), slots - slots // 4 - round(lost)
    first_row = np.zeros(1, np.int64)
    return Snapshot(round(cycles), backlog, completed, completed, counts, first_row, 0, 0, False)


class MadeUp:
    """An SM of which a formula says when so many thread blocks have ended."""

    def __init__(self, cycles: Callable[[int], float], each: int = 1) -> None:
        self._cycles = cycles
        self._each = each
        self.simulated_instructions = 0

    def run(self, completed: int) -> Snapshot:
        self.simulated_instructions = completed * self._each
        return snapshot(completed, self._cycles(completed))


def rate(cycles: Callable[[int], float], period: int) -> float:
    found = steady_stretch(cast(Any, MadeUp(cycles)), 4, period, 100_000)
    assert found is not None
    before, _, _, after = found.ends
    assert found.is_steady
    return (after.cycles - before.cycles) / (after.thread_blocks - before.thread_blocks)


def test_a_steady_sm_is_walked_for_four_periods() -> None:
    found = steady_stretch(cast(Any, MadeUp(lambda done: 1000.0 * done)), 8, 8, 10_000)
    assert found is not None
    assert [end.thread_blocks for end in found.ends] == [16, 24, 32, 40]
    assert found.is_steady


def test_what_only_begins_slowly_does_not_count() -> None:
    assert rate(lambda done: 1000.0 * done - 40_000 * math.exp(-done / 60), 4) == pytest.approx(
        1000, rel=0.005
    )


@pytest.mark.parametrize("turn", [8, 16, 48])
def test_stretches_grow_until_they_hold_what_alternates(turn: int) -> None:
    """Two periods in turn are equally long, but thread blocks are fast and slow by turns."""

    def cycles(done: int) -> float:
        turns, rest = divmod(done, 2 * turn)
        return 1000.0 * turn * 2 * turns + 900 * min(rest, turn) + 1100 * max(0, rest - turn)

    assert rate(cycles, turn // 2) == pytest.approx(1000, rel=0.01)


def test_without_room_all_is_walked() -> None:
    simulator = MadeUp(lambda done: 1000.0 * done)
    assert steady_stretch(cast(Any, simulator), 8, 8, 39) is None
    assert simulator.simulated_instructions <= 39


def test_the_last_stretches_stand_for_the_rest_when_none_are_alike() -> None:
    simulator = MadeUp(lambda done: float(done) ** 2, each=1000)
    found = steady_stretch(cast(Any, simulator), 4, 4, 1_000_000)
    assert found is not None
    before, _, _, after = found.ends
    assert not found.is_steady
    assert before.cycles < after.cycles
    assert simulator.simulated_instructions <= 4_000_000


@pytest.mark.parametrize(
    ("cycles", "lost", "backlog", "expected"),
    [
        ([0, 1000, 2000, 3000], [0, 500, 1000, 1500], [0, 0, 0, 0], True),
        ([0, 1000, 2000, 3020], [0, 500, 1000, 1510], [0, 0, 0, 0], False),
        ([0, 1000, 2000, 3000], [0, 500, 1000, 2000], [0, 0, 0, 0], False),
        ([0, 1000, 2000, 3000], [0, 500, 1000, 1500], [0, 50, 100, 150], False),
    ],
)
def test_stretches_are_alike_in_time_reasons_and_backlog(
    cycles: list[int], lost: list[int], backlog: list[int], expected: bool
) -> None:
    ends = [
        snapshot(10 * number, *values)
        for number, values in enumerate(zip(cycles, backlog, lost, strict=True))
    ]
    assert are_alike(ends) is expected


def test_random_kernels_take_as_long_as_when_all_is_walked() -> None:
    errors, walked, whole = [], 0, 0
    for seed in range(20_000, 20_060):
        name, kernel = random_kernels.random_kernel(seed, waves=(100, 400))
        device = random_kernels.DEVICES[name]
        exact = launch_timing(kernel, device, is_exact=True)
        timing = launch_timing(kernel, device)
        errors.append(abs(timing.cycles / exact.cycles - 1))
        walked += timing.simulated_instructions
        whole += exact.simulated_instructions
    assert np.mean(errors) < 0.003
    assert max(errors) < 0.05
    assert walked < 0.5 * whole


def simulator(seed: int, more: int = 0) -> tuple[SmSimulator, int, int]:
    """An SM, the thread blocks that it gets, and how many of them at once."""
    name, kernel = random_kernels.random_kernel(seed, waves=(2, 6))
    device = random_kernels.DEVICES[name]
    sms, at_once = device.architecture.sm_count, kernel.thread_blocks_per_sm
    count = kernel.thread_blocks // sms + more
    machine = sm_machine(kernel, device, sms)
    return SmSimulator(kernel_arrays(kernel, device), machine, count, at_once), count, at_once


def check_equal(found: Snapshot, expected: Snapshot) -> None:
    for field in fields(Snapshot):
        pair = getattr(found, field.name), getattr(expected, field.name)
        assert np.array_equal(*pair), field.name


@pytest.mark.parametrize("seed", range(400, 440))
def test_a_copy_goes_on_as_an_sm_that_never_had_more_to_come(seed: int) -> None:
    alone, count, at_once = simulator(seed)
    shared, _, _ = simulator(seed, more=1)
    shared.go_to(count - at_once - shared.machine.schedulers)
    copy = shared.with_one_fewer()
    assert copy is not None
    check_equal(copy.finish(), alone.finish())
    whole, _, _ = simulator(seed, more=1)
    check_equal(shared.finish(), whole.finish())
    assert copy.simulated_instructions <= alone.simulated_instructions
    assert shared.simulated_instructions == whole.simulated_instructions


def test_there_is_no_copy_when_the_last_thread_block_has_begun() -> None:
    found, count, at_once = simulator(400)
    found.go_to(count - at_once)
    assert found.with_one_fewer() is None


def test_one_more_thread_block_on_some_sms_is_walked_once_to_its_beginning() -> None:
    name, kernel = random_kernels.random_kernel(407, waves=(5, 6))
    device = random_kernels.DEVICES[name]
    each = kernel.thread_blocks // device.architecture.sm_count
    alike = replace(kernel, thread_blocks=each * device.architecture.sm_count)
    one_more = replace(alike, thread_blocks=alike.thread_blocks + 1)
    few, most = (launch_timing(item, device, is_exact=True) for item in (alike, one_more))
    assert few.cycles == few.full_cycles == most.full_cycles < most.cycles
    assert most.simulated_instructions < 1.5 * few.simulated_instructions
