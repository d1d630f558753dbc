"""What the divergent example must compute: odd members of each Collatz sequence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def collatz(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Counts the odd members of each sequence, all sequences a step at a time."""
    value = inputs["first"] + np.arange(sizes["n"], dtype=np.uint64)
    count = np.zeros(sizes["n"], np.int32)
    running = np.arange(sizes["n"])
    while len(running):
        members = value[running]
        is_odd = members % 2 == 1
        count[running[is_odd]] += 1
        value[running] = np.where(is_odd, 3 * members + 1, members // 2)
        running = running[members != 1]
    return {"odd_members": count}
