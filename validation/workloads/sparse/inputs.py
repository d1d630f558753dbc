"""Structures of the sparse matrices.

`sizes` says how many rows, and how wide the band is or how many nonzeros there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def _band(sizes: Mapping[str, int]) -> tuple[Array, Array]:
    """Columns of a band matrix, rows x diagonals, and which of them exist."""
    rows, half_band = sizes["rows"], sizes["half_band"]
    row = np.arange(rows, dtype=np.int32)[:, None]
    columns = row + np.arange(-half_band, half_band + 1, dtype=np.int32)
    return columns, (columns >= 0) & (columns < rows)


def banded_row_starts(sizes: Mapping[str, int]) -> Any:
    """The beginnings of a band matrix's rows, and the end."""
    _, exists = _band(sizes)
    return np.concatenate([[0], np.cumsum(exists.sum(axis=1))])


def banded_columns(sizes: Mapping[str, int]) -> Any:
    """The columns of a band matrix's nonzeros."""
    columns, exists = _band(sizes)
    return columns[exists]


def power_law_row_starts(sizes: Mapping[str, int]) -> Any:
    """The beginnings of rows whose lengths follow a power law, and the end.

    Nonzeros are dealt to rows whose weights have a Pareto distribution, as degrees of the web do,
    but no weight above the square root of the number of rows.
    """
    generator = np.random.default_rng(3)
    weights = np.minimum(1 + generator.pareto(1.2, sizes["rows"]), sizes["rows"] ** 0.5)
    lengths = generator.multinomial(sizes["nonzeros"], weights / weights.sum())
    return np.concatenate([[0], np.cumsum(lengths)])


def power_law_columns(sizes: Mapping[str, int]) -> Any:
    """Ascending within each row; low columns are more frequent. A column may occur twice."""
    rows, lengths = sizes["rows"], np.diff(power_law_row_starts(sizes))
    drawn = np.random.default_rng(4).random(sizes["nonzeros"]) ** 2
    row = np.repeat(np.arange(rows), lengths)
    return np.sort(row * rows + (drawn * rows).astype(np.int64)) % rows


def ell_columns(sizes: Mapping[str, int]) -> Any:
    """Slots x rows, the rows padded to a multiple of 32; -1 where a slot is unused."""
    columns, exists = _band(sizes)
    padding = -sizes["rows"] % 32
    return np.pad(np.where(exists, columns, -1).T, ((0, 0), (0, padding)), constant_values=-1)


def tile_columns(sizes: Mapping[str, int]) -> Any:
    """Slots x rows of tiles: the diagonal, and others near it drawn at random, all different."""
    slots, tile_rows = sizes["slots"], sizes["tile_rows"]
    steps = np.random.default_rng(5).integers(1, 9, (slots, tile_rows))
    steps[0] = 0
    return (np.arange(tile_rows) + np.cumsum(steps, axis=0)) % tile_rows
