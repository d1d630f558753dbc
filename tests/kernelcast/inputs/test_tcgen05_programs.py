"""A matrix product by `tcgen05` in CUDA C++, compiled for sm_100a in the test, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from tests.ptx_frontend.sass.native_programs import needs_tools

COLUMNS = 64
OUTPUTS = ", ".join(f'"=r"(d[{i}])' for i in range(COLUMNS))
NAMES = ", ".join(f"%{i}" for i in range(COLUMNS))
SOURCE = (
    r"""
typedef unsigned long long u64;
typedef unsigned u32;
struct alignas(64) TensorMap { u64 words[16]; };
__device__ __forceinline__ u32 shared_address(const void *p)
{ return (u32)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void barrier_wait(u64 *bar, int parity)
{ asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;"
      " @!p bra W; }" :: "r"(shared_address(bar)), "r"(parity) : "memory"); }
__device__ __forceinline__ void tile_load(void *to, const TensorMap &map, int x, int y, u64 *bar)
{ asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%2, %3}], [%4];" :: "r"(shared_address(to)), "l"(&map), "r"(x), "r"(y),
      "r"(shared_address(bar)) : "memory"); }
__device__ __forceinline__ u64 swizzled_128(const void *p)
{ return (u64)(shared_address(p) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 46 | 2ull << 61; }

// c = a bt^T: tiles of 128 x 64 x 64; one thread brings tiles and multiplies, all read the result.
extern "C" __global__ void __launch_bounds__(128) gemm(
    const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, float *c, int n,
    int k)
{
    __shared__ alignas(1024) unsigned short as[2][128 * 64], bs[2][64 * 64];
    __shared__ alignas(8) u64 full[2], done[2];
    __shared__ u32 columns;
    const int row = blockIdx.y * 128, column = blockIdx.x * 64, steps = k / 64;
    const int warp = threadIdx.x / 32;
    if (threadIdx.x == 0)
        for (int i = 0; i < 2; ++i) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(shared_address(&full[i])));
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(shared_address(&done[i])));
        }
    if (warp == 0) {
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64;"
            :: "r"(shared_address(&columns)) : "memory");
        asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
    }
    asm volatile("tcgen05.fence::before_thread_sync;");
    __syncthreads();
    asm volatile("tcgen05.fence::after_thread_sync;");
    const u32 d_at = columns;
    // f32 sums of f16, 64 columns, 128 rows
    const u32 descriptor = 1u << 4 | (64u / 8) << 17 | (128u / 16) << 24;
    if (threadIdx.x == 0)
        for (int step = 0; step < steps; ++step) {
            const int stage = step % 2;
            if (step >= 2) barrier_wait(&done[stage], step / 2 - 1 & 1);
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                :: "r"(shared_address(&full[stage])), "r"((128 + 64) * 64 * 2) : "memory");
            tile_load(as[stage], a, step * 64, row, &full[stage]);
            tile_load(bs[stage], b, step * 64, column, &full[stage]);
            barrier_wait(&full[stage], step / 2 & 1);
            for (int part = 0; part < 4; ++part)
                asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0;"
                    " tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }"
                    :: "r"(d_at), "l"(swizzled_128(as[stage]) + 2 * part),
                       "l"(swizzled_128(bs[stage]) + 2 * part), "r"(descriptor),
                       "r"(step + part) : "memory");
            asm volatile(
                "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];"
                :: "r"(shared_address(&done[stage])) : "memory");
        }
    barrier_wait(&done[(steps - 1) % 2], (steps - 1) / 2 & 1);
    asm volatile("tcgen05.fence::after_thread_sync;");
    u32 d[64];
"""
    + f"""
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x64.b32 {{{NAMES}}}, [%64];"
        : {OUTPUTS} : "r"(d_at + (warp * 32u << 16)));
"""
    + r"""
    asm volatile("tcgen05.wait::ld.sync.aligned;");
    for (int i = 0; i < 64; ++i)
        c[(row + threadIdx.x) * n + column + i] = __uint_as_float(d[i]);
    __syncthreads();
    if (warp == 0)
        asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 64;" :: "r"(d_at));
}

// The same for one tile of `rows` x 64 x 64 by a pair of thread blocks: each brings half of the
// rows of a and of bt, and writes out its tensor memory, 128 lanes of 64 columns.
__device__ __forceinline__ void cluster_sync()
{ asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory"); }

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128) pair(
    const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, u32 *found, int rows)
{
    __shared__ alignas(1024) unsigned short as[128 * 64], bs[32 * 64];
    __shared__ alignas(8) u64 full, done;
    __shared__ u32 columns;
    const int warp = threadIdx.x / 32, rank = blockIdx.x;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(shared_address(&full)));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(shared_address(&done)));
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
            :: "r"(shared_address(&full)), "r"((rows / 2 + 32) * 64 * 2) : "memory");
        tile_load(as, a, 0, rank * rows / 2, &full);
        tile_load(bs, b, 0, rank * 32, &full);
    }
    if (warp == 0)
        asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], 64;"
            :: "r"(shared_address(&columns)) : "memory");
    __syncthreads();
    barrier_wait(&full, 0);
    cluster_sync();
    const u32 descriptor = 1u << 4 | (64u / 8) << 17 | (u32)(rows / 16) << 24;
    if (rank == 0 && threadIdx.x == 0) {
        for (int part = 0; part < 4; ++part)
            asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0;"
                " tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, p; }"
                :: "r"(columns), "l"(swizzled_128(as) + 2 * part),
                   "l"(swizzled_128(bs) + 2 * part), "r"(descriptor), "r"(part) : "memory");
        asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster"
            ".multicast::cluster.b64 [%0], %1;"
            :: "r"(shared_address(&done)), "h"((unsigned short)3) : "memory");
    }
    barrier_wait(&done, 0);
    u32 d[64];
"""
    + f"""
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x64.b32 {{{NAMES}}}, [%64];"
        : {OUTPUTS} : "r"(columns + (warp * 32u << 16)));
"""
    + r"""
    asm volatile("tcgen05.wait::ld.sync.aligned;");
    for (int i = 0; i < 64; ++i) found[(rank * 128 + threadIdx.x) * 64 + i] = d[i];
    cluster_sync();
    if (warp == 0)
        asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, 64;" :: "r"(columns));
}
"""
)


def _code(code: str) -> dict[str, Any]:
    """Options of a run: the PTX itself, or what the assembler makes of it for a B200."""
    if code == "native":
        needs_tools("sm_100a")
        return {"code": code, "target": "b200"}
    return {"code": code}


needs_cuda = pytest.mark.usefixtures("nvrtc")


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> kc.LoadedModule:
    path = tmp_path_factory.mktemp("tcgen05") / "gemm.cu"
    path.write_text(SOURCE)
    return kc.load(path, arch="sm_100a", options=["-std=c++17"])


@pytest.mark.drawn(2)
@needs_cuda
@pytest.mark.parametrize("engine", ["jit", "reference"])
@pytest.mark.parametrize("code", ["source", "native"])
def test_gemm(module: kc.LoadedModule, engine: str, code: str) -> None:
    m, n, k = 256, 128, 320
    random = np.random.default_rng(8)
    a, bt = (random.integers(-3, 4, shape).astype(np.float16) for shape in ((m, k), (n, k)))
    c = np.zeros((m, n), np.float32)
    maps = [
        kc.TensorMap(x, (64, rows), swizzle=kc.Swizzle.BYTES_128)
        for x, rows in ((a, 128), (bt, 64))
    ]
    trace = module["gemm"].run(
        grid=(n // 64, m // 128),
        block=128,
        args=[*maps, c, n, k],
        engine=engine,
        **_code(code),
    )
    np.testing.assert_array_equal(c, a.astype(float) @ bt.astype(float).T)
    assert trace.data.engine == engine


@pytest.mark.drawn(3)
@needs_cuda
@pytest.mark.parametrize("engine", ["jit", "reference"])
@pytest.mark.parametrize("rows", [128, 256])
@pytest.mark.parametrize("code", ["source", "native"])
def test_a_product_of_a_pair_of_thread_blocks(
    module: kc.LoadedModule, rows: int, engine: str, code: str
) -> None:
    """Each has half of 256 rows; of 128 each has 64, and the second half of columns below."""
    random = np.random.default_rng(rows)
    a, bt = (random.integers(-3, 4, (n, 64)).astype(np.float16) for n in (rows, 64))
    found = np.zeros((256, 64), np.float32)
    maps = [
        kc.TensorMap(x, (64, n), swizzle=kc.Swizzle.BYTES_128)
        for x, n in ((a, rows // 2), (bt, 32))
    ]
    module["pair"].run(grid=2, block=128, args=[*maps, found, rows], engine=engine, **_code(code))
    wanted = a.astype(float) @ bt.astype(float).T
    if rows == 256:
        np.testing.assert_array_equal(found, wanted)
        return
    for rank in range(2):
        mine, lanes = wanted[64 * rank : 64 * rank + 64], found[128 * rank : 128 * rank + 128]
        np.testing.assert_array_equal(lanes[:64, :32], mine[:, :32])
        np.testing.assert_array_equal(lanes[64:, :32], mine[:, 32:])
