"""Distinct words against NumPy's, which sorts all."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.simcore.host.distinct import distinct


@pytest.mark.parametrize("most", [1, 2, 300, 8192, 8193, 20000])
@pytest.mark.parametrize("of", [np.int64, np.float64])
def test_the_distinct_ones_are_those_of_numpy(most: int, of: type) -> None:
    rng = np.random.default_rng(most)
    words: npt.NDArray[Any] = rng.permutation(np.resize(np.arange(most), 40000)) * 977 - 5000
    words = words.astype(of)
    values, example, number = np.unique(words, return_index=True, return_inverse=True)
    found = distinct(words)
    assert np.array_equal(found.values, values)
    assert np.array_equal(found.example, example)
    assert np.array_equal(found.number, number)


def test_of_nothing_there_is_nothing_distinct() -> None:
    found = distinct(np.zeros(0))
    assert [len(column) for column in found] == [0, 0, 0]
