// Copies in bulk in a right form and with planted bugs, as in blocks.cu; for clusters of one.
// bulk.ptx: nvcc -std=c++17 -O3 -arch=sm_90 -ptx
#include <cuda/barrier>
#include <cuda/ptx>
typedef unsigned u;
namespace ptx = cuda::ptx;
#define K(name, bug, kind) extern "C" __global__ void name##_##bug(u *a, u *b, u *c, u n) { name<bug>(a, b, c, n); }
#define T template <int B> __device__ __forceinline__ void
#define MBARRIER __shared__ __align__(8) uint64_t
#define WAIT(bar, parity) while (!ptx::mbarrier_try_wait_parity(&bar, parity))

// loaded by one thread, waited for by all: 1 no wait, 2 the wrong parity, 3 only a barrier of the thread block
T load(u *a, u *b, u *c, u n) {
  __shared__ __align__(128) u s[128];
  MBARRIER bar;
  u t = threadIdx.x;
  if (t == 0) { ptx::mbarrier_init(&bar, 1); ptx::fence_proxy_async(ptx::space_shared); }
  __syncthreads();
  if (t == 0) {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, 512);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, a + blockIdx.x * 128, 512, &bar);
  }
  if (B == 0) WAIT(bar, 0);
  if (B == 2) WAIT(bar, 1);
  if (B == 3) __syncthreads();
  b[blockIdx.x * 128 + t] = s[127 - t];
}
K(load, 0, right)
K(load, 1, async_copy)
K(load, 2, endless_loop)
K(load, 3, async_copy)

// waited for by one thread, then a barrier: 1 no barrier
T one(u *a, u *b, u *c, u n) {
  __shared__ __align__(128) u s[128];
  MBARRIER bar;
  u t = threadIdx.x;
  if (t == 0) {
    ptx::mbarrier_init(&bar, 1);
    ptx::fence_proxy_async(ptx::space_shared);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, 512);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, a + blockIdx.x * 128, 512, &bar);
    WAIT(bar, 0);
  }
  if (B != 1) __syncthreads();
  b[blockIdx.x * 128 + t] = s[127 - t];
}
K(one, 0, right)
K(one, 1, race)

// stages that are used again: 1 loaded anew while others read, 2 the parity is not turned
T stages(u *a, u *b, u *c, u n) {
  __shared__ __align__(128) u s[2][128];
  MBARRIER full[2];
  u t = threadIdx.x, sum = 0;
  if (t == 0) { ptx::mbarrier_init(&full[0], 1); ptx::mbarrier_init(&full[1], 1); ptx::fence_proxy_async(ptx::space_shared); }
  __syncthreads();
  auto load = [&](u k) {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[k & 1], 512);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s[k & 1], a + k * 128, 512, &full[k & 1]);
  };
  if (t == 0) { load(0); load(1); }
  for (u k = 0; k < 8; k++) {
    u parity = B == 2 ? 0 : (k >> 1) & 1;
    WAIT(full[k & 1], parity);
    sum += s[k & 1][127 - t];
    if (B != 1) __syncthreads();
    if (t == 0 && k + 2 < 8) load(k + 2);
  }
  b[blockIdx.x * 128 + t] = sum;
}
K(stages, 0, right)
K(stages, 1, race)
K(stages, 2, endless_loop)

// full and empty mbarriers, a producer of its own: 1 no wait for empty, 2 nobody waits for full
T producer(u *a, u *b, u *c, u n) {
  __shared__ __align__(128) u s[2][64];
  MBARRIER full[2];
  MBARRIER empty[2];
  u t = threadIdx.x, sum = 0;
  if (t == 0) {
    for (int k = 0; k < 2; k++) { ptx::mbarrier_init(&full[k], 1); ptx::mbarrier_init(&empty[k], 64); }
    ptx::fence_proxy_async(ptx::space_shared);
  }
  __syncthreads();
  if (t == 64) {
    for (u k = 0; k < 8; k++) {
      if (B != 1 && k > 1) WAIT(empty[k & 1], ((k >> 1) & 1) ^ 1);
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[k & 1], 256);
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s[k & 1], a + k * 64, 256, &full[k & 1]);
    }
  } else if (t < 64) {
    for (u k = 0; k < 8; k++) {
      if (B != 2) WAIT(full[k & 1], (k >> 1) & 1);
      sum += s[k & 1][63 - t];
      ptx::mbarrier_arrive(&empty[k & 1]);
    }
    b[blockIdx.x * 64 + t] = sum;
  }
}
K(producer, 0, right)
K(producer, 2, race)

// stored by one thread: 1 no barrier before, 2 no fence between proxies, 3 overwritten before the wait,
// 4 the wait is for nothing, 5 the group is not closed
T store(u *a, u *b, u *c, u n) {
  __shared__ __align__(128) u s[128];
  u t = threadIdx.x;
  s[t] = a[t] * 2;
  if (B != 2) ptx::fence_proxy_async(ptx::space_shared);
  if (B != 1) __syncthreads();
  if (t == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, b + blockIdx.x * 128, s, 512);
    if (B != 5) ptx::cp_async_bulk_commit_group();
    if (B == 4) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<1>());
    else if (B != 3) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
  __syncthreads();
  s[t] = 7;
  __syncthreads();
  c[blockIdx.x * 128 + t] = s[127 - t];
}
K(store, 0, right)
K(store, 1, race)
K(store, 2, async_copy)
K(store, 3, async_copy)
K(store, 4, async_copy)
K(store, 5, async_copy)

// stored, then read in the buffer: 1 only the read of the source is waited for
T back(u *a, u *b, u *c, u n) {
  __shared__ __align__(128) u s[128];
  u t = threadIdx.x;
  s[t] = a[t] * 2;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (t == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, b + blockIdx.x * 128, s, 512);
    ptx::cp_async_bulk_commit_group();
    if (B == 1) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    else ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
  }
  __syncthreads();
  c[blockIdx.x * 128 + t] = b[blockIdx.x * 128 + 127 - t];
}
K(back, 0, right)
K(back, 1, async_copy)

// the source in the buffer is overwritten: 1 before the copy is over
T source_of_bulk(u *a, u *b, u *c, u n) {
  __shared__ __align__(128) u s[128];
  MBARRIER bar;
  u t = threadIdx.x, *mine = a + blockIdx.x * 128;
  if (t == 0) {
    ptx::mbarrier_init(&bar, 1);
    ptx::fence_proxy_async(ptx::space_shared);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, 512);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, mine, 512, &bar);
  }
  __syncthreads();
  if (B == 1) mine[t] = 5;
  WAIT(bar, 0);
  if (B == 0) mine[t] = 5;
  b[blockIdx.x * 128 + t] = s[127 - t];
}
K(source_of_bulk, 0, right)
K(source_of_bulk, 1, async_copy)

// part of the tile is not copied: 1 it is read
T part(u *a, u *b, u *c, u n) {
  __shared__ __align__(128) u s[128];
  MBARRIER bar;
  u t = threadIdx.x;
  if (t == 0) {
    ptx::mbarrier_init(&bar, 1);
    ptx::fence_proxy_async(ptx::space_shared);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, 256);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, a, 256, &bar);
  }
  __syncthreads();
  WAIT(bar, 0);
  if (B == 1 || t < 64) b[blockIdx.x * 128 + t] = s[t];
}
K(part, 0, right)
K(part, 1, uninitialised)
