"""Whole programs in CUDA C++, compiled by NVRTC and executed, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kernelcast as kc

pytestmark = pytest.mark.usefixtures("nvrtc")

ENGINES = ["jit", "reference"]
SOURCE = r"""
#include <cuda_fp16.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

extern "C" __global__ void bitonic_sort(int *values)
{
    __shared__ int tile[256];
    const int me = threadIdx.x;
    int *mine = values + blockIdx.x * 256;
    tile[me] = mine[me];
    __syncthreads();
    for (int size = 2; size <= 256; size *= 2)
        for (int step = size / 2; step > 0; step /= 2) {
            const int other = me ^ step;
            if (other > me) {
                const bool rising = (me & size) == 0;
                if ((tile[me] > tile[other]) == rising) {
                    const int kept = tile[me];
                    tile[me] = tile[other];
                    tile[other] = kept;
                }
            }
            __syncthreads();
        }
    mine[me] = tile[me];
}

extern "C" __global__ void inclusive_scan(const int *from, int *to)
{
    __shared__ int sums[8];
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int value = from[me];
    for (int step = 1; step < 32; step *= 2) {
        const int below = __shfl_up_sync(0xffffffff, value, step);
        if (lane >= step) value += below;
    }
    if (lane == 31) sums[warp] = value;
    __syncthreads();
    for (int i = 0; i < warp; i++) value += sums[i];
    to[me] = value;
}

extern "C" __global__ void digit_ranks(const unsigned *keys, int shift, int *ranks)
{
    /* a stable pass of radix sort by 4 bits in one warp */
    const int lane = threadIdx.x;
    const unsigned digit = (keys[blockIdx.x * 32 + lane] >> shift) & 15;
    int below = 0, before = 0;
    for (unsigned d = 0; d < 16; d++) {
        const unsigned same = __ballot_sync(0xffffffff, digit == d);
        if (d < digit) below += __popc(same);
        if (d == digit) before = __popc(same & ((1u << lane) - 1));
    }
    ranks[blockIdx.x * 32 + lane] = below + before;
}

extern "C" __global__ void layer_norm(const __half *from, __half *to, int columns)
{
    const __half *row = from + blockIdx.x * columns;
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < columns; i += 32) {
        const float x = __half2float(row[i]);
        sum += x;
        squares += x * x;
    }
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, step);
        squares += __shfl_xor_sync(0xffffffff, squares, step);
    }
    const float mean = sum / columns;
    const float scale = rsqrtf(squares / columns - mean * mean + 1e-5f);
    for (int i = threadIdx.x; i < columns; i += 32)
        to[blockIdx.x * columns + i] = __float2half((__half2float(row[i]) - mean) * scale);
}

extern "C" __global__ void count_in_table(const unsigned *keys, unsigned *slots, int *counts,
                                          unsigned size)
{
    const unsigned key = keys[blockIdx.x * blockDim.x + threadIdx.x];
    unsigned at = key * 2654435761u % size;
    for (;;) {
        const unsigned held = atomicCAS(&slots[at], 0xffffffffu, key);
        if (held == 0xffffffffu || held == key) break;
        at = (at + 1) % size;
    }
    atomicAdd(&counts[at], 1);
}

extern "C" __global__ void under_lock(int *mutex, volatile int *total)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(mutex, 0, 1) != 0) {}
        __threadfence();
        *total = *total + (int)blockIdx.x;
        __threadfence();
        atomicExch(mutex, 0);
    }
}

__device__ void quicksort(int *values, int low, int high)
{
    if (low >= high) return;
    const int pivot = values[(low + high) / 2];
    int left = low, right = high;
    while (left <= right) {
        while (values[left] < pivot) left++;
        while (values[right] > pivot) right--;
        if (left <= right) {
            const int kept = values[left];
            values[left++] = values[right];
            values[right--] = kept;
        }
    }
    quicksort(values, low, right);
    quicksort(values, left, high);
}

extern "C" __global__ void sort_rows(int *values, int columns)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    quicksort(values + row * columns, 0, columns - 1);
}

struct Curve {
    __device__ virtual float at(float x) const = 0;
};
struct Line : Curve {
    float slope;
    __device__ Line(float s) : slope(s) {}
    __device__ float at(float x) const override { return slope * x; }
};
struct Parabola : Curve {
    float height;
    __device__ Parabola(float h) : height(h) {}
    __device__ float at(float x) const override { return x * x + height; }
};

extern "C" __global__ void evaluate(const int *kinds, float *values)
{
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    const Line line(me);
    const Parabola parabola(me);
    const Curve *curve = kinds[me] ? (const Curve *)&line : (const Curve *)&parabola;
    values[me] = curve->at(values[me]);
}

typedef int (*Operation)(int, int);
__device__ int plus(int a, int b) { return a + b; }
__device__ int times(int a, int b) { return a * b; }
__device__ int minus(int a, int b) { return a - b; }
__device__ Operation operations[] = {plus, times, minus};

extern "C" __global__ void apply(const int *which, int *values)
{
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    values[me] = operations[which[me]](values[me], 7);
}

extern "C" __global__ void group_sums(const int *from, int *to)
{
    const cg::thread_block block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    __shared__ int sums[8];
    const int sum = cg::reduce(warp, from[blockIdx.x * 256 + block.thread_rank()], cg::plus<int>());
    if (warp.thread_rank() == 0) sums[warp.meta_group_rank()] = sum;
    block.sync();
    if (warp.meta_group_rank() == 0) {
        const auto quarter = cg::tiled_partition<8>(warp);
        const int all = cg::reduce(quarter, sums[quarter.thread_rank()], cg::plus<int>());
        if (block.thread_rank() == 0) to[blockIdx.x] = all;
    }
}

extern "C" __global__ void grid_sum(const int *from, int *partial, int *total, int count)
{
    const cg::grid_group grid = cg::this_grid();
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int sum = 0;
    for (int i = grid.thread_rank(); i < count; i += grid.size()) sum += from[i];
    sum = cg::reduce(warp, sum, cg::plus<int>());
    if (warp.thread_rank() == 0) partial[grid.thread_rank() / 32] = sum;
    grid.sync();
    if (grid.thread_rank() == 0) {
        for (int i = 0; i < grid.size() / 32; i++) *total += partial[i];
    }
}

extern "C" __global__ void greet(int year)
{
    if (threadIdx.x == 1) printf("thread %d of %s: %.2f\n", (int)threadIdx.x, "warp", year / 4.0);
}
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> kc.LoadedModule:
    file = tmp_path_factory.mktemp("programs") / "programs.cu"
    file.write_text(SOURCE)
    return kc.load(file, arch="sm_75")


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(1979)


@pytest.mark.parametrize("engine", ENGINES)
def test_bitonic_sort(programs: kc.LoadedModule, random: np.random.Generator, engine: str) -> None:
    values = random.integers(-1000, 1000, (12, 256)).astype(np.int32)
    expected = np.sort(values, axis=1)
    programs["bitonic_sort"].run(grid=12, block=256, args=[values], engine=engine)
    np.testing.assert_array_equal(values, expected)


@pytest.mark.parametrize("engine", ENGINES)
def test_scan_by_shuffles(
    programs: kc.LoadedModule, random: np.random.Generator, engine: str
) -> None:
    values = random.integers(-9, 9, (7, 256)).astype(np.int32)
    sums = np.zeros_like(values)
    programs["inclusive_scan"].run(grid=7, block=256, args=[values, sums], engine=engine)
    np.testing.assert_array_equal(sums, values.cumsum(axis=1))


@pytest.mark.parametrize("engine", ENGINES)
def test_pass_of_radix_sort(
    programs: kc.LoadedModule, random: np.random.Generator, engine: str
) -> None:
    keys = random.integers(0, 2**32, (9, 32), dtype=np.uint64).astype(np.uint32)
    ranks = np.zeros(keys.shape, np.int32)
    args: list[Any] = [keys, np.int32(8), ranks]
    programs["digit_ranks"].run(grid=9, block=32, args=args, engine=engine)
    order = np.argsort(keys >> 8 & 15, axis=1, kind="stable")
    np.testing.assert_array_equal(np.argsort(ranks, axis=1), order)


@pytest.mark.parametrize("engine", ENGINES)
def test_layer_norm_in_half_precision(
    programs: kc.LoadedModule, random: np.random.Generator, engine: str
) -> None:
    rows = random.normal(3, 2, (5, 200)).astype(np.float16)
    normed = np.zeros_like(rows)
    args: list[Any] = [rows, normed, np.int32(200)]
    programs["layer_norm"].run(grid=5, block=32, args=args, engine=engine)
    exact = rows.astype(np.float64)
    centred = exact - exact.mean(axis=1, keepdims=True)
    expected = centred / np.sqrt(exact.var(axis=1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(normed, expected, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("engine", ENGINES)
def test_hash_table_by_compare_and_swap(
    programs: kc.LoadedModule, random: np.random.Generator, engine: str
) -> None:
    keys = random.integers(0, 300, 2048).astype(np.uint32)
    slots, counts = np.full(512, 0xFFFFFFFF, np.uint32), np.zeros(512, np.int32)
    args: list[Any] = [keys, slots, counts, np.uint32(512)]
    programs["count_in_table"].run(grid=16, block=128, args=args, engine=engine)
    used = slots != 0xFFFFFFFF
    found = dict(zip(slots[used].tolist(), counts[used].tolist(), strict=True))
    values, expected = np.unique(keys, return_counts=True)
    assert found == dict(zip(values.tolist(), expected.tolist(), strict=True))


def test_lock_between_thread_blocks(programs: kc.LoadedModule) -> None:
    mutex, total = np.zeros(1, np.int32), np.zeros(1, np.int32)
    programs["under_lock"].run(grid=20, block=32, args=[mutex, total])
    assert total[0] == sum(range(20))
    assert mutex[0] == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_printf(programs: kc.LoadedModule, capfd: pytest.CaptureFixture[str], engine: str) -> None:
    programs["greet"].run(grid=2, block=32, args=[np.int32(2026)], engine=engine)
    assert capfd.readouterr().out == 2 * "thread 1 of warp: 506.50\n"


@pytest.mark.parametrize("engine", ENGINES)
def test_recursive_quicksort(
    programs: kc.LoadedModule, random: np.random.Generator, engine: str
) -> None:
    values = random.integers(-1000, 1000, (48, 50)).astype(np.int32)
    expected = np.sort(values, axis=1)
    args: list[Any] = [values, np.int32(50)]
    programs["sort_rows"].run(grid=2, block=24, args=args, engine=engine)
    np.testing.assert_array_equal(values, expected)


@pytest.mark.parametrize("engine", ENGINES)
def test_virtual_functions(
    programs: kc.LoadedModule, random: np.random.Generator, engine: str
) -> None:
    kinds = random.integers(0, 2, 48).astype(np.int32)
    values = random.integers(0, 50, 48).astype(np.float32)
    me = np.arange(48)
    expected = np.where(kinds, me * values, values * values + me)
    programs["evaluate"].run(grid=2, block=24, args=[kinds, values], engine=engine)
    np.testing.assert_array_equal(values, expected)


@pytest.mark.parametrize("engine", ENGINES)
def test_table_of_functions(
    programs: kc.LoadedModule, random: np.random.Generator, engine: str
) -> None:
    which = random.integers(0, 3, 48).astype(np.int32)
    values = random.integers(-99, 99, 48).astype(np.int32)
    expected = np.choose(which, [values + 7, values * 7, values - 7])
    programs["apply"].run(grid=2, block=24, args=[which, values], engine=engine)
    np.testing.assert_array_equal(values, expected)


@pytest.mark.parametrize("engine", ENGINES)
def test_reduction_by_cooperative_groups(
    programs: kc.LoadedModule, random: np.random.Generator, engine: str
) -> None:
    values, sums = random.integers(-99, 99, (9, 256)).astype(np.int32), np.zeros(9, np.int32)
    programs["group_sums"].run(grid=9, block=256, args=[values, sums], engine=engine)
    np.testing.assert_array_equal(sums, values.sum(axis=1))


def test_reduction_by_a_cooperative_launch(
    programs: kc.LoadedModule, random: np.random.Generator
) -> None:
    values = random.integers(-99, 99, 100_000).astype(np.int32)
    partial, total = np.zeros(2400, np.int32), np.zeros(1, np.int32)
    args: list[Any] = [values, partial, total, np.int32(values.size)]
    programs["grid_sum"].run(grid=600, block=128, args=args)
    assert total[0] == values.sum()
