"""CUDA programs with host code as inputs: what is left out, what stays, and where errors are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import CompilationError, LaunchError
from kernelcast.inputs.cuda.cpp_text import Kind, Unbalanced, declarations
from kernelcast.inputs.cuda.host_code import launched_instances, without_host_code
from kernelcast.inputs.kernel_names import kernels_called, shortest_names
from tests.kernelcast.inputs.test_cuda import needs_headers, needs_nvrtc

PROGRAM = r"""#include <iostream>
#include <vector>
#include <cuda_runtime.h>
#include "helper_of_samples.h"
using namespace std;
#define CHECK(x) do { if ((x) != cudaSuccess) { std::cerr << #x; exit(1); } } while (0)
struct Pair {
  float x, y;
  Pair() : x{0}, y(1) {}
  friend std::ostream &operator<<(std::ostream &to, const Pair &p) { return to << p.x; }
  __host__ __device__ float sum() const { return x + y; }
};
static std::vector<float> kept;
const std::string title = "a;b{";
template <int B> __global__ void add(float *x, int n) {
  int i = blockIdx.x * B + threadIdx.x;
  if (i < n) x[i] += B;
}
__global__ void sums(const Pair *p, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = p[i].sum();
}
template <typename T> void launch(T *x, int n) {
  add<256><<<n / 256, 256>>>(x, n);
  add<128> <<<n / 128, 128>>>(x, n);
}
template <int B> void launch_of(float *x) { add<B><<<1, B>>>(x, B); }
int main(int argc, char **argv) {
  float *x;
  CHECK(cudaMalloc(&x, 4096));
  launch(x, 1024);
  std::cout << "done {" << '"' << '{' << std::endl;
}
"""
HELPERS = r"""#pragma once
#include <chrono>
#define HD __host__ __device__
inline double now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
HD inline float square(float x) { return x * x; }
"""
WITH_HELPERS = r"""#include "helpers.h"
#include <limits>
#include <algorithm>
#include <thrust/device_vector.h>
constexpr int B = 128;
namespace detail {
struct Timer { double began; Timer() : began{now()} {} ~Timer() { printf("%f", now()); } };
template <typename T> struct Plus { HD T operator()(T a, T b) const { return a + b; } };
}
#define DEFINE(T) __global__ void fill_##T(T *x) { x[threadIdx.x] = std::numeric_limits<T>::max(); }
DEFINE(float)
DEFINE(int)
extern "C" __global__ void __launch_bounds__(B) clamp(const float *x, float *y) {
  detail::Plus<float> plus;
  y[threadIdx.x] = std::min(plus(square(x[threadIdx.x]), 1.0f), 5.0f);
}
#ifdef WITH_VECTORS
void run(std::vector<float> &v) {
#else
void run() {
#endif
  clamp<<<1, B>>>(nullptr, nullptr);
}
int main() { detail::Timer timer; run(); }
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNELCAST_CACHE", str(tmp_path / "cache"))


@needs_nvrtc
@needs_headers
def test_a_program_is_read_without_its_host_code(tmp_path: Path) -> None:
    file = tmp_path / "program.cu"
    file.write_text(PROGRAM)
    module = kc.load(file)
    assert "host code is skipped" in module.note
    assert module.note.endswith("not found: helper_of_samples.h")
    pairs = np.arange(200, dtype=np.float32).reshape(100, 2)
    out = np.zeros(100, np.float32)
    module["sums"].run(grid=1, block=128, args=[pairs, out, 100])
    assert (out == pairs.sum(axis=1)).all()


@needs_nvrtc
@needs_headers
def test_instances_that_a_program_launches_are_kernels(tmp_path: Path) -> None:
    """Not those of `launch_of`, which depend on its parameter; again from the cache."""
    file = tmp_path / "program.cu"
    file.write_text(PROGRAM)
    for _ in range(2):
        module = kc.load(file)
        assert len(module) == 3
        for size in (128, 256):
            x = np.zeros(300, np.float32)
            module[f"add<{size}>"].run(grid=2, block=size, args=[x, 300])
            assert (x[: min(300, 2 * size)] == size).all()
    with pytest.raises(LaunchError, match="2 kernels 'add': add<128>, add<256>"):
        module["add"]


@needs_nvrtc
@needs_headers
def test_headers_of_the_user_lose_their_host_code_too(tmp_path: Path) -> None:
    (tmp_path / "helpers.h").write_text(HELPERS)
    file = tmp_path / "program.cu"
    file.write_text(WITH_HELPERS)
    module = kc.load(file)
    assert sorted(module._names_to_call()) == ["clamp", "fill_float", "fill_int"]
    x, y = np.linspace(0, 3, 128, dtype=np.float32), np.zeros(128, np.float32)
    module["clamp"].run(grid=1, block=128, args=[x, y])
    np.testing.assert_allclose(y, np.minimum(x * x + 1, 5), rtol=1e-6)
    module["fill_float"].run(grid=1, block=128, args=[y])
    assert (y == np.finfo(np.float32).max).all()


@needs_nvrtc
@needs_headers
def test_headers_are_found_from_where_they_are_included(tmp_path: Path) -> None:
    """Two of one name: that of another folder is not taken for one that is nowhere."""
    (tmp_path / "parts").mkdir()
    near = '#include "sizes.h"\n#include <vector>\nstd::vector<int> all;\n'
    (tmp_path / "parts" / "near.h").write_text(near)
    (tmp_path / "parts" / "sizes.h").write_text("#include <string>\n#define SIZE 3\n")
    file = tmp_path / "program.cu"
    kernel = '#include "parts/near.h"\n__global__ void k(int *x) { x[0] = SIZE; }\n'
    file.write_text(kernel + "int main() { std::string text; }")
    x = np.zeros(1, np.int32)
    kc.load(file)["k"].run(grid=1, block=1, args=[x])
    assert x[0] == 3
    file.write_text(kernel.replace("parts/near.h", "sizes.h") + "int main() { std::string t; }")
    with pytest.raises(CompilationError, match=r"SIZE.*not found: sizes\.h"):
        kc.load(file)


@needs_nvrtc
@needs_headers
def test_errors_of_device_code_keep_their_places(tmp_path: Path) -> None:
    file = tmp_path / "program.cu"
    file.write_text(PROGRAM.replace("out[i] = p[i].sum()", "out[i] = p[i].product()"))
    line = next(n for n, text in enumerate(file.read_text().splitlines(), 1) if "product" in text)
    with pytest.raises(CompilationError, match="product") as caught:
        kc.load(file)
    assert caught.value.span is not None
    assert (caught.value.span.file, caught.value.span.line) == (str(file), line)


@needs_nvrtc
@needs_headers
def test_headers_that_were_not_found_are_named_in_errors(tmp_path: Path) -> None:
    file = tmp_path / "program.cu"
    file.write_text(PROGRAM.replace("p[i].sum()", "p[i].sum() + OFFSET"))
    with pytest.raises(CompilationError, match=r"OFFSET.*; not found: helper_of_samples\.h"):
        kc.load(file)


def test_what_stays_stays_where_it_was() -> None:
    left = without_host_code(PROGRAM)
    assert len(left) == len(PROGRAM)
    assert left.count("\n") == PROGRAM.count("\n")
    for here, there in zip(left.splitlines(), PROGRAM.splitlines(), strict=True):
        assert here == there or len(here) == len(there)
    words = ("Pair()", "ostream &", "kept", "title", "main", "<<<", "using namespace std")
    assert not [word for word in words if word in left]
    assert without_host_code(left) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("float f(float x) { return x; }", ""),
        ("__device__ float f(float x) { return x; }", "=" ),
        ("constexpr int f(int x) { return x; } const int n = f(3);", "="),
        ("const float table[] = {1, 2};", "="),
        ("float table[] = {1, 2};", ""),
        ("__constant__ float c[3] = {1, 2, 3};", "="),
        ("struct S { int a[2]; float (*f)(float); alignas(8) char b; };", "="),
        ("struct S { S(int a) : x(a), y{a} { x = {}; } int x, y; };", "struct S { int x, y; };"),
        ('extern "C" { void h() {} __device__ int x; }', 'extern "C" { __device__ int x; }'),
        ("namespace a { void h(); __device__ int g(); }", "namespace a { __device__ int g(); }"),
        ("using cuda::std::min; using std::max;", "using cuda::std::min;"),
        ("enum class E : int { a, b };", "="),
        ("template <typename T, int N = (3 > 2)> __global__ void k(T x) {}", "="),
        ("template <typename T> struct S; template <> struct S<int> { int x; };", "="),
        ("template <typename T> T f(T x) { return x; }", ""),
        ("#define GPU __device__\nGPU int k();\nint x;", "#define GPU __device__\nGPU int k();"),
        ("void h() { f([] { return \"}\"; }); }\n__device__ int x;", "__device__ int x;"),
        ("auto text = R\"x(} \" )x\"; __global__ void k() {}", "__global__ void k() {}"),
        ("void h() {", "="),
    ],
)  # fmt: skip
def test_declarations_of_host_and_device(text: str, left: str) -> None:
    """`=`: all of it stays, because it is of the device or cannot be told apart."""
    expected = text if left == "=" else left
    assert without_host_code(text).split() == expected.split()


def test_macros_of_headers_mark_device_code() -> None:
    text = "HD float f() { return 1; } float g() { return 1; }"
    assert without_host_code(text, [HELPERS]).strip() == "HD float f() { return 1; }"


def test_declarations() -> None:
    found = declarations("int x; struct A { int f(); }; namespace { void g() {} } void h(int);")
    kinds = [(item.kind, [inner.kind for inner in item.inside]) for item in found]
    assert kinds == [
        (Kind.OTHER, []),
        (Kind.TYPE, [Kind.FUNCTION]),
        (Kind.SCOPE, [Kind.FUNCTION]),
        (Kind.FUNCTION, []),
    ]
    for text in ("}", "int f() {", "int a[(3];", "{ int x; }"):
        with pytest.raises(Unbalanced):
            declarations(text)


def test_launched_instances() -> None:
    assert launched_instances(PROGRAM) == ["add<256>", "add<128>", "add<B>"]


@pytest.mark.parametrize(
    ("name", "symbol"),
    [
        ("add<256>", "_Z3addILi256EEvPfi"),
        ("lib::scale<float, 16, true>", "_ZN3lib5scaleIfLj16ELb1EEEvPT_"),
        ("lib::scale<float,16u,true>", "_ZN3lib5scaleIfLj16ELb1EEEvPT_"),
        ("k<const float *>", "_Z1kIPKfEvT_"),
        ("k<float const*>", "_Z1kIPKfEvT_"),
        ("k<unsigned, 3>", "_Z1kIjLm3EEvv"),
    ],
)
def test_kernels_are_called_by_their_template_arguments(name: str, symbol: str) -> None:
    symbols = ["_Z3addILi128EEvPfi", "_Z1kIiLm3EEvv", "_Z1kIPfEvT_", symbol]
    assert kernels_called(name, symbols) == [symbol]


def test_the_shortest_name_of_each_kernel() -> None:
    symbols = ["_Z3addILi128EEvPfi", "_Z3addILi256EEvPfi", "_Z4onlyIfEvT_", "plain"]
    assert shortest_names(symbols) == ["add<128>", "add<256>", "only", "plain"]
    symbols = ["_Z1fi", "_Z1ff"]
    assert shortest_names(symbols) == symbols
