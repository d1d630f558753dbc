// Handles that are none, what is known of those that are, and a device that is reset.
#include "check.h"

__device__ int counter = 3;

__global__ void nothing() {}
__global__ void count(int *to) { *to = ++counter; }
static void CUDART_CB call_back(void *told) { *(cudaError_t *)told = cudaDeviceSynchronize(); }

int main() {
  cudaStream_t stream, none = (cudaStream_t)0x1234567;
  cudaEvent_t begin, end;
  int least, greatest, priority = 9;
  unsigned flags = 9;
  float ms;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
  CHECK(cudaStreamGetFlags(stream, &flags));
  CHECK(cudaStreamGetPriority(stream, &priority));
  EXPECT(flags == cudaStreamNonBlocking && priority == greatest);
  EXPECT(cudaStreamSynchronize(none) == cudaErrorInvalidResourceHandle);
  EXPECT(cudaEventRecord((cudaEvent_t)0x1234567) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  EXPECT(cudaEventElapsedTime(&ms, begin, end) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventRecord(begin, stream));
  for (int i = 0; i < 100; i++) nothing<<<1, 32, 0, stream>>>();
  CHECK(cudaEventRecord(end, stream));
  CHECK(cudaEventSynchronize(end));
  CHECK(cudaEventElapsedTime(&ms, begin, end));
  EXPECT(ms > 0.1f && ms < 2);
  cudaError_t told = cudaSuccess;
  CHECK(cudaLaunchHostFunc(stream, call_back, &told));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(told == cudaErrorNotPermitted);
  CHECK(cudaStreamDestroy(stream));
  EXPECT(cudaStreamDestroy(stream) == cudaErrorInvalidResourceHandle);
  unsigned on_stack;
  void *seen, *host, *empty = &seen;
  EXPECT(cudaHostGetDevicePointer(&seen, &on_stack, 0) == cudaErrorInvalidValue);
  CHECK(cudaHostAlloc(&host, 100, cudaHostAllocMapped));
  CHECK(cudaHostGetFlags(&flags, host));
  EXPECT(flags & cudaHostAllocMapped);
  cudaFuncAttributes about;
  EXPECT(cudaFuncGetAttributes(&about, (const void *)call_back) == cudaErrorInvalidDeviceFunction);
  CHECK(cudaMalloc(&empty, 0));
  EXPECT(empty == nullptr);
  int *x, found;
  CHECK(cudaMalloc(&x, 100));
  EXPECT(cudaMemset(x, 0, 1 << 20) == cudaErrorInvalidValue);
  count<<<1, 1>>>(x);
  count<<<1, 1>>>(x);
  EXPECT(to_host(x, 1)[0] == 5);
  size_t before, after, all;
  CHECK(cudaMemGetInfo(&before, &all));
  CHECK(cudaDeviceReset());  // memory and variables are new ones
  CHECK(cudaMemGetInfo(&after, &all));
  EXPECT(after > before && cudaGetLastError() == cudaSuccess);
  EXPECT(cudaFree(x) == cudaErrorInvalidValue);
  CHECK(cudaMemcpyFromSymbol(&found, counter, sizeof found));
  EXPECT(found == 3);
  CHECK(cudaMalloc(&x, 100));
  for (int i = 0; i < 3; i++) count<<<1, 1>>>(x);
  EXPECT(to_host(x, 1)[0] == 6);
}
