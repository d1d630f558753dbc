"""Triton: tensor descriptors that the kernel makes itself, and products of small types."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc

triton: Any = pytest.importorskip("triton", reason="Triton is not installed")
tl: Any = importlib.import_module("triton.language")

ENGINES = ["jit", "reference"]
Array = npt.NDArray[Any]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "triton"))


# Triton looks at annotations too, and takes no names in them that it does not know: int, not Any.
def by_descriptors(
    a: int, b: int, c: int, m: int, n: int, k: int, bm: int, bn: int, bk: int
) -> None:
    left = tl.make_tensor_descriptor(a, shape=[m, k], strides=[k, 1], block_shape=[bm, bk])
    right = tl.make_tensor_descriptor(b, shape=[n, k], strides=[k, 1], block_shape=[bn, bk])
    result = tl.make_tensor_descriptor(c, shape=[m, n], strides=[n, 1], block_shape=[bm, bn])
    row, column = tl.program_id(0) * bm, tl.program_id(1) * bn
    total = tl.zeros((bm, bn), dtype=tl.float32)
    for first in range(0, k, bk):
        total = tl.dot(left.load([row, first]), right.load([column, first]).T, total)
    result.store([row, column], total.to(tl.float16))


def by_pointers(a: int, b: int, c: int, k: int, bm: int, bn: int, bk: int, sums: int) -> None:
    rows = tl.program_id(0) * bm + tl.arange(0, bm)
    columns, depth = tl.arange(0, bn), tl.arange(0, bk)
    total = tl.zeros((bm, bn), sums)
    for first in range(0, k, bk):
        left = tl.load(a + rows[:, None] * k + first + depth[None, :])
        right = tl.load(b + columns[None, :] * k + (first + depth)[:, None])
        total = tl.dot(left, right, total, out_dtype=sums)
    tl.store(c + rows[:, None] * bn + columns[None, :], total)


@pytest.mark.parametrize("engine", ENGINES)
def test_descriptors_made_by_the_kernel(engine: str) -> None:
    """Edges stick out of the tiles: zeros come in, and nothing goes out."""
    m, n, k = 72, 80, 128
    random = np.random.default_rng(1)
    a, b = (random.integers(-3, 4, (rows, k)).astype(np.float16) for rows in (m, n))
    c = np.zeros((m, n), np.float16)
    types = dict.fromkeys(("a", "b", "c"), "*fp16") | dict.fromkeys(("m", "n", "k"), "i32")
    kernel = kc.from_triton(
        triton.jit(by_descriptors),
        types,
        {"bm": 64, "bn": 64, "bk": 64},
        grid=(2, 2),
        arch="sm_90",
        divisible_by_16=["n", "k"],
    )
    assert "tensormap.replace" in kernel.ptx
    trace = kernel.run([a, b, c, m, n, k], engine=engine)
    assert trace.data.engine == engine
    np.testing.assert_array_equal(c, a.astype(float) @ b.astype(float).T)


def fp8_values(fraction_bits: int) -> Array:
    """The numbers of codes 0 to 127 of e4m3 or e5m2, infinities and NaNs apart."""
    code, bias = np.arange(128), (1 << (6 - fraction_bits)) - 1
    field = code >> fraction_bits
    fraction = (code & (1 << fraction_bits) - 1) * 2.0**-fraction_bits
    subnormal = fraction * 2.0 ** (1 - bias)
    return np.where(field == 0, subnormal, (1 + fraction) * 2.0 ** (field - bias))


def operand(name: str, shape: tuple[int, int], random: np.random.Generator) -> tuple[Array, Array]:
    """What goes into memory, and the small whole numbers that it stands for."""
    if name == "i8":
        values = random.integers(-128, 128, shape).astype(np.int8)
        return values, values.astype(float)
    if name == "bf16":
        numbers = random.integers(-4, 5, shape).astype(np.float32)
        return (numbers.view(np.uint32) >> 16).astype(np.uint16), numbers.astype(float)
    table = fp8_values(3 if name == "fp8e4nv" else 2)
    whole = np.flatnonzero((table == np.round(table)) & (table <= 8))
    codes, sign = random.choice(whole, shape), random.integers(0, 2, shape)
    return (codes | sign << 7).astype(np.uint8), table[codes] * (1 - 2 * sign)


CASES = [
    ("i8", "sm_80", "mma.sync.aligned.m16n8k32"),
    ("i8", "sm_90", "wgmma.mma_async"),
    ("bf16", "sm_80", "bf16.bf16.f32"),
    ("fp8e4nv", "sm_89", "e4m3.e4m3"),
    ("fp8e4nv", "sm_90", "wgmma.mma_async"),
    ("fp8e5", "sm_120", "e5m2.e5m2"),
]


@pytest.mark.drawn(2)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("name", "arch", "opcode"), CASES)
def test_products_of_small_types(name: str, arch: str, opcode: str, engine: str) -> None:
    k, random = 128, np.random.default_rng(2)
    (a, left), (b, right) = (operand(name, shape, random) for shape in ((128, k), (64, k)))
    is_whole = name == "i8"
    sums = tl.int32 if is_whole else tl.float32
    types = {"a": f"*{name}", "b": f"*{name}", "c": "*i32" if is_whole else "*fp32", "k": "i32"}
    kernel = kc.from_triton(
        triton.jit(by_pointers),
        types,
        {"bm": 64, "bn": 64, "bk": 64, "sums": sums},
        grid=2,
        arch=arch,
        divisible_by_16=["k"],
    )
    assert opcode in kernel.ptx
    c = np.zeros((128, 64), np.int32 if is_whole else np.float32)
    trace = kernel.run([a, b, c, k], engine=engine)
    assert trace.data.engine == engine
    np.testing.assert_array_equal(c, left @ right.T)
