"""Triton functions, compiled without a GPU, against NumPy."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import CompilationError, InputError, LaunchError, MemoryAccessError

triton: Any = pytest.importorskip("triton", reason="Triton is not installed")
tl: Any = importlib.import_module("triton.language")

POINTER, INTEGER = "*fp32", "i32"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "triton"))


# Triton looks at annotations too, and takes no names in them that it does not know: int, not Any.
def add(x: int, y: int, total: int, n: int, size: int) -> None:
    i = tl.program_id(0) * size + tl.arange(0, size)
    inside = i < n
    tl.store(total + i, tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)


def softmax(x: int, y: int, n: int, size: int) -> None:
    i = tl.arange(0, size)
    row = tl.program_id(0) * n
    values = tl.load(x + row + i, mask=i < n, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row + i, powers / tl.sum(powers, axis=0), mask=i < n)


def layernorm(x: int, y: int, weight: int, bias: int, n: int, size: int) -> None:
    i = tl.arange(0, size)
    row = tl.program_id(0) * n
    values = tl.load(x + row + i, mask=i < n, other=0.0)
    mean = tl.sum(values, axis=0) / n
    centered = tl.where(i < n, values - mean, 0.0)
    variance = tl.sum(centered * centered, axis=0) / n
    scaled = centered / tl.sqrt(variance + 1e-5)
    result = scaled * tl.load(weight + i, mask=i < n) + tl.load(bias + i, mask=i < n)
    tl.store(y + row + i, result, mask=i < n)


def faulty(x: int, n: int) -> None:
    i = tl.arange(0, 32)
    tl.store(x + i, undefined_value)  # type: ignore[name-defined]  # noqa: F821


def random(*shape: int) -> Any:
    return np.random.default_rng(3).standard_normal(shape).astype(np.float32)


def compiled_add(**options: Any) -> kc.TritonKernel:
    types = {"x": POINTER, "y": POINTER, "total": POINTER, "n": INTEGER}
    return kc.from_triton(triton.jit(add), types, {"size": 256}, **options)


def test_vector_add_with_the_grid_as_a_function() -> None:
    n = 1000
    x, y, total = random(n), random(n)[::-1].copy(), np.zeros(n, np.float32)
    kernel = compiled_add(grid=lambda constants: -(-n // constants["size"]))
    trace = kernel.run([x, y, total, n])
    np.testing.assert_array_equal(total, x + y)
    assert trace.data.grid == (4, 1, 1)
    assert trace.data.thread_block == (4 * 32, 1, 1)  # Triton's default is four warps


def test_equal_ptx_is_read_once() -> None:
    """What was found out about a kernel need not be found out again."""
    first = compiled_add()
    assert compiled_add(grid=4).kernel is first.kernel
    assert compiled_add(num_warps=2).kernel is not first.kernel


def test_options_reach_triton() -> None:
    kernel = compiled_add(arch="sm_90", num_warps=2)
    assert kernel.threads == 64
    assert ".target sm_90" in kernel.ptx


def test_pointers_are_aligned_and_integers_when_they_are_said_to_be() -> None:
    assert "ld.global.v" not in compiled_add().ptx  # n may end anywhere: lanes are masked alone
    assert "ld.global.v" in compiled_add(divisible_by_16=["n"]).ptx


def test_softmax() -> None:
    rows, n = 5, 100
    x, y = random(rows, n), np.zeros((rows, n), np.float32)
    types = {"x": POINTER, "y": POINTER, "n": INTEGER}
    kc.from_triton(triton.jit(softmax), types, {"size": 128}).run([x, y, n], grid=rows)
    powers = np.exp(x.astype(np.float64))
    np.testing.assert_allclose(y, powers / powers.sum(axis=1, keepdims=True), rtol=1e-5)


def test_layernorm() -> None:
    rows, n = 4, 200
    x, y = random(rows, n), np.zeros((rows, n), np.float32)
    weight, bias = random(2, n)
    types = {**dict.fromkeys(("x", "y", "weight", "bias"), POINTER), "n": INTEGER}
    kernel = kc.from_triton(triton.jit(layernorm), types, {"size": 256}, rows)
    kernel.run([x, y, weight, bias, n])
    wide = x.astype(np.float64)
    scaled = (wide - wide.mean(axis=1, keepdims=True)) / np.sqrt(
        wide.var(axis=1, keepdims=True) + 1e-5
    )
    np.testing.assert_allclose(y, scaled * weight + bias, rtol=1e-4, atol=1e-5)


def test_scratch_memory_is_supplied_for_every_program() -> None:
    text = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 scratch, .param .u64 profile)
{
  .reg .b32 %r<4>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [scratch];
  ld.param.u64 %rd3, [profile];
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %rd4, %r1, 4;
  add.u64 %rd5, %rd2, %rd4;
  st.global.u32 [%rd5], %r1;
  ld.global.u32 %r2, [%rd5];
  mul.wide.u32 %rd4, %r1, 8;
  add.u64 %rd6, %rd1, %rd4;
  st.global.u64 [%rd6], %rd3;
  ret;
}
"""
    kernel = kc.load_ptx(text)["k"]
    launcher = kc.TritonKernel(kernel, text, (8, 1, 1), 32, 0, ("out",), (4, 0))
    out = np.full(8, 7, np.uint64)
    launcher.run([out])  # the eighth program's scratch would lie outside of fewer than 32 bytes
    assert not out.any()  # the profiler's pointer is null
    with pytest.raises(MemoryAccessError):
        replace(launcher, scratch_bytes=(3, 0)).run([out])


def test_an_error_of_the_compiler_has_its_place() -> None:
    with pytest.raises(CompilationError) as caught:
        kc.from_triton(triton.jit(faulty), {"x": POINTER, "n": INTEGER})
    place = caught.value.span
    assert place is not None
    assert place.file == __file__
    line = Path(__file__).read_text().splitlines()[place.line - 1]
    assert line[place.column - 1 :].startswith("undefined_value")


def test_what_does_not_fit() -> None:
    with pytest.raises(InputError, match="add has no parameter 'z'"):
        kc.from_triton(triton.jit(add), {"z": POINTER})
    with pytest.raises(InputError, match="add: no type and no value for parameter 'total'"):
        kc.from_triton(triton.jit(add), {"x": POINTER, "y": POINTER})
    with pytest.raises(InputError, match="'ampere' is no architecture"):
        compiled_add(arch="ampere")
    with pytest.raises(LaunchError, match=r"takes 4 arguments \(x, y, total, n\), got 1"):
        compiled_add().run([random(4)], grid=1)
    with pytest.raises(LaunchError, match="kernel add: give a grid"):
        compiled_add().run([random(4), random(4), random(4), 4])
