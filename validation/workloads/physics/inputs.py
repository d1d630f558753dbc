"""Inputs of the physics kernels that a generator cannot make."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

PARTICLES = 100
FACES = 4
WALL = -1
FAR_FIELD = -2
BOUNDARY_SHARE = 0.01
HEAT_RATIO = 1.4


def particles(sizes: Mapping[str, int]) -> Floats:
    """[particles, 4]: coordinates within boxes of length 1, x fastest, and charges of 0.1 to 1."""
    generator = np.random.default_rng(1)
    grid = (sizes["layers"], sizes["rows"], sizes["columns"])
    z, y, x = np.indices(grid).reshape(3, -1, 1)
    result = generator.random((x.size, PARTICLES, 4), dtype=np.float32)
    for axis, corner in enumerate((x, y, z)):
        result[:, :, axis] += corner
    result[:, :, 3] = 0.1 + 0.9 * result[:, :, 3]
    return result.reshape(-1, 4)


def gas_states(sizes: Mapping[str, int]) -> Floats:
    """[5, n]: density, momentum and energy of a gas at random densities, speeds and pressures."""
    generator = np.random.default_rng(2)
    n = sizes["n"]
    density = generator.uniform(0.5, 1.5, n)
    velocity = generator.uniform(-1, 1, (3, n))
    pressure = generator.uniform(0.5, 1.5, n)
    energy = pressure / (HEAT_RATIO - 1) + 0.5 * density * (velocity**2).sum(axis=0)
    return np.vstack([density, density * velocity, energy]).astype(np.float32)


def mesh_neighbours(sizes: Mapping[str, int]) -> npt.NDArray[np.int32]:
    """[4, n]: cells up to a thousand numbers away, the mesh being ordered; some faces are edges."""
    generator = np.random.default_rng(3)
    n = sizes["n"]
    distance = generator.integers(1, 1000, (FACES, n)) * generator.choice([-1, 1], (FACES, n))
    neighbours: npt.NDArray[np.int32] = ((np.arange(n) + distance) % n).astype(np.int32)
    kind = generator.random((FACES, n))
    neighbours[kind < BOUNDARY_SHARE] = WALL
    neighbours[kind > 1 - BOUNDARY_SHARE] = FAR_FIELD
    return neighbours


def far_field(sizes: Mapping[str, int]) -> Floats:
    """[5]: gas of density and pressure 1 that moves along x at a Mach number of about 1."""
    return np.array([1.0, 1.2, 0.0, 0.0, 1 / (HEAT_RATIO - 1) + 0.72], np.float32)


def stream_points(sizes: Mapping[str, int]) -> Floats:
    """[dimensions, n], whole numbers from 0 to 63."""
    shape = (sizes["dimensions"], sizes["n"])
    return np.random.default_rng(4).integers(0, 64, shape, dtype=np.uint8).astype(np.float32)


def stream_weights(sizes: Mapping[str, int]) -> Floats:
    """[n], 1 to 3."""
    return np.random.default_rng(5).integers(1, 4, sizes["n"]).astype(np.float32)


def stream_costs(sizes: Mapping[str, int]) -> Floats:
    """[n]: about what points cost that lie at random, so that some switch and some do not."""
    typical = 64 * 64 // 6 * sizes["dimensions"]
    return np.random.default_rng(6).integers(0, 4 * typical, sizes["n"]).astype(np.float32)
