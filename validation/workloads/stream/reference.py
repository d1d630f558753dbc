"""What the kernels of BabelStream must compute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Arrays = dict[str, npt.NDArray[Any]]
SCALAR = 0.4


def copy(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> Arrays:
    """The first array."""
    return {"c": inputs["a"]}


def mul(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> Arrays:
    """The scalar times the third array."""
    return {"b": SCALAR * inputs["c"]}


def add(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> Arrays:
    """The sum of both arrays."""
    return {"c": inputs["a"] + inputs["b"]}


def triad(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> Arrays:
    """b + scalar c."""
    return {"a": inputs["b"] + SCALAR * inputs["c"]}


def dot(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> Arrays:
    """One sum for each thread block of 1024 threads; n is a multiple of what a round reads."""
    products = (inputs["a"] * inputs["b"]).reshape(-1, sizes["thread_blocks"], 1024)
    return {"sums": products.sum(axis=(0, 2), dtype=np.float64)}
