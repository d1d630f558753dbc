"""Inputs of the learning kernels that a generator cannot make."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

FEATURES = 16


def kmeans_points(sizes: Mapping[str, int]) -> npt.NDArray[np.float32]:
    """[FEATURES, n], whole numbers from 0 to 255."""
    whole = np.random.default_rng(1).integers(0, 256, (FEATURES, sizes["n"]), dtype=np.uint8)
    return whole.astype(np.float32)


def kmeans_centres(sizes: Mapping[str, int]) -> npt.NDArray[np.float32]:
    """[centres, FEATURES], whole numbers from 0 to 255."""
    shape = (sizes["centres"], FEATURES)
    return np.random.default_rng(2).integers(0, 256, shape, dtype=np.uint8).astype(np.float32)


def convolution_weights(sizes: Mapping[str, int]) -> npt.NDArray[np.float32]:
    """[3, 3], without any symmetry."""
    return np.random.default_rng(3).normal(size=(3, 3)).astype(np.float32)
