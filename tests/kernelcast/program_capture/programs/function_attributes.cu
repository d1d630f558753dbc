// What the runtime tells of kernels, and how many of their thread blocks fit on an SM.
#include "check.h"

__constant__ float table[16] = {1};

__global__ void __launch_bounds__(128) limited(float *x) {
  __shared__ float part[32];
  part[threadIdx.x % 32] = table[threadIdx.x % 16];
  __syncthreads();
  x[threadIdx.x] = part[(threadIdx.x + 1) % 32];
}
__global__ void plain(float *x) { x[threadIdx.x] = 2; }

int main() {
  cudaFuncAttributes about;
  CHECK(cudaFuncGetAttributes(&about, limited));
  EXPECT(about.sharedSizeBytes == 128 && about.maxThreadsPerBlock == 128);
  EXPECT(about.numRegs > 0 && about.numRegs <= 255);
  EXPECT(about.localSizeBytes == 0 && about.binaryVersion >= 70 && about.ptxVersion >= 70);
  CHECK(cudaFuncGetAttributes(&about, plain));
  EXPECT(about.maxThreadsPerBlock == 1024 && about.sharedSizeBytes == 0);
  int blocks, least, best;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 1024, 0));
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  EXPECT(blocks == device.maxThreadsPerMultiProcessor / 1024);
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 32, 32 << 10));
  EXPECT(blocks >= 2 && blocks <= 7);
  CHECK(cudaOccupancyMaxPotentialBlockSize(&least, &best, plain, 0, 0));
  EXPECT(best >= 256 && best <= 1024 && best % 32 == 0);
  EXPECT(least == device.multiProcessorCount * (device.maxThreadsPerMultiProcessor / best));
  size_t room;
  CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&room, plain, 2, 128));
  EXPECT(room >= 32 << 10 && room <= device.sharedMemPerBlockOptin);
  CHECK(cudaFuncSetCacheConfig(plain, cudaFuncCachePreferL1));
  float *x;
  CHECK(cudaMalloc(&x, 128 * sizeof(float)));
  limited<<<1, 128>>>(x);
  EXPECT(to_host(x, 128)[14] == 0 && to_host(x, 128)[31] == 1);
}
