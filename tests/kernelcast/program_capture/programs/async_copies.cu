// Copies to shared memory that overlap with computing, barriers that count, and tiles of a product.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>

#include "check.h"
namespace cg = cooperative_groups;

const int TILE = 16;

__global__ void product(const float *a, const float *b, float *c, int n) {
  __shared__ float left[TILE][TILE], right[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  auto block = cg::this_thread_block();
  float sum = 0;
  for (int k = 0; k < n; k += TILE) {
    for (int i = 0; i < TILE; i++) {
      cg::memcpy_async(block, left[i], a + (blockIdx.y * TILE + i) * n + k, sizeof left[i]);
      cg::memcpy_async(block, right[i], b + (k + i) * n + blockIdx.x * TILE, sizeof right[i]);
    }
    cg::wait(block);
    for (int i = 0; i < TILE; i++) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
    block.sync();
  }
  c[row * n + column] = sum;
}

__global__ void by_barrier(int *out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> ready;
  __shared__ int part[64];
  if (!threadIdx.x) init(&ready, blockDim.x);
  __syncthreads();
  part[threadIdx.x] = threadIdx.x * threadIdx.x;
  ready.arrive_and_wait();
  out[threadIdx.x] = part[(threadIdx.x + 7) % 64];
}

int main() {
  const int n = 32;
  std::vector<float> a(n * n), b(n * n);
  for (int i = 0; i < n * n; i++) a[i] = i % 11, b[i] = i % 7 - 3;
  float *c, *da = on_device(a), *db = on_device(b);
  CHECK(cudaMalloc(&c, n * n * sizeof(float)));
  product<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(da, db, c, n);
  std::vector<float> found = to_host(c, n * n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      float sum = 0;
      for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
      EXPECT(found[i * n + j] == sum);
    }
  int *out;
  CHECK(cudaMalloc(&out, 64 * sizeof(int)));
  by_barrier<<<1, 64>>>(out);
  std::vector<int> squares = to_host(out, 64);
  for (int i = 0; i < 64; i++) EXPECT(squares[i] == (i + 7) % 64 * ((i + 7) % 64));
}
