// The simplest program: two copies to the device, a kernel, a copy back.
#include "check.h"

__global__ void add(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main() {
  const int n = 1000;
  std::vector<float> a(n), b(n);
  for (int i = 0; i < n; i++) a[i] = i, b[i] = 2 * i;
  float *c, *da = on_device(a), *db = on_device(b);
  CHECK(cudaMalloc(&c, n * sizeof(float)));
  add<<<(n + 255) / 256, 256>>>(da, db, c, n);
  CHECK(cudaGetLastError());
  std::vector<float> found = to_host(c, n);
  for (int i = 0; i < n; i++) EXPECT(found[i] == 3 * i);
  CHECK(cudaFree(da));
  CHECK(cudaFree(db));
  CHECK(cudaFree(c));
  puts("passed");
}
