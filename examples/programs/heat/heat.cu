// Heat in a square plate whose upper edge is hot: sweeps until nothing changes any more.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#define CHECK(call)                                                              \
  do {                                                                           \
    cudaError_t error = (call);                                                  \
    if (error != cudaSuccess) {                                                  \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      exit(1);                                                                   \
    }                                                                            \
  } while (0)

__global__ void sweep(const float *from, float *to, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x > n - 2 || y > n - 2) return;
  const float *here = from + y * n + x;
  to[y * n + x] = 0.25f * (here[-1] + here[1] + here[-n] + here[n]);
}

__global__ void largest_change(const float *a, const float *b, int count, float *found) {
  __shared__ float largest[256];
  float mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    mine = fmaxf(mine, fabsf(a[i] - b[i]));
  largest[threadIdx.x] = mine;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half)
      largest[threadIdx.x] = fmaxf(largest[threadIdx.x], largest[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) atomicMax((int *)found, __float_as_int(largest[0]));
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 256, count = n * n, sweeps = 0;
  std::vector<float> plate(count, 0.0f);
  for (int x = 0; x < n; x++) plate[x] = 100.0f;

  float *now, *next, *change;
  CHECK(cudaMalloc(&now, count * sizeof(float)));
  CHECK(cudaMalloc(&next, count * sizeof(float)));
  CHECK(cudaMalloc(&change, sizeof(float)));
  CHECK(cudaMemcpy(now, plate.data(), count * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(next, now, count * sizeof(float), cudaMemcpyDeviceToDevice));

  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaEventRecord(begin));
  dim3 block(32, 8), grid((n + 31) / 32, (n + 7) / 8);
  float left = 1e9f;
  while (left > 0.02f) {
    for (int i = 0; i < 100; i++, sweeps++) {
      sweep<<<grid, block>>>(now, next, n);
      std::swap(now, next);
    }
    CHECK(cudaMemset(change, 0, sizeof(float)));
    largest_change<<<32, 256>>>(now, next, count, change);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&left, change, sizeof(float), cudaMemcpyDeviceToHost));
  }
  CHECK(cudaEventRecord(end));
  CHECK(cudaEventSynchronize(end));
  float milliseconds;
  CHECK(cudaEventElapsedTime(&milliseconds, begin, end));

  CHECK(cudaMemcpy(plate.data(), now, count * sizeof(float), cudaMemcpyDeviceToHost));
  for (int y = 1; y < n - 1; y++)
    for (int x = 1; x < n - 1; x++) {
      float *here = &plate[y * n + x];
      float mean = 0.25f * (here[-1] + here[1] + here[-n] + here[n]);
      if (fabsf(mean - *here) > 0.1f) return printf("wrong at %d, %d\n", x, y), 1;
    }
  printf("%d sweeps in %.2f ms, %.1f GB/s: right\n", sweeps, milliseconds,
         8e-6 * count * sweeps / milliseconds);
  return 0;
}
