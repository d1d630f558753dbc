"""What the reduction must compute: one sum for every 512 values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

VALUES_PER_THREAD_BLOCK = 512


def block_sums(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Sums of every stretch of a thread block's values, in double precision."""
    starts = np.arange(0, sizes["n"], VALUES_PER_THREAD_BLOCK)
    return {"sums": np.add.reduceat(inputs["values"].astype(np.float64), starts)}
