"""What is repeated without being walked: beside closed forms, and beside walking all of it."""

from __future__ import annotations

import math
import runpy
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from kernelcast.simcore.timing.launch.launch_timing import launch_timing
from kernelcast.simcore.timing.launch.sm_simulator import Snapshot
from kernelcast.simcore.timing.launch.steady_stretch import are_alike, steady_stretch

random_kernels: Any = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parents[1] / "random_timing_kernels.py"))
)
SLOTS_A_CYCLE = 4


def snapshot(completed: int, cycles: float, backlog: float = 0.0, lost: float = 0.0) -> Snapshot:
    """A quarter of the slots issue, `lost` of the others are lost for the first reason."""
    slots = round(cycles) * SLOTS_A_CYCLE
    account = np.zeros((2, 1, 4), np.int64)
    account[0, 0, :3] = slots // 4, round(lost), slots - slots // 4 - round(lost)
    nothing = np.zeros((1, 4), np.int64)
    return Snapshot(round(cycles), backlog, completed, completed, account, nothing, 0)


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
    before, after, is_steady = found
    assert is_steady
    return (after.cycles - before.cycles) / (after.thread_blocks - before.thread_blocks)


def test_a_steady_sm_is_walked_for_four_periods() -> None:
    found = steady_stretch(cast(Any, MadeUp(lambda done: 1000.0 * done)), 8, 8, 10_000)
    assert found is not None
    before, after, is_steady = found
    assert (before.thread_blocks, after.thread_blocks, is_steady) == (16, 40, True)


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
    before, after, is_steady = found
    assert not is_steady
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
