"""Keys of a radix sort's pass, and where its tiles' keys go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

DIGITS = 16
TILE = 1024


def keys(sizes: Mapping[str, int]) -> Any:
    """Random keys of 32 bits."""
    return np.random.default_rng(1).integers(0, 2**32, sizes["n"], np.uint32)


def offsets(sizes: Mapping[str, int]) -> Any:
    """Exclusive prefix sums, digits x tiles: keys with lower digits and those of earlier tiles."""
    tiles = -(-sizes["n"] // TILE)
    digit = (keys(sizes) >> np.uint32(sizes["shift"])).astype(np.int64) % DIGITS
    counts = np.bincount(digit * tiles + np.arange(len(digit)) // TILE, minlength=DIGITS * tiles)
    return (np.cumsum(counts) - counts).astype(np.uint32).reshape(DIGITS, tiles)
