// HIP: vectors, properties, errors by name, variables, managed memory, time between events.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                          \
  do {                                                                                       \
    hipError_t status_ = (call);                                                               \
    if (status_ != hipSuccess) {                                                               \
      fprintf(stderr, "%d: %s: %s\n", __LINE__, hipGetErrorName(status_), hipGetErrorString(status_)); \
      exit(EXIT_FAILURE);                                                                    \
    }                                                                                        \
  } while (0)
#define EXPECT(condition)                                     \
  do {                                                        \
    if (!(condition)) {                                       \
      fprintf(stderr, "%d: not %s\n", __LINE__, #condition);  \
      exit(EXIT_FAILURE);                                     \
    }                                                         \
  } while (0)

__constant__ float factors[2];
__device__ int calls;

__global__ void saxpy(int n, const float *x, float *y) {
  int i = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x;
  if (i < n) y[i] = factors[0] * x[i] + factors[1] * y[i];
  if (i == 0) atomicAdd(&calls, 1);
}

__global__ void square(float4 *v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) v[i] = v[i] * v[i] + 1.0f;
}

static void vectors() {
  const int n = 1000;
  std::vector<float> x(n), y(n);
  for (int i = 0; i < n; i++) x[i] = i, y[i] = 1;
  float *dx, *dy, of[] = {2, 3}, ms = 0;
  CHECK(hipMalloc(&dx, n * sizeof(float)));
  CHECK(hipMalloc((void **)&dy, n * sizeof(float)));
  CHECK(hipMemcpy(dx, x.data(), n * sizeof(float), hipMemcpyHostToDevice));
  CHECK(hipMemcpy(dy, y.data(), n * sizeof(float), hipMemcpyHostToDevice));
  CHECK(hipMemcpyToSymbol(HIP_SYMBOL(factors), of, sizeof of));
  hipEvent_t begin, end;
  CHECK(hipEventCreate(&begin));
  CHECK(hipEventCreate(&end));
  CHECK(hipEventRecord(begin));
  hipLaunchKernelGGL(saxpy, dim3((n + 255) / 256), dim3(256), 0, 0, n, dx, dy);
  CHECK(hipGetLastError());
  CHECK(hipEventRecord(end, 0));
  CHECK(hipEventSynchronize(end));
  CHECK(hipEventElapsedTime(&ms, begin, end));
  EXPECT(ms > 0 && ms < 1);
  CHECK(hipMemcpy(y.data(), dy, n * sizeof(float), hipMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) EXPECT(y[i] == 2 * i + 3);
  int count;
  CHECK(hipMemcpyFromSymbol(&count, HIP_SYMBOL(calls), sizeof count));
  EXPECT(count == 1);
  CHECK(hipFree(dx));
  CHECK(hipFree(dy));
  CHECK(hipEventDestroy(begin));
  CHECK(hipEventDestroy(end));
}

static void managed() {
  float4 *v;
  CHECK(hipMallocManaged(&v, 100 * sizeof *v));
  for (int i = 0; i < 100; i++) v[i] = make_float4(i, 1, 2, 3);
  square<<<1, 128>>>(v, 100);
  CHECK(hipDeviceSynchronize());
  for (int i = 0; i < 100; i++) EXPECT(v[i].x == i * i + 1 && v[i].w == 10);
  CHECK(hipFree(v));
}

static void facts() {
  int devices, units, can;
  hipDeviceProp_t of;
  CHECK(hipGetDeviceCount(&devices));
  EXPECT(devices == 1);
  CHECK(hipSetDevice(0));
  CHECK(hipGetDeviceProperties(&of, 0));
  CHECK(hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, 0));
  EXPECT(units == of.multiProcessorCount && units > 50);
  EXPECT(of.clockRate > 500000 && of.totalGlobalMem >> 30 && strlen(of.name));
  CHECK(hipDeviceGetAttribute(&can, hipDeviceAttributeMaxThreadsPerBlock, 0));
  EXPECT(can == of.maxThreadsPerBlock);
  size_t some, all;
  CHECK(hipMemGetInfo(&some, &all));
  EXPECT(some <= all);
  EXPECT(hipSetDevice(7) == hipErrorInvalidDevice);
  EXPECT(!strcmp(hipGetErrorName(hipGetLastError()), "hipErrorInvalidDevice"));
  EXPECT(hipPeekAtLastError() == hipSuccess);
}

int main() {
  facts();
  vectors();
  managed();
  puts("all right");
}
