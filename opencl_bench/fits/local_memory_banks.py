"""Banks of local memory from bandwidth over stride."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelcast.opencl_bench.fits.detection import Detection, Floats, absent
from kernelcast.opencl_bench.fits.linear_cost import fit_linear_cost
from kernelcast.opencl_bench.fits.plateaus import noise
from kernelcast.opencl_bench.measurement import Curve

__all__ = ["LocalBanks", "conflict_degree", "local_banks"]

_BANK_COUNTS = (8, 16, 32, 64)
_BANK_BYTES = (4, 8)
_LEAST_CONFLICT = 1.3
_CLEAR_CHOICE = 1.05


@dataclass(frozen=True, slots=True)
class LocalBanks:
    """The number of banks and their width."""

    count: Detection
    width_bytes: Detection


def conflict_degree(stride: int, lanes: int, banks: int, bank_bytes: int, word_bytes: int) -> int:
    """Passes of an access: most distinct bank words that lanes at `stride` words need of a bank."""
    words = np.unique(np.arange(lanes) * stride * word_bytes // bank_bytes)
    return int(np.bincount(words % banks).max())


def local_banks(curve: Curve, lanes: int, word_bytes: int = 4) -> LocalBanks:
    """The banks from local bandwidth over the stride in words of `word_bytes`.

    `lanes` work-items access at once. The time of an access must grow linearly with its conflict
    degree.
    """
    strides = curve.x
    time = 1 / curve.y
    if time.max() / time.min() < _LEAST_CONFLICT:
        nothing = absent("bandwidth does not depend on the stride: no bank conflicts")
        return LocalBanks(nothing, nothing)
    scored = sorted(
        (_residual(strides, time, lanes, banks, width, word_bytes), banks, width)
        for banks in _BANK_COUNTS
        for width in _BANK_BYTES
    )
    residual, banks, width = scored[0]
    if not np.isfinite(residual) or residual > 0.25:
        nothing = absent(f"no bank layout explains the strides (best leaves {residual:.0%})")
        return LocalBanks(nothing, nothing)
    reason = "conflict degrees explain the time over stride"
    count = Detection(float(banks), residual, reason)
    rival = next((score for score, other, _ in scored if other != banks), np.inf)
    if _is_near(rival, residual, time):
        count = absent("several bank counts explain the strides equally")
    other_width = next(score for score, other, bank in scored if other == banks and bank != width)
    if _is_near(other_width, residual, time):
        return LocalBanks(count, absent("several bank widths explain the strides equally"))
    return LocalBanks(count, Detection(float(width), residual, reason))


def _is_near(rival: float, residual: float, time: Floats) -> bool:
    return rival <= max(_CLEAR_CHOICE * residual, 0.1 * noise(time))


def _residual(
    strides: Floats, time: Floats, lanes: int, banks: int, width: int, word_bytes: int
) -> float:
    degrees = np.array(
        [conflict_degree(int(stride), lanes, banks, width, word_bytes) for stride in strides],
        dtype=np.float64,
    )
    if np.unique(degrees).size < 2:
        return float("inf")
    return fit_linear_cost(degrees, time).residual
