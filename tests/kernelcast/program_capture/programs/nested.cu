// A kernel that launches a kernel, which is refused.
#include <cstdio>

#include <cuda_runtime.h>

__global__ void inner(int *x) { x[threadIdx.x] = threadIdx.x; }
__global__ void outer(int *x) { inner<<<1, 32>>>(x); }

int main() {
  int *x;
  cudaMalloc(&x, 32 * sizeof(int));
  outer<<<1, 1>>>(x);
  printf("launch: %s\n", cudaGetErrorName(cudaGetLastError()));
}
