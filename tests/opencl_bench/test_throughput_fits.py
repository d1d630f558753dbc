"""Fits against closed forms and against the figures that the papers print."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelcast.opencl_bench.fits.detection import Detection
from kernelcast.opencl_bench.fits.global_bandwidth import BandwidthPoint, fit_global_bandwidth
from kernelcast.opencl_bench.fits.linear_cost import fit_linear_cost
from kernelcast.opencl_bench.fits.parallel_degree import fit_parallel_degree
from kernelcast.opencl_bench.fits.saturation import Saturation, fit_roofline, fit_saturation

Floats = npt.NDArray[np.float64]
SEEDS = st.integers(0, 2**32 - 1)


def noisy(values: Floats, amplitude: float, seed: int) -> Floats:
    return values * (1 + amplitude * np.random.default_rng(seed).uniform(-1, 1, values.size))


@pytest.mark.parametrize(
    ("six", "sixteen", "thirty_two"), [(8.39, 9.05, 9.33), (870.0, 1112.0, 1165.0)]
)
def test_two_points_predict_the_third_of_zhang_and_owens(
    six: float, sixteen: float, thirty_two: float
) -> None:
    """GTX 285, section 5.1: instructions (G/s) and shared memory (GB/s) at 6, 16 and 32 warps."""
    fit = fit_saturation(np.array([6.0, 32.0]), np.array([six, thirty_two]))
    assert fit.at(16.0) == pytest.approx(sixteen, rel=0.03)
    assert fit.residual < 1e-6


@settings(deadline=None, max_examples=30)
@given(st.floats(0.5, 20), st.floats(1.0, 12), st.sampled_from([1.0, 2.0, 8.0]), SEEDS)
def test_saturation_recovers_slope_and_ceiling(
    slope: float, knee: float, sharpness: float, seed: int
) -> None:
    warps = np.array([1.0, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64])
    truth = Saturation(slope, slope * knee, sharpness, 0.0)
    fit = fit_saturation(warps, noisy(truth.at(warps), 0.01, seed))
    assert fit.ceiling == pytest.approx(truth.ceiling, rel=0.1)
    assert fit.at(warps) == pytest.approx(truth.at(warps), rel=0.03)
    assert fit.residual < 0.02


def test_hard_minimum_is_a_sharp_saturation() -> None:
    warps = np.arange(1.0, 33.0)
    fit = fit_saturation(warps, np.minimum(1.5 * warps, 9.0))
    assert (fit.slope, fit.ceiling, fit.knee) == pytest.approx((1.5, 9.0, 6.0), rel=0.01)


@pytest.mark.parametrize(
    ("x", "y"), [([4.0, 4.0], [1.0, 1.0]), ([0.0, 4.0], [1.0, 2.0]), ([1.0, 4.0], [0.0, 2.0])]
)
def test_saturation_refuses_what_says_nothing(x: list[float], y: list[float]) -> None:
    with pytest.raises(ValueError, match="two places"):
        fit_saturation(np.array(x), np.array(y))


@settings(deadline=None, max_examples=20)
@given(st.floats(1e9, 1e12), st.floats(1.0, 20.0), SEEDS)
def test_roofline_recovers_both_ceilings(bandwidth: float, ridge: float, seed: int) -> None:
    intensity = np.exp2(np.arange(-4.0, 9.0))
    rates = noisy(np.minimum(intensity * bandwidth, ridge * bandwidth), 0.03, seed)
    fit = fit_roofline(intensity, rates)
    assert fit.bytes_per_s == pytest.approx(bandwidth, rel=0.08)
    assert fit.operations_per_s == pytest.approx(ridge * bandwidth, rel=0.08)
    assert fit.ridge == pytest.approx(ridge, rel=0.15)
    assert fit.residual < 0.05


def test_roofline_needs_both_sides_of_its_ridge() -> None:
    intensity = np.exp2(np.arange(-4.0, 3.0))
    with pytest.raises(ValueError, match="both sides"):
        fit_roofline(intensity, intensity * 1e9)


@settings(deadline=None, max_examples=20)
@given(st.floats(1e-6, 1e-4), st.floats(1e-9, 1e-6), SEEDS)
def test_launch_cost_recovers_overhead_and_cost_of_a_work_group(
    overhead: float, each: float, seed: int
) -> None:
    groups = np.exp2(np.arange(0.0, 20.0, 2.0))
    fit = fit_linear_cost(groups, noisy(overhead + each * groups, 0.01, seed))
    assert fit.fixed_s == pytest.approx(overhead, rel=0.05)
    assert fit.per_unit_s == pytest.approx(each, rel=0.05)
    assert fit.seconds(10.0) == fit.fixed_s + 10 * fit.per_unit_s


def test_latency_is_the_slope_of_a_chain_and_costs_are_never_negative() -> None:
    length = np.array([100.0, 200.0, 400.0])
    assert fit_linear_cost(length, 5e-6 + 4e-9 * length).per_unit_s == pytest.approx(4e-9)
    below = fit_linear_cost(length, 4e-9 * length - 1e-8)
    assert below.fixed_s == 0.0
    assert below.residual > 0
    with pytest.raises(ValueError, match="two counts"):
        fit_linear_cost(np.array([3.0, 3.0]), np.array([1.0, 1.0]))
    with pytest.raises(ValueError, match="positive"):
        fit_linear_cost(np.array([3.0, 4.0]), np.array([0.0, 1.0]))


def three_way_points(
    clusters: int, latency_s: float, peak: float, seed: int
) -> list[BandwidthPoint]:
    """Sweeps over thread blocks at some shapes; the busiest cluster decides the time."""
    rng = np.random.default_rng(seed)
    points = []
    for threads, transactions in ((64, 1), (256, 4), (512, 16)):
        for blocks in range(1, 4 * clusters + 3):
            most = max(np.bincount(np.arange(blocks) % clusters))
            size = threads * transactions * 4
            seconds = latency_s + most * size / (peak / clusters)
            rate = blocks * size / seconds * (1 + 0.02 * rng.uniform(-1, 1))
            points.append(BandwidthPoint(blocks, threads, transactions, rate))
    return points


@pytest.mark.parametrize("clusters", [1, 4, 10])
def test_global_bandwidth_finds_clusters_latency_and_peak(clusters: int) -> None:
    points = three_way_points(clusters, 1e-6, 150e9, seed=5)
    fit = fit_global_bandwidth(points, access_bytes=4)
    assert fit.clusters == clusters
    assert fit.peak_bytes_per_s == pytest.approx(150e9, rel=0.03)
    assert fit.latency_s == pytest.approx(1e-6, rel=0.03)
    assert fit.residual < 0.02


def test_global_bandwidth_is_a_sawtooth_near_the_peak_and_linear_below() -> None:
    """What Figure 3 shows: periods of 10 thread blocks that weaken, and a linear start."""
    fit = fit_global_bandwidth(three_way_points(10, 1e-6, 150e9, seed=6), access_bytes=4)
    rates = [fit.bytes_per_s(blocks, 512, 16) for blocks in range(1, 31)]
    assert rates[10] < rates[9] > rates[8]
    assert rates[20] < rates[19]
    assert rates[10] / rates[9] < rates[20] / rates[19]
    assert fit.bytes_per_s(2, 32, 1) == pytest.approx(2 * fit.bytes_per_s(1, 32, 1), rel=1e-9)


def test_global_bandwidth_needs_growing_times() -> None:
    with pytest.raises(ValueError, match="three configurations"):
        fit_global_bandwidth([BandwidthPoint(1, 32, 1, 1e9)], access_bytes=4)
    constant_time = [BandwidthPoint(blocks, 32, 1, 1e9 * blocks) for blocks in (1, 2, 4)]
    with pytest.raises(ValueError, match="do not grow"):
        fit_global_bandwidth(constant_time, access_bytes=4)


def printed_degree(
    warps: Floats, share: Floats, constants: tuple[float, float, float, float]
) -> Floats:
    """Equations 3 to 5 of Luo and Suda one point at a time, m = 32."""
    a, b, c, d = constants
    degrees = []
    for count, part in zip(warps, share, strict=True):
        cpd1 = (c - part) * (count - b) + a
        n = d * (part - c) ** 2
        cpd2 = n / 31 * (31**2 - (count - 32) ** 2) ** 0.5 + a
        degree = min(cpd1, cpd2) if part <= c else cpd2
        degrees.append(min(max(degree, 1.0), count))
    return np.array(degrees)


@pytest.mark.parametrize("constants", [(3.0, 11.0, 0.5, 80.0), (2.0, 8.0, 0.4, 40.0)])
def test_parallel_degree_recovers_the_constants(
    constants: tuple[float, float, float, float],
) -> None:
    """The first are the paper's, for the GTX 260."""
    grid = np.meshgrid(np.arange(1.0, 33.0), np.arange(0.05, 1.0, 0.1))
    warps, share = grid[0].ravel(), grid[1].ravel()
    fit = fit_parallel_degree(warps, share, printed_degree(warps, share, constants), 32)
    assert (fit.a, fit.b, fit.c, fit.d) == pytest.approx(constants, rel=0.01)
    assert fit.residual < 1e-3


def test_parallel_degree_from_noisy_measurements() -> None:
    grid = np.meshgrid(np.arange(1.0, 33.0, 2), np.arange(0.1, 1.0, 0.1))
    warps, share = grid[0].ravel(), grid[1].ravel()
    truth = printed_degree(warps, share, (3.0, 11.0, 0.5, 80.0))
    fit = fit_parallel_degree(warps, share, noisy(truth, 0.05, 11), 32)
    assert (fit.a, fit.b, fit.c, fit.d) == pytest.approx((3.0, 11.0, 0.5, 80.0), rel=0.1)
    assert 0.02 < fit.residual < 0.05
    assert fit.at(warps, share) == pytest.approx(truth, rel=0.1)


def test_parallel_degree_needs_several_shares() -> None:
    with pytest.raises(ValueError, match="two shares"):
        fit_parallel_degree(np.arange(1.0, 9.0), np.full(8, 0.5), np.ones(8), 32)


def test_detections_are_finite() -> None:
    with pytest.raises(ValueError, match="no finite value"):
        Detection(float("nan"), 0.0, "line")
    with pytest.raises(ValueError, match="no finite value"):
        Detection(None, float("inf"), "line")
    assert Detection(64.0, 0.0, "line").is_found
    assert not Detection(None, 0.0, "no line").is_found
