"""A fluid near rest and the solid cells in it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

_SEED = 30
_SPHERES = 12
_WEIGHTS = np.array([1 / 3] + [1 / 18] * 6 + [1 / 36] * 12)


def _shape(sizes: Mapping[str, int]) -> tuple[int, int, int]:
    return sizes["depth"], sizes["height"], sizes["width"]


def populations(sizes: Mapping[str, int]) -> npt.NDArray[np.float64]:
    """The populations `from[19, depth, height, width]` of rest, each 10 % more or less."""
    disturbed = np.random.default_rng(_SEED).uniform(0.9, 1.1, (19, *_shape(sizes)))
    disturbed *= _WEIGHTS[:, None, None, None]
    return disturbed


def spheres(sizes: Mapping[str, int]) -> npt.NDArray[np.uint8]:
    """is_solid[depth, height, width]: a few spheres, cut off where they reach over the edge."""
    shape = _shape(sizes)
    generator = np.random.default_rng(_SEED + 1)
    radius = min(shape) / 6
    solid = np.zeros(shape, np.uint8)
    for _ in range(_SPHERES):
        offsets = (np.arange(n) - generator.uniform(0, n) for n in shape)
        squares = [offset**2 for offset in offsets]
        solid |= squares[0][:, None, None] + squares[1][:, None] + squares[2] < radius**2
    return solid
