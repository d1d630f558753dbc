"""What the kernels must compute: products by NumPy, tridiagonal systems by SciPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.linalg import solve_banded


def matmul(inputs: Mapping[str, Any], _sizes: Mapping[str, int]) -> dict[str, Any]:
    """Column-major factors are transposed ones of NumPy's: the order of the product turns round."""
    return {"c": inputs["b"].astype(np.float64) @ inputs["a"].astype(np.float64)}


def last_unknown(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """The last unknown of each system, by SciPy's banded solver."""
    bands = np.zeros((sizes["systems"], 3, inputs["diagonal"].shape[1]))
    bands[:, 0, 1:] = inputs["upper"][:, :-1]
    bands[:, 1] = inputs["diagonal"]
    bands[:, 2, :-1] = inputs["lower"][:, 1:]
    systems = zip(bands, inputs["right_side"].astype(np.float64), strict=True)
    return {"last": np.array([solve_banded((1, 1), band, side)[-1] for band, side in systems])}
