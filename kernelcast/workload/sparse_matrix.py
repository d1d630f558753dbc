"""The sparse matrix of a workload, from a Matrix Market file or a function, in (blocked) ELLPACK.

`[matrix]` of a workload file names it; docs/workloads.md tells the layout of its arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.errors import WorkloadError, nearest
from kernelcast.trust import file_of, refuse_python
from kernelcast.workload.matrix_market import read_matrix_market
from kernelcast.workload.python_functions import call, load_function
from kernelcast.workload.toml_table import TomlTable

__all__ = ["MATRIX_SIZES", "EllMatrix", "MatrixSpec", "check_part", "read_matrix_spec"]

MATRIX_SIZES = ("rows", "nonzeros", "tile_rows", "slots", "pitch")
"""What a matrix adds to the sizes of a workload."""
_PITCH_UNIT = 64
"""Columns of ELLPACK begin at multiples of so many elements, where every device coalesces."""
_KEPT = 4
_COLUMN_BYTES, _VALUE_BYTES = 4, 8
_MOST_BYTES = 1 << 31
"""The most bytes of a matrix in ELLPACK."""

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class EllMatrix:
    """Blocked ELLPACK (Choi, Singh and Vuduc, PPoPP 2010); plain ELLPACK has tiles of 1 x 1.

    `columns`, of tiles, shape (slots, pitch), -1 where a row does not use the slot; `values`, shape
    (slots, tile, tile, pitch): slot, row and column within the tile, row of tiles.
    """

    rows: int
    nonzeros: int
    columns: npt.NDArray[np.int32]
    values: npt.NDArray[np.float64]

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes that expressions of the workload may name, by MATRIX_SIZES."""
        slots, pitch = self.columns.shape
        tile_rows = -(-self.rows // int(self.values.shape[1]))
        extents = (self.rows, self.nonzeros, tile_rows, slots, pitch)
        return dict(zip(MATRIX_SIZES, extents, strict=True))


@dataclass(frozen=True, slots=True)
class MatrixSpec:
    """The sparse matrix of a workload file.

    `file` (Matrix Market), or `function` ("file.py:name") of the sizes, which returns a sparse
    matrix of SciPy's; `takes_real_part` of a complex one.
    """

    file: str
    function: str
    tile: int
    takes_real_part: bool
    folder: Path
    where: str

    def stored(self, names: Mapping[str, int]) -> EllMatrix:
        """The matrix for the sizes `names`; WorkloadError where there is no such matrix."""
        own = {
            name: size
            for name, size in names.items()
            if "." not in name and name not in MATRIX_SIZES
        }
        return _stored(self, tuple(sorted(own.items())), self._changed())

    def _changed(self) -> int:
        """When the file was written, which tells whether a matrix in memory is still its own."""
        path = self.folder / (self.file or self.function.rpartition(":")[0])
        return path.stat().st_mtime_ns if path.is_file() else 0

    def array(self, part: str, names: Mapping[str, int]) -> Array:
        """The matrix's `columns` or `values`."""
        found = self.stored(names)
        return found.columns if part == "columns" else found.values

    def read(self, sizes: Mapping[str, int]) -> Any:
        """The matrix itself, as SciPy has it."""
        if self.function:
            where = f"{self.where}.python"
            return call(load_function(self.folder, self.function, where), where, dict(sizes))
        path = self.folder / self.file
        try:
            return read_matrix_market(path)
        except OSError as error:
            reason = error.strerror or str(error)
        except ValueError as error:
            reason = str(error).split(";")[0]  # NumPy goes on with advice to programmers
        raise WorkloadError(f"{self.where}.file: {path}: {reason}")


def read_matrix_spec(table: TomlTable, folder: Path) -> MatrixSpec:
    """`[matrix]`; WorkloadError naming the key that is wrong."""
    table.allow("file", "python", "tile", "part")
    file, function = table.text("file", ""), table.text("python", "")
    if bool(file) == bool(function):
        raise WorkloadError(f"{table.where()}: either file or python must name the matrix")
    if function:
        refuse_python(table.trust, table.where("python"))
    file_of(table.trust, folder, file, table.where("file"))
    tile, part = table.integer("tile", 1), table.text("part", "all")
    if tile < 1:
        raise WorkloadError(f"{table.where('tile')} must be positive, got {tile}")
    if part not in ("all", "real"):
        raise WorkloadError(f"{table.where('part')}: {part!r} is not all or real")
    return MatrixSpec(file, function, tile, part == "real", folder, table.where())


def check_part(part: str, where: str) -> None:
    """Raises WorkloadError unless `{ matrix = part }` can fill a buffer."""
    parts = ("columns", "values")
    if part not in parts:
        raise WorkloadError(
            f"{where}: a matrix has {' and '.join(parts)}, no {part!r}{nearest(part, parts)}"
        )


@lru_cache(maxsize=_KEPT)
def _stored(spec: MatrixSpec, sizes: tuple[tuple[str, int], ...], _changed: int) -> EllMatrix:
    from scipy import sparse

    try:
        matrix = sparse.csr_matrix(spec.read(dict(sizes)))
    except (TypeError, ValueError) as error:
        raise WorkloadError(f"{spec.where}: not a matrix: {error}") from None
    except MemoryError:
        raise WorkloadError(f"{spec.where}: no memory for the matrix") from None
    if not matrix.nnz:
        raise WorkloadError(f"{spec.where}: the matrix of {matrix.shape} has no elements")
    if matrix.dtype.kind == "c":
        if not spec.takes_real_part:
            raise WorkloadError(f'{spec.where}: the matrix is complex; part = "real" takes a part')
        matrix = matrix.real
    try:
        return _ell(matrix, spec.tile)
    except MemoryError:
        raise WorkloadError(f"{spec.where}: no memory for the matrix in ELLPACK") from None


def _ell(matrix: Any, tile: int) -> EllMatrix:
    """Converts a SciPy matrix in compressed rows; columns ascend within each row of tiles."""
    from scipy import sparse

    rows, nonzeros = matrix.shape[0], int(matrix.nnz)
    matrix.sum_duplicates()
    padded = sparse.csr_matrix(matrix)
    padded.resize(*(-(-extent // tile) * tile for extent in matrix.shape))
    tiles = padded.tobsr((tile, tile))
    tiles.sort_indices()
    lengths = np.diff(tiles.indptr)
    row = np.repeat(np.arange(len(lengths)), lengths)
    slot = np.arange(len(row)) - np.repeat(tiles.indptr[:-1], lengths)
    longest = max(tiles.shape) // tile
    slots, pitch = int(lengths.max()), -(-longest // _PITCH_UNIT) * _PITCH_UNIT
    if slots * pitch * (_COLUMN_BYTES + _VALUE_BYTES * tile * tile) > _MOST_BYTES:
        raise MemoryError
    columns = np.full((slots, pitch), -1, np.int32)
    values = np.zeros((slots, tile, tile, pitch))
    columns[slot, row] = tiles.indices
    values[slot, :, :, row] = tiles.data
    return EllMatrix(rows, nonzeros, columns, values)
