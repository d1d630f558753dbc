"""What the SOR kernel must compute, on the mesh as it was before it was split by colour."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Mesh = npt.NDArray[np.float64]


def merge(red: Mesh, black: Mesh, n: int) -> Mesh:
    """The (n + 2) x (n + 2) mesh of two colour matrices; point (i, j) is red for even i + j."""
    mesh = np.empty((n + 2, n + 2))
    columns = n // 2 + 1
    mesh[0::2, 0::2] = red[0::2, :columns]
    mesh[1::2, 1::2] = red[1::2, :columns]
    mesh[0::2, 1::2] = black[0::2, :columns]
    mesh[1::2, 0::2] = black[1::2, :columns]
    return mesh


def red_phase(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """One red phase on the merged mesh: omega times the mean of the four neighbours."""
    n, omega = sizes["n"], inputs["omega"]
    red = inputs["red"].copy()
    mesh = merge(red, inputs["black"], n)
    neighbours = mesh[:-2, 1:-1] + mesh[2:, 1:-1] + mesh[1:-1, :-2] + mesh[1:-1, 2:]
    mesh[1:-1, 1:-1] = (1 - omega) * mesh[1:-1, 1:-1] + omega * neighbours / 4
    columns = n // 2 + 1
    red[2:-1:2, 1:columns] = mesh[2:-1:2, 2::2]
    red[1:-1:2, : columns - 1] = mesh[1:-1:2, 1:-1:2]
    return {"red": red}
