// Small kernels in a right form and with planted bugs, `template <int B>`: 0 is right, others are
// named beside. K(NAME, B, KIND) makes a kernel of one; KIND is what check must find in it. All get
// three buffers of 4,096 words, the first one counting up and the others zero, and n = 500, in 4
// thread blocks of 128 threads.
// grids.ptx: nvcc -std=c++17 -O3 -arch=sm_80 -ptx
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/atomic>
#include <cuda_pipeline.h>
#include <cuda/barrier>
namespace cg = cooperative_groups;
typedef unsigned u;
#define K(name, bug, kind) extern "C" __global__ void name##_##bug(u *a, u *b, u *c, u n) { name<bug>(a, b, c, n); }
#define T template <int B> __device__ __forceinline__ void
// persistent thread blocks that fetch their work by an atomic counter
T persist(u *a, u *b, u *c, u n) { // 1 shared index without sync after, 2 plain counter
  __shared__ u item;
  for (;;) {
    if (threadIdx.x == 0) item = B == 2 ? c[0]++ : atomicAdd(c, 1);
    __syncthreads();
    u k = item;
    if (B != 1) __syncthreads();
    if (k >= 16) break;
    b[k * 128 + threadIdx.x] = a[k * 128 + threadIdx.x] + 1;
  }
}
K(persist, 0, right)
K(persist, 1, race)
K(persist, 2, race)
// Kogge-Stone exclusive scan with warp scan and shared partials
T scan(u *a, u *b, u *c, u n) { // 1 missing sync between write partial & scan, 2 read beyond warps (uninit), 3 missing sync after
  __shared__ u w[8];
  u t = threadIdx.x, l = t & 31, wi = t >> 5, i = blockIdx.x * 128 + t;
  u v = i < n ? a[i] : 0, x = v;
  for (int o = 1; o < 32; o *= 2) { u y = __shfl_up_sync(~0u, x, o); if (l >= o) x += y; }
  if (l == 31) w[wi] = x;
  if (B != 1) __syncthreads();
  if (wi == 0) { u y = l < (B == 2 ? 8 : 4) ? w[l] : 0, z = y; for (int o = 1; o < 8; o *= 2) { u q = __shfl_up_sync(~0u, z, o); if (l >= o) z += q; } if (l < 4) w[l] = z - y; }
  if (B != 3) __syncthreads();
  if (i < n) b[i] = x - v + w[wi];
}
K(scan, 0, right)
K(scan, 1, race)
K(scan, 2, uninitialised)
K(scan, 3, race)
// segmented stencil in global with two buffers, multiple blocks, halo read from other block in same kernel
T jacobi(u *a, u *b, u *c, u n) { // 0 reads a writes b; 1 writes a in place; 2 missing upper bound guard; 3 missing lower bound
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (B != 3 && i == 0) return;
  if (B != 2 && i >= (int)n - 1) return;
  u *o = B == 1 ? a : b;
  if (B == 2) { o = b; a += 4096 - 512; }
  o[i] = a[i - 1] + a[i] + a[i + 1];
}
K(jacobi, 0, right)
K(jacobi, 1, race)
K(jacobi, 2, memory_access)
K(jacobi, 3, memory_access)
// mpmc ring buffer with sequence numbers (Vyukov)
T ring(u *a, u *b, u *c, u n) { // b data[8], c seq[8], c[32] head, c[33] tail; init seq by first block thread... single block
  typedef cuda::atomic_ref<u, cuda::thread_scope_block> A;
  u t = threadIdx.x;
  __shared__ u data[8], seq[8], head, tail;
  if (t < 8) seq[t] = t;
  if (t == 0) head = tail = 0;
  if (B != 3) __syncthreads();
  if (t < 64) { // producers
    u p = A(head).fetch_add(1, cuda::memory_order_relaxed);
    while (A(seq[p & 7]).load(B == 2 ? cuda::memory_order_relaxed : cuda::memory_order_acquire) != p);
    data[p & 7] = t;
    A(seq[p & 7]).store(p + 1, B == 1 ? cuda::memory_order_relaxed : cuda::memory_order_release);
  } else {
    u q = A(tail).fetch_add(1, cuda::memory_order_relaxed);
    while (A(seq[q & 7]).load(cuda::memory_order_acquire) != q + 1);
    u v = data[q & 7];
    A(seq[q & 7]).store(q + 8, B == 4 ? cuda::memory_order_relaxed : cuda::memory_order_release);
    b[blockIdx.x * 128 + t] = v;
  }
}
K(ring, 0, right)
K(ring, 1, race)
K(ring, 2, race)
K(ring, 3, race)
K(ring, 4, race)
// union-find / connected components with atomicMin and plain reads (volatile)
T cc(u *a, u *b, u *c, u n) { // 1 plain store in place of atomicMin
  u v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  u w = (v * 7 + 3) % n;
  for (;;) {
    u x = atomicAdd(&c[v], 0), y = atomicAdd(&c[w], 0);
    if (x == y) break;
    if (B == 1) { c[v] = min(x, y); break; }
    else { atomicMin(&c[max(v, w)], min(x, y)); atomicMin(&c[v], y); atomicMin(&c[w], x); }
  }
}
K(cc, 0, right)
// sssp relax
T relax(u *a, u *b, u *c, u n) { // dist b; 1 plain min
  u v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  u d; if (B == 0) d = ((volatile u *)b)[v]; else d = b[v];
  for (u k = 0; k < 3; k++) { u w = (v * (k + 2) + 1) % n; if (B == 1) { if (d + k + 1 > b[w]) b[w] = d + k + 1; } else atomicMax(&b[w], d + k + 1); }
}
K(relax, 0, right)
K(relax, 1, race)
K(relax, 2, race)
// block radix sort pass w/ shared counters and scatter
T radix(u *a, u *b, u *c, u n) { // 1 missing sync after count, 2 scatter index race (no rank)
  __shared__ u cnt[16]; __shared__ u key[128];
  u t = threadIdx.x; u k = (a[blockIdx.x * 128 + t] * 2654435761u) >> 28;
  if (t < 16) cnt[t] = 0;
  __syncthreads();
  u r = atomicAdd(&cnt[k], 1);
  if (B != 1) __syncthreads();
  u base = 0; for (u j = 0; j < k; j++) base += cnt[j];
  key[B == 2 ? base : base + r] = a[blockIdx.x * 128 + t];
  __syncthreads();
  b[blockIdx.x * 128 + t] = key[t];
}
K(radix, 0, right)
K(radix, 1, race)
K(radix, 2, race)
// double buffered shared GEMM-like with float4 loads
T gemm(u *a, u *b, u *c, u n) { // 1 missing second sync, 2 oob k tail
  __shared__ __align__(16) float sa[8][36]; __shared__ float sb[8][36];
  float acc[8] = {};
  u t = threadIdx.x;
  const float *A = (const float *)a, *Bm = (const float *)b;
  for (u k = 0; k < 4; k++) {
    if (t < 64) *(float4 *)&sa[t >> 3][(t & 7) * 4] = *(const float4 *)&A[(t >> 3) * 128 + k * 32 + (t & 7) * 4];
    else for (u q = 0; q < 4; q++) sb[(t - 64) >> 3][((t - 64) & 7) * 4 + q] = Bm[((t - 64) >> 3) * 128 + k * 32 + ((t - 64) & 7) * 4 + q];
    __syncthreads();
    for (u q = 0; q < 32; q++) acc[q & 7] += sa[t & 7][q] * sb[(t >> 3) & 7][q];
    if (B != 1) __syncthreads();
  }
  float s = 0; for (u q = 0; q < 8; q++) s += acc[q];
  ((float *)c)[blockIdx.x * 128 + t] = s;
}
K(gemm, 0, right)
K(gemm, 1, race)
// arrive/wait token barrier split
T split(u *a, u *b, u *c, u n) { // 1 read before wait
  #pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> bar; __shared__ u s[128];
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  s[threadIdx.x] = a[threadIdx.x];
  auto tok = bar.arrive();
  u v = 0;
  if (B == 1) v = s[threadIdx.x ^ 99];
  bar.wait(std::move(tok));
  if (B == 0) v = s[threadIdx.x ^ 99];
  b[blockIdx.x * 128 + threadIdx.x] = v;
}
K(split, 0, right)
K(split, 1, race)
// cg memcpy_async for block
T cgcopy(u *a, u *b, u *c, u n) { // 1 no cg::wait, 2 source overwritten before the wait
  __shared__ u s[128];
  auto blk = cg::this_thread_block();
  u *src = a + blockIdx.x * 128;
  cg::memcpy_async(blk, s, src, sizeof(u) * 128);
  if (B == 2) src[threadIdx.x] = 7;
  if (B != 1) cg::wait(blk);
  b[blockIdx.x * 128 + threadIdx.x] = s[127 - threadIdx.x];
}
K(cgcopy, 0, right)
K(cgcopy, 1, async_copy)
K(cgcopy, 2, async_copy)
// cp.async source overwritten too early (own source)
T source(u *a, u *b, u *c, u n) { // 1 overwritten before wait
  __shared__ u s[128]; u t = threadIdx.x, i = blockIdx.x * 128 + t;
  __pipeline_memcpy_async(&s[t], &a[i], 4); __pipeline_commit();
  if (B == 1) a[i] = 5;
  __pipeline_wait_prior(0);
  if (B == 0) a[i] = 5;
  __syncthreads();
  b[i] = s[t ^ 1];
}
K(source, 0, right)
K(source, 1, async_copy)
// struct with padding via shared
struct P { char x; u y; };
T pad(u *a, u *b, u *c, u n) { // right: members only; 
  __shared__ P s[128]; P p; p.x = (char)a[threadIdx.x]; p.y = a[threadIdx.x] * 2;
  s[threadIdx.x] = p;
  __syncthreads();
  P q = s[threadIdx.x ^ 1];
  b[blockIdx.x * 128 + threadIdx.x] = q.x + q.y;
}
K(pad, 0, right)
// recursion / indirect / switch
__device__ __noinline__ u helper(u *q, u k) { u s = 0; for (u i = 0; i < k; i++) s += q[i]; return s; }
T call(u *a, u *b, u *c, u n) { // 1 uninit tail
  u q[6]; for (u i = 0; i < (B == 1 ? 5u : 6u); i++) q[i] = a[i + threadIdx.x];
  b[blockIdx.x * 128 + threadIdx.x] = helper(q, 6);
}
K(call, 0, right)
K(call, 1, uninitialised)
// uninitialised scalar
T scalar(u *a, u *b, u *c, u n) { // 1 x only set by some
  u x; u i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("{.reg .pred p; setp.lt.u32 p, %1, 100; @p mov.u32 %0, 3;}" : "=r"(x) : "r"(i));
  b[i] = B ? x : (i < 100 ? x : 0);
}
K(scalar, 0, right)
// warp vote & match
T match(u *a, u *b, u *c, u n) { // 1 leader write without atomic
  u i = blockIdx.x * 128 + threadIdx.x; u k = a[i] % 5;
  u m = __match_any_sync(~0u, k);
  if ((threadIdx.x & 31) == __ffs(m) - 1) { if (B == 1) c[k] += __popc(m); else atomicAdd(&c[k], __popc(m)); }
}
K(match, 0, right)
K(match, 1, race)
// divergent syncwarp mask wrong
T mask(u *a, u *b, u *c, u n) { // 1 full mask in branch
  __shared__ u s[128]; u t = threadIdx.x, l = t & 31;
  if (l < 16) { s[t] = a[t]; __syncwarp(B == 1 ? 0xffffffffu : 0xffffu); b[blockIdx.x * 128 + t] = s[t ^ 1]; }
}
K(mask, 0, right)
// volatile flag within a block between warps, threadfence_block
T flag(u *a, u *b, u *c, u n) { // 1 no fence
  __shared__ volatile u f; __shared__ u d;
  if (threadIdx.x == 0) f = 0;
  __syncthreads();
  if (threadIdx.x == 0) { d = a[blockIdx.x]; if (B != 1) __threadfence_block(); f = 1; }
  else if (threadIdx.x == 64) { while (!f); __threadfence_block(); b[blockIdx.x] = d; }
}
K(flag, 0, right)
K(flag, 1, race)
// reversed in place with guard
T reverse(u *a, u *b, u *c, u n) { // 1 no guard on half -> race
  u i = blockIdx.x * 128 + threadIdx.x;
  if (i < (B == 1 ? n : n / 2)) { u x = a[i], y = a[n - 1 - i]; a[i] = y; a[n - 1 - i] = x; }
}
K(reverse, 0, right)
K(reverse, 1, race)
// bank of spin on neighbour (wavefront) with volatile data, chained blocks
T wave(u *a, u *b, u *c, u n) { // 1 missing fence
  if (threadIdx.x == 0 && blockIdx.x) { while (atomicAdd(&c[blockIdx.x - 1], 0) == 0); __threadfence(); }
  __syncthreads();
  u v = blockIdx.x ? b[(blockIdx.x - 1) * 128 + threadIdx.x] : 1;
  b[blockIdx.x * 128 + threadIdx.x] = v + a[threadIdx.x];
  if (B != 1) __threadfence();
  if (B != 2) __syncthreads();
  if (threadIdx.x == 0) { if (B == 0) __threadfence(); atomicExch(&c[blockIdx.x], 1); }
}
K(wave, 0, right)
K(wave, 1, race)
K(wave, 2, race)
