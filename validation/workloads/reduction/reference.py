"""What the reductions must compute: one result for each thread block of a grid that strides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def shares(values: Array, thread_blocks: int, threads: int, padding: float) -> Array:
    """The values that each thread block reads: rounds x thread blocks x threads."""
    stride = thread_blocks * threads
    padded = np.full(-(-len(values) // stride) * stride, padding, values.dtype)
    padded[: len(values)] = values
    return padded.reshape(-1, thread_blocks, threads)


def partial_sums(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """The sum of each thread block's share, in double precision."""
    values = shares(inputs["values"], sizes["thread_blocks"], 256, 0.0)
    return {"sums": values.sum(axis=(0, 2), dtype=np.float64)}


def partial_dots(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """The scalar product of each thread block's share."""
    x, y = (shares(inputs[name], sizes["thread_blocks"], 128, 0.0) for name in ("x", "y"))
    return {"dots": np.einsum("rbt,rbt->b", x, y)}


def max_index(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """The largest value of each thread block's share, and its first index."""
    values = shares(inputs["values"], sizes["thread_blocks"], 256, -np.inf)
    rows = values.transpose(1, 0, 2).reshape(sizes["thread_blocks"], -1)
    position = rows.argmax(axis=1)  # a share's values stand in the order of their indices
    thread_block = np.arange(len(rows))
    index = (position // 256 * len(rows) + thread_block) * 256 + position % 256
    return {"largest": rows[thread_block, position], "largest_index": index}
