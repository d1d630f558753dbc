// A scan in one pass: thread blocks wait in loops for what earlier ones publish.
#include "check.h"

__device__ unsigned next_block;
__device__ volatile int published[64];
__device__ volatile int flags[64];

__global__ void scan(const int *in, int *out) {
  __shared__ int part[128];
  __shared__ unsigned mine;
  __shared__ int before;
  if (!threadIdx.x) mine = atomicAdd(&next_block, 1);
  __syncthreads();
  int i = mine * 128 + threadIdx.x, value = in[i];
  part[threadIdx.x] = value;
  for (int step = 1; step < 128; step *= 2) {
    __syncthreads();
    int other = threadIdx.x >= step ? part[threadIdx.x - step] : 0;
    __syncthreads();
    part[threadIdx.x] += other;
  }
  __syncthreads();
  if (!threadIdx.x) {
    before = 0;
    if (mine) {
      while (!flags[mine - 1]) {
      }
      __threadfence();
      before = published[mine - 1];
    }
    published[mine] = before + part[127];
    __threadfence();
    flags[mine] = 1;
  }
  __syncthreads();
  out[i] = before + part[threadIdx.x];
}

int main() {
  const int blocks = 24, n = blocks * 128;
  std::vector<int> in(n);
  for (int i = 0; i < n; i++) in[i] = i % 9 - 3;
  int *from = on_device(in), *to = on_device(in);
  scan<<<blocks, 128>>>(from, to);
  CHECK(cudaDeviceSynchronize());
  std::vector<int> found = to_host(to, n);
  for (int i = 0, sum = 0; i < n; i++) EXPECT(found[i] == (sum += in[i]));
}
