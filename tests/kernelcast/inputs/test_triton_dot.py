"""Triton functions whose products run on tensor units, compiled without a GPU, against NumPy."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc
from tests.ptx_frontend.sass.native_programs import needs_tools

triton: Any = pytest.importorskip("triton", reason="Triton is not installed")
tl: Any = importlib.import_module("triton.language")

HALF, SINGLE, INTEGER = "*fp16", "*fp32", "i32"
ARCHITECTURES = ["sm_80", "sm_90"]
Array = npt.NDArray[Any]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "triton"))


# Triton looks at annotations too, and takes no names in them that it does not know: int, not Any.
def matmul(a: int, b: int, c: int, m: int, n: int, k: int, bm: int, bn: int, bk: int) -> None:
    rows = tl.program_id(0) * bm + tl.arange(0, bm)
    columns = tl.program_id(1) * bn + tl.arange(0, bn)
    depth = tl.arange(0, bk)
    total = tl.zeros((bm, bn), dtype=tl.float32)
    for first in range(0, k, bk):
        inside = first + depth < k
        left = tl.load(
            a + rows[:, None] * k + (first + depth)[None, :],
            mask=(rows[:, None] < m) & inside[None, :],
            other=0.0,
        )
        right = tl.load(
            b + (first + depth)[:, None] * n + columns[None, :],
            mask=inside[:, None] & (columns[None, :] < n),
            other=0.0,
        )
        total = tl.dot(left, right, total)
    place = c + rows[:, None] * n + columns[None, :]
    tl.store(place, total, mask=(rows[:, None] < m) & (columns[None, :] < n))


def attention(
    q: int, k: int, v: int, o: int, keys: int, scale: float, bm: int, bn: int, d: int
) -> None:
    rows = tl.program_id(0) * bm + tl.arange(0, bm)
    dims = tl.arange(0, d)
    query = tl.load(q + rows[:, None] * d + dims[None, :])
    top = tl.full((bm,), -float("inf"), tl.float32)
    weight = tl.zeros((bm,), tl.float32)
    total = tl.zeros((bm, d), tl.float32)
    for first in range(0, keys, bn):
        at = first + tl.arange(0, bn)
        key = tl.load(k + at[None, :] * d + dims[:, None])
        scores = tl.dot(query, key) * scale
        most = tl.maximum(top, tl.max(scores, 1))
        powers = tl.exp(scores - most[:, None])
        shrink = tl.exp(top - most)
        weight = weight * shrink + tl.sum(powers, 1)
        value = tl.load(v + at[:, None] * d + dims[None, :])
        total = total * shrink[:, None] + tl.dot(powers.to(tl.float16), value)
        top = most
    tl.store(o + rows[:, None] * d + dims[None, :], total / weight[:, None])


def integers(*shape: int) -> Array:
    return np.random.default_rng(len(shape)).integers(-4, 5, shape).astype(np.float16)


@pytest.mark.drawn(2)
@pytest.mark.parametrize("engine", ["jit", "reference"])
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_matmul_with_edges(arch: str, engine: str) -> None:
    m, n, k = 100, 72, 80
    a, b, c = integers(m, k), integers(k, n), np.zeros((m, n), np.float32)
    types = {"a": HALF, "b": HALF, "c": SINGLE, "m": INTEGER, "n": INTEGER, "k": INTEGER}
    kernel = kc.from_triton(
        triton.jit(matmul),
        types,
        {"bm": 64, "bn": 64, "bk": 32},
        grid=(2, 2),
        arch=arch,
        divisible_by_16=["k"],
    )
    trace = kernel.run([a, b, c, m, n, k], engine=engine)
    assert trace.data.engine == engine
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


@pytest.mark.drawn(2)
@pytest.mark.parametrize("engine", ["jit", "reference"])
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_attention_forward(arch: str, engine: str) -> None:
    queries, keys, d = 128, 64, 64
    random = np.random.default_rng(4)
    q, k, v = (random.standard_normal((s, d)).astype(np.float16) for s in (queries, keys, keys))
    o = np.zeros((queries, d), np.float32)
    types = {
        **dict.fromkeys(("q", "k", "v"), HALF),
        "o": SINGLE,
        "keys": INTEGER,
        "scale": "fp32",
    }
    sizes = {"bm": 64, "bn": 32, "d": d}
    kernel = kc.from_triton(triton.jit(attention), types, sizes, grid=2, arch=arch)
    trace = kernel.run([q, k, v, o, keys, 0.125], engine=engine)
    assert trace.data.engine == engine
    powers = np.exp(q.astype(float) @ k.astype(float).T * 0.125)
    wanted = powers / powers.sum(axis=1, keepdims=True) @ v.astype(float)
    np.testing.assert_allclose(o, wanted, atol=2e-3)


def test_products_are_those_of_the_architecture() -> None:
    """mma.sync on sm_80, wgmma on sm_90."""
    types = {"a": HALF, "b": HALF, "c": SINGLE, "m": INTEGER, "n": INTEGER, "k": INTEGER}
    sizes = {"bm": 64, "bn": 64, "bk": 32}
    for arch, opcode in zip(ARCHITECTURES, ("mma.sync", "wgmma.mma_async"), strict=True):
        kernel = kc.from_triton(triton.jit(matmul), types, sizes, arch=arch)
        assert opcode in kernel.ptx


def test_products_in_tensor_memory_as_machine_code() -> None:
    """What Triton makes for a B200, assembled: products, and attention on top of them."""
    needs_tools("sm_100a")
    m, n, k = 100, 72, 80
    a, b, c = integers(m, k), integers(k, n), np.zeros((m, n), np.float32)
    types = {"a": HALF, "b": HALF, "c": SINGLE, "m": INTEGER, "n": INTEGER, "k": INTEGER}
    sizes = {"bm": 128, "bn": 64, "bk": 32}
    kernel = kc.from_triton(
        triton.jit(matmul), types, sizes, grid=(1, 2), arch="sm_100", divisible_by_16=["k"]
    )
    trace = kernel.run([a, b, c, m, n, k], code="native", target="b200", engine="reference")
    assert any(row.mnemonic.startswith("UTCHMMA") for row in trace.data.instructions)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
    queries, keys, d = 128, 64, 64
    q, key, v = integers(queries, d) / 4, integers(keys, d), integers(keys, d)
    o = np.zeros((queries, d), np.float32)
    kinds = {**dict.fromkeys(("q", "k", "v"), HALF), "o": SINGLE, "keys": INTEGER, "scale": "fp32"}
    kernel = kc.from_triton(
        triton.jit(attention), kinds, {"bm": 128, "bn": 32, "d": d}, grid=1, arch="sm_100"
    )
    kernel.run([q, key, v, o, keys, 0.125], code="native", target="b200", engine="reference")
    powers = np.exp(q.astype(float) @ key.astype(float).T * 0.125)
    wanted = powers / powers.sum(axis=1, keepdims=True) @ v.astype(float)
    np.testing.assert_allclose(o, wanted, atol=1e-2)
