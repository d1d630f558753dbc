"""Sparse matrices of workloads: Matrix Market files and functions, as (blocked) ELLPACK."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.io import mmwrite

from kernelcast.errors import WorkloadError
from kernelcast.workload.file import load_workload
from kernelcast.workload.sparse_matrix import MatrixSpec

FORMATS = Path(__file__).parents[3] / "validation" / "workloads" / "sparse_formats"
WORKLOAD = """
[kernel]
source = "k.ptx"
[sizes.small]
n = 3
[launch]
grid = ["ceil(rows / 64)"]
block = 64
[matrix]
MATRIX
[[args]]
name = "columns"
type = "s32[slots, pitch]"
init = { matrix = "columns" }
[[args]]
name = "values"
type = "VALUES"
init = { matrix = "values" }
"""


def spec(folder: Path, tile: int = 1, *, file: str = "a.mtx", real: bool = False) -> MatrixSpec:
    return MatrixSpec(file, "", tile, real, folder, "w.toml: matrix")


def workload(folder: Path, matrix: str, values: str = "f64[slots, pitch]") -> Path:
    path = folder / "w.toml"
    path.write_text(WORKLOAD.replace("MATRIX", matrix).replace("VALUES", values))
    return path


def dense(columns: np.ndarray, values: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """The matrix that blocked ELLPACK stands for, element by element."""
    tile = values.shape[1]
    found = np.zeros((columns.shape[1] * tile + tile, columns.shape[1] * tile + tile))
    for slot, row in zip(*np.nonzero(columns >= 0), strict=True):
        at = tile * columns[slot, row]
        found[tile * row : tile * row + tile, at : at + tile] += values[slot, :, :, row]
    assert not found[shape[0] :].any()
    assert not found[:, shape[1] :].any()
    return found[: shape[0], : shape[1]]


@pytest.mark.parametrize("tile", [1, 2, 3, 5])
@pytest.mark.parametrize("shape", [(70, 70), (7, 200), (131, 9)])
def test_the_arrays_are_the_matrix(tmp_path: Path, tile: int, shape: tuple[int, int]) -> None:
    matrix = sparse.random(*shape, density=0.1, random_state=1, format="coo")
    mmwrite(tmp_path / "a.mtx", matrix)
    found = spec(tmp_path, tile).stored({})
    assert np.allclose(dense(found.columns, found.values, shape), matrix.toarray())
    assert (found.rows, found.nonzeros) == (shape[0], matrix.nnz)
    assert found.sizes["tile_rows"] == -(-shape[0] // tile)
    assert found.sizes["pitch"] % 64 == 0
    used = found.columns >= 0
    assert (used[:-1] >= used[1:]).all()  # no gaps
    ascending = np.diff(found.columns, axis=0) > 0
    assert ascending[used[1:]].all()


@pytest.mark.parametrize(
    ("field", "symmetry", "entries", "expected"),
    [
        ("real", "symmetric", "1 1 2.5\n2 1 -1\n", [[2.5, -1], [-1, 0]]),
        ("pattern", "general", "1 2\n2 1\n", [[0, 1], [1, 0]]),
        ("integer", "skew-symmetric", "2 1 4\n2 1 1\n", [[0, -5], [5, 0]]),
    ],
)
def test_kinds_of_files(
    tmp_path: Path, field: str, symmetry: str, entries: str, expected: list[list[float]]
) -> None:
    header = f"%%MatrixMarket matrix coordinate {field} {symmetry}\n2 2 2\n"
    (tmp_path / "a.mtx").write_text(header + entries)
    found = spec(tmp_path).stored({})
    assert dense(found.columns, found.values, (2, 2)).tolist() == expected


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    for number in (1, 2):
        mmwrite(tmp_path / "a.mtx", sparse.eye_array(number, format="coo"))
        os.utime(tmp_path / "a.mtx", (number, number))
        assert spec(tmp_path).stored({}).rows == number


def test_the_real_part_of_a_complex_matrix_is_asked_for(tmp_path: Path) -> None:
    header = "%%MatrixMarket matrix coordinate complex general\n1 1 1\n"
    (tmp_path / "a.mtx").write_text(f"{header}1 1 2 3\n")
    with pytest.raises(WorkloadError, match='matrix: the matrix is complex; part = "real"'):
        spec(tmp_path).stored({})
    assert spec(tmp_path, real=True).stored({}).values[0, 0, 0, 0] == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "a.mtx: No such file"),
        ("1 2 3\n", "matrix.file: .*a.mtx: "),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n7 1 1\n", "a.mtx: "),
        ("%%MatrixMarket matrix coordinate real general\n2 2 0\n", "has no elements"),
    ],
)
def test_files_that_are_no_matrix(tmp_path: Path, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / "a.mtx").write_text(text)
    with pytest.raises(WorkloadError, match=message) as refused:
        spec(tmp_path).stored({})
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ('file = "a.mtx"\npython = "i.py:f"', "either file or python"),
        ("tile = 2", "either file or python"),
        ('file = "a.mtx"\ntile = 0', "matrix.tile must be positive, got 0"),
        ('file = "a.mtx"\npart = "imaginary"', "'imaginary' is not all or real"),
        ('file = "a.mtx"\n[sizes.large]\nrows = 7', "sizes.large.rows: the matrix has rows"),
        ('file = "a.mtx"\nfile_ = 1', "file_ is not a known key"),
    ],
)
def test_descriptions_that_are_wrong(tmp_path: Path, matrix: str, message: str) -> None:
    with pytest.raises(WorkloadError, match=message):
        load_workload(workload(tmp_path, matrix))


def test_parts_and_shapes_that_are_wrong(tmp_path: Path) -> None:
    mmwrite(tmp_path / "a.mtx", sparse.eye_array(5, format="coo"))
    path = workload(tmp_path, 'file = "a.mtx"', "f64[slots, rows]")
    with pytest.raises(WorkloadError, match=r"contents of shape \(1, 1, 1, 64\), not \(1, 5\)"):
        load_workload(path).make_arguments()
    path.write_text(path.read_text().replace('matrix = "values"', 'matrix = "value"'))
    with pytest.raises(WorkloadError, match=r"has columns and values, no 'value' .did you mean"):
        load_workload(path)
    path.write_text(
        path.read_text().replace('[matrix]\nfile = "a.mtx"', "").replace('"value"', '"values"')
    )
    with pytest.raises(WorkloadError):
        load_workload(path).make_arguments()


def test_a_function_gets_the_sizes(tmp_path: Path) -> None:
    (tmp_path / "i.py").write_text(
        "from scipy import sparse\ndef f(sizes):\n    return sparse.eye_array(sizes['n'] * 30)\n"
    )
    found = load_workload(workload(tmp_path, 'python = "i.py:f"'))
    assert found.size("small") == {
        "n": 3,
        "rows": 90,
        "nonzeros": 90,
        "tile_rows": 90,
        "slots": 1,
        "pitch": 128,
    }
    (tmp_path / "i.py").write_text("def f(sizes):\n    return 'nothing'\n")
    with pytest.raises(WorkloadError, match=r"w\.toml: matrix: not a matrix"):
        load_workload(workload(tmp_path, 'python = "i.py:f"\ntile = 2')).size()


@pytest.mark.parametrize("form", ["ell", "bell_im", "bell_imiv", "bell_imiv_texture"])
def test_the_kernels_take_a_file(tmp_path: Path, form: str) -> None:
    """Another matrix in the workload that multiplies it: rows of very different length."""
    matrix = sparse.random(200, 200, density=0.03, random_state=2, format="coo")
    mmwrite(tmp_path / "mine.mtx", matrix)
    for name in ("spmv.ptx", "reference.py"):
        shutil.copy(FORMATS / name, tmp_path)
    text = (FORMATS / f"spmv_{form}.toml").read_text()
    path = tmp_path / "mine.toml"
    path.write_text(text.replace('python = "inputs.py:hopping_matrix"', 'file = "mine.mtx"'))
    assert load_workload(path).run_check().passed
