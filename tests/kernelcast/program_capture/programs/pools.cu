// Memory in the order of a stream: allocated, used and freed again and again.
#include "check.h"

__global__ void fill(int *x, int n, int value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = value + i;
}

int main() {
  const int n = 700;
  int supported;
  CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
  EXPECT(supported);
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  cudaMemPool_t pool, made;
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  unsigned long long keep = ~0ull, read = 0;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &read));
  EXPECT(read == keep);
  for (int round = 0; round < 3; round++) {
    int *x;
    CHECK(cudaMallocAsync(&x, n * sizeof(int), stream));
    fill<<<3, 256, 0, stream>>>(x, n, round);
    std::vector<int> found(n);
    CHECK(cudaMemcpyAsync(found.data(), x, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaFreeAsync(x, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < n; i++) EXPECT(found[i] == round + i);
  }
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  CHECK(cudaMemPoolCreate(&made, &properties));
  int *x;
  CHECK(cudaMallocFromPoolAsync(&x, n * sizeof(int), made, stream));
  fill<<<3, 256, 0, stream>>>(x, n, 9);
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(to_host(x, n)[n - 1] == 9 + n - 1);
  unsigned long long used = 0;
  CHECK(cudaMemPoolGetAttribute(made, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT(used >= n * sizeof(int));
  CHECK(cudaFreeAsync(x, stream));
  CHECK(cudaMemPoolTrimTo(made, 0));
  CHECK(cudaMemPoolDestroy(made));
}
