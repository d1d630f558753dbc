"""What a step of D3Q19 must leave: shifts of whole lattices, moments by tensor products."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Lattice = npt.NDArray[np.float64]

_HALF = [
    (1, 0, 0), (0, 1, 0), (0, 0, 1),
    (1, 1, 0), (1, -1, 0), (1, 0, 1), (1, 0, -1), (0, 1, 1), (0, 1, -1),
]  # fmt: skip
_VELOCITIES = np.array([(0, 0, 0), *(tuple(s * np.array(c)) for c in _HALF for s in (1, -1))])
_WEIGHTS = np.array([1 / 3, 1 / 18, 1 / 36])[(_VELOCITIES**2).sum(axis=1)]


def step(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Lattice]:
    """`to` of fluid cells after a step, of solid cells as it was."""
    is_solid = inputs["is_solid"].astype(bool)
    pulled = _pull(inputs["from"], is_solid)
    density = pulled.sum(axis=0)
    velocity = np.tensordot(_VELOCITIES.T.astype(np.float64), pulled, axes=1) / density
    square = (velocity**2).sum(axis=0)
    expected = inputs["to"].copy()
    for q, direction in enumerate(_VELOCITIES.astype(np.float64)):
        along = np.tensordot(direction, velocity, axes=1)
        equilibrium = _WEIGHTS[q] * density * (1 + 3 * along + 4.5 * along**2 - 1.5 * square)
        after = (1 - inputs["omega"]) * pulled[q] + inputs["omega"] * equilibrium
        np.copyto(expected[q], after, where=~is_solid)
    return {"to": expected}


def _pull(populations: Lattice, is_solid: npt.NDArray[np.bool_]) -> Lattice:
    """Each population moved along its velocity, or turned back where a solid cell is behind."""
    pulled = np.empty_like(populations)
    for q, (x, y, z) in enumerate(_VELOCITIES):
        opposite = int(np.argmin(_VELOCITIES @ (x, y, z)))
        moved, behind = (np.roll(a, (z, y, x), (0, 1, 2)) for a in (populations[q], is_solid))
        pulled[q] = np.where(behind, populations[opposite], moved)
    return pulled
