"""What the scans must compute: prefix sums of every thread block's own stretch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def scanned_stretches(values: Array, length: int) -> Array:
    """Inclusive prefix sums: a row of `length` for each stretch, the last one filled with zeros."""
    padded = np.zeros(-(-values.size // length) * length, np.int32)
    padded[: values.size] = values.ravel()
    return np.cumsum(padded.reshape(-1, length), axis=1, dtype=np.int32)


def thread_block_scan(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Exclusive prefix sums of each thread block's stretch, and its total."""
    values = inputs["values"]
    scanned = scanned_stretches(values, 512)
    return {"prefix": scanned.ravel()[: values.size] - values, "sums": scanned[:, -1]}


def warp_shuffle_scan(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Inclusive prefix sums of each thread block's stretch, and its total."""
    values = inputs["values"]
    scanned = scanned_stretches(values, 1024)
    prefix = scanned.ravel()[: values.size].reshape(values.shape)
    return {"prefix": prefix, "sums": scanned[:, -1]}
