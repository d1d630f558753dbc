// More than 48 KB of dynamic shared memory, which the program must ask for first.
#include "check.h"

__global__ void turn(const int *in, int *out, int n) {
  extern __shared__ int room[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) room[i] = in[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = room[n - 1 - i];
}

int main() {
  const int bytes = 80 << 10, n = bytes / 4;
  std::vector<int> in(n);
  for (int i = 0; i < n; i++) in[i] = i;
  int *from = on_device(in), *to = on_device(in), most;
  CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  EXPECT(most >= bytes);
  EXPECT(cudaFuncSetAttribute(turn, cudaFuncAttributeMaxDynamicSharedMemorySize, most + 4) ==
         cudaErrorInvalidValue);
  cudaGetLastError();
  CHECK(cudaFuncSetAttribute(turn, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  CHECK(cudaFuncSetAttribute(turn, cudaFuncAttributePreferredSharedMemoryCarveout, 100));
  cudaFuncAttributes about;
  CHECK(cudaFuncGetAttributes(&about, turn));
  EXPECT(about.maxDynamicSharedSizeBytes == bytes);
  turn<<<1, 256, bytes>>>(from, to, n);
  CHECK(cudaGetLastError());
  std::vector<int> found = to_host(to, n);
  for (int i = 0; i < n; i++) EXPECT(found[i] == n - 1 - i);
}
