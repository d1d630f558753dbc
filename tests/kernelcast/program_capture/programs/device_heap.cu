// Memory that kernels allocate, which lives from launch to launch; assertions that hold.
#include <cassert>

#include "check.h"

__device__ int *kept[64];

__global__ void make(int size) {
  int *mine = (int *)malloc(size * sizeof(int));
  assert(mine != nullptr);
  for (int i = 0; i < size; i++) mine[i] = threadIdx.x * 100 + i;
  kept[threadIdx.x] = mine;
}
__global__ void use(int *sums, int size) {
  int *other = kept[(threadIdx.x + 1) % 64], sum = 0;
  for (int i = 0; i < size; i++) sum += other[i];
  sums[threadIdx.x] = sum;
}
__global__ void release() {
  free(kept[threadIdx.x]);
  double *more = new double[3];
  more[2] = 4;
  assert(more[2] == 4);
  delete[] more;
}

int main() {
  CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
  int *sums;
  CHECK(cudaMalloc(&sums, 64 * sizeof(int)));
  make<<<1, 64>>>(10);
  use<<<1, 64>>>(sums, 10);
  release<<<1, 64>>>();
  CHECK(cudaDeviceSynchronize());
  std::vector<int> found = to_host(sums, 64);
  for (int i = 0; i < 64; i++) EXPECT(found[i] == (i + 1) % 64 * 1000 + 45);
}
