"""What the kernels of NVIDIA's samples must compute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Arrays = dict[str, npt.NDArray[Any]]


def matrix_multiply(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> Arrays:
    """The product of both matrices in double precision."""
    return {"c": inputs["a"].astype(np.float64) @ inputs["b"].astype(np.float64)}


def reduction(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> Arrays:
    """One sum for each thread block, which reads 512 values of each round."""
    rounds = inputs["values"].reshape(-1, sizes["thread_blocks"], 512)
    return {"sums": rounds.sum(axis=(0, 2), dtype=np.int32)}


def nbody(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> Arrays:
    """Positions and velocities after one step, by all pairs of bodies."""
    before, velocities = inputs["before"], inputs["velocities"].copy()
    step, damping = np.float64(inputs["step"]), np.float64(inputs["damping"])
    apart = before[None, :, :3] - before[:, None, :3]
    strength = before[None, :, 3] / ((apart**2).sum(axis=2) + inputs["softening"]) ** 1.5
    velocities[:, :3] += (apart * strength[..., None]).sum(axis=1) * step
    velocities[:, :3] *= damping
    after = before.copy()
    after[:, :3] += velocities[:, :3] * step
    return {"after": after, "velocities": velocities}
