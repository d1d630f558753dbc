"""Programs with asynchronous copies in CUDA C++, executed; tensor maps in workloads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import WorkloadError

SOURCE = r"""
#include <cuda_pipeline_primitives.h>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void pipelined_gemm(const float *a, const float *b, float *c, int n)
{
    __shared__ alignas(16) float as[3][16][16], bs[3][16][16];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    const int tid = y * 16 + x, steps = n / 16;
    auto fetch = [&](int step) {
        if (step < steps && tid < 64) {
            const int r = tid / 4, q = tid % 4 * 4;
            __pipeline_memcpy_async(&as[step % 3][r][q],
                &a[(blockIdx.y * 16 + r) * n + step * 16 + q], 16);
            __pipeline_memcpy_async(&bs[step % 3][r][q],
                &b[(step * 16 + r) * n + blockIdx.x * 16 + q], 16);
        }
        __pipeline_commit();
    };
    fetch(0);
    fetch(1);
    float sum = 0;
    for (int step = 0; step < steps; ++step) {
        __pipeline_wait_prior(1);
        __syncthreads();
        fetch(step + 2);
        for (int k = 0; k < 16; ++k) sum += as[step % 3][y][k] * bs[step % 3][k][x];
    }
    c[row * n + column] = sum;
}

extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_sum(const int *from, int *to)
{
    __shared__ int partial;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) partial = 0;
    __syncthreads();
    atomicAdd(&partial, from[blockIdx.x * blockDim.x + threadIdx.x]);
    cluster.sync();
    if (cluster.block_rank() != 0 && threadIdx.x == 0)
        atomicAdd(cluster.map_shared_rank(&partial, 0), partial);
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0)
        to[blockIdx.x / cluster.num_blocks()] = partial;
}

struct alignas(64) TensorMap { unsigned long long words[16]; };

__device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

extern "C" __global__ void transposed_tiles(const __grid_constant__ TensorMap from,
                                            const __grid_constant__ TensorMap to, int rows)
{
    __shared__ alignas(128) float in[2][32][32], out[32][32];
    __shared__ alignas(8) unsigned long long full[2];
    const int x = threadIdx.x % 32, y = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; ++i)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(shared_address(&full[i])));
        asm volatile("fence.mbarrier_init.release.cluster;");
    }
    __syncthreads();
    auto fetch = [&](int tile) {
        if (threadIdx.x == 0 && tile * 32 < rows) {
            const unsigned bar = shared_address(&full[tile % 2]);
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                :: "r"(bar),
                "r"(4096) : "memory");
            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier"
                "::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                :: "r"(shared_address(in[tile % 2])), "l"(&from), "r"(blockIdx.x * 32),
                   "r"(tile * 32), "r"(bar) : "memory");
        }
    };
    fetch(0);
    for (int tile = 0; tile * 32 < rows; ++tile) {
        fetch(tile + 1);
        asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;"
            " @!p bra W; }"
            :: "r"(shared_address(&full[tile % 2])), "r"(tile / 2 % 2) : "memory");
        for (int i = y; i < 32; i += blockDim.x / 32) out[x][i] = in[tile % 2][i][x];
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (threadIdx.x == 0) {
            asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group "
                "[%0, {%1, %2}], [%3];"
                :: "l"(&to), "r"(tile * 32), "r"(blockIdx.x * 32),
                   "r"(shared_address(out)) : "memory");
            asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;"
                ::: "memory");
        }
        __syncthreads();
    }
}
"""


needs_cuda = pytest.mark.usefixtures("nvrtc")


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> kc.LoadedModule:
    path = tmp_path_factory.mktemp("async") / "programs.cu"
    path.write_text(SOURCE)
    return kc.load(path, arch="sm_90", options=["-std=c++17"])


@needs_cuda
@pytest.mark.parametrize("engine", ["jit", "reference"])
def test_three_stages_of_a_matrix_product(module: kc.LoadedModule, engine: str) -> None:
    random, n = np.random.default_rng(1), 64
    a, b = (random.integers(-4, 5, (n, n)).astype(np.float32) for _ in range(2))
    c = np.zeros((n, n), np.float32)
    kernel = module["pipelined_gemm"]
    trace = kernel.run(grid=(4, 4), block=(16, 16), args=[a, b, c, n], engine=engine)
    assert trace.data.engine == engine
    assert (c == a @ b).all()


@needs_cuda
@pytest.mark.parametrize("engine", ["jit", "reference"])
def test_a_sum_over_clusters(module: kc.LoadedModule, engine: str) -> None:
    given = np.random.default_rng(2).integers(-99, 99, 1024).astype(np.int32)
    found = np.zeros(2, np.int32)
    trace = module["cluster_sum"].run(grid=8, block=128, args=[given, found], engine=engine)
    assert trace.data.engine == engine
    assert (found == given.reshape(2, -1).sum(axis=1)).all()


@needs_cuda
@pytest.mark.parametrize("engine", ["jit", "reference"])
def test_tiles_through_tensor_maps(module: kc.LoadedModule, engine: str) -> None:
    """Edges stick out; two stages, each with an mbarrier of its own."""
    given = np.random.default_rng(3).standard_normal((80, 96)).astype(np.float32)
    found = np.zeros((96, 80), np.float32)
    maps = [kc.TensorMap(array, (32, 32)) for array in (given, found)]
    trace = module["transposed_tiles"].run(
        grid=3, block=128, args=[*maps, 80], devices=["a100-40gb"], engine=engine
    )
    assert (found == given.T).all()
    profile = trace.profile(kc.device("a100-40gb"))
    least = given.nbytes // 32
    assert least <= profile.traffic.dram_read_transactions <= 2 * least


@needs_cuda
def test_support_of_the_programs(tmp_path: Path, output: Callable[..., str]) -> None:
    """All of these programs are supported, and those of matrix instructions."""
    path = tmp_path / "programs.cu"
    path.write_text(SOURCE)
    said = output("support", str(path), "--arch", "sm_90", "--option=-std=c++17")
    assert "3 of 3 kernels supported (100.0%)" in said
    said = output("support", str(Path(__file__).parents[3] / "benchmarks" / "matrix_kernels"))
    assert "kernels supported (100.0%)" in said


WORKLOAD = """
[kernel]
source = "twice.ptx"
[sizes.small]
n = 20
[launch]
grid = "1"
block = "32"
cluster = [1]
[[args]]
name = "tensor"
type = "tensor_map f32[4, n]"
box = ["n", 4]
init = "arange"
[check]
reference = "reference.py:twice"
"""
PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry twice(.param .align 64 .b8 map[128])
{
    .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<4>;
    .shared .align 128 .b8 tile[320]; .shared .align 8 .b64 bar;
    mov.b64 %rd1, map; cvta.param.u64 %rd1, %rd1; mov.u32 %r1, %tid.x; mov.u32 %r2, tile;
    mov.u32 %r3, bar; setp.ne.u32 %p1, %r1, 0; @%p1 bra WAIT0;
    mbarrier.init.shared.b64 [%r3], 1; mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 320;
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
    [%r2], [%rd1, {0, 0}], [%r3];
WAIT0: bar.sync 0;
WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r3], 0; @!%p2 bra WAIT;
    mov.u32 %r5, %r1;
NEXT: mad.lo.u32 %r4, %r5, 4, %r2; ld.shared.f32 %f1, [%r4]; add.f32 %f1, %f1, %f1;
    st.shared.f32 [%r4], %f1; add.u32 %r5, %r5, 32; setp.lt.u32 %p3, %r5, 80; @%p3 bra NEXT;
    fence.proxy.async.shared::cta; bar.sync 0;
    @!%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {0, 0}], [%r2];
    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;
}
"""
REFERENCE = """
def twice(arguments, sizes):
    return {"tensor": 2 * arguments["tensor"]}
"""


def workload(folder: Path, text: str = WORKLOAD) -> kc.Workload:
    (folder / "twice.ptx").write_text(PTX)
    (folder / "reference.py").write_text(REFERENCE)
    (folder / "twice.toml").write_text(text)
    return kc.load_workload(folder / "twice.toml")


def test_a_workload_with_a_tensor_map(tmp_path: Path) -> None:
    """A workload is checked, and runs at two warp widths from the same contents."""
    result = workload(tmp_path).run_check()
    assert result.passed
    assert result.comparisons[0].elements == 80


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("f32[4, n]", "f32", "a tensor map is of an array"),
        ('["n", 4]', '["n", 4]\nswizzle = 48', "48 is none of 0, 32, 64, 128"),
        ('["n", 4]', '["n", 4]\nfill = "ones"', "'ones' is none of zeros, nan"),
        ('["n", 4]', '["n", 400]', "sizes of a box are from 1 to 256"),
        ('["n", 4]', '["n", 4]\nboxes = 3', "boxes"),
    ],
)
def test_what_is_wrong_with_a_tensor_map(
    tmp_path: Path, before: str, after: str, message: str
) -> None:
    with pytest.raises(WorkloadError, match=message):
        workload(tmp_path, WORKLOAD.replace(before, after)).make_arguments()
