"""What the stencils must leave: SciPy's correlations in double precision, inside the edge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import ndimage

Inputs = Mapping[str, Any]
Sizes = Mapping[str, int]
Expected = dict[str, npt.NDArray[Any]]
Mesh = npt.NDArray[np.float64]


def star(inputs: Inputs, sizes: Sizes) -> Expected:
    """A star of radius 1, in as many dimensions as the mesh has."""
    mesh = inputs["from"].astype(np.float64)
    return _inside(inputs, _star(mesh, inputs["centre"], [inputs["beside"]]), 1)


def star25_3d(inputs: Inputs, sizes: Sizes) -> Expected:
    """A star of radius 4 along three axes."""
    centre, *beside = np.frombuffer(inputs["weights"], np.float32).astype(np.float64)
    mesh = inputs["from"].astype(np.float64)
    return _inside(inputs, _star(mesh, centre, beside), len(beside))


def box27_3d(inputs: Inputs, sizes: Sizes) -> Expected:
    """A box of 3 x 3 x 3 points, weighted by their distance."""
    by_distance = np.array([inputs[name] for name in ("centre", "face", "edge", "corner")])
    distance = np.abs(np.indices((3, 3, 3)) - 1).sum(axis=0)
    mesh = inputs["from"].astype(np.float64)
    return _inside(inputs, ndimage.correlate(mesh, by_distance[distance]), 1)


def _star(mesh: Mesh, centre: float, beside: list[float]) -> Mesh:
    """One correlation along each axis; `beside` holds the weights by distance, from 1 on."""
    total: Mesh = centre * mesh
    weights = [*reversed(beside), 0.0, *beside]
    for axis in range(mesh.ndim):
        total += ndimage.correlate1d(mesh, weights, axis=axis)
    return total


def _inside(inputs: Inputs, found: Mesh, radius: int) -> Expected:
    """`to` as it was, but `found` where the stencil does not reach over the edge."""
    expected = inputs["to"].astype(np.float64)
    inside = (slice(radius, -radius),) * found.ndim
    expected[inside] = found[inside]
    return {"to": expected}
