"""How many compute units share a cache, from reads of one buffer against reads of own buffers."""

from __future__ import annotations

import numpy as np

from kernelcast.opencl_bench.fits.detection import Detection, absent
from kernelcast.opencl_bench.fits.memory_levels import bandwidth_levels
from kernelcast.opencl_bench.measurement import Curve

__all__ = ["units_sharing_caches"]

_LARGEST_MISFIT_OCTAVES = 0.75
"""Footprints are measured in steps, so that both capacities are known to a step only."""


def units_sharing_caches(same: Curve, own: Curve, units: int) -> tuple[Detection, ...]:
    """One answer for each cache, the fastest first.

    `same`: bandwidth over the bytes of one buffer that all `units` read; `own`: over the bytes of
    each unit's own buffer. A private cache ends at the same size in both, a cache of k units at
    1 / k of it.
    """
    one = [level.capacity_bytes for level in bandwidth_levels(same) if level.capacity_bytes]
    each = [level.capacity_bytes for level in bandwidth_levels(own) if level.capacity_bytes]
    if not one or not each:
        return (absent("bandwidth over the footprint shows no capacity"),)
    answers = [
        _sharing(shared / private, units) for shared, private in zip(one, each, strict=False)
    ]
    unmatched = abs(len(one) - len(each))
    return (*answers, *[absent("only one of both curves shows this capacity")] * unmatched)


def _sharing(ratio: float, units: int) -> Detection:
    sharing = min(max(round(ratio), 1), units)
    off = abs(float(np.log2(ratio / sharing)))
    if off > _LARGEST_MISFIT_OCTAVES:
        return absent(
            f"the capacities differ by a factor of {ratio:.2g}, which no sharing explains"
        )
    return Detection(
        float(sharing), abs(ratio / sharing - 1), "capacity with one against own buffers"
    )
