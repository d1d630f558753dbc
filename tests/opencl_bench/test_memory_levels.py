"""Levels of synthetic hierarchies with known capacities, latencies and bandwidths."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelcast.opencl_bench.fits.memory_levels import (
    bandwidth_levels,
    latency_levels,
    value_between,
)
from kernelcast.opencl_bench.measurement import Curve, CurvePoint, Unit

Floats = npt.NDArray[np.float64]


def curve(x: Floats, y: Floats, unit: Unit = Unit.SECONDS) -> Curve:
    points = tuple(CurvePoint(float(a), float(b), 0.0) for a, b in zip(x, y, strict=True))
    return Curve("synthetic", "footprint", Unit.BYTES, "value", unit, points, "closed form")


@dataclass(frozen=True)
class Hierarchy:
    """`costs` has one entry more than `capacities`: main memory."""

    capacities: tuple[float, ...]
    costs: tuple[float, ...]

    def cyclic(self, footprints: Floats) -> Floats:
        """A chase around caches that forget the oldest: all misses once one is too small."""
        return np.array([self.costs[np.searchsorted(self.capacities, f)] for f in footprints])

    def shared_evenly(self, footprints: Floats) -> Floats:
        """Mean cost when each cache holds a random part of the footprint: soft knees."""
        cost = np.full_like(footprints, self.costs[0])
        for capacity, near, far in zip(self.capacities, self.costs, self.costs[1:], strict=False):
            cost += np.maximum(1 - capacity / footprints, 0) * (far - near)
        return cost


def steps(per_octave: int, first: float, last: float) -> Floats:
    octaves = int(np.ceil(np.log2(last / first) * per_octave))
    return np.asarray(first * 2.0 ** (np.arange(octaves + 1) / per_octave))


@st.composite
def hierarchies(draw: st.DrawFn) -> Hierarchy:
    count = draw(st.integers(1, 4))
    capacities, costs = [2.0 ** draw(st.integers(12, 16))], [draw(st.floats(1e-9, 5e-9))]
    for _ in range(count - 1):
        capacities.append(capacities[-1] * 2.0 ** draw(st.integers(3, 6)))
    for _ in range(count):
        costs.append(costs[-1] * draw(st.floats(1.8, 6.0)))
    return Hierarchy(tuple(capacities), tuple(costs))


@settings(deadline=None, max_examples=60)
@given(hierarchies(), st.integers(2, 8), st.floats(0, 0.05), st.integers(0, 2**32 - 1))
def test_capacities_within_one_step_and_latencies_within_the_noise(
    hierarchy: Hierarchy, per_octave: int, amplitude: float, seed: int
) -> None:
    footprints = steps(per_octave, 1024.0, 16 * hierarchy.capacities[-1])
    factors = 1 + amplitude * np.random.default_rng(seed).uniform(-1, 1, footprints.size)
    levels = latency_levels(curve(footprints, hierarchy.cyclic(footprints) * factors))
    assert len(levels) == len(hierarchy.costs)
    step = 2 ** (1 / per_octave) * 1.001
    for level, capacity in zip(levels, hierarchy.capacities, strict=False):
        assert level.capacity_bytes is not None
        assert level.fits_bytes is not None
        assert capacity / step <= level.fits_bytes <= capacity * step
        assert capacity / step <= level.capacity_bytes <= capacity * step
    for level, cost in zip(levels, hierarchy.costs, strict=True):
        assert level.value == pytest.approx(cost, rel=0.05 + 1e-9)
    assert levels[-1].capacity_bytes is None
    assert levels[-1].next_bytes is None


@settings(deadline=None, max_examples=40)
@given(hierarchies(), st.integers(3, 8), st.integers(0, 2**32 - 1))
def test_soft_knees_move_a_capacity_by_one_step_at_most(
    hierarchy: Hierarchy, per_octave: int, seed: int
) -> None:
    """Caches at least three octaves apart; noise of one per cent.

    Levels nearer than a factor of 1.25 are one, so that the slow approach to the last one may be
    read so much too low.
    """
    footprints = steps(per_octave, 1024.0, 64 * hierarchy.capacities[-1])
    factors = 1 + 0.01 * np.random.default_rng(seed).uniform(-1, 1, footprints.size)
    levels = latency_levels(curve(footprints, hierarchy.shared_evenly(footprints) * factors))
    step = 2 ** (1 / per_octave) * 1.001
    first = levels[0].fits_bytes
    assert first is not None
    assert hierarchy.capacities[0] / step <= first <= hierarchy.capacities[0] * step
    assert levels[0].value == pytest.approx(hierarchy.costs[0], rel=0.02)
    assert 0.8 <= levels[-1].value / hierarchy.costs[-1] <= 1.02


def test_next_footprint_bounds_the_capacity() -> None:
    hierarchy = Hierarchy((48e3,), (1e-9, 9e-9))
    footprints = steps(2, 1024.0, 1e6)
    (level, _) = latency_levels(curve(footprints, hierarchy.cyclic(footprints)))
    assert level.fits_bytes is not None
    assert level.capacity_bytes is not None
    assert level.next_bytes is not None
    assert level.fits_bytes <= 48e3 < level.next_bytes
    assert level.fits_bytes < level.capacity_bytes < level.next_bytes
    assert level.next_bytes == pytest.approx(level.fits_bytes * np.sqrt(2))


def test_bandwidth_falls_where_latency_rises() -> None:
    hierarchy = Hierarchy((2.0**15, 2.0**20), (1e-12, 4e-12, 20e-12))
    footprints = steps(4, 1024.0, 2.0**24)
    bandwidth = curve(footprints, 1 / hierarchy.cyclic(footprints), Unit.BYTES_PER_S)
    levels = bandwidth_levels(bandwidth)
    assert [level.value for level in levels] == pytest.approx([1e12, 2.5e11, 5e10])
    assert [level.fits_bytes for level in levels] == [2.0**15, 2.0**20, None]


def test_a_start_that_warms_up_is_no_level() -> None:
    footprints = steps(4, 1024.0, 2.0**22)
    launch_bound = 1 / (1 + 4096 / footprints)
    bandwidth = 1e12 * launch_bound * np.where(footprints > 2**18, 0.2, 1.0)
    levels = bandwidth_levels(curve(footprints, bandwidth, Unit.BYTES_PER_S))
    assert len(levels) == 2
    assert levels[0].value == pytest.approx(1e12, rel=0.1)
    assert levels[0].fits_bytes == 2.0**18


def test_a_flat_curve_is_one_level_without_capacity() -> None:
    footprints = steps(2, 1024.0, 2.0**24)
    (level,) = latency_levels(curve(footprints, np.full_like(footprints, 3e-9)))
    assert level.capacity_bytes is None
    assert level.value == pytest.approx(3e-9)


def test_a_ramp_without_plateau_has_no_level() -> None:
    footprints = steps(2, 1024.0, 2.0**24)
    assert latency_levels(curve(footprints, footprints * 1e-12)) == ()


def test_an_empty_curve_has_no_level() -> None:
    assert latency_levels(curve(np.array([]), np.array([]))) == ()


def test_slow_drift_is_one_level() -> None:
    """Address translation raises a plateau bit by bit; it stays one level that ends at its end."""
    footprints = steps(4, 1024.0, 2.0**24)
    drift = 1e-9 * (1 + 0.012 * np.log2(footprints / 1024))
    cost = np.where(footprints <= 2**20, drift, 9e-9)
    levels = latency_levels(curve(footprints, cost))
    assert [level.fits_bytes for level in levels] == [2.0**20, None]


def test_a_dip_is_no_level() -> None:
    footprints = steps(4, 1024.0, 2.0**26)
    cost = np.where(footprints <= 2**15, 1e-9, 5e-9)
    cost[(footprints > 2**19) & (footprints < 2**21)] = 3e-9
    levels = latency_levels(curve(footprints, cost))
    assert [level.value for level in levels] == pytest.approx([1e-9, 5e-9])


def test_a_slow_rise_between_levels_is_no_level() -> None:
    """Half an octave of a ramp lies within the noise, and yet it is a ramp."""
    footprints = steps(16, 1024.0, 2.0**26)
    ramp = 1e-9 * np.clip(footprints / 2**15, 1.0, 2.0**8) ** 0.4
    levels = latency_levels(curve(footprints, ramp))
    assert [level.value for level in levels] == pytest.approx([1e-9, 1e-9 * 2**3.2], rel=0.02)


def test_repeated_footprints_count_once() -> None:
    hierarchy = Hierarchy((2.0**15,), (1e-9, 5e-9))
    footprints = np.repeat(steps(2, 1024.0, 2.0**20), 3)
    cost = hierarchy.cyclic(footprints)
    cost[1::3] *= 10
    levels = latency_levels(curve(footprints, cost))
    assert [level.value for level in levels] == pytest.approx([1e-9, 5e-9])


def test_value_between_capacities_keeps_away_from_the_knees() -> None:
    footprints = np.array([1e3, 10e3, 12e3, 50e3, 90e3, 200e3])
    rates = curve(footprints, np.array([9.0, 9.0, 5.0, 3.0, 2.0, 1.0]), Unit.BYTES_PER_S)
    assert value_between(rates, 10e3, 100e3) == 3.0
    assert value_between(rates, 200e3, 300e3) is None


def test_a_flat_slow_start_is_no_level() -> None:
    footprints = steps(4, 1024.0, 2.0**24)
    cost = np.where(footprints < 2**12, 8e-9, np.where(footprints <= 2**18, 1e-9, 5e-9))
    levels = latency_levels(curve(footprints, cost))
    assert [level.value for level in levels] == pytest.approx([1e-9, 5e-9])


def test_a_noisy_plateau_ends_at_its_last_point() -> None:
    footprints = steps(4, 1024.0, 2.0**22)
    cost = np.where(footprints <= 2**18, 1e-9, 5e-9)
    ripple = 1 + 0.045 * (-1.0) ** np.arange(footprints.size)
    last = int(np.searchsorted(footprints, 2.0**18))
    ripple[last] = 1.12
    (near, _) = latency_levels(curve(footprints, cost * ripple))
    assert near.fits_bytes == 2.0**18


def test_a_last_point_somewhat_off_leaves_no_level() -> None:
    footprints = steps(4, 1024.0, 2.0**20)
    cost = np.full_like(footprints, 1e-9)
    cost[-1] *= 1.15
    (level,) = latency_levels(curve(footprints, cost))
    assert level.capacity_bytes is None
