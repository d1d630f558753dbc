"""Where matrices of `tcgen05.mma` are in tensor memory: which lanes hold which rows and columns.

PTX ISA 9.1, "Data Path Layout Organization" (layouts A to G), "Sparsity selector"; metadata as the
fragments of CUTLASS (`tmem_e_frg`, `tmem_e_frg_ws`) lay it out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.isa.matrix.tensor_memory import TENSOR_LANES

__all__ = ["DataPath", "data_path", "metadata_places"]

Array = npt.NDArray[Any]
_HALF_ROWS = 64
_QUARTER_LANES, _QUARTER_ROWS = 32, 16
_CHUNK_BITS = 4


@dataclass(frozen=True, slots=True)
class DataPath:
    """Which lanes of tensor memory hold the rows of a matrix.

    Rows lie in `runs` of neighbouring lanes: (first lane, rows). `banks` share the columns: the
    second has its part of them `bank_lanes` below the first, and so on.
    """

    runs: tuple[tuple[int, int], ...]
    banks: int = 1
    bank_lanes: int = 0

    @property
    def rows(self) -> int:
        """The number of rows of the matrix that lie in tensor memory."""
        return sum(rows for _, rows in self.runs)

    def end(self) -> int:
        """The lane behind the last one."""
        first, rows = self.runs[-1]
        return first + rows + (self.banks - 1) * self.bank_lanes

    def read(self, words: Array, lane: int, column: int, columns: int, bank: int = 0) -> Array:
        """What one bank has of a matrix that begins at a lane and a column: (rows, columns)."""
        start = lane + bank * self.bank_lanes
        parts = [
            words[start + first : start + first + rows, column : column + columns]
            for first, rows in self.runs
        ]
        return np.concatenate(parts)

    def read_all(self, words: Array, lane: int, column: int, columns: int) -> Array:
        """The whole matrix, the banks' parts side by side."""
        width = columns // self.banks
        parts = [self.read(words, lane, column, width, bank) for bank in range(self.banks)]
        return np.concatenate(parts, axis=1)

    def write_all(
        self, words: Array, lane: int, column: int, values: Array, kept: Array | None
    ) -> None:
        """`kept`: bool by lane, those that stay as they are."""
        width = values.shape[1] // self.banks
        for bank in range(self.banks):
            row, part = 0, values[:, bank * width : (bank + 1) * width]
            for first, rows in self.runs:
                start = lane + bank * self.bank_lanes + first
                target = words[start : start + rows, column : column + width]
                new = part[row : row + rows]
                if kept is not None:
                    new = np.where(kept[start : start + rows, None], target, new)
                target[:] = new
                row += rows


def data_path(rows: int, *, is_pair: bool, is_stationary: bool) -> DataPath:
    """The data path for the rows of one thread block; `is_stationary`: products with `.ws`."""
    if is_stationary:
        return DataPath(((0, rows),), TENSOR_LANES // rows, rows)
    if rows > _HALF_ROWS:
        return DataPath(((0, rows),))
    if is_pair:
        return DataPath(((0, rows),), 2, _HALF_ROWS)
    runs = range(rows // _QUARTER_ROWS)
    return DataPath(tuple((run * _QUARTER_LANES, _QUARTER_ROWS) for run in runs))


def metadata_places(rows: int, chunks: int, *, is_narrow: bool) -> tuple[Array, Array, Array]:
    """(lane, column, lowest bit) of the four bits of each row and chunk, (rows, chunks).

    Elements of at most eight bits, `is_narrow`, have a lane for each row. Of wider ones, eight
    lanes hold the first half of the chunks of 16 rows, two rows a word, and the next eight the
    second half.
    """
    row, chunk = np.meshgrid(np.arange(rows), np.arange(chunks), indexing="ij")
    if is_narrow:
        return row, chunk // 8, chunk % 8 * _CHUNK_BITS
    lane = row // 16 * 16 + row % 8 + chunk // 4 * 8
    return lane, 0 * chunk, (row % 16 // 8 * 4 + chunk % 4) * _CHUNK_BITS
