"""What a step in place must leave: an ordinary step with two arrays, and where its results lie."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Lattice = npt.NDArray[np.float64]

DIRECTIONS = [
    (1, 0, 0), (0, 1, 0), (0, 0, 1),
    (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, -1, 0), (1, 0, -1), (0, 1, -1),
]  # fmt: skip
"""The first of each pair, as x, y, z."""
VELOCITIES = np.array([(0, 0, 0), *(tuple(s * np.array(c)) for c in DIRECTIONS for s in (1, -1))])
WEIGHTS = np.array([1 / 3, 1 / 18, 1 / 36])[(VELOCITIES**2).sum(axis=1)]
HALF_CODES = 2**15


def step(stored: Lattice, is_solid: npt.NDArray[np.bool_], rate: float) -> Lattice:
    """The array after an even step."""
    arrived = np.empty_like(stored)
    arrived[0] = stored[0]
    for first, (x, y, z) in zip(range(1, 19, 2), DIRECTIONS, strict=True):
        arrived[first] = stored[first + 1]
        arrived[first + 1] = np.roll(stored[first], (-z, -y, -x), (0, 1, 2))
    after = np.where(is_solid, arrived, collided(arrived, rate))
    left = np.empty_like(stored)
    left[0] = after[0]
    for first, (x, y, z) in zip(range(1, 19, 2), DIRECTIONS, strict=True):
        moved = np.roll(after[first], (z, y, x), (0, 1, 2))
        untouched = np.roll(is_solid, (z, y, x), (0, 1, 2))
        left[first] = np.where(untouched, stored[first], moved)
        left[first + 1] = np.where(is_solid, stored[first + 1], after[first + 1])
    return left


def collided(differences: Lattice, rate: float) -> Lattice:
    """Populations, less their weights, after a collision with a single relaxation time."""
    whole = differences + WEIGHTS[:, None, None, None]
    density = whole.sum(axis=0)
    velocity = np.tensordot(VELOCITIES.T.astype(np.float64), whole, axes=1) / density
    along = np.tensordot(VELOCITIES.astype(np.float64), velocity, axes=1)
    square = (velocity**2).sum(axis=0)
    shape = 1 + 3 * along + 4.5 * along**2 - 1.5 * square
    rest = WEIGHTS[:, None, None, None] * density * shape
    relaxed: Lattice = (1 - rate) * whole + rate * rest - WEIGHTS[:, None, None, None]
    return relaxed


def code_values() -> Lattice:
    """The values of the positive codes of the half format with 4 bits of exponent, rising."""
    exponent, fraction = np.divmod(np.arange(HALF_CODES), 2**11)
    small = fraction * 2.0**-25
    return np.where(exponent == 0, small, (1 + fraction / 2**11) * 2.0 ** (exponent - 15))


def decoded(codes: npt.NDArray[np.uint16]) -> Lattice:
    """The values of codes."""
    sizes = code_values()[codes % HALF_CODES]
    return np.where(codes >= HALF_CODES, -sizes, sizes)


def encoded(values: Lattice) -> npt.NDArray[np.int64]:
    """The nearest codes; halves go away from zero."""
    known = code_values()
    middles = (known[1:] + known[:-1]) / 2
    codes = np.searchsorted(middles, np.abs(values), side="right")
    return np.where(values < 0, codes + HALF_CODES, codes)


def fp32(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Lattice]:
    """Populations stored as they are."""
    return {"populations": _after(inputs, inputs["populations"].astype(np.float64))}


def fp16s(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Lattice]:
    """Populations stored times 2^15."""
    values = inputs["populations"].astype(np.float64) / 2**15
    return {"populations": _after(inputs, values) * 2**15}


def fp16c(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Lattice]:
    """Populations stored as codes."""
    found = _after(inputs, decoded(inputs["populations"]))
    return {"populations": encoded(found).astype(np.float64)}


def _after(inputs: Mapping[str, Any], values: Lattice) -> Lattice:
    return step(values, inputs["is_solid"].astype(bool), float(inputs["rate"]))
