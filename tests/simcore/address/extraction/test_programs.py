"""Idioms of CUDA C++, compiled here: their addresses equal hand-written ones.

Others are refused with the instruction that they depend on.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.address.extraction import address_kernel
from kernelcast.errors import InputError, ModelNotApplicable
from kernelcast.execution.runnable import RunnableKernel
from kernelcast.inputs.cuda.nvrtc_library import load_nvrtc
from kernelcast.simcore.address.expression_sources import address_expression
from kernelcast.simcore.address.kernel import Access, AddressKernel
from kernelcast.simcore.launch.launch import Argument

SOURCE = """
#define KERNEL extern "C" __global__ void
#define X (blockIdx.x * blockDim.x + threadIdx.x)
#define Y (blockIdx.y * blockDim.y + threadIdx.y)
struct Shape { int width, height; float scale; };

KERNEL reversed(const float *a, float *b, unsigned n) {
    unsigned i = X; if (i < n) b[i] = a[n - 1u - i]; }
KERNEL wrapping(const float *a, float *b, int n) {
    unsigned i = X; if (i < n) b[i] = a[i + 0xfffffff0u + 16u]; }
KERNEL vectors(const float4 *__restrict__ a, float4 *__restrict__ b, int n) {
    int i = X; if (i < n) { float4 v = a[i]; v.x += 1; b[i] = v; } }
KERNEL strides(const float *a, float *b, int n) {
    for (int i = X; i < n; i += gridDim.x * blockDim.x) b[i] = 2 * a[i]; }
KERNEL unrolled(const float *a, float *b) {
    int i = 4 * blockIdx.x * blockDim.x + threadIdx.x;
    #pragma unroll
    for (int k = 0; k < 4; k++) b[i + k * blockDim.x] = a[i + k * blockDim.x]; }
KERNEL inner(const float *a, float *b, int w, int h) {
    int x = X, y = Y;
    if (x > 0 && x < w - 1 && y > 0 && y < h - 1)
        b[y * w + x] = a[y * w + x - 1] + a[(y + 1) * w + x]; }
KERNEL marching(const double *__restrict__ a, double *__restrict__ b, int w, int h, int d) {
    int x = X, y = Y; if (x >= w || y >= h) return;
    for (int z = 0; z < d; z++) b[(z * h + y) * w + x] = a[((z + 1) * h + y) * w + x]; }
KERNEL downwards(const float *a, float *b, int n, int m) {
    int i = X; if (i >= n) return; float s = 0;
        for (int k = m - 1; k >= 0; k--) s += a[k * n + i]; b[i] = s; }
KERNEL at_least_once(const float *a, float *b, int n, int m) {
    int i = X, k = 0; float s = 0; do { s += a[k * n + i]; k++; } while (k < m); b[i] = s; }
KERNEL sparse_trips(const float *a, float *b, int n, int m) {
    int i = X; if (i >= n) return; float s = 0;
        for (int k = 0; k < m; k += 3) s += a[k * n + i]; b[i] = s; }
KERNEL by_struct(const float *a, float *b, Shape s) {
    int x = X, y = Y; if (x < s.width && y < s.height)
        b[y * s.width + x] = a[y * s.width + x] * s.scale; }
KERNEL structures(const float *a, float *b, int n) {
    int i = X; if (i < n) b[i] = a[3 * i] + a[3 * i + 1] + a[3 * i + 2]; }
KERNEL window(const float *a, float *b, int w, int r) {
    int x = X, y = Y; float s = 0;
    for (int j = 0; j < r; j++) for (int i = 0; i < r; i++) s += a[(y + j) * (w + r) + x + i];
    b[y * w + x] = s; }
KERNEL rows(const float *a, float *b, int w, int n) {
    int i = X, x = i % w, y = i / w; if (i < n) b[y * w + x] = a[y * w + x]; }

KERNEL clamped(const float *a, float *b, int n) { int i = X; if (i < n) b[i] = a[max(i - 1, 0)]; }
KERNEL periodic(const float *a, float *b, int n) {
    int i = X; if (i < n) b[i] = a[i == 0 ? n - 1 : i - 1]; }
KERNEL lanes(const float *a, float *b, int n) {
    int i = X; if (i < n) b[i] = a[(i >> 5) * 32 + 31 - (i & 31)]; }
KERNEL positive(const float *a, float *b, int n) { int i = X; if (i < n && a[i] > 0) b[i] = 1; }
KERNEL triangle(const float *a, float *b, int n) {
    int i = X; if (i >= n) return; float s = 0;
        for (int k = 0; k <= i; k++) s += a[k * n + i]; b[i] = s; }
"""
WIDTH, HEIGHT, DEPTH, CELLS, TRIPS = 512, 384, 12, 1 << 15, 13
SHAPE = np.array([WIDTH, HEIGHT, 0], np.int32).tobytes()


@dataclass(frozen=True)
class Case:
    """Loads and stores as indices of elements of `element_bytes`; `k`, `m` run over `trips`."""

    grid: tuple[int, ...]
    block: tuple[int, ...]
    rest: tuple[Argument, ...]
    loads: tuple[str, ...]
    stores: tuple[str, ...]
    domain: tuple[int, ...]
    trips: tuple[int, ...] = ()
    element_bytes: int = 4
    origin: tuple[int, ...] = (0, 0, 0)


LINE, PLANE = ((128,), (256,)), ((16, 48), (32, 8))
FOUR = tuple(f"4*blockIdx.x*blockDim.x + threadIdx.x + {k}*blockDim.x" for k in range(4))
CASES = {
    "reversed": Case(*LINE, (CELLS,), (f"{CELLS} - 1 - x",), ("x",), (CELLS,)),
    "wrapping": Case(*LINE, (CELLS,), ("x",), ("x",), (CELLS,)),
    "vectors": Case(*LINE, (CELLS,), ("x",), ("x",), (CELLS,), element_bytes=16),
    "strides": Case((16,), (256,), (CELLS,), ("x + 4096*k",), ("x + 4096*k",), (4096,), (8,)),
    "unrolled": Case((32,), (256,), (), FOUR, FOUR, (8192,)),
    "inner": Case(
        *PLANE,
        (WIDTH, HEIGHT),
        (f"y*{WIDTH} + x - 1", f"(y + 1)*{WIDTH} + x"),
        (f"y*{WIDTH} + x",),
        (WIDTH - 1, HEIGHT - 1),
        origin=(1, 1, 0),
    ),
    "marching": Case(
        *PLANE,
        (WIDTH, HEIGHT, DEPTH),
        (f"((k + 1)*{HEIGHT} + y)*{WIDTH} + x",),
        (f"(k*{HEIGHT} + y)*{WIDTH} + x",),
        (WIDTH, HEIGHT),
        (DEPTH,),
        8,
    ),
    "downwards": Case(*LINE, (CELLS, TRIPS), (f"k*{CELLS} + x",), ("x",), (CELLS,), (TRIPS,)),
    "at_least_once": Case(*LINE, (CELLS, TRIPS), (f"k*{CELLS} + x",), ("x",), (CELLS,), (TRIPS,)),
    "sparse_trips": Case(*LINE, (CELLS, TRIPS), (f"3*k*{CELLS} + x",), ("x",), (CELLS,), (5,)),
    "by_struct": Case(*PLANE, (SHAPE,), (f"y*{WIDTH} + x",), (f"y*{WIDTH} + x",), (WIDTH, HEIGHT)),
    "structures": Case(*LINE, (CELLS,), ("3*x", "3*x + 1", "3*x + 2"), ("x",), (CELLS,)),
    "window": Case(
        *PLANE,
        (WIDTH, 6),
        (f"(y + k)*{WIDTH + 6} + x + m",),
        (f"y*{WIDTH} + x",),
        (WIDTH, HEIGHT),
        (6, 6),
    ),
    "rows": Case(*LINE, (96, CELLS), ("x",), ("x",), (CELLS,)),
}
REFUSED = {
    "clamped": r"the address of ld\.global\S* at .* depends on max\.s32 at",
    "periodic": r"the address of ld\.global\S* at .* depends on selp\.b32 at .* chooses between",
    "lanes": r"the address of ld\.global\S* at .* depends on \S+ at .* not affine",
    "positive": r"whether st\.global\S* at .* is executed depends on data that ld\.global",
    "triangle": r"whether ld\.global\S* at .* is executed depends on how often the loop at",
}


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> kc.Module:
    try:
        load_nvrtc()
    except InputError as error:
        pytest.skip(str(error))
    path = tmp_path_factory.mktemp("programs") / "idioms.cu"
    path.write_text(SOURCE)
    return kc.load(path)


def extracted(kernel: RunnableKernel, case: Case) -> AddressKernel:
    count = max(3 * CELLS, WIDTH * HEIGHT * (DEPTH + 1), CELLS * TRIPS, (WIDTH + 6) * (HEIGHT + 6))
    width = 8 if case.element_bytes == 8 else 4
    buffers = [np.zeros(count * case.element_bytes // width, f"f{width}") for _ in range(2)]
    arguments: list[Argument] = [*buffers, *case.rest]
    return address_kernel(kernel, grid=case.grid, block=case.block, args=arguments)


def spread(accesses: Sequence[Access], kernel: AddressKernel) -> Counter[object]:
    """The kernel with numbers for parameters and for the trips of loops."""
    trips = {loop.name: loop.trips for loop in kernel.loops}
    sizes = {f"nctaid.{axis}": n for axis, n in zip("xyz", kernel.grid, strict=True)}
    sizes |= {f"ntid.{axis}": n for axis, n in zip("xyz", kernel.block, strict=True)}
    found: Counter[object] = Counter()
    for access in accesses:
        for point in itertools.product(*(range(trips[name]) for name in access.loops)):
            at = dict(zip(access.loops, point, strict=True)) | dict(kernel.parameters) | sizes
            found[access.offset.substitute(at), access.access_bytes] += 1
    return found


def by_hand(written: tuple[str, ...], case: Case) -> Counter[object]:
    sizes = {f"ntid.{axis}": n for axis, n in zip("xyz", (*case.block, 1, 1), strict=False)}
    found: Counter[object] = Counter()
    for text in written:
        index = address_expression(text)
        loops = [(name, n) for name, n in zip("km", case.trips, strict=False)]
        mine = [(name, n) for name, n in loops if name in index.variables]
        for point in itertools.product(*(range(n) for _, n in mine)):
            at = {name: number for (name, _), number in zip(mine, point, strict=True)} | sizes
            found[index.substitute(at) * case.element_bytes, case.element_bytes] += 1
    return found


@pytest.mark.parametrize("name", CASES)
def test_idioms_have_the_addresses_that_people_write(name: str, kernels: kc.Module) -> None:
    case = CASES[name]
    found = extracted(kernels[name], case)
    assert spread(found.loads, found) == by_hand(case.loads, case)
    assert spread(found.stores, found) == by_hand(case.stores, case)
    assert found.domain == (*case.domain, 1, 1)[:3]
    assert found.origin == case.origin


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_affine_is_named(name: str, kernels: kc.Module) -> None:
    with pytest.raises(ModelNotApplicable, match=REFUSED[name]):
        extracted(kernels[name], Case(*LINE, (CELLS,), (), (), ()))
