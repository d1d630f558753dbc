// Asynchronous copies and products of warp groups: what an SM has on its way, fences, wgmma.
//
//     nvcc -gencode arch=compute_90a,code=sm_90a -o asynchronous asynchronous.cu && ./asynchronous > asynchronous.csv

#include "measuring.cuh"

namespace {

constexpr int kMost = 16;

__device__ int64_t now() {
    int64_t cycles;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
    return cycles;
}

// Each thread asks for `kMost` pieces of 16 bytes, one array of `stride` pieces apart; the cycle
// after each was issued. Copies go to shared memory, loads to registers.
template <bool copies>
__global__ void issue(const uint4* words, size_t stride, int64_t* cycles, uint4* kept) {
    extern __shared__ uint4 buffer[];
    const uint4* mine = words + static_cast<size_t>(blockIdx.x) * blockDim.x * kMost + threadIdx.x;
    uint32_t to = static_cast<uint32_t>(__cvta_generic_to_shared(buffer + threadIdx.x));
    uint4 found[kMost];
    int64_t at[kMost + 1];
    __syncthreads();
    at[0] = now();
#pragma unroll
    for (int i = 0; i < kMost; ++i) {
        if (copies)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + i * blockDim.x * 16), "l"(mine + i * stride) : "memory");
        else
            asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(found[i].x), "=r"(found[i].y), "=r"(found[i].z), "=r"(found[i].w) : "l"(mine + i * stride) : "memory");
        at[i + 1] = now();
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    uint32_t sum = 0;
    if (!copies)
        for (int i = 0; i < kMost; ++i) sum ^= found[i].x ^ found[i].w;
    if (sum == 0xdeadbeef) *kept = found[0];
    for (int i = 0; i <= kMost; ++i) cycles[(blockIdx.x * blockDim.x + threadIdx.x) * (kMost + 1) + i] = at[i];
}

enum class Fence { proxy_shared, proxy_all, cta, gpu };

template <Fence fence>
__global__ void fences(int64_t* cycles, uint32_t* memory) {
    __shared__ uint32_t word[1024];
    int64_t taken = 0;
    for (int turn = 0; turn < 2; ++turn) {
        __syncthreads();
        int64_t start = now();
#pragma unroll
        for (int i = 0; i < 64; ++i) {
            word[threadIdx.x] = i;
            if (fence == Fence::proxy_shared) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            if (fence == Fence::proxy_all) asm volatile("fence.proxy.async;" ::: "memory");
            if (fence == Fence::cta) asm volatile("membar.cta;" ::: "memory");
            if (fence == Fence::gpu) asm volatile("membar.gl;" ::: "memory");
        }
        taken = now() - start;
    }
    memory[threadIdx.x] = word[threadIdx.x];
    cycles[threadIdx.x] = taken;
}

// Products of 64 x `columns` x 16 of half precision, both factors in shared memory.
template <int columns>
__device__ void multiply(float (&sum)[columns / 2], uint64_t a, uint64_t b);

#define SUM8(I) "+f"(sum[I]), "+f"(sum[I + 1]), "+f"(sum[I + 2]), "+f"(sum[I + 3]), "+f"(sum[I + 4]), "+f"(sum[I + 5]), "+f"(sum[I + 6]), "+f"(sum[I + 7])
#define SUM32(I) SUM8(I), SUM8(I + 8), SUM8(I + 16), SUM8(I + 24)

template <>
__device__ void multiply<64>(float (&sum)[32], uint64_t a, uint64_t b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, %32, %33, 1, 1, 1, 0, 0;"
                 : SUM32(0) : "l"(a), "l"(b));
}

template <>
__device__ void multiply<128>(float (&sum)[64], uint64_t a, uint64_t b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, %64, %65, 1, 1, 1, 0, 0;"
                 : SUM32(0), SUM32(32) : "l"(a), "l"(b));
}

// Groups of `products` products, each waited for, or but the last one.
template <int columns, int products, int left>
__global__ void groups(int64_t* cycles, float* kept) {
    extern __shared__ __align__(1024) uint8_t tile[];
    float sum[columns / 2];
    for (float& value : sum) value = 0;
    for (int i = threadIdx.x; i < 16384; i += blockDim.x) reinterpret_cast<uint32_t*>(tile)[i] = 0;
    asm volatile("fence.proxy.async;" ::: "memory");
    uint32_t start = static_cast<uint32_t>(__cvta_generic_to_shared(tile));
    uint64_t a = (start & 0x3FFFF) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;  // rows of 128 bytes, swizzled
    uint64_t b = a + (16384 >> 4);
    int64_t taken = 0;
    for (int turn = 0; turn < 2; ++turn) {
        __syncthreads();
        int64_t begin = now();
#pragma unroll 1
        for (int round = 0; round < 64; ++round) {
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
            for (int i = 0; i < products; ++i) multiply<columns>(sum, a + i % 4 * 2, b + i % 4 * 2);
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
            asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(left) : "memory");
        }
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        taken = now() - begin;
    }
    float all = 0;
    for (float value : sum) all += value;
    kept[threadIdx.x] = all;
    cycles[threadIdx.x] = taken;
}

int64_t* cycles;

template <bool copies>
void show_issue(const uint4* words, uint4* kept, int blocks, int threads, size_t pieces) {
    size_t bytes = static_cast<size_t>(threads) * kMost * 16;
    if (copies) CHECK(cudaFuncSetAttribute(issue<true>, cudaFuncAttributeMaxDynamicSharedMemorySize, 220 * 1024));
    if (copies && bytes > 220 * 1024) return;
    std::vector<int64_t> all(static_cast<size_t>(blocks) * threads * (kMost + 1));
    for (int turn = 0; turn < 2; ++turn)  // the first one loads the code
        issue<copies><<<blocks, threads, copies ? bytes : 0>>>(words + turn * pieces / 2, static_cast<size_t>(blocks) * threads * kMost, cycles, kept);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(all.data(), cycles, all.size() * 8, cudaMemcpyDeviceToHost));
    for (int i = 1; i <= kMost; ++i) {
        double last = 0;
        int64_t first = all[0];
        for (int t = 0; t < threads; ++t) first = std::min(first, all[t * (kMost + 1)]);
        for (int t = 0; t < threads; ++t) last = std::max(last, static_cast<double>(all[t * (kMost + 1) + i] - first));
        char settings[96];
        std::snprintf(settings, sizeof settings, "blocks=%d threads=%d pieces=%d kib=%g", blocks, threads, i, threads * i * 16 / 1024.0);
        row(copies ? "issue_copies" : "issue_loads", settings, last, "cycles");
    }
}

template <Fence fence>
void show_fence(const char* name, uint32_t* memory) {
    for (int threads : {32, 128, 256, 1024}) {
        std::vector<int64_t> all(threads);
        fences<fence><<<1, threads>>>(cycles, memory);
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(all.data(), cycles, threads * 8, cudaMemcpyDeviceToHost));
        char settings[32];
        std::snprintf(settings, sizeof settings, "threads=%d", threads);
        row(name, settings, *std::max_element(all.begin(), all.end()) / 64.0, "cycles of a store and a fence");
    }
}

template <int columns, int products, int left>
void show_groups(float* kept) {
    CHECK(cudaFuncSetAttribute(groups<columns, products, left>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
    for (int threads : {128, 256}) {
        std::vector<int64_t> all(threads);
        groups<columns, products, left><<<1, threads, 65536>>>(cycles, kept);
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(all.data(), cycles, threads * 8, cudaMemcpyDeviceToHost));
        char settings[96];
        std::snprintf(settings, sizeof settings, "columns=%d products=%d left=%d threads=%d", columns, products, left, threads);
        row("wgmma", settings, *std::max_element(all.begin(), all.end()) / 64.0, "cycles of a group");
    }
}

}  // namespace

int main() {
    header();
    cycles = allocate<int64_t>(1 << 24);
    size_t pieces = (1ull << 32) / 16;
    auto words = allocate<uint4>(pieces);
    auto kept = allocate<uint4>(1024);
    for (int blocks : {1, multiprocessors()})
        for (int threads : {128, 256, 512, 1024}) {
            show_issue<true>(words, kept, blocks, threads, pieces);
            show_issue<false>(words, kept, blocks, threads, pieces);
        }
    show_fence<Fence::proxy_shared>("fence_proxy_shared", reinterpret_cast<uint32_t*>(kept));
    show_fence<Fence::proxy_all>("fence_proxy_all", reinterpret_cast<uint32_t*>(kept));
    show_fence<Fence::cta>("fence_cta", reinterpret_cast<uint32_t*>(kept));
    show_fence<Fence::gpu>("fence_gpu", reinterpret_cast<uint32_t*>(kept));
    auto sums = reinterpret_cast<float*>(kept);
    show_groups<64, 1, 0>(sums);
    show_groups<64, 4, 0>(sums);
    show_groups<64, 4, 1>(sums);
    show_groups<128, 1, 0>(sums);
    show_groups<128, 4, 0>(sums);
    show_groups<128, 4, 1>(sums);
    show_groups<128, 8, 0>(sums);
    return 0;
}
