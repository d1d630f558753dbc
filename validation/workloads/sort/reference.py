"""What the sorting kernels must compute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

DIGITS = 16
KEYS = 1024
"""Keys of a thread block, in the counting kernel and in the bitonic one."""


def digits(keys: Array, shift: int) -> Array:
    """The digit of each key in the pass that shifts by so much."""
    return (keys >> np.uint32(shift)).astype(np.uint8) % np.uint8(DIGITS)


def radix_count(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """How often each digit occurs in each thread block's tile."""
    digit = digits(inputs["keys"], sizes["shift"])
    tiles = np.arange(0, len(digit), KEYS)
    return {"counts": [np.add.reduceat(digit == d, tiles, dtype=np.uint32) for d in range(DIGITS)]}


def radix_scatter(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Keys and values in the stable order of the pass's digit."""
    order = np.argsort(digits(inputs["keys"], sizes["shift"]), kind="stable")
    return {"keys_out": inputs["keys"][order], "values_out": inputs["values"][order]}


def bitonic_sort(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Keys sorted within each thread block's stretch."""
    keys = inputs["keys"].copy()
    whole = len(keys) // KEYS * KEYS
    keys[:whole].reshape(-1, KEYS).sort(axis=1)
    keys[whole:].sort()
    return {"keys": keys}


def bitonic_merge_step(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Stretches x pairs of runs x (low, high) x distance, every second stretch the other way."""
    distance = sizes["distance"]
    runs = inputs["keys"].reshape(-1, sizes["length"] // (2 * distance), 2, distance)
    low, high = runs[:, :, 0], runs[:, :, 1]
    ordered = np.stack([np.minimum(low, high), np.maximum(low, high)], axis=2)
    ordered[1::2] = ordered[1::2, :, ::-1]
    return {"keys": ordered.ravel()}
