"""Bytes for the histogram."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def words(sizes: Mapping[str, int]) -> Any:
    """Four bytes a word, sums of two uniform values: a triangle around the mean."""
    generator = np.random.default_rng(1)
    count = 4 * sizes["n"]
    dice = [generator.integers(0, 128, count, np.uint8) for _ in range(2)]
    return (dice[0] + dice[1]).view(np.uint32)
