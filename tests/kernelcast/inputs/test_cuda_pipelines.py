"""Asynchronous copies as CUDA's C++ library has them: pipelines, barriers, cooperative groups."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc

pytestmark = pytest.mark.usefixtures("nvrtc")

Array = npt.NDArray[Any]
ENGINES = ["jit", "reference"]
SOURCE = r"""
#pragma nv_diag_suppress static_var_with_dynamic_init
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
using cuda::thread_scope_block;

// Two stages ahead; each stage has mbarriers of its own.
extern "C" __global__ void stages(const int *in, int *out, int n)
{
    constexpr int COUNT = 2;
    __shared__ int tile[COUNT][256];
    __shared__ cuda::pipeline_shared_state<thread_scope_block, COUNT> state;
    auto group = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(group, &state);
    const int steps = n / 256;
    for (int i = 0, fetched = 0; i < steps; i++) {
        for (; fetched < steps && fetched < i + COUNT; fetched++) {
            pipe.producer_acquire();
            cuda::memcpy_async(group, tile[fetched % COUNT], in + fetched * 256, 1024, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        out[i * 256 + threadIdx.x] = tile[i % COUNT][255 - threadIdx.x] + 1;
        pipe.consumer_release();
    }
}

// One warp brings what four others use.
extern "C" __global__ void roles(const int *in, int *out, int n)
{
    constexpr int COUNT = 2;
    __shared__ int tile[COUNT][128];
    __shared__ cuda::pipeline_shared_state<thread_scope_block, COUNT> state;
    auto group = cg::this_thread_block();
    const bool brings = threadIdx.x < 32;
    auto role = brings ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(group, &state, role);
    const int steps = n / 128, at = threadIdx.x - 32;
    if (brings) {
        auto warp = cg::tiled_partition<32>(group);
        for (int i = 0; i < steps; i++) {
            pipe.producer_acquire();
            cuda::memcpy_async(warp, tile[i % COUNT], in + i * 128, 512, pipe);
            pipe.producer_commit();
        }
    } else {
        for (int i = 0; i < steps; i++) {
            pipe.consumer_wait();
            out[i * 128 + at] = tile[i % COUNT][127 - at] * 3;
            pipe.consumer_release();
        }
    }
}

extern "C" __global__ void barrier(const int *in, int *out)
{
    __shared__ cuda::barrier<thread_scope_block> bar;
    __shared__ alignas(16) int tile[256];
    auto group = cg::this_thread_block();
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(group, tile, in, cuda::aligned_size_t<16>(1024), bar);
    auto token = bar.arrive();
    bar.wait(std::move(token));
    out[threadIdx.x] = tile[threadIdx.x ^ 1];
}

extern "C" __global__ void groups(const int *in, int *sums, int *before, int *most)
{
    __shared__ int tile[256];
    auto group = cg::this_thread_block();
    cg::memcpy_async(group, tile, in, 1024);
    cg::wait(group);
    const int i = threadIdx.x, value = tile[i];
    auto part = cg::tiled_partition<16>(group);
    sums[i] = cg::reduce(part, value, cg::plus<int>());
    before[i] = cg::exclusive_scan(part, value);
    auto alike = cg::labeled_partition(cg::coalesced_threads(), value % 3);
    most[i] = cg::reduce(alike, value, cg::greater<int>());
}
"""
RUNS = [(arch, engine) for arch in ("sm_75", "sm_80", "sm_90") for engine in ENGINES]
"""sm_75 has neither such copies nor mbarriers: the library spins on atomics there."""
SLOW = ("sm_75", "reference")
"""Cases whose warps that spin take turns in NumPy."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pipelines")
    (path / "pipelines.cu").write_text(SOURCE)
    return path


@cache
def module(folder: Path, arch: str) -> kc.LoadedModule:
    return kc.load(folder / "pipelines.cu", arch=arch, options=["-std=c++17"])


def kernel(folder: Path, arch: str, name: str) -> kc.RunnableKernel:
    return module(folder, arch)[name]


def numbers(*shape: int) -> Array:
    return np.random.default_rng(len(shape)).integers(0, 99, shape).astype(np.int32)


@pytest.mark.drawn(2)
@pytest.mark.parametrize(("arch", "engine"), RUNS)
def test_two_stages_ahead(folder: Path, arch: str, engine: str) -> None:
    given = numbers(5, 256)
    out = np.zeros_like(given)
    args: Any = [given, out, given.size]
    kernel(folder, arch, "stages").run(grid=1, block=256, args=args, engine=engine)
    np.testing.assert_array_equal(out, given[:, ::-1] + 1)


@pytest.mark.drawn(3)
@pytest.mark.parametrize(("arch", "engine"), [run for run in RUNS if run != SLOW])
def test_a_warp_that_brings_for_others(folder: Path, arch: str, engine: str) -> None:
    given = numbers(4, 128)
    out = np.zeros_like(given)
    args: Any = [given, out, given.size]
    kernel(folder, arch, "roles").run(grid=1, block=160, args=args, engine=engine)
    np.testing.assert_array_equal(out, given[:, ::-1] * 3)


@pytest.mark.drawn(3)
@pytest.mark.parametrize(("arch", "engine"), RUNS)
def test_a_barrier_that_counts_bytes(folder: Path, arch: str, engine: str) -> None:
    given = numbers(256)
    out = np.zeros_like(given)
    kernel(folder, arch, "barrier").run(grid=1, block=256, args=[given, out], engine=engine)
    np.testing.assert_array_equal(out, given[np.arange(256) ^ 1])


@pytest.mark.parametrize(("arch", "engine"), RUNS)
def test_groups_of_threads(folder: Path, arch: str, engine: str) -> None:
    given = numbers(256)
    sums, before, most = (np.zeros_like(given) for _ in range(3))
    args = [given, sums, before, most]
    kernel(folder, arch, "groups").run(grid=1, block=256, args=args, engine=engine)
    parts = given.reshape(-1, 16)
    np.testing.assert_array_equal(sums, np.repeat(parts.sum(axis=1), 16))
    np.testing.assert_array_equal(before, (parts.cumsum(axis=1) - parts).reshape(-1))
    warps = given.reshape(-1, 32)
    wanted = [max(warp[warp % 3 == value % 3]) for warp in warps for value in warp]
    np.testing.assert_array_equal(most, wanted)
