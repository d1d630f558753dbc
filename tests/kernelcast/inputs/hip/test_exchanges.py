"""Exchanges of lanes and products of matrices by AMD's builtins, as LLVM IR and as machine code.

Each run is compared with NumPy, on wavefronts of the width that the GPU has.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc
from kernelcast.execution.runnable import RunnableKernel
from kernelcast.inputs.amd.generated_code import GeneratedCode

Array = npt.NDArray[Any]
SCAN = """
// An inclusive sum of a wavefront by DPP, as LLVM makes it of atomics: rows of 16, then their ends.
#define STEP(pattern, rows) v += __builtin_amdgcn_update_dpp(0, v, pattern, rows, 0xf, false)
extern "C" __global__ void scan(int *x) {
  int v = x[threadIdx.x];
  STEP(0x111, 0xf);
  STEP(0x112, 0xf);
  STEP(0x114, 0xf);
  STEP(0x118, 0xf);
#ifdef ROWS_BY_SCALARS
  int other = __builtin_amdgcn_permlanex16(v, v, -1, -1, true, false);
  if (threadIdx.x % 32 >= 16) v += other;
#else
  STEP(0x142, 0xa);
  STEP(0x143, 0xc);
#endif
  x[threadIdx.x] = v;
}
"""
MIXED = """
extern "C" __global__ void mixed(int *x) {
  int v = x[threadIdx.x];
  v += __builtin_amdgcn_ds_swizzle(v, 0x401f);       // lane ^ 16
  v ^= __builtin_amdgcn_mov_dpp(v, 0x1b, 0xf, 0xf, true);  // [3,2,1,0] of each four
#ifdef __gfx1100__
  v += __builtin_amdgcn_update_dpp(7, v, 0x155, 0xf, 0xf, false);  // lane 5 of the row
  v ^= __builtin_amdgcn_update_dpp(7, v, 0x163, 0xf, 0xf, false);  // lane ^ 3
  v += __builtin_amdgcn_mov_dpp8(v, 0xfac688);       // lane ^ 7 of each eight, three bits each
#endif
  x[threadIdx.x] = v;
}
"""
WMMA = """
typedef _Float16 half16 __attribute__((ext_vector_type(16)));
typedef short short16 __attribute__((ext_vector_type(16)));
typedef float float8 __attribute__((ext_vector_type(8)));
typedef int int8v __attribute__((ext_vector_type(8)));
typedef int int4v __attribute__((ext_vector_type(4)));
extern "C" __global__ void f32_f16(const half16 *a, const half16 *b, float8 *c) {
  int l = threadIdx.x;
  c[l] = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a[l % 16], b[l % 16], c[l]);
}
extern "C" __global__ void f32_bf16(const short16 *a, const short16 *b, float8 *c) {
  int l = threadIdx.x;
  c[l] = __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(a[l % 16], b[l % 16], c[l]);
}
extern "C" __global__ void f16_f16(const half16 *a, const half16 *b, half16 *c) {
  int l = threadIdx.x;
  c[l] = __builtin_amdgcn_wmma_f16_16x16x16_f16_w32(a[l % 16], b[l % 16], c[l], UPPER);
}
extern "C" __global__ void i32_iu8(const int4v *a, const int4v *b, int8v *c) {
  int l = threadIdx.x;
  c[l] = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(true, a[l % 16], false, b[l % 16], c[l], false);
}
"""
WMMA_12 = """
typedef _Float16 half8 __attribute__((ext_vector_type(8)));
typedef short short8 __attribute__((ext_vector_type(8)));
typedef float float8 __attribute__((ext_vector_type(8)));
typedef int int8v __attribute__((ext_vector_type(8)));
typedef int int2v __attribute__((ext_vector_type(2)));
extern "C" __global__ void f32_f16(const half8 *a, const half8 *b, float8 *c) {
  int l = threadIdx.x;
  c[l] = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a[l], b[l], c[l]);
}
extern "C" __global__ void f32_bf16(const short8 *a, const short8 *b, float8 *c) {
  int l = threadIdx.x;
  c[l] = __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(a[l], b[l], c[l]);
}
extern "C" __global__ void f16_f16(const half8 *a, const half8 *b, half8 *c) {
  int l = threadIdx.x;
  c[l] = __builtin_amdgcn_wmma_f16_16x16x16_f16_w32_gfx12(a[l], b[l], c[l]);
}
extern "C" __global__ void i32_iu8(const int2v *a, const int2v *b, int8v *c) {
  int l = threadIdx.x;
  c[l] = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12(true, a[l], false, b[l], c[l], false);
}
"""
WIDTHS = {"gfx90a": 64, "gfx942": 64, "gfx803": 64, "gfx1030": 32, "gfx1100": 32}


def forms(tmp_path: Path, text: str, kernel: str, architecture: str, *options: str) -> list[Any]:
    """The kernel as LLVM IR and as machine code."""
    file = tmp_path / "k.hip"
    file.write_text(f"#include <hip/hip_runtime.h>\n{text}")
    module = kc.load(file, arch=architecture, options=list(options))
    assert isinstance(module.native, GeneratedCode)
    return [module[kernel], RunnableKernel(module.native.amd_kernel(kernel, architecture))]


def run(kernel: Any, width: int, *arguments: Array) -> None:
    """Runs a kernel on both engines, whose results must be equal; the arguments hold them."""
    copies = [argument.copy() for argument in arguments]
    for engine, given in (("reference", copies), ("jit", arguments)):
        kernel.run(grid=1, block=width, args=list(given), engine=engine, warp_width=width)
    assert all(
        one.tobytes() == other.tobytes() for one, other in zip(arguments, copies, strict=True)
    )


@pytest.mark.parametrize("architecture", WIDTHS)
def test_a_sum_of_a_wavefront_by_dpp(tmp_path: Path, architecture: str) -> None:
    width = WIDTHS[architecture]
    x = np.random.default_rng(1).integers(-(2**31), 2**31, width).astype(np.int32)
    options = ["-DROWS_BY_SCALARS"] if width == 32 else []
    for form in forms(tmp_path, SCAN, "scan", architecture, *options):
        found = x.copy()
        run(form, width, found)
        assert np.array_equal(found, np.cumsum(x, dtype=np.int32))


@pytest.mark.parametrize("architecture", WIDTHS)
def test_patterns_one_after_another(tmp_path: Path, architecture: str) -> None:
    width = WIDTHS[architecture]
    lane = np.arange(width)
    x = np.random.default_rng(2).integers(0, 2**31, width).astype(np.uint32)
    wanted = x + x[lane ^ 16]
    wanted ^= wanted[lane ^ 3]
    if architecture == "gfx1100":
        wanted = wanted + wanted[lane // 16 * 16 + 5]
        wanted ^= wanted[lane ^ 3]
        eights = 0xFAC688 >> 3 * (lane % 8) & 7
        wanted = wanted + wanted[lane // 8 * 8 + eights]
    for form in forms(tmp_path, MIXED, "mixed", architecture):
        found = x.copy()
        run(form, width, found)
        assert np.array_equal(found, wanted)


def in_lanes(matrix: Array) -> Array:
    """16 x 16 results as 32 lanes hold them, 8 each."""
    lane = np.arange(32)[:, None]
    return np.ascontiguousarray(matrix[2 * np.arange(8) + lane // 16, lane % 16])


@pytest.mark.parametrize("type_", [np.float16, ml_dtypes.bfloat16], ids=["f16", "bf16"])
def test_products_of_matrices_of_rdna(tmp_path: Path, type_: Any) -> None:
    """Small integers: every order of the sums gives the same."""
    random = np.random.default_rng(3)
    a, b = (random.integers(-8, 9, (16, 16)).astype(type_) for _ in range(2))
    c = random.integers(-99, 99, (16, 16)).astype(np.float32)
    wanted = a.astype(np.float64) @ b.astype(np.float64) + c
    name = "f32_f16" if type_ is np.float16 else "f32_bf16"
    columns = np.ascontiguousarray(b.T)
    for form in forms(tmp_path, WMMA, name, "gfx1100", "-DUPPER=false"):
        found = in_lanes(c)
        run(form, 32, a.view(np.uint16), columns.view(np.uint16), found)
        assert np.array_equal(found, in_lanes(wanted))


@pytest.mark.parametrize("half", [0, 1])
def test_products_of_matrices_into_halves(tmp_path: Path, half: int) -> None:
    """The other half of each register stays what it was."""
    random = np.random.default_rng(4)
    a, b = (random.integers(-4, 5, (16, 16)).astype(np.float16) for _ in range(2))
    c = random.integers(-99, 99, (32, 8, 2)).astype(np.float16)
    total = in_lanes(a.astype(np.float64) @ b.astype(np.float64))
    wanted = c.copy()
    wanted[:, :, half] += total.astype(np.float16)
    upper = f"-DUPPER={'true' if half else 'false'}"
    for form in forms(tmp_path, WMMA, "f16_f16", "gfx1100", upper):
        found = c.copy()
        run(form, 32, a, np.ascontiguousarray(b.T), found)
        assert np.array_equal(found, wanted)


def test_products_of_matrices_of_bytes(tmp_path: Path) -> None:
    """A has signs and B has none."""
    random = np.random.default_rng(5)
    a = random.integers(-128, 128, (16, 16)).astype(np.int8)
    b = random.integers(0, 256, (16, 16)).astype(np.uint8)
    c = random.integers(-(2**20), 2**20, (16, 16)).astype(np.int32)
    wanted = a.astype(np.int32) @ b.astype(np.int32) + c
    for form in forms(tmp_path, WMMA, "i32_iu8", "gfx1100", "-DUPPER=false"):
        found = in_lanes(c)
        run(form, 32, a, np.ascontiguousarray(b.T), found)
        assert np.array_equal(found, in_lanes(wanted))


def rows_in_lanes(matrix: Array) -> Array:
    """Rows of A, or columns of B, as 32 lanes of RDNA 4 hold them: half of each."""
    lane = np.arange(32)[:, None]
    return np.ascontiguousarray(matrix[lane % 16, 8 * (lane // 16) + np.arange(8)])


def results_in_lanes(matrix: Array) -> Array:
    """16 x 16 results as 32 lanes of RDNA 4 hold them: eight rows of a column."""
    lane = np.arange(32)[:, None]
    return np.ascontiguousarray(matrix[8 * (lane // 16) + np.arange(8), lane % 16])


@pytest.mark.parametrize("kernel", ["f32_f16", "f32_bf16", "f16_f16", "i32_iu8"])
def test_products_of_matrices_of_rdna_4(tmp_path: Path, kernel: str) -> None:
    random = np.random.default_rng(len(kernel))
    if kernel == "i32_iu8":
        a: Array = random.integers(-128, 128, (16, 16)).astype(np.int8)
        b: Array = random.integers(0, 256, (16, 16)).astype(np.uint8)
        c: Array = random.integers(-(2**20), 2**20, (16, 16)).astype(np.int32)
        wanted: Array = a.astype(np.int32) @ b.astype(np.int32) + c
    else:
        type_ = ml_dtypes.bfloat16 if kernel == "f32_bf16" else np.float16
        a, b = (random.integers(-4, 5, (16, 16)).astype(type_) for _ in range(2))
        sums = random.integers(-99, 99, (16, 16))
        c = sums.astype(np.float16 if kernel == "f16_f16" else np.float32)
        wanted = (a.astype(np.float64) @ b.astype(np.float64) + c).astype(c.dtype)
    given = [rows_in_lanes(matrix).view(np.uint16) for matrix in (a, np.ascontiguousarray(b.T))]
    if kernel == "i32_iu8":
        given = [matrix.view(np.int32) for matrix in given]
    for form in forms(tmp_path, WMMA_12, kernel, "gfx1201"):
        found = results_in_lanes(c)
        run(form, 32, *given, found)
        assert np.array_equal(found, results_in_lanes(wanted))
