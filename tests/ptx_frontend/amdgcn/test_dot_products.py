"""Dot products of AMD's code, as instructions and as LLVM's functions, against NumPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc
from tests.ptx_frontend.amdgcn.assembly import LANES, lowered

Words = npt.NDArray[np.uint32]
ENGINES = ("jit", "reference")
PLUS = 1000


def parts(words: Words, type_: type, count: int) -> npt.NDArray[np.int64]:
    """`count` numbers of each word."""
    return words.view(type_).reshape(-1, count).astype(np.int64)


def nibbles(words: Words, *, signed: bool) -> npt.NDArray[np.int64]:
    found = (words[:, None] >> np.arange(0, 32, 4, dtype=np.uint32) & 15).astype(np.int64)
    return np.where(found > 7, found - 16, found) if signed else found


def total(products: npt.NDArray[np.int64]) -> Words:
    found: Words = (products.sum(axis=1) + PLUS).astype(np.uint32)
    return found


def of_bytes(x: Words, y: Words, first: type = np.int8, second: type = np.int8) -> Words:
    return total(parts(x, first, 4) * parts(y, second, 4))


def of_nibbles(x: Words, y: Words, first: bool, second: bool) -> Words:
    return total(nibbles(x, signed=first) * nibbles(y, signed=second))


def of_shorts(x: Words, y: Words, type_: type) -> Words:
    return total(parts(x, type_, 2) * parts(y, type_, 2))


CASES = {
    "v_dot4_i32_i8 v2, v1, v4, v5": lambda x, y: of_bytes(x, y),
    "v_dot4_u32_u8 v2, v1, v4, v5": lambda x, y: of_bytes(x, y, np.uint8, np.uint8),
    "v_dot4_i32_iu8 v2, v1, v4, v5": lambda x, y: of_bytes(x, y, np.uint8, np.uint8),
    "v_dot4_i32_iu8 v2, v1, v4, v5 neg_lo:[1,0,0]": lambda x, y: of_bytes(x, y, np.int8, np.uint8),
    "v_dot4_i32_iu8 v2, v1, v4, v5 neg_lo:[1,1,0]": lambda x, y: of_bytes(x, y),
    "v_mov_b32_e32 v2, v5; v_dot4c_i32_i8_e32 v2, v1, v4": lambda x, y: of_bytes(x, y),
    "v_dot8_i32_i4 v2, v1, v4, v5": lambda x, y: of_nibbles(x, y, True, True),
    "v_dot8_u32_u4 v2, v1, v4, v5": lambda x, y: of_nibbles(x, y, False, False),
    "v_dot8_i32_iu4 v2, v1, v4, v5 neg_lo:[0,1,0]": lambda x, y: of_nibbles(x, y, False, True),
    "v_dot2_i32_i16 v2, v1, v4, v5": lambda x, y: of_shorts(x, y, np.int16),
    "v_dot2_u32_u16 v2, v1, v4, v5": lambda x, y: of_shorts(x, y, np.uint16),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("body", CASES)
def test_integers(tmp_path: Path, body: str, engine: str) -> None:
    """`v4` is the word turned by eleven bits, `v5` what is added."""
    x = np.random.default_rng(3).integers(0, 1 << 32, LANES, dtype=np.uint32)
    y, out = (x >> 11) | (x << 21), np.zeros(LANES, np.uint32)
    kernel = lowered(tmp_path, f"v_alignbit_b32 v4, v1, v1, 11; v_mov_b32_e32 v5, {PLUS}; {body}")
    kernel.run(grid=1, block=LANES, args=[out, x], engine=engine, warp_width=LANES)
    assert np.array_equal(out, CASES[body](x, y))


def exact(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Products of halves are exact, and each sum is rounded to single precision."""
    total = (x[:, 0] * y[:, 0] + 0.5).astype(np.float32)
    return (x[:, 1] * y[:, 1] + total).astype(np.float32)


HALVES = {
    "v_dot2_f32_f16 v2, v1, v1, v5": lambda x: exact(x, x),
    "v_dot2_f32_f16 v2, v1, v1, v5 op_sel:[0,1,0] op_sel_hi:[1,0,1]": lambda x: exact(
        x, x[:, ::-1]
    ),
    "v_dot2_f32_f16 v2, v1, v1, v5 neg_lo:[0,1,0] neg_hi:[1,0,0]": lambda x: exact(x, -x),
    "v_mov_b32_e32 v2, v5; v_dot2c_f32_f16_e32 v2, v1, v1": lambda x: exact(x, x),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("body", HALVES)
def test_halves(tmp_path: Path, body: str, engine: str) -> None:
    x = np.random.default_rng(4).normal(size=(LANES, 2)).astype(np.float16)
    out = np.zeros(LANES, np.float32)
    kernel = lowered(tmp_path, f"v_mov_b32_e32 v5, 0.5; {body}")
    kernel.run(grid=1, block=LANES, args=[out, x.view(np.uint32)], engine=engine, warp_width=LANES)
    assert np.array_equal(out, HALVES[body](x.astype(np.float64)))


@pytest.mark.parametrize("engine", ENGINES)
def test_brain_floats(tmp_path: Path, engine: str) -> None:
    """The upper halves of single-precision numbers, of which each word has two."""
    x = np.random.default_rng(5).normal(size=(LANES, 2)).astype(np.float32)
    bits = x.view(np.uint32) >> 16
    kernel = lowered(tmp_path, "v_mov_b32_e32 v5, 0.5; v_dot2_f32_bf16 v2, v1, v1, v5")
    out = np.zeros(LANES, np.float32)
    words = bits[:, 0] | bits[:, 1] << 16
    kernel.run(grid=1, block=LANES, args=[out, words], engine=engine, warp_width=LANES)
    cut = (bits << 16).view(np.float32).astype(np.float64)
    assert np.array_equal(out, exact(cut, cut))


SOURCE = """#include <hip/hip_runtime.h>
typedef _Float16 pair __attribute__((ext_vector_type(2)));
typedef short shorts __attribute__((ext_vector_type(2)));
__global__ void words(const int *x, const int *y, int *z) {
  int i = threadIdx.x;
  z[i] = __builtin_amdgcn_sdot4(x[i], y[i], 1000, false);
  z[i + 64] = __builtin_amdgcn_udot4(x[i], y[i], 1000, false);
  z[i + 128] = __builtin_amdgcn_sdot8(x[i], y[i], 1000, false);
  z[i + 192] = __builtin_amdgcn_udot8(x[i], y[i], 1000, false);
  z[i + 256] = __builtin_amdgcn_sdot2(((shorts *)x)[i], ((shorts *)y)[i], 1000, false);
}
__global__ void halves(const pair *x, const pair *y, float *z) {
  z[threadIdx.x] = __builtin_amdgcn_fdot2(x[threadIdx.x], y[threadIdx.x], 0.5f, false);
}
"""


@pytest.mark.parametrize("code", ["source", "native"])
def test_functions_of_llvm(tmp_path: Path, code: str) -> None:
    """The intermediate representation computes what the instructions do that LLVM makes of them."""
    file = tmp_path / "dots.hip"
    file.write_text(SOURCE)
    module = kc.load(file, options=["--offload-arch=gfx90a"])
    random = np.random.default_rng(6)
    x, y = (random.integers(0, 1 << 32, LANES, dtype=np.uint32) for _ in range(2))
    out = np.zeros(5 * LANES, np.uint32)
    names = {name: kernel for name in ("words", "halves") for kernel in module if name in kernel}
    module[names["words"]].run(grid=1, block=LANES, args=[x, y, out], devices=["mi210"], code=code)
    wanted = (
        of_bytes(x, y),
        of_bytes(x, y, np.uint8, np.uint8),
        of_nibbles(x, y, True, True),
        of_nibbles(x, y, False, False),
        of_shorts(x, y, np.int16),
    )
    assert np.array_equal(out.reshape(5, LANES), wanted)
    a, b = (random.normal(size=(LANES, 2)).astype(np.float16) for _ in range(2))
    sums = np.zeros(LANES, np.float32)
    module[names["halves"]].run(
        grid=1, block=LANES, args=[a, b, sums], devices=["mi210"], code=code
    )
    assert np.array_equal(sums, exact(a.astype(np.float64), b.astype(np.float64)))
