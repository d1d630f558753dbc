// Atomic operations of many kinds, in shared and in global memory.
#include "check.h"

__global__ void count(const unsigned char *in, int n, unsigned *bins) {
  __shared__ unsigned own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    atomicAdd(&own[in[i]], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

__device__ double add_by_exchange(double *to, double value) {
  unsigned long long *bits = (unsigned long long *)to, seen = *bits, before;
  do {
    before = seen;
    seen = atomicCAS(bits, before, __double_as_longlong(value + __longlong_as_double(before)));
  } while (before != seen);
  return __longlong_as_double(seen);
}

__global__ void kinds(int *x, unsigned long long *wide, double *sums) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicMax(&x[0], i);
  atomicMin(&x[1], -i);
  atomicOr(&x[2], 1 << i % 32);
  atomicXor(&x[3], i);
  atomicInc((unsigned *)&x[4], 9);
  atomicAdd(wide, 1ull << 33);
  atomicAdd(&sums[0], 0.5);
  add_by_exchange(&sums[1], 0.25);
}

int main() {
  const int n = 10000;
  std::vector<unsigned char> in(n);
  std::vector<unsigned> expected(256, 0), none(256, 0);
  for (int i = 0; i < n; i++) expected[in[i] = (unsigned char)(i * i / 7)]++;
  unsigned *bins = on_device(none);
  count<<<4, 256>>>(on_device(in), n, bins);
  EXPECT(to_host(bins, 256) == expected);
  int *x = on_device(std::vector<int>(5, 0));
  unsigned long long *wide = on_device(std::vector<unsigned long long>(1, 0));
  double *sums = on_device(std::vector<double>(2, 0));
  kinds<<<2, 96>>>(x, wide, sums);
  std::vector<int> found = to_host(x, 5);
  int all = 0;
  for (int i = 0; i < 192; i++) all ^= i;
  EXPECT(found[0] == 191 && found[1] == -191 && found[2] == -1 && found[3] == all);
  EXPECT(found[4] == 192 % 10);
  EXPECT(to_host(wide, 1)[0] == 192ull << 33);
  EXPECT(to_host(sums, 2)[0] == 96 && to_host(sums, 2)[1] == 48);
}
