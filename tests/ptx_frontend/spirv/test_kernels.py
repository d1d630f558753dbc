"""SPIR-V of two producers: the kernels of data/spirv_tour.cl compute what NumPy does."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelcast.ptx_frontend.llvm import read_llvm
from kernelcast.ptx_frontend.spirv import read_spirv
from kernelcast.simcore.engine import execute
from kernelcast.simcore.isa.ir.kernel import Module
from kernelcast.simcore.launch.launch import Launch

DATA = Path(__file__).parents[1] / "data"
PRODUCERS = ("translator", "llvm")
GROUPS, WIDTH = 4, 64
SIZE = GROUPS * WIDTH
ITEM = np.dtype([("key", "i4"), ("weight", "f4", 3), ("pair", "i2", 2)])
TABLE = np.array([1.0, 2.5, -3.0, 4.0], np.float32)


@cache
def tour(producer: str) -> Module:
    file = DATA / f"spirv_tour_{producer}.spv"
    return read_llvm(read_spirv(file.read_bytes(), str(file)).encode(), str(file), is_text=True)


@pytest.fixture(params=[(p, e) for p in PRODUCERS for e in ("reference", "jit")], ids="-".join)
def run(request: pytest.FixtureRequest) -> Any:
    """(kernel, arguments ...): executes it; buffers are changed."""
    producer, engine = request.param

    def launch(name: str, *arguments: Any, shared: int = 0) -> None:
        shape = Launch((GROUPS, 1, 1), (WIDTH, 1, 1), arguments, shared)
        execute(tour(producer).kernels[name], shape, engine=engine)

    return launch


def numbers(seed: int, shape: Any = SIZE) -> Any:
    return np.random.default_rng(seed).uniform(-2, 2, shape).astype(np.float32)


def test_saxpy_stops_at_its_size(run: Any) -> None:
    x, y, n = numbers(1), numbers(2), SIZE - 5
    wanted = y.copy()
    wanted[:n] = (np.float64(1.5) * x[:n] + y[:n]).astype(np.float32)
    run("saxpy", y, x, 1.5, n)
    assert np.allclose(y, wanted, rtol=1e-6)
    assert np.array_equal(y[n:], wanted[n:])


def test_reduction_in_local_memory(run: Any) -> None:
    values, out = np.arange(SIZE, dtype=np.float32), np.zeros(GROUPS, np.float32)
    run("reduce", values, out, WIDTH * 4, shared=WIDTH * 4)
    assert np.array_equal(out, values.reshape(GROUPS, WIDTH).sum(axis=1) + 1)


def test_vectors_of_four(run: Any) -> None:
    a, b, k = numbers(3, (SIZE, 4)), numbers(4, (SIZE, 4)), 0.25
    v = a.astype(np.float64) * b + k
    v[:, :2] = v[:, [3, 2]]
    v = np.clip(v, 0, 10) + np.sqrt(np.abs(b))
    wanted = v + (v * b).sum(axis=1, keepdims=True) + b
    run("vec4", a, b, k)
    assert np.allclose(a, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("mode", [0, 1, 2, 5])
def test_switch(run: Any, mode: int) -> None:
    a = np.arange(-SIZE // 2, SIZE // 2, dtype=np.int32)
    cases = {0: a * 3, 1: a - 7, 5: a ^ 0x55}
    v = cases.get(mode, -a)
    wanted = np.where(v > 100, np.clip(v, -128, 127), np.abs(v) + (v != 3))
    run("choose", a, mode)
    assert np.array_equal(a, wanted)


def test_structs_by_address_and_by_value(run: Any) -> None:
    items, extra, out = np.zeros(SIZE, ITEM), np.zeros(1, ITEM), np.zeros(SIZE, np.float32)
    items["key"] = np.arange(SIZE) - 3
    items["weight"] = numbers(5, (SIZE, 3))
    items["pair"] = np.arange(2 * SIZE).reshape(SIZE, 2)
    extra["key"], extra["weight"] = 7, [[1, 2, 0.5]]
    wanted = items.copy()
    wanted["weight"][:, 1] += np.tile(TABLE, SIZE // 4) + np.float32(0.5)
    wanted["pair"][:, 0] = items["pair"][:, 1] + items["key"].astype(np.int16)
    run("structs", items, extra.tobytes(), out)
    assert np.allclose(items["weight"], wanted["weight"], rtol=1e-6)
    for name in ("key", "pair"):
        assert np.array_equal(items[name], wanted[name])
    assert np.allclose(out, wanted["weight"][:, :2].sum(axis=1) + 7, rtol=1e-6)


def test_atomics_and_barriers(run: Any) -> None:
    data = np.random.default_rng(6).integers(0, 250, SIZE).astype(np.uint8)
    bins, top = np.zeros(16, np.uint32), np.zeros(1, np.int32)
    run("histogram", data, bins, top)
    assert np.array_equal(bins, np.bincount(data & 15, minlength=16))
    assert top[0] == data.max()


@pytest.mark.parametrize("producer", PRODUCERS)
def test_both_byte_orders_are_the_same_module(producer: str) -> None:
    content = (DATA / f"spirv_tour_{producer}.spv").read_bytes()
    swapped = np.frombuffer(content, np.uint32).byteswap().tobytes()
    assert read_spirv(swapped, "x") == read_spirv(content, "x")
