"""What a step of Jacobi's method and the copy must give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Arrays = dict[str, npt.NDArray[Any]]


def _means(now: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The means of the four neighbours, for all points but the first and the last row.

    The grid is one array, as the vector kernels see it: the neighbour of a row's end is the next
    row's beginning.
    """
    flat, row = now.astype(np.float64).ravel(), now.shape[1]
    inner = np.arange(row, flat.size - row)
    means = 0.25 * (flat[inner - 1] + flat[inner + 1] + flat[inner - row] + flat[inner + row])
    return np.asarray(means.reshape(-1, row))


def stencil(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> Arrays:
    """A Jacobi step inside the edge, in double precision."""
    after = inputs["next"].astype(np.float64)
    after[1:-1, 1:-1] = _means(inputs["now"])[:, 1:-1]
    return {"next": after}


def copy(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> Arrays:
    """The present grid with the next one's interior."""
    after = inputs["now"].copy()
    after[1:-1, 1:-1] = inputs["next"][1:-1, 1:-1]
    return {"now": after}


def stencil_vector(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> Arrays:
    """All but the first four points of a row: vectors are computed or not as a whole."""
    after = inputs["next"].astype(np.float64)
    after[1:-1, 4:] = _means(inputs["now"])[:, 4:]
    return {"next": after}


def copy_vector(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> Arrays:
    """The present grid with the next one's interior from the fifth column on."""
    after = inputs["now"].copy()
    after[1:-1, 4:] = inputs["next"][1:-1, 4:]
    return {"now": after}
