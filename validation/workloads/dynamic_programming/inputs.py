"""Inputs of the decompositions that a generator cannot make."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt


def dominant_matrices(sizes: Mapping[str, int]) -> npt.NDArray[np.float32]:
    """[count, n, n], diagonally dominant: what pivoting would change nothing about."""
    count, n = sizes["count"], sizes["n"]
    matrices = np.random.default_rng(1).random((count, n, n), dtype=np.float32) - 0.5
    matrices += n * np.eye(n, dtype=np.float32)
    return matrices
