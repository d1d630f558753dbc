"""What the products of sparse matrix and vector must be, by SciPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse


def spmv_csr(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """The product by a matrix in compressed rows."""
    rows = sizes["rows"]
    structure = (inputs["values"], inputs["columns"], inputs["row_starts"])
    return {"y": sparse.csr_matrix(structure, shape=(rows, rows)) @ inputs["x"]}


def spmv_ell(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """The slots as coordinates: slot s of row r is an element of row r."""
    rows = sizes["rows"]
    columns = inputs["columns"]
    slot, row = np.nonzero(columns >= 0)
    elements = (inputs["values"][slot, row], (row, columns[slot, row]))
    return {"y": sparse.coo_matrix(elements, shape=(rows, rows)).tocsr() @ inputs["x"]}


def spmv_bell(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """The tiles as SciPy's block rows, in double precision."""
    slots, tile_rows = sizes["slots"], sizes["tile_rows"]
    by_column = inputs["values"].reshape(slots, 4, tile_rows, 4)
    tiles = by_column.transpose(2, 0, 3, 1).reshape(-1, 4, 4).astype(np.float64)
    columns = inputs["tile_columns"].T.ravel()
    row_starts = np.arange(tile_rows + 1) * slots
    shape = (4 * tile_rows, 4 * tile_rows)
    return {"y": sparse.bsr_matrix((tiles, columns, row_starts), shape=shape) @ inputs["x"]}
