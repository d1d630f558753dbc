// Sums by dynamic shared memory, by static shared memory and by shuffles, and with one atomic each.
#include "check.h"

__global__ void by_dynamic(const int *in, int *out, int n) {
  extern __shared__ int part[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? in[i] : 0;
  for (int half = blockDim.x / 2; half; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (!threadIdx.x) atomicAdd(out, part[0]);
}

__global__ void by_static(const int *in, int *out, int n) {
  __shared__ int sum;
  if (!threadIdx.x) sum = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&sum, in[i]);
  __syncthreads();
  if (!threadIdx.x) atomicAdd(out, sum);
}

__global__ void by_shuffle(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, sum = i < n ? in[i] : 0;
  for (int step = 16; step; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

int main() {
  const int n = 5000, block = 256, grid = (n + block - 1) / block;
  std::vector<int> in(n), none(3, 0);
  int sum = 0;
  for (int i = 0; i < n; i++) sum += in[i] = (i * 7919) % 101 - 50;
  int *from = on_device(in), *to = on_device(none);
  by_dynamic<<<grid, block, block * sizeof(int)>>>(from, to, n);
  by_static<<<8, block>>>(from, to + 1, n);
  by_shuffle<<<grid, block>>>(from, to + 2, n);
  CHECK(cudaDeviceSynchronize());
  for (int found : to_host(to, 3)) EXPECT(found == sum);
}
