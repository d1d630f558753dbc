"""Bodies of the n-body problem."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def bodies(sizes: Mapping[str, int]) -> Any:
    """Places in the unit cube and masses that are about 1 in total."""
    drawn = np.random.default_rng(1).random((sizes["count"], 4))
    drawn[:, 3] *= 2 / sizes["count"]
    return drawn


def running_sums(sizes: Mapping[str, int]) -> Any:
    """Of random weights; the last one is 1, up to rounding."""
    weights = np.random.default_rng(2).random(sizes["particles"])
    return np.cumsum(weights / weights.sum())


def draws(sizes: Mapping[str, int]) -> Any:
    """One in each of as many equal parts of the unit interval as there are particles."""
    particles = sizes["particles"]
    return (np.arange(particles) + 0.25) / particles
