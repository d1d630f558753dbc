"""The matrix of a quark on a lattice: Wilson's hopping term, without its diagonal.

Each of the extent^4 sites of a periodic lattice has 4 spin and 3 colour components. The term joins
a site with its 8 neighbours by (1 -+ gamma) times a 3 x 3 matrix of the link between them. In the
Dirac basis gamma_4 is diagonal, so that along that axis each spin meets one neighbour only; the
other gammas join two spins: 13 tiles of 3 x 3, 39 elements a row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

_AXES, _SPINS, _COLOURS = 4, 4, 3
_PARTNER = ((3, 2, 1, 0), (3, 2, 1, 0), (2, 3, 0, 1))
"""The spin that gamma joins each spin with, by axis but the fourth."""

Ints = npt.NDArray[np.int64]


def hopping_matrix(sizes: Mapping[str, int]) -> Any:
    """Row 12 site + 3 spin + colour; sites in lexicographic order, the axis of gamma_4 slowest."""
    tile_columns = _tile_columns(sizes["extent"])
    rows, slots = tile_columns.shape
    tiles = np.random.default_rng(0).uniform(-1.0, 1.0, (rows * slots, _COLOURS, _COLOURS))
    starts = np.arange(rows + 1) * slots
    side = rows * _COLOURS
    return sparse.bsr_matrix((tiles, tile_columns.ravel(), starts), shape=(side, side))


def _tile_columns(extent: int) -> Ints:
    """Columns of tiles, ascending, shape (sites * spins, 13)."""
    lattice = (extent,) * _AXES
    place = np.indices(lattice).reshape(_AXES, -1)[::-1]  # the first axis is the fastest
    found: list[list[Ints]] = [[] for _ in range(_SPINS)]
    for axis in range(_AXES):
        for step in (1, -1):
            moved = place.copy()
            moved[axis] = (moved[axis] + step) % extent
            neighbour = np.ravel_multi_index(tuple(moved[::-1]), lattice)
            for spin, columns in enumerate(found):
                if axis < len(_PARTNER):
                    columns += [_SPINS * neighbour + spin]
                    columns += [_SPINS * neighbour + _PARTNER[axis][spin]]
                elif (step > 0) == (spin >= _SPINS // 2):
                    columns += [_SPINS * neighbour + spin]
    by_spin = [np.sort(np.stack(columns, axis=1), axis=1) for columns in found]
    return np.stack(by_spin, axis=1).reshape(-1, len(found[0]))
