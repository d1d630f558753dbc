// Small kernels in a right form and with planted bugs, `template <int B>`: 0 is right, others are
// named beside. K(NAME, B, KIND) makes a kernel of one; KIND is what check must find in it. All get
// three buffers of 4,096 words, the first one counting up and the others zero, and n = 500, in 4
// thread blocks of 128 threads.
// blocks.ptx: nvcc -std=c++17 -O3 -arch=sm_80 -ptx
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>
#include <cuda_pipeline.h>
#include <cuda/pipeline>
#include <cuda/barrier>
namespace cg = cooperative_groups;
typedef unsigned u;
#define K(name, bug, kind) extern "C" __global__ void name##_##bug(u *a, u *b, u *c, u n) { name<bug>(a, b, c, n); }
#define T template <int B> __device__ __forceinline__ void

// warp-aggregated atomic append
T aggregated(u *a, u *b, u *c, u n) {   // 1 race (plain add), 2 oob guard
  u i = blockIdx.x * blockDim.x + threadIdx.x;
  if (B == 2 || i < n) {
    if (a[B == 2 ? i * 9 : i] % 3 == 0) {
      auto g = cg::coalesced_threads();
      u first = 0;
      if (g.thread_rank() == 0) { if (B == 1) { first = c[0]; c[0] = first + g.size(); } else first = atomicAdd(c, g.size()); }
      first = g.shfl(first, 0);
      b[first + g.thread_rank()] = i;
    }
  }
}
K(aggregated, 0, right)
K(aggregated, 1, race)
K(aggregated, 2, memory_access)

// block reduction with shfl
T reduce(u *a, u *b, u *c, u n) {  // 1 missing syncthreads, 2 missing atomic, 3 missing guard, 4 uninit tail of shared
  __shared__ u part[32];
  u i = blockIdx.x * blockDim.x + threadIdx.x;
  u v = (B == 3 || i < n) ? a[B == 3 ? i * 10 : i] : 0;
  for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  if (B != 1) __syncthreads();
  if (threadIdx.x < 32) {
    v = (B == 4 || threadIdx.x < blockDim.x / 32) ? part[threadIdx.x] : 0;
    for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
    if (threadIdx.x == 0) { if (B == 2) c[0] += v; else atomicAdd(c, v); }
  }
}
K(reduce, 0, right)
K(reduce, 1, race)
K(reduce, 2, race)
K(reduce, 3, memory_access)
K(reduce, 4, uninitialised)

// last block reduction: threadfence
T lastblock(u *a, u *b, u *c, u n) { // 1 no fence, 2 cta fence, 3 counter not atomic
  __shared__ bool last;
  u i = blockIdx.x * blockDim.x + threadIdx.x;
  u v = __reduce_add_sync(~0u, i < n ? a[i] : 0);
  __shared__ u s[4];
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0) {
    b[blockIdx.x] = s[0] + s[1] + s[2] + s[3];
    if (B == 0 || B == 3) __threadfence(); else if (B == 2) __threadfence_block();
    u t = B == 3 ? c[0]++ : atomicAdd(c, 1);
    last = t == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    if (B == 0) __threadfence();
    u t = 0;
    for (u k = 0; k < gridDim.x; k++) t += ((volatile u *)b)[k];
    c[1] = t;
  }
}
K(lastblock, 0, right)
K(lastblock, 1, race)
K(lastblock, 2, race)
K(lastblock, 3, race)

// grid barrier by atomics
T gridbar(u *a, u *b, u *c, u n) { // 1 no fence before arrive, 2 no syncthreads before arrive, 3 no syncthreads after
  u i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = a[i] + 1;
  if (B != 2) __syncthreads();
  if (threadIdx.x == 0) {
    if (B != 1) __threadfence();
    atomicAdd(c, 1);
    while (atomicAdd(c, 0) < gridDim.x);
    __threadfence();
  }
  if (B != 3) __syncthreads();
  u j = (i + blockDim.x) % (gridDim.x * blockDim.x);
  a[2048 + i] = b[j];
}
K(gridbar, 0, right)
K(gridbar, 1, race)
K(gridbar, 2, race)
K(gridbar, 3, race)

// cooperative groups grid sync
T coop(u *a, u *b, u *c, u n) { // 1 block sync
  auto g = cg::this_grid();
  u i = g.thread_rank();
  b[i] = a[i] * 2;
  if (B == 1) cg::this_thread_block().sync(); else g.sync();
  a[2048 + i] = b[(i + 128) % g.size()];
}
K(coop, 0, right)
K(coop, 1, race)

// decoupled look-back scan
T lookback(u *a, u *b, u *c, u n) { // 1 missing fence before flag, 2 plain flag read, 3 flag of block scope
  __shared__ u s[128]; __shared__ u before;
  u t = threadIdx.x, i = blockIdx.x * 128 + t;
  s[t] = i < n ? a[i] : 0;
  __syncthreads();
  for (u o = 1; o < 128; o *= 2) { u v = t >= o ? s[t - o] : 0; __syncthreads(); s[t] += v; __syncthreads(); }
  u *sum = b, *flag = c;
  if (t == 127) {
    u p = 0;
    if (blockIdx.x > 0) {
      if (B == 3) { cuda::atomic_ref<u, cuda::thread_scope_block> f(flag[blockIdx.x - 1]); while (f.load(cuda::memory_order_acquire) == 0); }
      else if (B == 4) { cuda::atomic_ref<u, cuda::thread_scope_device> f(flag[blockIdx.x - 1]); while (f.load(cuda::memory_order_relaxed) == 0); }
      else { while (((volatile u *)flag)[blockIdx.x - 1] == 0); __threadfence(); }
      p = sum[blockIdx.x - 1];
    }
    before = p;
    sum[blockIdx.x] = p + s[127];
    if (B != 1) __threadfence();
    if (B == 2) flag[blockIdx.x] = 1; else if (B == 3) { cuda::atomic_ref<u, cuda::thread_scope_block> f(flag[blockIdx.x]); f.store(1, cuda::memory_order_release); }
    else ((volatile u *)flag)[blockIdx.x] = 1;
  }
  __syncthreads();
  if (i < n) a[2048 + i] = s[t] + before;
}
K(lookback, 0, right)
K(lookback, 1, race)
K(lookback, 2, race)
K(lookback, 3, race)
K(lookback, 4, race)

// look-back with packed 64-bit words and atomic_ref
T packed(u *a, u *b, u *c, u n) { // right form: relaxed 64-bit word holds value and flag: no fence needed
  typedef unsigned long long ull;
  ull *st = (ull *)c;
  __shared__ u tot; __shared__ u ex;
  u i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) tot = 0;
  __syncthreads();
  atomicAdd(&tot, i < n ? a[i] : 0);
  if (B != 1) __syncthreads();
  if (threadIdx.x == 0) {
    ull p = 0;
    if (blockIdx.x) {
      cuda::atomic_ref<ull, cuda::thread_scope_device> r(st[blockIdx.x - 1]);
      do p = r.load(cuda::memory_order_relaxed); while (!(p >> 32));
    }
    ex = (u)p;
    cuda::atomic_ref<ull, cuda::thread_scope_device> w(st[blockIdx.x]);
    w.store((1ull << 32) | ((u)p + tot), cuda::memory_order_relaxed);
  }
  __syncthreads();
  b[i] = ex + tot;
}
K(packed, 0, right)
K(packed, 1, race)

// ticket lock
T lock(u *a, u *b, u *c, u n) { // 1 no fence at release, 2 no lock at all
  if (threadIdx.x == 0) {
    if (B != 2) { while (atomicCAS(c, 0, 1) != 0); __threadfence(); }
    b[0] += a[blockIdx.x];
    if (B != 2) { if (B != 1) __threadfence(); atomicExch(c, 0); }
  }
}
K(lock, 0, right)
K(lock, 1, race)
K(lock, 2, race)

// queue: producer/consumer MPMC by tickets, cuda::atomic
T queue(u *a, u *b, u *c, u n) { // 1 relaxed publish, 2 slot flag by block scope, 3 missing acquire
  cuda::atomic_ref<u, cuda::thread_scope_device> tail(c[0]), head(c[1]);
  u *slot = b, *ready = c + 16;
  u i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.x < 2) {
    u t = tail.fetch_add(1, cuda::memory_order_relaxed);
    slot[t] = i * 3;
    cuda::atomic_ref<u, cuda::thread_scope_device> r(ready[t]);
    cuda::atomic_ref<u, cuda::thread_scope_block> rb(ready[t]);
    if (B == 2) rb.store(1, cuda::memory_order_release);
    else r.store(1, B == 1 ? cuda::memory_order_relaxed : cuda::memory_order_release);
  } else {
    u h = head.fetch_add(1, cuda::memory_order_relaxed);
    cuda::atomic_ref<u, cuda::thread_scope_device> r(ready[h]);
    while (!r.load(B == 3 ? cuda::memory_order_relaxed : cuda::memory_order_acquire));
    a[2048 + i] = slot[h];
  }
}
K(queue, 0, right)
K(queue, 1, race)
K(queue, 2, race)
K(queue, 3, race)

// BFS level
T bfs(u *a, u *b, u *c, u n) { // level in b (0 unvisited), frontier size c[0]; 1: plain check-then-set, 2: neighbour oob
  u v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  for (u k = 1; k <= 3; k++) {
    u w = B == 2 ? v * k * 4 : (v * k + 7) % n;
    if (B == 1) { if (b[w] == 0) { b[w] = v + 1; c[1 + atomicAdd(c, 1)] = w; } }
    else if (atomicCAS(&b[w], 0u, v + 1) == 0) c[1 + atomicAdd(c, 1)] = w;
  }
}
K(bfs, 0, right)
K(bfs, 1, race)
K(bfs, 2, memory_access)

// histogram in shared, lambdas
template <class F> __device__ void each(u n, F f) { for (u i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) f(i); }
T hist(u *a, u *b, u *c, u n) { // 1 no init, 2 no sync after init, 3 plain add, 4 no sync before flush, 5 bin overflow
  __shared__ u h[64];
  if (B != 1) for (u t = threadIdx.x; t < 64; t += blockDim.x) h[t] = 0;
  if (B != 2) __syncthreads();
  each(n, [=] (u i) { u k = B == 5 ? a[i] % 70 : a[i] & 63; if (B == 3) h[k]++; else atomicAdd(&h[k], 1); });
  if (B != 4) __syncthreads();
  for (u t = threadIdx.x; t < 64; t += blockDim.x) atomicAdd(&c[t], h[t]);
}
K(hist, 0, right)
K(hist, 1, uninitialised)
K(hist, 2, race)
K(hist, 3, race)
K(hist, 4, race)
K(hist, 5, memory_access)

// stencil double buffered over iterations in shared
T stencil(u *a, u *b, u *c, u n) { // 1 one sync missing, 2 halo not loaded, 3 index off by one oob
  __shared__ u s[2][130];
  u t = threadIdx.x + 1, i = blockIdx.x * 128 + threadIdx.x;
  s[0][t] = a[i];
  if (B != 2) { if (threadIdx.x == 0) { s[0][0] = i ? a[i - 1] : 0; s[1][0] = 0; } if (threadIdx.x == 127) { s[0][129] = a[i + 1]; s[1][129] = 0; } }
  __syncthreads();
  u cur = 0;
  for (int k = 0; k < 4; k++) {
    s[cur ^ 1][t] = s[cur][t - 1] + s[cur][t] + s[cur][B == 3 ? t + 2 : t + 1];
    cur ^= 1;
    if (B != 1) __syncthreads();
  }
  b[i] = s[cur][t];
}
K(stencil, 0, right)
K(stencil, 1, race)
K(stencil, 2, uninitialised)
K(stencil, 3, memory_access)

// double buffering with cp.async primitives
T pipe(u *a, u *b, u *c, u n) { // 1 wait too little, 2 no sync after wait (others' data), 3 buffer reused without sync
  __shared__ u s[2][128];
  u t = threadIdx.x, x = 0;
  const int R = 6;
  __pipeline_memcpy_async(&s[0][t], &a[t], 4); __pipeline_commit();
  for (int k = 0; k < R; k++) {
    if (k + 1 < R) __pipeline_memcpy_async(&s[(k + 1) & 1][t], &a[(k + 1) * 128 + t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(B == 1 ? 2 : 1);
    if (B != 2) __syncthreads();
    x += s[k & 1][t ^ 37];
    if (B != 3) __syncthreads();
  }
  b[blockIdx.x * 128 + t] = x;
}
K(pipe, 0, right)
K(pipe, 1, async_copy)
K(pipe, 2, race)
K(pipe, 3, race)

// cuda::pipeline thread scope
T cpipe(u *a, u *b, u *c, u n) { // 1 no consumer_wait, 2 no sync
  __shared__ u s[2][128];
  auto p = cuda::make_pipeline();
  u t = threadIdx.x, x = 0;
  for (int k = 0; k < 7; k++) {
    if (k < 6) { p.producer_acquire(); cuda::memcpy_async(&s[k & 1][t], &a[k * 128 + t], sizeof(u), p); p.producer_commit(); }
    if (k == 0) continue;
    if (B != 1) { if (k < 6) cuda::pipeline_consumer_wait_prior<1>(p); else cuda::pipeline_consumer_wait_prior<0>(p); }
    if (B != 2) __syncthreads();
    x += s[(k - 1) & 1][t ^ 5];
    __syncthreads();
    p.consumer_release();
  }
  b[blockIdx.x * 128 + t] = x;
}
K(cpipe, 0, right)
K(cpipe, 1, async_copy)
K(cpipe, 2, race)

// cuda::barrier (mbarrier) with memcpy_async
T cbar(u *a, u *b, u *c, u n) { // 1 no wait
  __shared__ u s[128];
  #pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(&s[threadIdx.x], &a[threadIdx.x], sizeof(u), bar);
  auto tok = bar.arrive();
  if (B != 1) bar.wait(std::move(tok));
  b[blockIdx.x * 128 + threadIdx.x] = s[threadIdx.x ^ 40];
}
K(cbar, 0, right)
K(cbar, 1, race)

// warp-synchronous without syncwarp (old style) vs with
T warpsync(u *a, u *b, u *c, u n) { // 1 missing __syncwarp
  __shared__ u s[128];
  u t = threadIdx.x, l = t & 31;
  s[t] = a[t];
  if (B != 1) __syncwarp();
  u v = s[(t & ~31u) | (31 - l)];
  b[blockIdx.x * 128 + t] = v;
}
K(warpsync, 0, right)
K(warpsync, 1, race)

// tile partition
T tiles(u *a, u *b, u *c, u n) { // 1 tile sync too small
  __shared__ u s[128];
  auto blk = cg::this_thread_block();
  auto t16 = cg::tiled_partition<16>(blk); auto t32 = cg::tiled_partition<32>(blk);
  u t = threadIdx.x;
  s[t] = a[t];
  if (B == 1) t16.sync(); else t32.sync();
  u v = s[t ^ 16];
  v = cg::reduce(t16, v, cg::plus<u>());
  b[blockIdx.x * 128 + t] = v;
}
K(tiles, 0, right)
K(tiles, 1, race)

// local array uninit
T local(u *a, u *b, u *c, u n) { // 1 reads element not set, 2 index out of the local array
  u q[8]; u i = blockIdx.x * 128 + threadIdx.x;
  for (u k = 0; k < (B == 1 ? 7u : 8u); k++) q[(k * a[1]) & 7] = a[i + k];
  b[i] = q[(a[i] + (B == 2 ? 3 : 0)) & (B == 2 ? 15 : 7)];
}
K(local, 0, right)
K(local, 1, uninitialised)
K(local, 2, memory_access)

// early exit before barrier
T early(u *a, u *b, u *c, u n) { // 1 half of the threads exit before syncthreads (ok by guide for exited), 2 barrier in divergent branch
  __shared__ u s[128];
  u t = threadIdx.x;
  s[t] = a[t];
  if (B == 2) { if (t < 40) __syncthreads(); } else __syncthreads();
  b[blockIdx.x * 128 + t] = s[127 - t];
}
K(early, 0, right)
K(early, 2, barrier)

// list ranking pointer jumping w/ two buffers
T jump(u *a, u *b, u *c, u n) { // 1 in place
  __shared__ u nx[2][128];
  u t = threadIdx.x; nx[0][t] = t ? t - 1 : 0; __syncthreads();
  for (int k = 0; k < 7; k++) { u v = nx[B == 1 ? 0 : k & 1][nx[B == 1 ? 0 : k & 1][t]]; nx[B == 1 ? 0 : (k + 1) & 1][t] = v; __syncthreads(); }
  b[blockIdx.x * 128 + t] = nx[B == 1 ? 0 : 1][t];
}
K(jump, 0, right)
K(jump, 1, race)

// named barriers producer/consumer
T named(u *a, u *b, u *c, u n) { // 1 wrong id, 2 missing arrive->deadlock
  __shared__ u s[64];
  u t = threadIdx.x;
  if (t < 64) { s[t] = a[t]; asm volatile("bar.arrive 1, 128;" ::: "memory"); }
  else { if (B != 1) asm volatile("bar.sync 1, 128;" ::: "memory"); b[blockIdx.x * 64 + t - 64] = s[t - 64 ^ 3]; }
}
K(named, 0, right)
K(named, 1, race)

// matrix transpose w/ dynamic shared
extern __shared__ u dyn[];
T transpose(u *a, u *b, u *c, u n) { // 1 missing sync, 2 beyond dynamic
  u x = threadIdx.x & 15, y = threadIdx.x >> 4;
  for (u k = 0; k < 2; k++) { dyn[(y + 8 * k) * 17 + x + (B == 2 ? 8 : 0)] = a[(y + 8 * k) * 16 + x]; }
  if (B != 1) __syncthreads();
  for (u k = 0; k < 2; k++) b[blockIdx.x * 256 + (y + 8 * k) * 16 + x] = dyn[x * 17 + y + 8 * k];
}
K(transpose, 0, right)
K(transpose, 1, race)
K(transpose, 2, memory_access)
