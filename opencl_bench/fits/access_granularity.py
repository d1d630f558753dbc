"""Line and sector sizes from bandwidth over stride and over misalignment."""

from __future__ import annotations

import itertools

import numpy as np

from kernelcast.opencl_bench.fits.detection import Detection, Floats, absent, root_mean_square
from kernelcast.opencl_bench.fits.linear_cost import fit_linear_cost
from kernelcast.opencl_bench.measurement import Curve

__all__ = ["line_bytes", "sector_bytes"]

_LONGEST_LINE = 1024.0
"""The stride in bytes beyond which pages and DRAM rows bend the curve, not lines."""

_SMALLEST_FALL = 1.5
_LARGEST_ERROR = 0.15
_LEAST_COST_OF_MISALIGNMENT = 0.04


def line_bytes(curve: Curve) -> Detection:
    """The line size from useful bandwidth over the stride in bytes; a power of two.

    It is the stride from which each access has its own line, where bandwidth stops falling as 1 /
    stride.
    """
    near = curve.x <= _LONGEST_LINE
    x, y = curve.x[near], curve.y[near]
    if x.size < 4:
        return absent(f"fewer than four strides up to {_LONGEST_LINE:.0f} bytes were measured")
    if y.max() / y.min() < _SMALLEST_FALL:
        return absent("bandwidth does not fall with the stride")
    log_x, log_y = np.log(x), np.log(y)
    error, _, end = min(
        (_knees_error(log_x, log_y, start, end), start, end)
        for start, end in itertools.combinations(range(x.size), 2)
    )
    if end == x.size - 1:
        return absent("bandwidth still falls at the longest stride measured")
    if error > _LARGEST_ERROR:
        return absent(f"no line explains the strides: the best leaves {error:.0%}")
    line = 2 ** round(float(np.log2(x[end])))
    return Detection(float(line), error, "stride from which bandwidth stops to fall as 1/stride")


def _knees_error(log_x: Floats, log_y: Floats, start: int, end: int) -> float:
    """Scatter around: flat to `start`, falling as 1/x to `end`, flat again."""
    offset = log_y + np.clip(log_x, log_x[start], log_x[end])
    return root_mean_square(offset - np.mean(offset))


def sector_bytes(curve: Curve, run_bytes: int) -> Detection:
    """The sector size from bandwidth of runs over the misalignment of their start; a power of two.

    It is the size of the aligned pieces whose number explains the time of runs of `run_bytes`.
    """
    x, time = curve.x, 1 / curve.y
    scored = []
    for power in range(2, int(np.log2(max(run_bytes, x.max(), 4))) + 1):
        size = 2.0**power
        touched = np.ceil((x + run_bytes) / size) - np.floor(x / size)
        if np.unique(touched).size > 1:
            scored.append((fit_linear_cost(touched, time).residual, size, touched))
    if not scored:
        return absent("no misalignment was measured that touches one piece more")
    residual, size, touched = min(scored, key=lambda score: score[0])
    few, many = time[touched == touched.min()], time[touched == touched.max()]
    cost = float(np.median(many) / np.median(few)) - 1
    if cost < max(_LEAST_COST_OF_MISALIGNMENT, 2 * residual):
        return absent("misaligned accesses are as fast as aligned ones")
    if any(_is_alike(touched, other) for _, rival, other in scored if rival != size):
        return absent("the misalignments measured fit several sizes")
    return Detection(
        size, residual, f"each further piece of its size touched costs; {cost:.0%} most"
    )


def _is_alike(touched: Floats, other: Floats) -> bool:
    """Whether both counts are one pattern, which no times can tell apart."""
    patterns = [(counts - counts.min()) / np.ptp(counts) for counts in (touched, other)]
    return np.array_equal(*patterns)
