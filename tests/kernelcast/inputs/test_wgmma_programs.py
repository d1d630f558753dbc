"""Matrix products by `wgmma` in CUDA C++, compiled for sm_90a in the test, against NumPy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.profile.timed import timed_warps
from kernelcast.simcore.timing.kernel.stall_reasons import StallReason
from kernelcast.simcore.timing.launch.launch_timing import launch_timing

DEVICE_TIMING = load_device("h100-sxm").timing


def wgmma(columns: int, turned_b: int) -> str:
    """A device function `wgmma_n<columns>(d, a, b)` of one depth of 16."""
    count = columns // 2
    registers = ", ".join(f"%{i}" for i in range(count))
    outputs = ", ".join(f'"+f"(d[{i}])' for i in range(count))
    return f"""
__device__ __forceinline__ void wgmma_n{columns}(float (&d)[{count}], u64 a, u64 b)
{{
    asm volatile("wgmma.mma_async.sync.aligned.m64n{columns}k16.f32.f16.f16 {{{registers}}}, "
        "%{count}, %{count + 1}, 1, 1, 1, 0, {turned_b};" : {outputs} : "l"(a), "l"(b));
}}
"""


SOURCE = (
    r"""
#include <cuda_fp16.h>
typedef unsigned long long u64;
struct alignas(64) TensorMap { u64 words[16]; };
__device__ __forceinline__ unsigned shared_address(const void *p)
{ return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void barrier_init(u64 *bar, int count)
{ asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(shared_address(bar)), "r"(count)); }
__device__ __forceinline__ void barrier_expect(u64 *bar, int bytes)
{ asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
      :: "r"(shared_address(bar)), "r"(bytes) : "memory"); }
__device__ __forceinline__ void barrier_arrive(u64 *bar)
{ asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(shared_address(bar)) : "memory"); }
__device__ __forceinline__ void barrier_wait(u64 *bar, int parity)
{ asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;"
      " @!p bra W; }" :: "r"(shared_address(bar)), "r"(parity) : "memory"); }
__device__ __forceinline__ void tile_load(void *to, const TensorMap &map, int x, int y, u64 *bar)
{ asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%2, %3}], [%4];" :: "r"(shared_address(to)), "l"(&map), "r"(x), "r"(y),
      "r"(shared_address(bar)) : "memory"); }
__device__ __forceinline__ u64 swizzled_128(const void *p)
{ return (u64)(shared_address(p) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62; }
__device__ __forceinline__ void wgmma_fence()
{ asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wgmma_finish()
{ asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory"); }
"""
    + wgmma(64, 1)
    + wgmma(128, 0)
    + r"""
// c = a b: rows of a (m x k), rows of b (k x n); one warpgroup, tiles of 64 x 64 x 64, two stages.
extern "C" __global__ void __launch_bounds__(128) handwritten(
    const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, float *c, int n,
    int k)
{
    __shared__ alignas(1024) __half as[2][64 * 64], bs[2][64 * 64];
    __shared__ alignas(8) u64 full[2];
    const int row = blockIdx.y * 64, column = blockIdx.x * 64, steps = k / 64;
    if (threadIdx.x == 0) { barrier_init(&full[0], 1); barrier_init(&full[1], 1); }
    __syncthreads();
    auto fetch = [&](int step) {
        if (threadIdx.x != 0 || step >= steps) return;
        const int stage = step % 2;
        barrier_expect(&full[stage], 2 * 64 * 64 * 2);
        tile_load(as[stage], a, step * 64, row, &full[stage]);
        tile_load(bs[stage], b, column, step * 64, &full[stage]);
    };
    float d[32] = {};
    fetch(0);
    for (int step = 0; step < steps; ++step) {
        fetch(step + 1);
        barrier_wait(&full[step % 2], step / 2 % 2);
        wgmma_fence();
        for (int part = 0; part < 4; ++part)
            wgmma_n64(d, swizzled_128(as[step % 2]) + 2 * part,
                      swizzled_128(bs[step % 2]) + 128 * part);
        wgmma_finish();
        __syncthreads();
    }
    const int lane = threadIdx.x % 32, first = row + threadIdx.x / 32 * 16 + lane / 4;
    for (int i = 0; i < 32; ++i)
        c[(first + 8 * (i / 2 % 2)) * n + column + i / 4 * 8 + lane % 4 * 2 + i % 2] = d[i];
}

// c = a bt^T: one warpgroup brings tiles through four stages, two multiply 64 rows each.
constexpr int STAGES = 4;
struct Tiles {
    __half a[STAGES][128 * 64], b[STAGES][128 * 64];
    u64 full[STAGES], empty[STAGES];
};
extern "C" __global__ void __launch_bounds__(384) specialised(
    const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, float *c, int n,
    int k)
{
    extern __shared__ unsigned char raw[];
    Tiles &tiles = *(Tiles *)((u64)(raw + 1023) & ~1023ull);
    const int group = threadIdx.x / 128, row = blockIdx.y * 128, column = blockIdx.x * 128;
    const int steps = k / 64;
    if (threadIdx.x == 0)
        for (int i = 0; i < STAGES; ++i) {
            barrier_init(&tiles.full[i], 1);
            barrier_init(&tiles.empty[i], 2);
        }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    __syncthreads();
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0)
            for (int step = 0; step < steps; ++step) {
                const int stage = step % STAGES;
                barrier_wait(&tiles.empty[stage], (step / STAGES & 1) ^ 1);
                barrier_expect(&tiles.full[stage], 2 * 128 * 64 * 2);
                tile_load(tiles.a[stage], a, step * 64, row, &tiles.full[stage]);
                tile_load(tiles.b[stage], b, step * 64, column, &tiles.full[stage]);
            }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    float d[64] = {};
    for (int step = 0; step < steps; ++step) {
        const int stage = step % STAGES;
        barrier_wait(&tiles.full[stage], step / STAGES & 1);
        wgmma_fence();
        const u64 left = swizzled_128(tiles.a[stage] + (group - 1) * 64 * 64);
        for (int part = 0; part < 4; ++part)
            wgmma_n128(d, left + 2 * part, swizzled_128(tiles.b[stage]) + 2 * part);
        wgmma_finish();
        if (threadIdx.x % 128 == 0) barrier_arrive(&tiles.empty[stage]);
    }
    const int lane = threadIdx.x % 32;
    const int first = row + (group - 1) * 64 + threadIdx.x % 128 / 32 * 16 + lane / 4;
    for (int i = 0; i < 64; ++i)
        c[(first + 8 * (i / 2 % 2)) * n + column + i / 4 * 8 + lane % 4 * 2 + i % 2] = d[i];
}
"""
)


needs_cuda = pytest.mark.usefixtures("nvrtc")


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> kc.LoadedModule:
    path = tmp_path_factory.mktemp("wgmma") / "gemm.cu"
    path.write_text(SOURCE)
    return kc.load(path, arch="sm_90a", options=["-std=c++17"])


def halves(shape: tuple[int, int], *, whole: bool) -> npt.NDArray[np.float16]:
    random = np.random.default_rng(sum(shape))
    values = random.integers(-3, 4, shape) if whole else random.standard_normal(shape)
    return values.astype(np.float16)


@needs_cuda
@pytest.mark.parametrize(("whole", "engine"), [(True, "jit"), (True, "reference"), (False, "jit")])
def test_handwritten_gemm(module: kc.LoadedModule, whole: bool, engine: str) -> None:
    m, n, k = 128, 128, 192
    a, b = halves((m, k), whole=whole), halves((k, n), whole=whole)
    c = np.zeros((m, n), np.float32)
    maps = [kc.TensorMap(x, (64, 64), swizzle=kc.Swizzle.BYTES_128) for x in (a, b)]
    grid = (n // 64, m // 64)
    module["handwritten"].run(grid=grid, block=128, args=[*maps, c, n, k], engine=engine)
    wanted = a.astype(float) @ b.astype(float)
    bound = 0 if whole else k * 2.0**-24 * (abs(a).astype(float) @ abs(b).astype(float)).max()
    np.testing.assert_allclose(c, wanted, rtol=0, atol=bound)


@needs_cuda
def test_gemm_with_specialised_warpgroups(module: kc.LoadedModule) -> None:
    m, n, k = 128, 256, 384
    a, bt = halves((m, k), whole=True), halves((n, k), whole=True)
    c = np.zeros((m, n), np.float32)
    maps = [kc.TensorMap(x, (64, 128), swizzle=kc.Swizzle.BYTES_128) for x in (a, bt)]
    module["specialised"].run(
        grid=(n // 128, m // 128),
        block=384,
        args=[*maps, c, n, k],
        shared_bytes=4 * 2 * 128 * 64 * 2 + 2048,
    )
    np.testing.assert_array_equal(c, a.astype(float) @ bt.astype(float).T)


@needs_cuda
def test_specialised_warpgroups_wait_for_copies_and_for_one_another(
    module: kc.LoadedModule,
) -> None:
    """The model `interval` of the gemm: eight tiles through four stages take two latencies.

    These are latencies of memory, at least, and consumers wait for the first.
    """
    m, n, k = 128, 128, 512
    a, bt = halves((m, k), whole=True), halves((n, k), whole=True)
    maps = [kc.TensorMap(x, (64, 128), swizzle=kc.Swizzle.BYTES_128) for x in (a, bt)]
    trace = module["specialised"].run(
        grid=1,
        block=384,
        args=[*maps, np.zeros((m, n), np.float32), n, k],
        shared_bytes=4 * 2 * 128 * 64 * 2 + 2048,
        devices=["h100-sxm"],
    )
    profile = trace.profile("h100-sxm")
    found = kc.estimate(profile, "interval")
    assert not [text for text in found.assumptions if "mbarrier" in text or "cluster" in text]
    timed = profile.derived(timed_warps)
    assert timed is not None
    timing = launch_timing(timed, load_device("h100-sxm"), is_exact=True)
    assert DEVICE_TIMING is not None
    assert timing.cycles > 2 * DEVICE_TIMING.dram_latency_cycles
    assert timing.warp_stalls[StallReason.DRAM_LATENCY] > DEVICE_TIMING.dram_latency_cycles
    assert timing.slots.sum() == timing.full_cycles * timing.slots_per_cycle
    assert timing.warp_cycles.sum() == timing.resident_warp_cycles
