"""Values of the compaction, and where each thread block puts what it keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

THREADS = 256
THRESHOLD = 0.5


def values(sizes: Mapping[str, int]) -> Any:
    """Normally distributed values, the same each time."""
    return np.random.default_rng(1).standard_normal(sizes["n"], np.float32)


def offsets(sizes: Mapping[str, int]) -> Any:
    """Exclusive prefix sum of how many values each thread block keeps."""
    is_kept = values(sizes) > THRESHOLD
    counts = np.add.reduceat(is_kept, np.arange(0, len(is_kept), THREADS), dtype=np.uint32)
    return np.cumsum(counts, dtype=np.uint32) - counts
