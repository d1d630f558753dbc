"""Fits the global memory throughput over thread blocks, threads and transactions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernelcast.models.component_throughput.curves import GlobalBandwidth
from kernelcast.opencl_bench.fits.detection import Floats, root_mean_square
from kernelcast.opencl_bench.fits.linear_cost import fit_linear_cost

__all__ = ["BandwidthPoint", "GlobalBandwidth", "fit_global_bandwidth"]

_SIMPLER_WITHIN = 1.02
"""More clusters must explain clearly more than fewer do."""

_LEAST_SHARE_OF_TIME = 0.01
"""The transfer must cost at least so much of the longest time for a bandwidth to be seen."""


@dataclass(frozen=True, slots=True)
class BandwidthPoint:
    """Each of `threads` in each of `thread_blocks` makes `transactions` accesses."""

    thread_blocks: int
    threads: int
    transactions: int
    bytes_per_s: float


def fit_global_bandwidth(
    points: Sequence[BandwidthPoint], access_bytes: int, most_clusters: int = 256
) -> GlobalBandwidth:
    """Smallest relative errors over all cluster counts; ValueError with fewer than three points."""
    if len(points) < 3:
        raise ValueError("the bandwidth model needs three configurations or more")
    blocks = np.array([point.thread_blocks for point in points], dtype=np.float64)
    each = np.array([point.threads * point.transactions for point in points]) * float(access_bytes)
    rates = np.array([point.bytes_per_s for point in points])
    limit = min(most_clusters, int(blocks.max()))
    fits = [_fit(clusters, blocks, each, rates, access_bytes) for clusters in range(1, limit + 1)]
    usable = [fit for fit in fits if fit is not None]
    if not usable:
        raise ValueError("the times do not grow with the bytes: no bandwidth can be fitted")
    least = min(fit.residual for fit in usable)
    return next(fit for fit in usable if fit.residual <= max(_SIMPLER_WITHIN * least, 1e-9))


def _fit(
    clusters: int, blocks: Floats, each: Floats, rates: Floats, access_bytes: int
) -> GlobalBandwidth | None:
    seconds = blocks * each / rates
    busiest = np.ceil(blocks / clusters) * each * clusters
    if np.unique(busiest).size < 2:
        return None
    line = fit_linear_cost(busiest, seconds)
    if line.per_unit_s * float(busiest.max()) < _LEAST_SHARE_OF_TIME * float(seconds.max()):
        return None
    peak = 1 / line.per_unit_s
    predicted = blocks * each / (line.fixed_s + busiest / peak)
    residual = root_mean_square(predicted / rates - 1)
    return GlobalBandwidth(clusters, line.fixed_s, peak, access_bytes, residual)
