// What threads of a warp tell each other, bits of integers, clocks and text of PTX.
#include "check.h"

__global__ void vote(unsigned *out) {
  unsigned lane = threadIdx.x % 32, in_ptx;
  asm("mov.u32 %0, %%laneid;" : "=r"(in_ptx));
  unsigned odd = __ballot_sync(~0u, lane & 1), same = __match_any_sync(~0u, lane / 8);
  unsigned sum = __reduce_add_sync(~0u, lane), mixed = __byte_perm(0x33221100, 0x77665544, 0x6240);
  out[threadIdx.x * 6] = odd;
  out[threadIdx.x * 6 + 1] = same;
  out[threadIdx.x * 6 + 2] = sum + in_ptx;
  out[threadIdx.x * 6 + 3] = mixed;
  out[threadIdx.x * 6 + 4] = __popc(odd) + __clz(1 + lane) + (__brev(1) >> 31) + __ffs(lane);
  out[threadIdx.x * 6 + 5] = __all_sync(~0u, lane < 32) + 2 * __any_sync(~0u, lane == 40);
}
__global__ void time(long long *out) {
  long long begin = clock64();
  unsigned long long at;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(at));
  __nanosleep(100);
  out[threadIdx.x] = clock64() - begin;
}
__device__ int depth(int n) { return n < 2 ? n : depth(n - 1) + depth(n - 2); }
__global__ void recurse(int *out) { out[threadIdx.x] = depth(threadIdx.x); }

int main() {
  unsigned *out;
  long long *ticks;
  int *numbers;
  CHECK(cudaMalloc(&out, 64 * 6 * sizeof(unsigned)));
  CHECK(cudaMalloc(&ticks, 32 * sizeof(long long)));
  CHECK(cudaMalloc(&numbers, 12 * sizeof(int)));
  vote<<<1, 64>>>(out);
  std::vector<unsigned> found = to_host(out, 64 * 6);
  for (unsigned i = 0; i < 64; i++) {
    unsigned lane = i % 32;
    EXPECT(found[i * 6] == 0xaaaaaaaa && found[i * 6 + 1] == 0xffu << lane / 8 * 8);
    EXPECT(found[i * 6 + 2] == 496 + lane && found[i * 6 + 3] == 0x66224400);
    EXPECT(found[i * 6 + 4] == 17u + __builtin_clz(1 + lane) + __builtin_ffs(lane));
    EXPECT(found[i * 6 + 5] == 1);
  }
  time<<<1, 32>>>(ticks);
  for (long long passed : to_host(ticks, 32)) EXPECT(passed >= 0);
  recurse<<<1, 12>>>(numbers);
  EXPECT(to_host(numbers, 12)[11] == 89);
}
