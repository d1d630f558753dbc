"""Designs of experiments: rows of shares, 0 to 1, of the way along each varied quantity."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.stats import qmc

__all__ = ["DESIGNS", "MORRIS_LEVELS", "morris", "sobol"]

Shares: TypeAlias = npt.NDArray[np.float64]
MORRIS_LEVELS = 4


def _latin_hypercube(names: int, count: int, seed: int) -> Shares:
    drawn: Shares = qmc.LatinHypercube(names, rng=np.random.default_rng(seed)).random(count)
    return drawn


def _random(names: int, count: int, seed: int) -> Shares:
    return np.random.default_rng(seed).random((count, names))


def sobol(names: int, count: int, seed: int) -> Shares:
    """Saltelli's design (Comput. Phys. Commun. 181, 2010): A, B, and A with each column of B.

    Shape (count x (names + 2), names): all of A, all of B, then the mixed ones, column by column.
    """
    rng = np.random.default_rng(seed)
    drawn = qmc.Sobol(2 * names, rng=rng).random(count)
    first, second = drawn[:, :names], drawn[:, names:]
    mixed = []
    for column in range(names):
        changed = first.copy()
        changed[:, column] = second[:, column]
        mixed.append(changed)
    return np.concatenate([first, second, *mixed])


def morris(names: int, count: int, seed: int) -> Shares:
    """Trajectories of Morris (Technometrics 33, 1991) on four levels, steps of two thirds.

    Shape (count x (names + 1), names): each trajectory changes one column after the other.
    """
    rng = np.random.default_rng(seed)
    step = MORRIS_LEVELS / (2 * (MORRIS_LEVELS - 1))
    low = np.arange(MORRIS_LEVELS // 2) / (MORRIS_LEVELS - 1)
    rows = []
    for _ in range(count):
        at = rng.choice(low, names)
        rises = rng.integers(0, 2, names) == 1
        at = np.where(rises, at, at + step)
        rows.append(at.copy())
        for column in rng.permutation(names):
            at[column] += step if rises[column] else -step
            rows.append(at.copy())
    return np.array(rows)


DESIGNS: Mapping[str, Callable[[int, int, int], Shares]] = {
    "latin-hypercube": _latin_hypercube,
    "random": _random,
    "sobol": sobol,
    "morris": morris,
}
"""(names, count, seed) -> shares, by the name of the method."""
