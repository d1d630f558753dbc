"""What the products of sparse matrix and vector must be, by SciPy in double precision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse


def _product(inputs: Mapping[str, Any], x: Any, tile: int, tile_rows: int) -> Any:
    """The tiles as coordinates of single elements."""
    columns = inputs["columns"]
    slots, pitch = columns.shape
    values = inputs["values"].reshape(slots, tile, tile, pitch).astype(np.float64)
    slot, row = np.nonzero(columns >= 0)
    within = np.arange(tile)
    shape = (len(row), tile, tile)
    of_row = np.broadcast_to((tile * row[:, None] + within)[:, :, None], shape)
    of_column = np.broadcast_to((tile * columns[slot, row][:, None] + within)[:, None, :], shape)
    elements = values.transpose(0, 3, 1, 2)[slot, row]
    where = (of_row.ravel(), of_column.ravel())
    matrix = sparse.coo_matrix((elements.ravel(), where), shape=(tile * tile_rows, len(x)))
    return matrix.tocsr() @ x.astype(np.float64)


def ell(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """The product by ELLPACK's columns and values."""
    return {"y": _product(inputs, inputs["x"], 1, sizes["rows"])}


def bell(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """The product by blocked ELLPACK of 3 x 3 tiles."""
    return {"y": _product(inputs, inputs["x"], 3, sizes["tile_rows"])}


def bell_interleaved(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """x and y have their elements of a tile in three rows of the pitch."""
    tile_rows, pitch = sizes["tile_rows"], sizes["pitch"]
    y = _product(inputs, inputs["x"].T.ravel(), 3, tile_rows)
    expected = np.zeros((3, pitch))
    expected[:, :tile_rows] = y.reshape(tile_rows, 3).T
    return {"y": expected}
