"""Numba functions, compiled without a GPU, against NumPy."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import CompilationError, InputError, LaunchError, MemoryAccessError


def numba_cuda() -> Any:
    """numba.cuda when it can compile here."""
    try:
        cuda = importlib.import_module("numba.cuda")
        cuda.compile_ptx(lambda: None, (), cc=(7, 5))
    except Exception as error:
        pytest.skip(f"Numba has no CUDA target here: {error}", allow_module_level=True)
    return cuda


cuda = numba_cuda()


def add_scaled(x: Any, y: Any, factor: Any) -> None:
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        x[i, j] += factor * y[i, j]


def histogram(values: Any, counts: Any, is_wanted: Any) -> None:
    i = cuda.grid(1)
    if i < values.size and is_wanted:
        cuda.atomic.add(counts, values[i], 1)


def faulty(x: Any) -> None:
    x[0] = undefined_function(3)  # type: ignore[name-defined]  # noqa: F821


def untypable(x: Any) -> None:
    x[0] = x.nothing_like_this


def test_arrays_of_two_dimensions() -> None:
    x, y = np.random.default_rng(1).random((2, 20, 30), np.float32)
    expected = x + 2 * y
    kernel = kc.from_numba(add_scaled, "void(float32[:,::1], float32[:,:], float64)")
    trace = kernel.run([x, y, 2.0], grid=(2, 2), block=(16, 16))
    np.testing.assert_allclose(x, expected, rtol=1e-6)
    assert trace.data.grid == (2, 2, 1)


@pytest.mark.parametrize("is_wanted", [True, False])
def test_atomics_and_a_function_under_jit(is_wanted: bool) -> None:
    types = importlib.import_module("numba").types
    values = np.random.default_rng(2).integers(0, 16, 1000).astype(np.int32)
    counts = np.zeros(16, np.int32)
    signature = (types.int32[::1], types.int32[::1], types.boolean)
    kernel = kc.from_numba(cuda.jit(histogram), signature, arch="sm_80")
    kernel.run([values, counts, is_wanted], grid=8, block=128)
    np.testing.assert_array_equal(counts, is_wanted * np.bincount(values, minlength=16))
    assert ".target sm_80" in kernel.ptx


def overrun(x: Any) -> None:
    x[1000] = 1.0


def test_a_run_that_fails_names_the_line_of_the_function() -> None:
    kernel = kc.from_numba(overrun, "void(float32[::1])")
    with pytest.raises(MemoryAccessError, match="past the end of x ") as caught:
        kernel.run([np.zeros(4, np.float32)], grid=1, block=1)
    assert caught.value.origin is not None
    assert caught.value.origin.line == overrun.__code__.co_firstlineno + 1


def test_errors_of_the_compiler() -> None:
    with pytest.raises(CompilationError, match="faulty: NameError: name 'undefined_function'"):
        kc.from_numba(faulty, "void(float32[:])")
    with pytest.raises(CompilationError, match="nothing_like_this") as caught:
        kc.from_numba(untypable, "void(float32[:])")
    assert caught.value.span is not None
    line = Path(__file__).read_text().splitlines()[caught.value.span.line - 1]
    assert "x.nothing_like_this" in line


def test_what_does_not_fit() -> None:
    with pytest.raises(InputError, match="takes 3 arguments, the signature has 1"):
        kc.from_numba(add_scaled, "void(float32)")
    with pytest.raises(InputError, match="argument x: column-major arrays"):
        kc.from_numba(faulty, "void(float32[::1,:])")
    with pytest.raises(InputError, match="argument x: type unicode_type is not supported"):
        kc.from_numba(faulty, (importlib.import_module("numba").types.unicode_type,))
    with pytest.raises(InputError, match="'turing' is no architecture"):
        kc.from_numba(faulty, "void(float32[:])", arch="turing")
    kernel = kc.from_numba(add_scaled, "void(float32[:,::1], float32[:,:], float64)")
    x = np.zeros((4, 4), np.float32)
    misfits: list[tuple[list[Any], str]] = [
        ([x], r"takes 3 arguments \(x, y, factor\), got 1"),
        ([x, x[0], 1.0], "argument y must be an array of 2 dimensions of float32, got 1 of"),
        ([x, x.astype(np.float64), 1.0], "argument y must be .*, got 2 of float64"),
        ([x, x, x], "argument factor must be a number"),
        ([x, 1.0, 1.0], "argument y must be a NumPy array"),
        ([x, x.T, 1.0], "y.* is not C-contiguous"),
    ]
    for arguments, reason in misfits:
        with pytest.raises(LaunchError, match=reason):
            kernel.run(arguments, grid=1, block=(4, 4))
