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
