// An iterative solver: 2,000 launches, the residual copied back after each hundred.
#include "check.h"

const int N = 34;

__global__ void step(const float *from, float *to) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / N, column = i % N;
  if (row > 0 && row < N - 1 && column > 0 && column < N - 1)
    to[i] = 0.25f * (from[i - 1] + from[i + 1] + from[i - N] + from[i + N]);
}

__global__ void difference(const float *a, const float *b, float *largest) {
  __shared__ float part[256];
  float found = 0;
  for (int i = threadIdx.x; i < N * N; i += 256) found = fmaxf(found, fabsf(a[i] - b[i]));
  part[threadIdx.x] = found;
  for (int half = 128; half; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half)
      part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + half]);
  }
  if (!threadIdx.x) *largest = part[0];
}

int main() {
  std::vector<float> start(N * N, 0);
  for (int i = 0; i < N; i++) start[i] = start[(N - 1) * N + i] = start[i * N] = start[i * N + N - 1] = 1;
  float *a = on_device(start), *b = on_device(start), *largest, last = 1;
  CHECK(cudaMalloc(&largest, sizeof(float)));
  int steps = 0;
  while (steps < 2000) {
    for (int i = 0; i < 50; i++, steps += 2) {
      step<<<(N * N + 127) / 128, 128>>>(a, b);
      step<<<(N * N + 127) / 128, 128>>>(b, a);
    }
    difference<<<1, 256>>>(a, b, largest);
    float now;
    CHECK(cudaMemcpy(&now, largest, sizeof now, cudaMemcpyDeviceToHost));
    EXPECT(now <= last);
    last = now;
  }
  EXPECT(last < 1e-5f);
  for (float value : to_host(a, N * N)) EXPECT(fabsf(value - 1) < 1e-3f);
  printf("%d steps, residual %g\n", steps, last);
}
