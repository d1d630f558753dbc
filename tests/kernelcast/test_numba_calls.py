"""Launches of Numba's kernels under `kc.capture`, without a GPU, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import LaunchError

pytest.importorskip("triton", reason="Triton is not installed")
cuda: Any = pytest.importorskip("numba.cuda", reason="Numba has no part for CUDA")
try:
    cuda.compile_ptx(lambda: None, "void()", cc=(8, 0))
except (ImportError, OSError):
    pytest.skip("Numba lacks its compiler for CUDA", allow_module_level=True)


@cuda.jit
def scale(x, factor):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= factor


@cuda.jit
def turned(x, y):  # type: ignore[no-untyped-def]
    part = cuda.shared.array(0, dtype=np.float32)
    i = cuda.threadIdx.x
    part[i] = x[i]
    cuda.syncthreads()
    y[i] = part[cuda.blockDim.x - 1 - i]


def test_launches_compute_and_are_estimated_on_both_devices() -> None:
    x = np.ones(1000, np.float32)
    with kc.capture(["h100-sxm", "a100-40gb"]) as session:
        scale[4, 256](x, 3.0)
        scale[(4,), (256,)](x, 2.0)
    assert (x == 6).all()
    assert [call.name for call in session.calls] == ["scale", "scale"]
    assert set(session.calls[0].estimates) == {"h100-sxm", "a100-40gb"}
    assert session.seconds("a100-40gb") > 0
    assert ".entry" in session.calls[0].ptx


def test_dynamic_shared_memory() -> None:
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    with kc.capture("h100-sxm"):
        turned[1, 64, 0, 64 * 4](x, y)
    assert (y == x[::-1]).all()


def test_what_is_no_array_is_refused() -> None:
    with kc.capture("h100-sxm"), pytest.raises(LaunchError, match="list is no argument"):
        scale[1, 32]([1.0], 2.0)
