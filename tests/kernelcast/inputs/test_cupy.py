"""Kernels of CuPy, beside what NumPy computes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import CompilationError, InputError
from kernelcast.execution.runnable import LoadedModule, RunnableKernel

cupy: Any = pytest.importorskip("cupy", reason="CuPy is not installed")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNELCAST_CACHE", str(tmp_path / "cache"))


def kernel_of(*given: Any, **keywords: Any) -> RunnableKernel:
    found = kc.from_cupy(*given, **keywords)
    assert isinstance(found, RunnableKernel)
    return found


def test_raw_kernels() -> None:
    source = r"""extern "C" __global__ void scale(float *x, float factor, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) x[i] *= factor * TWO;
    }"""
    x = np.arange(100, dtype=np.float32)
    kernel = kernel_of(cupy.RawKernel(source, "scale", options=("-DTWO=2",)), arch="sm_80")
    kernel.run(grid=1, block=128, args=[x, 1.5, 100])
    assert (x == 3 * np.arange(100)).all()


def test_raw_modules_have_their_instances() -> None:
    source = "template <typename T> __global__ void fill(T *x) { x[threadIdx.x] = T(3); }"
    module = kc.from_cupy(
        cupy.RawModule(code=source, options=("-std=c++17",), name_expressions=["fill<double>"])
    )
    assert isinstance(module, LoadedModule)
    x = np.zeros(32)
    module["fill<double>"].run(grid=1, block=32, args=[x])
    assert (x == 3).all()


@pytest.mark.parametrize("kind", ["float32", "float64", "int32", "uint8", "float16"])
def test_element_wise_kernels(kind: str) -> None:
    squares = cupy.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squares")
    kernel = kernel_of(squares, types={"T": kind}, arch="sm_80")
    x = np.arange(1000).astype(kind) % 11
    y, z = x[::-1].copy(), np.zeros(1000, kind)
    kernel.run(grid=4, block=128, args=[x, y, z, 1000])
    assert (z == (x - y) * (x - y)).all()


def test_raw_parameters_and_code_around_the_loop() -> None:
    reverse = cupy.ElementwiseKernel(
        "raw T x, int64 n", "float64 z", "z = add(x[size - 1 - i], n)", "reverse",
        preamble="__device__ double add(double a, long long b) { return a + b; }",
        loop_prep="long long size = _n",
    )  # fmt: skip
    x, n, z = np.arange(200, dtype=np.int32), np.arange(200), np.zeros(200)
    kernel_of(reverse, types={"T": np.int32}).run(grid=2, block=64, args=[x, n, z, 200])
    assert (z == 199).all()


def test_refusals() -> None:
    squares = cupy.ElementwiseKernel("T x, S y", "T z", "z = x", "squares")
    with pytest.raises(InputError, match="squares: give types for S, T"):
        kc.from_cupy(squares)
    with pytest.raises(InputError, match="complex64: elements of it are not compiled"):
        kc.from_cupy(squares, types={"T": "complex64", "S": "int8"})
    with pytest.raises(InputError, match="SimpleNamespace is no RawKernel"):
        kc.from_cupy(SimpleNamespace())
    with pytest.raises(CompilationError, match="CuPy: f"):
        kc.from_cupy(cupy.RawKernel("__global__ void f( {}", "f"))
