"""Reads sparse matrices in the Matrix Market format of NIST.

SciPy's reader ends the whole process at some damaged files, such as a last line without a line feed
and with more text after its number; this one lets NumPy read the numbers and looks at them itself.
Format: R. F. Boisvert, R. Pozo and K. Remington, The Matrix Market Exchange Formats, NISTIR 5935.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from kernelcast.input_files import open_input

__all__ = ["read_matrix_market"]

_BANNER = "%%matrixmarket"
_VALUES = {"real": 1, "double": 1, "integer": 1, "complex": 2, "pattern": 0}
"""Numbers that tell an element."""
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")
_MOST_EXTENT = 1 << 26
"""Rows or columns: each costs memory even where it is empty."""
_LINE_BYTES = 1 << 12

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Header:
    """What precedes the elements; `count` of them follow."""

    is_array: bool
    field: str
    symmetry: str
    shape: tuple[int, int]
    count: int


def read_matrix_market(path: Path) -> Any:
    """A SciPy matrix in coordinates; ValueError that says what is wrong, or OSError."""
    with open_input(path) as source:
        header = _read_header(source)
        values = _VALUES[header.field]
        width = values if header.is_array else 2 + values
        numbers = _numbers(source, header.count, width)
    if header.is_array:
        row, column = _places_of_array(header)
        elements = _elements(header, numbers)
    else:
        row = _indices(numbers[:, 0], header.shape[0], "row")
        column = _indices(numbers[:, 1], header.shape[1], "column")
        elements = _elements(header, numbers[:, 2:])
    return _whole(header, row, column, elements)


def _read_header(source: BinaryIO) -> _Header:
    banner = _line(source).lower().split()
    if len(banner) != 5 or banner[:2] != [_BANNER, "matrix"]:
        raise ValueError("the first line is not '%%MatrixMarket matrix FORMAT FIELD SYMMETRY'")
    form, field, symmetry = banner[2:]
    for name, known in (
        (form, ("coordinate", "array")),
        (field, tuple(_VALUES)),
        (symmetry, _SYMMETRIES),
    ):
        if name not in known:
            raise ValueError(f"{name!r} is not one of {', '.join(known)}")
    is_array = form == "array"
    if (is_array and field == "pattern") or (symmetry == "hermitian" and field != "complex"):
        raise ValueError(f"no matrix is {form}, {field} and {symmetry}")
    rows, columns, *rest = _sizes(source, 2 if is_array else 3)
    if symmetry != "general" and rows != columns:
        raise ValueError(f"a {symmetry} matrix of {rows} x {columns}")
    count = rest[0] if rest else _stored_elements(rows, columns, symmetry)
    return _Header(is_array, field, symmetry, (rows, columns), count)


def _line(source: BinaryIO) -> str:
    line = source.readline(_LINE_BYTES)
    if len(line) == _LINE_BYTES:
        raise ValueError("a line of the header is too long")
    return line.decode("utf-8", "replace")


def _sizes(source: BinaryIO, wanted: int) -> list[int]:
    while line := _line(source):
        if line.startswith("%") or not line.strip():
            continue
        words = line.split()
        if len(words) != wanted or not all(word.isascii() and word.isdigit() for word in words):
            raise ValueError(f"{line.strip()[:60]!r} is not the line of {wanted} sizes")
        sizes = [int(word) for word in words if len(word) < 20]
        if len(sizes) < wanted or max(sizes[:2]) > _MOST_EXTENT:
            raise ValueError(f"more than {_MOST_EXTENT} rows or columns")
        return sizes
    raise ValueError("the line of sizes is missing")


def _stored_elements(rows: int, columns: int, symmetry: str) -> int:
    """The number of elements that a file has of an array; it leaves out what a symmetry tells."""
    if symmetry == "general":
        return rows * columns
    return rows * (rows - 1) // 2 if symmetry.startswith("skew") else rows * (rows + 1) // 2


def _numbers(source: BinaryIO, count: int, width: int) -> Floats:
    """Shape (count, width)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # no elements
        found = np.loadtxt(source, np.float64, comments=None, ndmin=2, encoding="ascii")
    if len(found) != count:
        raise ValueError(f"{len(found)} elements, not {count}")
    if count and found.shape[1] != width:
        raise ValueError(f"{found.shape[1]} numbers an element, not {width}")
    return np.asarray(found.reshape(count, width))


def _indices(found: Floats, extent: int, name: str) -> npt.NDArray[np.int64]:
    """Indices that count from 0; those of the file count from 1."""
    is_wrong = ~((found >= 1) & (found <= extent) & (np.floor(found) == found))
    if is_wrong.any():
        raise ValueError(f"{found[is_wrong][0]:g} is no {name} of {extent}")
    return found.astype(np.int64) - 1


def _elements(header: _Header, numbers: Floats) -> npt.NDArray[Any]:
    if header.field == "pattern":
        return np.ones(len(numbers))
    if header.field == "complex":
        return np.ascontiguousarray(numbers).view(np.complex128)[:, 0]
    return np.asarray(numbers[:, 0])


def _places_of_array(header: _Header) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Column by column, of a symmetric one what is not above the diagonal."""
    rows, columns = header.shape
    if header.symmetry == "general":
        column, row = np.divmod(np.arange(rows * columns), max(1, rows))
        return row, column
    column, row = np.triu_indices(rows, 1 if header.symmetry.startswith("skew") else 0)
    return row, column


def _whole(
    header: _Header,
    row: npt.NDArray[np.int64],
    column: npt.NDArray[np.int64],
    elements: npt.NDArray[Any],
) -> Any:
    """The sparse matrix, with the other half of a symmetric one."""
    from scipy import sparse

    if header.symmetry != "general":
        other = row != column
        mirrored = elements[other].conj() if header.symmetry == "hermitian" else elements[other]
        mirrored = -mirrored if header.symmetry == "skew-symmetric" else mirrored
        row, column = (
            np.concatenate((row, column[other])),
            np.concatenate((column, row[other])),
        )
        elements = np.concatenate((elements, mirrored))
    if header.is_array:
        kept = elements != 0
        row, column, elements = row[kept], column[kept], elements[kept]
    return sparse.coo_matrix((elements, (row, column)), header.shape)
