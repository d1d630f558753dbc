"""Equations 1 to 13 of Luo and Suda, worked out by hand on periods of each of the four types."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelcast.models.mpd_cpd.equations import (
    PeriodClocks,
    PeriodType,
    Reading,
    computation_parallel_degree,
    memory_parallel_degree,
    period_clocks,
    period_types,
    saturated_degree_slope,
    warp_bandwidth,
)
from kernelcast.models.mpd_cpd.ptx_costs import ParallelDegreeFacts

GTX_260 = ParallelDegreeFacts(a=3.0, b=11.0, c=0.5, d=80.0, m=32.0)
BANDWIDTH = 111.9e9 / 1.242e9
"""Bytes a clock of the GTX 260, whose 24 multiprocessors share them."""


def clocks(
    tasks: list[tuple[float, float]],
    warps: int,
    mpd: float,
    cpd: float,
    waiting_warps: float | None = None,
) -> PeriodClocks:
    """Clocks of one warp with computation and memory tasks of so many clocks, all of one MPD."""
    computation, memory = (np.array(column, float) for column in zip(*tasks, strict=True))
    first = np.arange(len(tasks)) == 0
    degrees = np.full(len(tasks), mpd)
    return period_clocks(computation, memory, degrees, first, warps, cpd, waiting_warps)


def test_equation_1() -> None:
    """A warp loads 4 bytes a thread in two transactions of 200 clocks: 128 bytes in 400 clocks."""
    assert warp_bandwidth(32, 4.0, 2.0, 200.0) == pytest.approx(0.32)
    assert warp_bandwidth(32, [4.0, 8.0, 0.0], [32.0, 4.0, 0.0], 200.0) == pytest.approx(
        [0.02, 0.32, 0.0]
    )


@pytest.mark.parametrize(
    ("warps", "usual", "strict"),
    [(1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 4, 2), (8, 8, 1), (11, 11, 1), (12, 11, 1), (32, 11, 1)],
)
def test_equation_2(warps: int, usual: int, strict: int) -> None:
    """90.1 bytes a clock over 24 x 0.32 are 11.7 warps; the print divides by N_act once more."""
    assert memory_parallel_degree(warps, 24, BANDWIDTH, 0.32) == usual
    assert memory_parallel_degree(warps, 24, BANDWIDTH, 0.32, Reading.STRICT) == strict


def test_mpd_is_at_least_one_and_all_warps_where_nothing_moves() -> None:
    assert memory_parallel_degree(32, 24, BANDWIDTH, [1e9, 0.0]).tolist() == [1.0, 32.0]


@pytest.mark.parametrize(
    ("proportion", "warps", "usual"),
    [
        (0.2623, 1, 1.0),  # CPD1 is 0.62
        (0.2623, 11, 3.0),
        (0.2623, 20, 0.2377 * 9 + 3),
        (0.5, 32, 3.0),
        (0.8697, 1, 1.0),
        (0.8697, 32, 80 * 0.3697**2 + 3),
        (0.8697, 12, 80 * 0.3697**2 / 31 * math.sqrt(31**2 - 20**2) + 3),
    ],
)
def test_equations_3_to_5(proportion: float, warps: int, usual: float) -> None:
    assert computation_parallel_degree(proportion, warps, GTX_260) == pytest.approx(usual)


def test_the_smaller_degree_below_c() -> None:
    """CPD1 is 4.05 at P = 0.45 and 32 warps, CPD2 80 x 0.05^2 + 3 = 3.2."""
    assert computation_parallel_degree(0.45, 32, GTX_260) == pytest.approx(3.2)


def test_strict_takes_the_smaller_degree_above_c_too() -> None:
    """CPD1 falls below 1 there: (0.5 - 0.8697) x 21 + 3 = -4.8."""
    assert computation_parallel_degree(0.8697, 32, GTX_260, Reading.STRICT) == 1.0
    assert computation_parallel_degree(0.8697, 13, GTX_260, Reading.STRICT) == pytest.approx(
        3 - 0.3697 * 2
    )


def test_the_constants_are_used() -> None:
    other = ParallelDegreeFacts(a=2.0, b=4.0, c=0.4, d=10.0, m=8.0)
    assert computation_parallel_degree(0.1, 6, other) == pytest.approx(
        min(0.3 * 2 + 2, 10 * 0.09 / 7 * math.sqrt(49 - 4) + 2)
    )
    assert saturated_degree_slope(0.9, other) == pytest.approx(2.5)


def test_type_1_is_computation_only() -> None:
    """Equation 6: ceil(8 x 100 / 3)."""
    found = clocks([(100, 60)], warps=8, mpd=8, cpd=3)
    assert found.total.tolist() == [267.0]
    assert clocks([(100, 100)], warps=8, mpd=8, cpd=3).total.tolist() == [267.0]


def test_type_2_waits_for_its_own_memory() -> None:
    """Equations 7 and 8: 600 - 3 x 100 more."""
    found = clocks([(100, 600)], warps=4, mpd=4, cpd=3)
    assert (found.computation[0], found.own_memory[0]) == (134.0, 300.0)
    assert clocks([(100, 600)], warps=8, mpd=8, cpd=3).own_memory.tolist() == [0.0]


def test_strict_has_the_n_of_equation_5_in_equation_8() -> None:
    found = clocks([(100, 600)], warps=4, mpd=4, cpd=3, waiting_warps=2.5)
    assert found.own_memory.tolist() == [450.0]


def test_type_3_waits_for_the_memory_before() -> None:
    """Equations 9 and 10: 600 x floor(8 / 3 - 1) = 600, less 7 x 50."""
    found = clocks([(10, 600), (50, 20)], warps=8, mpd=3, cpd=2)
    assert found.previous_memory.tolist() == [0.0, 250.0]
    assert found.computation.tolist() == [40.0, 200.0]
    assert found.own_memory.tolist() == [530.0, 0.0]
    assert clocks([(10, 600), (50, 20)], warps=8, mpd=8, cpd=2).previous_memory[1] == 0.0


def test_type_4_waits_for_both() -> None:
    """Equations 11 to 13: T_p = 600 x 1 - 7 x 50 = 250, T_c = 900 - (350 + 250)."""
    found = clocks([(10, 600), (50, 900)], warps=8, mpd=3, cpd=2)
    assert (found.previous_memory[1], found.own_memory[1]) == (250.0, 300.0)
    assert found.total[1] == 200.0 + 250.0 + 300.0
    hidden = clocks([(10, 600), (50, 300)], warps=8, mpd=3, cpd=2)
    assert (hidden.previous_memory[1], hidden.own_memory[1]) == (250.0, 0.0)


def test_the_wait_uses_mpd_of_the_memory_task_before() -> None:
    found = period_clocks(
        np.array([10.0, 50.0]),
        np.array([600.0, 20.0]),
        np.array([2.0, 8.0]),
        np.array([True, False]),
        8,
        2.0,
    )
    assert found.previous_memory.tolist() == [0.0, 600.0 * 3 - 350.0]


def test_types_begin_anew_with_each_warp() -> None:
    computation = np.array([10.0, 50.0, 10.0, 50.0, 50.0])
    memory = np.array([60.0, 60.0, 60.0, 20.0, 20.0])
    first = np.array([True, False, True, False, False])
    kinds = [PeriodType(kind).name for kind in period_types(computation, memory, first)]
    assert kinds == ["OWN_MEMORY", "BOTH", "OWN_MEMORY", "PREVIOUS_MEMORY", "NO_WAIT"]


@given(
    tasks=st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 5000)), min_size=1, max_size=8),
    warps=st.integers(1, 64),
    bandwidth=st.floats(1e-3, 10),
    proportion=st.floats(0, 1),
    reading=st.sampled_from(Reading),
)
def test_clocks_are_finite_and_not_negative(
    tasks: list[tuple[int, int]],
    warps: int,
    bandwidth: float,
    proportion: float,
    reading: Reading,
) -> None:
    mpd = float(memory_parallel_degree(warps, 24, BANDWIDTH, bandwidth, reading))
    cpd = computation_parallel_degree(proportion, warps, GTX_260, reading)
    assert 1 <= mpd <= warps
    assert 1 <= cpd <= warps
    slope = saturated_degree_slope(proportion, GTX_260) if reading is Reading.STRICT else None
    found = clocks([(float(c), float(m)) for c, m in tasks], warps, mpd, cpd, slope)
    for part in (found.computation, found.previous_memory, found.own_memory):
        assert np.isfinite(part).all()
        assert (part >= 0).all()
    assert found.total.sum() >= 0


@given(
    tasks=st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 5000)), min_size=1, max_size=8),
    warps=st.integers(1, 64),
    device=st.floats(1e-2, 1e3),
    faster=st.floats(1, 10),
)
def test_more_bandwidth_never_takes_longer(
    tasks: list[tuple[int, int]], warps: int, device: float, faster: float
) -> None:
    degrees = [
        float(memory_parallel_degree(warps, 24, rate, 0.32)) for rate in (device, device * faster)
    ]
    periods = [(float(c), float(m)) for c, m in tasks]
    slow, fast = (clocks(periods, warps, mpd, 2.0).total.sum() for mpd in degrees)
    assert fast <= slow + 1e-9


def test_from_m_warps_on_the_degree_stays() -> None:
    at_most = computation_parallel_degree(0.8697, 32, GTX_260)
    assert computation_parallel_degree(0.8697, 64, GTX_260) == at_most
    single = ParallelDegreeFacts(a=0.0, b=0.0, c=0.5, d=8.0, m=1.0)
    assert computation_parallel_degree(1.0, 4, single) == pytest.approx(2.0)
