"""Weights that go to a kernel as a struct."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt


def star25_weights(sizes: Mapping[str, int]) -> npt.NDArray[np.float32]:
    """weights[5]: of the centre, then by distance; the 25 points of the star sum up to 1."""
    by_distance = np.array([0.0625, 0.03125, 0.015625, 0.0078125], np.float32)
    return np.concatenate([[1 - 6 * by_distance.sum()], by_distance]).astype(np.float32)
