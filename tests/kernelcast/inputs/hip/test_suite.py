"""Twenty-one HIP kernels: results by NumPy on both engines, bit for bit those of CUDA twins."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kernelcast as kc
from tests.kernelcast.inputs.hip.suite import CASES, Case, loaded

WORKLOADS = Path(__file__).parents[4] / "validation" / "workloads"
NOT_BIT_EQUAL = {
    "fft512": "the compilers choose other products to be joined with sums",
    "softmax": "CUDA's expf is a polynomial and ex2.approx, that of HIP is rounded correctly",
    "attention_tile": "the same",
}
"""Twins whose results differ in the last places, and why."""
NEEDS_64_LANES = ("matrix_core_product",)


@pytest.mark.drawn(3)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.entry)
def test_results_are_those_of_numpy_on_both_engines(case: Case) -> None:
    module = loaded(case.file)
    jit, reference = (case.run(module, engine=name, warp_width=64) for name in ("jit", "reference"))
    case.check(jit)
    for name, value in jit.items():
        assert np.array_equal(value, reference[name]), name


@pytest.mark.drawn(3)
@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.entry not in NEEDS_64_LANES],
    ids=lambda case: case.entry,
)
def test_wavefronts_of_32_lanes_find_the_same(case: Case) -> None:
    case.check(case.run(loaded(case.file), engine="jit", warp_width=32))


@pytest.mark.drawn(4)
@pytest.mark.parametrize(
    "case", [case for case in CASES if case.twin is not None], ids=lambda case: case.entry
)
def test_results_are_bit_for_bit_those_of_the_cuda_twin(case: Case) -> None:
    assert case.twin is not None
    file, entry = case.twin
    found = case.run(loaded(case.file), engine="jit", warp_width=64)
    arguments = case.arguments()
    kc.load(WORKLOADS / file)[entry].run(
        grid=case.grid, block=case.block, args=list(arguments.values()), engine="jit"
    )
    for name, value in arguments.items():
        is_equal = np.array_equal(value, found[name])
        assert is_equal or case.entry in NOT_BIT_EQUAL, name
        if not is_equal:
            np.testing.assert_allclose(value, found[name], 1e-5, 3e-5)
