"""The kernels of `benchmarks/matrix_kernels`, compiled by NVRTC in the test, on both engines."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import kernelcast as kc

pytestmark = pytest.mark.usefixtures("nvrtc")

KERNELS = Path(__file__).parents[3] / "benchmarks" / "matrix_kernels"
ENGINES = ["jit", "reference"]
ARCHITECTURES = ["sm_80", "sm_90a", "sm_120a"]


@pytest.fixture(scope="module")
def compiled() -> Callable[[str, str], kc.RunnableKernel]:
    """(name, architecture) -> the kernel."""

    def load(name: str, arch: str) -> kc.RunnableKernel:
        return kc.load(KERNELS / f"{name}.cu", arch=arch)[name]

    return load


Load = Callable[[str, str], kc.RunnableKernel]


@pytest.mark.drawn(4)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("name", ["wmma_gemm", "mma_gemm", "pipelined_gemm"])
def test_gemm(compiled: Load, name: str, arch: str, engine: str) -> None:
    n, rng = 128, np.random.default_rng(1)
    a, b = (rng.integers(-4, 5, (n, n)).astype(np.float16) for _ in range(2))
    c = np.zeros((n, n), np.float32)
    kernel = compiled(name, arch)
    trace = kernel.run(grid=(n // 64, n // 64), block=128, args=[a, b, c, n], engine=engine)
    assert trace.data.engine == engine
    np.testing.assert_array_equal(c, a.astype(float) @ b.astype(float))


@pytest.mark.drawn(2)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("arch", ARCHITECTURES[:2])
def test_attention_forward(compiled: Load, arch: str, engine: str) -> None:
    keys, queries, rng = 96, 32, np.random.default_rng(2)
    q = rng.standard_normal((queries, 64)).astype(np.float16)
    k, v = (rng.standard_normal((keys, 64)).astype(np.float16) for _ in range(2))
    o = np.zeros((queries, 64), np.float16)
    kernel = compiled("flash_attention", arch)
    kernel.run(grid=2, block=32, args=[q, k, v, o, keys, 0.125], engine=engine)
    scores = np.exp(q.astype(float) @ k.astype(float).T * 0.125)
    wanted = scores / scores.sum(axis=1, keepdims=True) @ v.astype(float)
    np.testing.assert_allclose(o.astype(float), wanted, atol=4e-3)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("arch", ARCHITECTURES[:2])
def test_transpose_by_ldmatrix(compiled: Load, arch: str, engine: str) -> None:
    given = np.random.default_rng(3).integers(0, 1 << 16, (48, 48)).astype(np.uint16)
    out = np.zeros_like(given)
    kernel = compiled("ldmatrix_transpose", arch)
    kernel.run(grid=(3, 3), block=32, args=[given, out, 48], engine=engine)
    np.testing.assert_array_equal(out, given.T)


def passes_of_a_load(kernel: kc.RunnableKernel) -> float:
    """Wavefronts of an `ldmatrix.x4`, whose 512 bytes need four."""
    n = 64
    a, b = (np.zeros((n, n), np.float16) for _ in range(2))
    trace = kernel.run(grid=1, block=128, args=[a, b, np.zeros((n, n), np.float32), n])
    shared = trace.profile(kc.device("a100-40gb")).shared
    assert shared is not None
    return shared.load_wavefronts / shared.load_requests


def test_swizzled_tiles_have_no_bank_conflicts(compiled: Load, tmp_path: Path) -> None:
    """Rows of 128 bytes share their banks without the swizzle: eight passes for eight rows."""
    assert passes_of_a_load(compiled("pipelined_gemm", "sm_80")) == 4
    source = (KERNELS / "pipelined_gemm.cu").read_text()
    plain = re.sub(r"\(piece \^ \(row [^)]*\)\)", "piece", source)
    assert plain.count("(piece << 3)") == 2
    file = tmp_path / "plain.cu"
    file.write_text(plain)
    kernel = kc.load(file, arch="sm_80")["pipelined_gemm"]
    assert passes_of_a_load(kernel) == (4 * 8 + 4 * 4) / 2  # of B eight, of A, of 64 bytes, four
