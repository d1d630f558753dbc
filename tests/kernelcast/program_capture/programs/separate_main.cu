// The first of two units that are compiled apart: device functions and variables of the other one.
#include "check.h"

extern __device__ float shape(float x);
extern __device__ int calls;
float twice_on_device(float x);

__global__ void apply(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    x[i] = shape(x[i]);
    atomicAdd(&calls, 1);
  }
}

int main() {
  const int n = 200;
  std::vector<float> in(n);
  for (int i = 0; i < n; i++) in[i] = i * 0.5f;
  float *x = on_device(in);
  apply<<<1, 256>>>(x, n);
  CHECK(cudaDeviceSynchronize());
  std::vector<float> found = to_host(x, n);
  for (int i = 0; i < n; i++) EXPECT(found[i] == in[i] * in[i] + 1);
  int count;
  CHECK(cudaMemcpyFromSymbol(&count, calls, sizeof count));
  EXPECT(count == n + 100);
  EXPECT(twice_on_device(21) == 42);
}
