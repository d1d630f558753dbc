"""Matrix Market files, sound ones beside SciPy's reader and thousands of damaged ones alone."""

from __future__ import annotations

import os
import random
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.io import mmread

from kernelcast.errors import WorkloadError
from kernelcast.workload.matrix_market import read_matrix_market
from kernelcast.workload.sparse_matrix import MatrixSpec

BANNER = b"%%MatrixMarket matrix "
SOUND = (
    BANNER + b"coordinate real general\n%c\n\n3 3 4\n1 1 1.0\n2 2 2.5\n3 1 -1e3\n3 3 4\n",
    BANNER + b"array real general\n2 3\n1\n2\n3\n0\n5\n6\n",
    BANNER + b"array integer symmetric\n2 2\n1\n2\n3\n",
    BANNER + b"array real skew-symmetric\n3 3\n1\n2\n3\n",
    BANNER + b"coordinate pattern symmetric\n3 3 2\n1 1\n3 2\n",
    BANNER + b"coordinate integer general\r\n% windows\r\n2 3 2\r\n1 1 5\r\n2 3 -7\r\n",
    BANNER + b"coordinate complex hermitian\n3 3 2\n1 1 1 0\n3 2 1 2\n",
    BANNER + b"coordinate real skew-symmetric\n3 3 1\n3 2 4",
)
CRASHES = (
    # these end a process that lets SciPy's own reader have them
    BANNER + b"array real general\n2 2\n1\n2\n3\n43x -130332",
    BANNER + b"coordinate pattern symmetric\n3 3 2\n1 1\n3 2z2yyx3zz",
    BANNER + b"coordinate real general\n%c\n3 3 4\n1 1 1.0\n2 2nan 2.5\n3 1 -1e3\n3 3 4x1x",
)
MUTATIONS = 3000


@pytest.mark.parametrize("text", SOUND)
def test_sound_files_are_read_as_by_scipy(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "a.mtx"
    path.write_bytes(text)
    expected = mmread(path)
    dense = expected if isinstance(expected, np.ndarray) else expected.toarray()
    assert np.array_equal(read_matrix_market(path).toarray(), dense)


def stored(path: Path) -> None:
    MatrixSpec(path.name, "", 1, True, path.parent, "w.toml: matrix").stored({})


@pytest.mark.parametrize("text", CRASHES)
def test_files_that_crash_scipy_are_refused(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "a.mtx").write_bytes(text)
    with pytest.raises(WorkloadError, match=r"could not convert string|number of columns changed"):
        stored(tmp_path / "a.mtx")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "the first line is not"),
        (BANNER + b"coordinate real\n", "the first line is not"),
        (BANNER + b"coordinate real general", "the line of sizes is missing"),
        (BANNER + b"coordinate real general\n2 2\n", "is not the line of 3 sizes"),
        (BANNER + b"coordinate real general\n2 -2 1\n", "is not the line of 3 sizes"),
        (BANNER + b"coordinate real symmetric\n2 3 1\n1 1 1\n", "a symmetric matrix of 2 x 3"),
        (BANNER + b"coordinate real general\n2 2 2\n1 1 1\n", "1 elements, not 2"),
        (BANNER + b"coordinate real general\n2 2 1\n1 1 1\n2 2 2\n", "2 elements, not 1"),
        (BANNER + b"coordinate real general\n2 2 1\n1 1\n", "2 numbers an element, not 3"),
        (BANNER + b"coordinate real general\n2 2 1\n3 1 1\n", "3 is no row of 2"),
        (BANNER + b"coordinate real general\n2 2 1\n1 0 1\n", "0 is no column of 2"),
        (BANNER + b"coordinate real general\n2 2 1\n1.5 1 1\n", "1.5 is no row of 2"),
        (BANNER + b"coordinate real general\n2 2 1\nnan 1 1\n", "nan is no row of 2"),
        (BANNER + b"coordinate quad general\n2 2 1\n1 1 1\n", "'quad' is not one of real"),
        (BANNER + b"array pattern general\n1 1\n", "no matrix is array, pattern and general"),
        (BANNER + b"coordinate real general\n99999999999 2 0\n", "more than 67108864 rows"),
        (BANNER + b"array real general\n60000000 60000000\n1\n", "1 elements, not 36"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: bytes, message: str) -> None:
    (tmp_path / "a.mtx").write_bytes(text)
    with pytest.raises(WorkloadError, match=message) as refused:
        stored(tmp_path / "a.mtx")
    assert "\n" not in str(refused.value)


def test_padding_that_fills_memory_is_refused() -> None:
    rows = 1 << 20
    row = np.concatenate((np.zeros(rows, np.int64), np.arange(rows)))
    column = np.concatenate((np.arange(rows), np.zeros(rows, np.int64)))

    def function(_sizes: object) -> sparse.coo_matrix:
        return sparse.coo_matrix((np.ones(2 * rows), (row, column)))

    spec = MatrixSpec("a.mtx", "", 1, False, Path(), "w.toml: matrix")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MatrixSpec, "read", lambda _self, sizes: function(sizes))
        with pytest.raises(WorkloadError, match="no memory for the matrix in ELLPACK"):
            spec.stored({"rows_of_this_test": rows})


def mutated(turn: random.Random) -> bytes:
    text = bytearray(turn.choice(SOUND))
    for _ in range(turn.randint(1, 3)):
        place = turn.randrange(len(text) + 1)
        letters = [turn.choice(b" 0123456789.-e\n%xX\r\t\0") for _ in range(turn.randint(1, 20))]
        match turn.randrange(5):
            case 0:
                text[place : place + 1] = bytes([turn.randrange(256)])
            case 1:
                del text[place : place + turn.randint(1, 8)]
            case 2:
                text[place:place] = bytes(letters)
            case 3:
                text = text.rstrip(b"\n") + bytes(letters)
            case _:
                extreme = (b"99999999999", b"-1", b"nan", b"inf", b"1e999", b"\n\n")
                text[place:place] = turn.choice(extreme)
    return bytes(text)


def refusal(path: Path) -> str:
    """Empty where the file is read."""
    try:
        stored(path)
    except WorkloadError as error:
        return str(error)
    return ""


def test_damaged_files_are_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.mtx"
    refusals = []
    for seed in range(MUTATIONS):
        text = mutated(random.Random(seed))
        path.write_bytes(text)
        os.utime(path, (seed, seed))
        refusals.append(refusal(path))
    assert not any("\n" in message for message in refusals)
    assert MUTATIONS > len([message for message in refusals if message]) > MUTATIONS // 2
