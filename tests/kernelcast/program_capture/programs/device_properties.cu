// What the program is told about the GPU is consistent, whichever way it asks.
#include "check.h"

__global__ void nothing() {}

int main() {
  int count = 0, device = -1, value = 0;
  CHECK(cudaGetDeviceCount(&count));
  EXPECT(count == 1);
  CHECK(cudaSetDevice(0));
  CHECK(cudaGetDevice(&device));
  EXPECT(device == 0);
  cudaDeviceProp facts;
  CHECK(cudaGetDeviceProperties(&facts, 0));
  EXPECT(strstr(facts.name, "A100"));
  EXPECT(facts.major == 8 && facts.minor == 0 && facts.multiProcessorCount == 108);
  EXPECT(facts.warpSize == 32 && facts.maxThreadsPerBlock == 1024 && facts.regsPerBlock == 65536);
  EXPECT(facts.maxThreadsDim[2] == 64 && facts.maxGridSize[1] == 65535);
  EXPECT(facts.sharedMemPerBlock == 48 << 10 && facts.sharedMemPerBlockOptin == 163 << 10);
  EXPECT(facts.totalConstMem == 64 << 10 && facts.unifiedAddressing && facts.managedMemory);
  EXPECT(facts.l2CacheSize >= 20 << 20 && facts.memoryBusWidth > 0 && facts.asyncEngineCount > 0);
  EXPECT(facts.cooperativeLaunch && facts.concurrentKernels && facts.canMapHostMemory);
  size_t free_bytes, all_bytes, after;
  CHECK(cudaMemGetInfo(&free_bytes, &all_bytes));
  EXPECT(all_bytes == facts.totalGlobalMem && all_bytes >= 39ull << 30 && all_bytes < 48ull << 30);
  void *taken;
  CHECK(cudaMalloc(&taken, 64 << 20));
  CHECK(cudaMemGetInfo(&after, &all_bytes));
  EXPECT(free_bytes - after >= 64 << 20 && free_bytes - after < 66 << 20);
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0));
  EXPECT(value == facts.major);
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
  EXPECT(value == facts.multiProcessorCount);
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxGridDimX, 0));
  EXPECT(value == facts.maxGridSize[0]);
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0));
  EXPECT((size_t)value == facts.sharedMemPerMultiprocessor);
  int driver, runtime;
  CHECK(cudaDriverGetVersion(&driver));
  CHECK(cudaRuntimeGetVersion(&runtime));
  EXPECT(driver >= runtime && runtime / 1000 == CUDART_VERSION / 1000);
  EXPECT(cudaSetDevice(1) == cudaErrorInvalidDevice);
  EXPECT(cudaGetDeviceProperties(&facts, 1) == cudaErrorInvalidDevice);
  EXPECT(cudaGetLastError() == cudaErrorInvalidDevice);
  EXPECT(cudaGetLastError() == cudaSuccess);
  EXPECT(!strcmp(cudaGetErrorName(cudaErrorInvalidDevice), "cudaErrorInvalidDevice"));
  size_t limit;
  CHECK(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
  EXPECT(limit > 0);
  nothing<<<1, 1>>>();
  CHECK(cudaDeviceSynchronize());
}
