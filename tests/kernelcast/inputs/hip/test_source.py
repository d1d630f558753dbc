"""HIP through clang: what device code may use, names, architectures, errors, host code."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import AssertionTriggered, CompilationError, InputError
from kernelcast.inputs.compiler_options import CompilerOptions
from kernelcast.inputs.source_file import load_source
from kernelcast.inputs.support import check_file
from kernelcast.inputs.support_survey import survey
from kernelcast.report.support import support_report

SCALE = """
#include <hip/hip_runtime.h>
template <typename T> __global__ void scale(T *x, T factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}
"""
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(text: str, name: str = "kernel.hip") -> Path:
        file = tmp_path / name
        file.write_text(text)
        return file

    return written


def run(file: Path, *args: Any, block: int = 64, **keywords: Any) -> None:
    """Executes the only kernel of a file by one thread block."""
    (kernel,) = kc.load(file).values()
    kernel.run(grid=1, block=block, args=list(args), **keywords)


def test_templates_are_called_as_users_write_them(write: Write) -> None:
    module = kc.load(write(SCALE), names=["scale<float>", "scale<double>"])
    for name, kind in (("scale<float>", np.float32), ("scale<double>", np.float64)):
        x = np.arange(100, dtype=kind)
        module[name].run(grid=2, block=64, args=[x, kind(3), 100])
        assert (x == 3 * np.arange(100)).all()


@pytest.mark.parametrize("name", ["kernel.cpp", "kernel.cc", "kernel.cu", "kernel.cuh"])
def test_other_suffixes_are_hip_where_its_header_is_included(write: Write, name: str) -> None:
    file = write(SCALE + "template __global__ void scale<int>(int *, int, int);", name)
    x = np.arange(64, dtype=np.int32)
    run(file, x, 2, 64)
    assert (x == 2 * np.arange(64)).all()


def test_cpp_without_the_header_is_refused(write: Write) -> None:
    with pytest.raises(InputError, match=r"includes no <hip/hip_runtime\.h>"):
        kc.load(write("int main() {}", "kernel.cpp"))


def test_files_of_no_known_kind_are_told_what_is_read(write: Write) -> None:
    with pytest.raises(InputError, match=r"neither PTX nor .*; read are \.ptx, \.hip, .*\.cl,"):
        kc.load(write("fn main() {}", "kernel.rs"))


def test_a_source_without_kernels_says_so(write: Write) -> None:
    with pytest.raises(InputError, match="holds no kernel: no __global__ function is defined"):
        kc.load(write(SCALE))


def test_a_name_that_is_not_there(write: Write) -> None:
    with pytest.raises(CompilationError, match=r"kernel\.hip: there is no 'skale<float>': "):
        kc.load(write(SCALE), names=["skale<float>"])


def test_errors_have_the_place(write: Write) -> None:
    with pytest.raises(CompilationError) as caught:
        kc.load(write("#include <hip/hip_runtime.h>\n__global__ void k() { nothing; }\n"))
    assert caught.value.span is not None
    assert (caught.value.span.line, caught.value.span.column) == (2, 23)


def test_an_architecture_of_nvidia_is_refused(write: Write) -> None:
    with pytest.raises(InputError, match="'sm_80' is no architecture of AMD such as 'gfx90a'"):
        kc.load(write(SCALE), arch="sm_80")


def test_host_code_is_skipped_and_the_report_says_so(write: Write) -> None:
    file = write(
        SCALE
        + """
#include <vector>
#include <cstdio>
int main() {
  float *x;
  std::vector<float> host(64);
  if (hipMalloc(&x, 256) != hipSuccess) return 1;
  hipMemcpy(x, host.data(), 256, hipMemcpyHostToDevice);
  scale<float><<<dim3(1), 64>>>(x, 2.0f, 64);
  hipLaunchKernelGGL(scale<float>, dim3(1), dim3(64), 0, 0, x, 2.0f, 64);
  std::printf("%s", hipGetErrorString(hipDeviceSynchronize()));
}
"""
    )
    assert list(kc.load(file)) == ["_Z5scaleIfEvPT_S0_i"]
    assert check_file(file).note.startswith("host code is skipped")
    assert "host code is skipped" in support_report(survey([file], CompilerOptions()))


CLANGS = [name for name in ("clang-14", "clang-15", "clang-19") if shutil.which(name)]


@pytest.mark.drawn(6)
@pytest.mark.parametrize("architecture", ["gfx803", "gfx90a", "gfx942", "gfx1030", "gfx1100"])
@pytest.mark.parametrize("clang", CLANGS)
def test_every_clang_knows_or_stands_in_for_each_architecture(
    write: Write, monkeypatch: pytest.MonkeyPatch, clang: str, architecture: str
) -> None:
    monkeypatch.setenv("KERNELCAST_CLANG", clang)
    text = f"""__global__ void which(int *x) {{
#ifdef __{architecture}__
  x[threadIdx.x] = __popcll(__ballot(threadIdx.x < 40));
#endif
}}"""
    x = np.zeros(64, np.int32)
    kc.load(write(text), arch=architecture)["which"].run(
        grid=1, block=64, args=[x], warp_width=64, engine="jit"
    )
    assert (x == 40).all()


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("engine", ["jit", "reference"])
def test_shuffles_and_ballots(write: Write, width: int, engine: str) -> None:
    file = write("""__global__ void lanes(int *x, double *d, unsigned long long *m) {
  int i = threadIdx.x, n = blockDim.x;
  x[i] = __shfl(i, 5);
  x[n + i] = __shfl_up(i, 3);
  x[2 * n + i] = __shfl_down(i, 2, 16);
  x[3 * n + i] = __shfl_xor_sync(~0ull, i, 9);
  x[4 * n + i] = (int)__lane_id() + 100 * warpSize;
  x[5 * n + i] = __any(i == 3) + 2 * __all(i < 64);
  d[i] = __shfl(i + 0.5, 7, 8);
  m[i] = __ballot(i % 3 == 0);
}""")
    x, d, m = np.zeros((6, 64), np.int32), np.zeros(64), np.zeros(64, np.uint64)
    run(file, x, d, m, warp_width=width, engine=engine)
    i = np.arange(64)
    lane, first = i % width, i - i % width
    assert (x[0] == first + 5).all()
    assert (x[1] == np.where(lane < 3, i, i - 3)).all()
    assert (x[2] == np.where(i % 16 > 13, i, i + 2)).all()
    assert (x[3] == i ^ 9).all()
    assert (x[4] == lane + 100 * width).all()
    assert (x[5] == np.where(first <= 3, 1, 0) + 2).all()
    assert (d == i - i % 8 + 7.5).all()
    masks = [sum(1 << k for k in range(width) if (start + k) % 3 == 0) for start in first]
    assert m.tolist() == masks


@pytest.mark.parametrize("engine", ["jit", "reference"])
def test_atomics(write: Write, engine: str) -> None:
    file = write("""__global__ void change(int *x, unsigned *u, float *f, unsigned long long *w) {
  int i = threadIdx.x;
  atomicAdd(x, i); atomicSub(x + 1, i); atomicMin(x + 2, -i); atomicMax(x + 3, i);
  atomicAnd(x + 4, ~(1 << i % 32)); atomicOr(x + 5, 1 << i % 32); atomicXor(x + 6, i);
  if (i == 9) { x[7] = atomicExch(x + 8, 5); x[9] = atomicCAS(x + 10, 0, 7); }
  atomicInc(u, 9); atomicDec(u + 1, 9);
  atomicAdd(f, 0.5f); atomicMax(f + 1, (float)i); atomicAdd(w, 1ull << 40);
}""")
    x, u = np.zeros(11, np.int32), np.zeros(2, np.uint32)
    x[4] = -1
    f, w = np.zeros(2, np.float32), np.zeros(1, np.uint64)
    run(file, x, u, f, w, engine=engine)
    assert x.tolist() == [2016, -2016, -63, 63, 0, -1, 0, 0, 5, 0, 7]
    assert u.tolist() == [64 % 10, (0 - 64) % 10]
    assert f.tolist() == [32, 63]
    assert w.tolist() == [64 << 40]


def test_vectors_halves_and_mathematics(write: Write) -> None:
    file = write("""
#include <hip/hip_fp16.h>
#include <hip/hip_bf16.h>
struct Pair { int2 a; float4 b; };
__global__ void mix(float4 *v, __half2 *h, __hip_bfloat16 *b, double *d, float *f, Pair pair) {
  int i = threadIdx.x;
  float4 one = v[i] * 2.0f + pair.b;
  one /= make_float4(2, 2, 2, 2);
  v[i] = -one;
  h[i] = __hfma2(h[i], __float2half2_rn(0.5f), __halves2half2(1.0f, pair.a.y));
  b[i] = (float)b[i] * 3;
  d[i] = exp(d[i]) + std::pow(d[i], 2.0) + fabs(-d[i]);
  f[i] = sinf(f[i]) * __expf(f[i]) + std::max(f[i], 1.0f) + rsqrtf(f[i]);
  f[i] += __popc(i) + __clz(i) + __ffs(i);
}""")
    v, i = np.arange(256, dtype=np.float32).reshape(64, 4), np.arange(64)
    h, b = np.arange(128, dtype=np.float16), np.full(64, 0x3FC0, np.uint16)
    d, f = np.linspace(0, 2, 64), np.linspace(0.1, 3, 64, dtype=np.float32)
    pair = np.array([1, 2, 0, 0], np.int32).tobytes() + np.array([1, 2, 3, 4], np.float32).tobytes()
    given = v.copy(), h.copy(), d.copy(), f.astype(np.float64)
    run(file, v, h, b, d, f, pair)
    assert (v == -(given[0] + np.array([0.5, 1, 1.5, 2], np.float32))).all()
    assert (h.reshape(64, 2) == given[1].reshape(64, 2) / 2 + np.array([1, 2], np.float16)).all()
    assert (b == 0x4090).all()  # 4.5
    np.testing.assert_allclose(d, np.exp(given[2]) + given[2] ** 2 + given[2], 1e-15)
    x = given[3]
    bits = np.array(
        [n.bit_count() + 32 - n.bit_length() + (n & -n).bit_length() for n in range(64)]
    )
    wanted = np.sin(x) * np.exp(x) + np.maximum(x, 1) + x**-0.5 + bits[i]
    np.testing.assert_allclose(f, wanted, 1e-6)


def test_shared_memory_of_the_launch_lies_behind_that_of_the_kernel(write: Write) -> None:
    file = write("""extern __shared__ float all[];
__global__ void turn(float *x) {
  float *part = all;
  __shared__ float first[3];
  part[threadIdx.x] = x[threadIdx.x];
  if (threadIdx.x < 3) first[threadIdx.x] = 100;
  int odd = __syncthreads_count(threadIdx.x & 1);
  x[threadIdx.x] = part[63 - threadIdx.x] + first[threadIdx.x % 3] + odd;
}""")
    x = np.arange(64, dtype=np.float32)
    run(file, x, shared_bytes=256)
    assert (x == 63 - np.arange(64) + 132).all()


def test_printf_and_assert(write: Write, capfd: pytest.CaptureFixture[str]) -> None:
    text = """__global__ void tell(int n) {
  if (threadIdx.x == 3) printf("%d of %s: %.2f\\n", n, "these", 0.5f);
  assert(n < 5);
}"""
    run(write(text), 4)
    assert capfd.readouterr().out == "4 of these: 0.50\n"
    with pytest.raises(AssertionTriggered):
        run(write(text), 5)


def test_foreign_sources_include_nothing_from_elsewhere(write: Write, tmp_path: Path) -> None:
    file = write('#include "../secret.h"\n' + SCALE)
    options = CompilerOptions(confined_to=tmp_path)
    with pytest.raises(InputError, match="outside of the foreign workload's folder"):
        load_source(file, options)
