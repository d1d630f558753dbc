// Host memory that kernels read and write: allocated, and registered after the program filled it.
#include "check.h"

__global__ void negate(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = -x[i];
}

int main() {
  const int n = 1000;
  int *allocated, *mapped, *seen;
  CHECK(cudaMallocHost(&allocated, n * sizeof(int)));
  CHECK(cudaHostAlloc(&mapped, n * sizeof(int), cudaHostAllocMapped | cudaHostAllocWriteCombined));
  int *registered = (int *)malloc(3 * n * sizeof(int)) + 5;
  for (int i = 0; i < n; i++) allocated[i] = i, mapped[i] = 2 * i, registered[i] = 3 * i;
  CHECK(cudaHostRegister(registered, n * sizeof(int), cudaHostRegisterMapped));
  EXPECT(cudaHostRegister(registered, n, 0) == cudaErrorHostMemoryAlreadyRegistered);
  for (int i = 0; i < n; i++) EXPECT(registered[i] == 3 * i);
  for (int *host : {allocated, mapped, registered}) {
    CHECK(cudaHostGetDevicePointer(&seen, host, 0));
    negate<<<4, 256>>>(seen, n);
  }
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; i++)
    EXPECT(allocated[i] == -i && mapped[i] == -2 * i && registered[i] == -3 * i);
  cudaPointerAttributes about;
  CHECK(cudaPointerGetAttributes(&about, registered + 1));
  EXPECT(about.type == cudaMemoryTypeHost);
  CHECK(cudaHostUnregister(registered));
  registered[0] = 17;
  for (int i = 1; i < n; i++) EXPECT(registered[i] == -3 * i);
  EXPECT(cudaHostUnregister(registered) == cudaErrorHostMemoryNotRegistered);
  cudaGetLastError();
  CHECK(cudaFreeHost(allocated));
  CHECK(cudaFreeHost(mapped));
  free(registered - 5);
}
