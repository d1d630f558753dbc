// HIP: sums with shuffles and dynamic shared memory, templates, and two streams.
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call) \
  if (hipError_t status_ = (call)) fprintf(stderr, "%d: %s\n", __LINE__, hipGetErrorString(status_)), exit(1)

template <typename T, int BLOCK>
__global__ void sum(const T *in, T *out, int n) {
  HIP_DYNAMIC_SHARED(T, part)
  T mine = 0;
  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK) mine += in[i];
  for (int by = warpSize / 2; by; by /= 2) mine += __shfl_down(mine, by);
  if (threadIdx.x % warpSize == 0) part[threadIdx.x / warpSize] = mine;
  __syncthreads();
  if (threadIdx.x) return;
  for (int i = 1; i < BLOCK / warpSize; i++) mine += part[i];
  atomicAdd(out, mine);
}

__global__ void halves(const __half *in, unsigned long long *votes) {
  bool is_odd = (int)__half2float(in[threadIdx.x]) & 1;
  unsigned long long found = __ballot(is_odd);
  if (threadIdx.x == 0) *votes = found;
}

int main() {
  const int n = 5000;
  int *hosts[2], *in[2], *out;
  hipStream_t streams[2];
  CHECK(hipMalloc(&out, 2 * sizeof(int)));
  for (int k = 0; k < 2; k++) {
    CHECK(hipStreamCreate(&streams[k]));
    CHECK(hipHostMalloc(&hosts[k], n * sizeof(int), hipHostMallocDefault));
    CHECK(hipMalloc(&in[k], n * sizeof(int)));
    for (int i = 0; i < n; i++) hosts[k][i] = (i % 13) * (k + 1);
    CHECK(hipMemcpyAsync(in[k], hosts[k], n * sizeof(int), hipMemcpyHostToDevice, streams[k]));
    CHECK(hipMemsetAsync(out + k, 0, sizeof(int), streams[k]));
    hipLaunchKernelGGL(HIP_KERNEL_NAME(sum<int, 128>), dim3(8), dim3(128), 32 * sizeof(int), streams[k],
                       in[k], out + k, n);
    CHECK(hipStreamSynchronize(streams[k]));
  }
  int found[2], expected = 0;
  CHECK(hipMemcpy(found, out, sizeof found, hipMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) expected += i % 13;
  if (found[0] != expected || found[1] != 2 * expected) return 1;

  std::vector<__half> values(32);
  for (int i = 0; i < 32; i++) values[i] = __float2half((float)(i / 2));
  __half *on_device;
  unsigned long long *votes, mask;
  CHECK(hipMalloc(&on_device, sizeof(__half) * 32));
  CHECK(hipMalloc(&votes, sizeof mask));
  CHECK(hipMemcpy(on_device, values.data(), sizeof(__half) * 32, hipMemcpyHostToDevice));
  halves<<<1, 32>>>(on_device, votes);
  CHECK(hipMemcpy(&mask, votes, sizeof mask, hipMemcpyDeviceToHost));
  if (mask != 0xCCCCCCCC) return 2;
  for (int k = 0; k < 2; k++) {
    CHECK(hipHostFree(hosts[k]));
    CHECK(hipFree(in[k]));
    CHECK(hipStreamDestroy(streams[k]));
  }
  puts("all right");
}
