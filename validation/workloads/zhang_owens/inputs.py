"""Off-diagonals of the tridiagonal systems: diagonally dominant, with nothing beyond the ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

_EQUATIONS = 512


def lower(sizes: Mapping[str, int]) -> Any:
    """The diagonal below the main one."""
    return _off_diagonal(sizes["systems"], seed=1, beyond=0)


def upper(sizes: Mapping[str, int]) -> Any:
    """The diagonal above the main one."""
    return _off_diagonal(sizes["systems"], seed=3, beyond=-1)


def _off_diagonal(systems: int, seed: int, beyond: int) -> Any:
    elements = np.random.default_rng(seed).uniform(-1.0, 1.0, (systems, _EQUATIONS))
    elements[:, beyond] = 0.0
    return elements
