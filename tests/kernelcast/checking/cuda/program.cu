// Launches that are right, and by the first argument one that is not.
#include <cstdio>
#include <cstring>

__global__ void add(int *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] += i;
}

__global__ void sum(const int *a, int *total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) *total += a[i];
}

__global__ void beyond(int *a) { a[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

int main(int count, char **words) {
  const char *what = count > 1 ? words[1] : "";
  const int n = 1000;
  int *a, *total, found = 0;
  cudaMalloc(&a, n * sizeof(int));
  cudaMalloc(&total, sizeof(int));
  cudaMemset(a, 0, n * sizeof(int));
  cudaMemset(total, 0, sizeof(int));
  for (int round = 0; round < 3; round++) add<<<4, 256>>>(a, n);
  cudaMemcpy(&found, a + 10, sizeof(int), cudaMemcpyDeviceToHost);
  if (!strcmp(what, "race")) sum<<<4, 256>>>(a, total, n);
  if (!strcmp(what, "beyond")) beyond<<<4, 256>>>(a);
  if (!strcmp(what, "freed")) {
    int *other;
    cudaFree(a);
    cudaMalloc(&other, n * sizeof(int));
    add<<<4, 256>>>(a, n);
  }
  cudaDeviceSynchronize();
  return found == 30 ? 0 : 3;
}
