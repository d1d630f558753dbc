"""Links and indices of the kernels that the data lead through memory."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

_SEED = 20


def cycle(sizes: Mapping[str, int]) -> npt.NDArray[np.uint32]:
    """next[elements]: one cycle through all elements in random order."""
    order = np.random.default_rng(_SEED).permutation(sizes["elements"]).astype(np.uint32)
    following = np.empty_like(order)
    following[order] = np.roll(order, -1)
    return following


def starts(sizes: Mapping[str, int]) -> npt.NDArray[np.uint32]:
    """position[threads]: where each thread begins."""
    generator = np.random.default_rng(_SEED + 1)
    return generator.integers(0, sizes["elements"], sizes["threads"], dtype=np.uint32)


def random_indices(sizes: Mapping[str, int]) -> npt.NDArray[np.int32]:
    """indices[n] into the table, independent of each other."""
    generator = np.random.default_rng(_SEED + 2)
    return generator.integers(0, sizes["elements"], sizes["n"], dtype=np.int32)


def sorted_indices(sizes: Mapping[str, int]) -> npt.NDArray[np.int32]:
    """The random indices, each `window` of them in ascending order."""
    indices = random_indices(sizes)
    for first in range(0, len(indices), sizes["window"]):
        indices[first : first + sizes["window"]].sort()
    return indices
