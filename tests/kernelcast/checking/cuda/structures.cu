// Small kernels in a right form and with planted bugs, as in blocks.cu.
// structures.ptx: nvcc -std=c++17 -O3 -arch=sm_80 -ptx
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
typedef unsigned u;
#define K(name, bug, kind) extern "C" __global__ void name##_##bug(u *a, u *b, u *c, u n) { name<bug>(a, b, c, n); }
#define T template <int B> __device__ __forceinline__ void
// a lock in shared memory
T sema(u *a, u *b, u *c, u n) { // 1 no acquire
  __shared__ u lockw, sum;
  if (threadIdx.x == 0) { lockw = 0; sum = 0; }
  __syncthreads();
  cuda::atomic_ref<u, cuda::thread_scope_block> l(lockw);
  if ((threadIdx.x & 31) == 0) {
    if (B != 1) while (l.exchange(1, B == 2 ? cuda::memory_order_relaxed : cuda::memory_order_acquire));
    sum += threadIdx.x;
    l.store(0, cuda::memory_order_release);
  }
  __syncthreads();
  b[blockIdx.x * 128 + threadIdx.x] = sum;
}
K(sema, 0, right)
K(sema, 1, race)
K(sema, 2, race)
// block-scope pipeline, producer/consumer specialisation
T bpipe(u *a, u *b, u *c, u n) { // 1 no consumer_wait
  #pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> st;
  __shared__ __align__(16) u s[2][128];
  auto blk = cg::this_thread_block();
  auto p = cuda::make_pipeline(blk, &st);
  u x = 0;
  for (int k = 0; k < 7; k++) {
    if (k < 6) { p.producer_acquire(); cuda::memcpy_async(blk, s[k & 1], a + k * 128, cuda::aligned_size_t<16>(512), p); p.producer_commit(); }
    if (k > 0) { if (B != 1) p.consumer_wait(); x += s[(k - 1) & 1][threadIdx.x ^ 77]; p.consumer_release(); }
  }
  b[blockIdx.x * 128 + threadIdx.x] = x;
}
K(bpipe, 0, right)
K(bpipe, 1, async_copy)
// bfs frontier w/ block queue
T frontier(u *a, u *b, u *c, u n) { // 1 flush w/out sync, 2 overflow of queue, 3 base not shared sync
  __shared__ u q[128]; __shared__ u cnt, base;
  u v = blockIdx.x * 128 + threadIdx.x;
  if (threadIdx.x == 0) cnt = 0;
  __syncthreads();
  if (v < n) for (u e = 0; e < (B == 2 ? 3u : 1u); e++) { u w = (v * 5 + 1 + e * 17) % 1024; if (B == 2 || atomicExch(&b[w], 1) == 0) { u p = atomicAdd(&cnt, 1); q[p] = w; } }
  if (B != 1) __syncthreads();
  if (threadIdx.x == 0) base = atomicAdd(c, cnt);
  if (B != 3) __syncthreads();
  for (u k = threadIdx.x; k < cnt; k += 128) c[64 + base + k] = q[k];
}
K(frontier, 0, right)
K(frontier, 1, race)
K(frontier, 2, out_of_bounds)
K(frontier, 3, race)
// 2D stencil tile with corner halo
T tile2(u *a, u *b, u *c, u n) { // 1 corner not loaded; 2 wrong stride
  __shared__ u s[10][18]; u x = threadIdx.x & 15, y = threadIdx.x >> 4; const u W = 64;
  u gx = 16 + x, gy = 8 + blockIdx.x * 8 + y;
  s[y + 1][x + 1] = a[gy * W + gx];
  if (x == 0) s[y + 1][0] = a[gy * W + gx - 1];
  if (x == 15) s[y + 1][17] = a[gy * W + gx + 1];
  if (y == 0) s[0][x + 1] = a[(gy - 1) * W + gx];
  if (y == 7) s[9][x + 1] = a[(gy + 1) * W + gx];
  if (B != 1) { if (x == 0 && y == 0) s[0][0] = a[(gy - 1) * W + gx - 1]; if (x == 15 && y == 0) s[0][17] = 1; if (x == 0 && y == 7) s[9][0] = 1; if (x == 15 && y == 7) s[9][17] = 1; }
  __syncthreads();
  u t = 0; for (u j = 0; j < 3; j++) for (u k = 0; k < 3; k++) t += s[y + j][x + k];
  b[gy * W + gx] = t;
}
K(tile2, 0, right)
K(tile2, 1, uninitialised)
// hash table insert linear probing with CAS and value publish
T hash(u *a, u *b, u *c, u n) { // 1 value written plain & read by others plain; right: atomicAdd on value
  u i = blockIdx.x * 128 + threadIdx.x; if (i >= n) return;
  u key = (i * 7) % 97 + 1, h = key % 256;
  for (;;) { u old = atomicCAS(&b[h], 0, key); if (old == 0 || old == key) break; h = (h + 1) % 256; }
  if (B == 1) c[h] += i; else atomicAdd(&c[h], i);
}
K(hash, 0, right)
K(hash, 1, race)
// treiber stack push
T stack(u *a, u *b, u *c, u n) { // 1 relaxed without fence then pop
  u i = blockIdx.x * 128 + threadIdx.x + 1;
  cuda::atomic_ref<u, cuda::thread_scope_device> head(c[0]);
  u h = head.load(cuda::memory_order_relaxed);
  do { b[i] = h; } while (!head.compare_exchange_weak(h, i, B == 1 ? cuda::memory_order_relaxed : cuda::memory_order_release, cuda::memory_order_relaxed));
  u p = head.load(cuda::memory_order_acquire);
  a[2048 + i] = b[p];
}
K(stack, 0, right)
K(stack, 1, race)
// max with int atomics shared double buffer of warps & __syncthreads_or
T vote(u *a, u *b, u *c, u n) { // loop until converged with syncthreads_or
  __shared__ u s[128]; u t = threadIdx.x; s[t] = a[t] * 37 % 128; __syncthreads();
  for (;;) {
    u l = t ? s[t - 1] : 0, m = s[t]; int ch = 0;
    if (B != 1) __syncthreads();
    if (l > m) { s[t] = l; ch = 1; }
    if (!__syncthreads_or(ch)) break;
  }
  b[blockIdx.x * 128 + t] = s[t];
}
K(vote, 0, right)
K(vote, 1, race)
// fence.sc Dekker style? and system scope flag
T sys(u *a, u *b, u *c, u n) { // 1 missing system fence but device is enough
  if (threadIdx.x) return;
  cuda::atomic_ref<u, cuda::thread_scope_system> f(c[0]);
  if (blockIdx.x == 0) { b[0] = 5; f.store(1, cuda::memory_order_release); }
  else if (blockIdx.x == 1) { while (!f.load(cuda::memory_order_acquire)); a[9] = b[0]; }
}
K(sys, 0, right)
// uint2 / vector accesses, partial overlap race
T vec(u *a, u *b, u *c, u n) { // 1 neighbours overlap
  u i = blockIdx.x * 128 + threadIdx.x;
  if (B == 1) { b[i] = 1; b[i + 1] = 2; } else ((uint2 *)b)[i] = ((uint2 *)a)[i];
}
K(vec, 0, right)
K(vec, 1, race)
// bytes
T bytes(u *a, u *b, u *c, u n) { u i = blockIdx.x * 128 + threadIdx.x; ((unsigned char *)b)[i] = (unsigned char)a[i]; if (B == 1) b[i / 4] = 0; }
K(bytes, 0, right)
K(bytes, 1, race)
// multi-pass with cg grid sync & reduction tree
T gridred(u *a, u *b, u *c, u n) { // 1 missing one grid sync
  auto g = cg::this_grid(); u i = g.thread_rank(), m = g.size();
  b[i] = a[i]; g.sync();
  for (u o = m / 2; o; o /= 2) { if (i < o) b[i] += b[i + o]; if (B != 1 || o != 64) g.sync(); }
  if (i == 0) c[0] = b[0];
}
K(gridred, 0, right)
K(gridred, 1, race)
// warp shuffle with inactive lane & ballot compaction
T ballot(u *a, u *b, u *c, u n) { // 1 offset counter by plain
  __shared__ u off; if (threadIdx.x == 0) off = 0; __syncthreads();
  bool p = a[threadIdx.x] % 3 == 1; u m = __ballot_sync(~0u, p), l = threadIdx.x & 31, base = 0;
  if (l == 0) { if (B == 1) { base = off; off = base + __popc(m); } else base = atomicAdd(&off, __popc(m)); }
  base = __shfl_sync(~0u, base, 0);
  if (p) b[blockIdx.x * 128 + base + __popc(m & ((1u << l) - 1))] = threadIdx.x;
}
K(ballot, 0, right)
K(ballot, 1, race)
