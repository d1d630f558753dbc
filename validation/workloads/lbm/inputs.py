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


def few_solid(sizes: Mapping[str, int]) -> npt.NDArray[np.uint8]:
    """One solid cell in the third layer; the rest is fluid."""
    solid = np.zeros(_shape(sizes), np.uint8)
    solid[2:3, 3, 5] = 1
    return solid


def differences(sizes: Mapping[str, int]) -> npt.NDArray[np.float32]:
    """Populations near rest, less their weights: up to 10 % of these.

    Noise repeats every layer: lattices of 256 x 256 x 256 are filled in seconds.
    """
    depth, height, width = _shape(sizes)
    noise = np.random.default_rng(_SEED).uniform(-0.1, 0.1, (19, 1, height, width))
    layer = (noise * _WEIGHTS[:, None, None, None]).astype(np.float32)
    tilt = np.linspace(0.5, 1, depth, dtype=np.float32)[None, :, None, None]
    return np.multiply(layer, tilt)


def stored_fp32(sizes: Mapping[str, int]) -> npt.NDArray[np.float32]:
    """The differences as they are."""
    return differences(sizes)


def stored_fp16s(sizes: Mapping[str, int]) -> npt.NDArray[np.float16]:
    """The differences times 2^15."""
    return (differences(sizes) * np.float32(2**15)).astype(np.float16)


def stored_fp16c(sizes: Mapping[str, int]) -> npt.NDArray[np.uint16]:
    """The codes of the differences, without those below the subnormal numbers' first 64 steps."""
    found = differences(sizes)
    small = np.abs(found) < 2.0**-14
    units = np.abs(np.where(small, 2.0**-14, found)).astype(np.float32).view(np.uint32)
    codes = ((units >> 12) - (112 << 11)).astype(np.uint16)
    codes[found < 0] |= 0x8000
    return codes
