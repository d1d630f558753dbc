"""Whole programs, compiled by nvcc for sm_80, on the JIT engine: gemm, attention, transposes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelcast.ptx_frontend import read_module
from kernelcast.simcore.engine import execute
from kernelcast.simcore.isa.analysis.static_products import with_exact_sums
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch
from kernelcast.traces.trace import Trace

KERNELS = Path(__file__).parents[4] / "benchmarks" / "matrix_kernels"


def kernel(name: str) -> Kernel:
    return read_module(KERNELS / f"{name}.ptx").kernels[name]


def launch(name: str, grid: tuple[int, int, int], threads: int, *arguments: Any) -> Trace:
    return execute(kernel(name), Launch(grid, (threads, 1, 1), arguments), engine="jit")


@pytest.mark.parametrize("name", ["wmma_gemm", "mma_gemm"])
def test_gemm(name: str) -> None:
    n = 128
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-4, 5, (n, n)).astype(np.float16) for _ in range(2))
    c = np.zeros((n, n), np.float32)
    trace = launch(name, (n // 64, n // 64, 1), 128, a, b, c, np.int32(n))
    assert trace.engine == "jit"
    np.testing.assert_array_equal(c, a.astype(np.float64) @ b.astype(np.float64))


def test_attention() -> None:
    keys, queries = 64, 32
    rng = np.random.default_rng(2)
    q = rng.standard_normal((queries, 64)).astype(np.float16)
    k, v = (rng.standard_normal((keys, 64)).astype(np.float16) for _ in range(2))
    o = np.zeros((queries, 64), np.float16)
    launch("flash_attention", (2, 1, 1), 32, q, k, v, o, np.int32(keys), np.float32(0.125))
    scores = np.exp(q.astype(float) @ k.astype(float).T * 0.125)
    wanted = scores / scores.sum(axis=1, keepdims=True) @ v.astype(float)
    np.testing.assert_allclose(o.astype(float), wanted, atol=4e-3)


def test_transposes_by_ldmatrix_and_movmatrix() -> None:
    n = 48
    given = np.arange(n * n, dtype=np.uint16).reshape(n, n)
    out = np.zeros_like(given)
    launch("ldmatrix_transpose", (3, 3, 1), 32, given, out, np.int32(n))
    np.testing.assert_array_equal(out, given.T)


def test_exact_sums_are_rounded_once() -> None:
    n = 64
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal((n, n)).astype(np.float16) for _ in range(2))
    results = []
    for engine in ("reference", "jit"):
        c = np.zeros((n, n), np.float32)
        exact = with_exact_sums(kernel("mma_gemm"))
        execute(exact, Launch((1, 1, 1), (128, 1, 1), (a, b, c, np.int32(n))), engine=engine)
        results.append(c)
    np.testing.assert_array_equal(results[0], results[1])
    step = np.zeros((n, n), np.float32)  # each instruction adds a depth of 16 and rounds once
    for k in range(0, n, 16):
        part = a[:, k : k + 16].astype(np.longdouble) @ b[k : k + 16].astype(np.longdouble)
        step = (part + step).astype(np.float32)
    np.testing.assert_array_equal(results[0], step)
