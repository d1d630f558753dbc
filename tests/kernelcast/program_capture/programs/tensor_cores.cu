// Half precision: vectors of two, and a product of matrices by tensor cores (wmma).
#include <cuda_fp16.h>
#include <mma.h>

#include "check.h"
namespace wmma = nvcuda::wmma;

__global__ void product(const half *a, const half *b, float *c, int n) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0);
  int row = blockIdx.y * 16, column = blockIdx.x * 16;
  for (int k = 0; k < n; k += 16) {
    wmma::load_matrix_sync(left, a + row * n + k, n);
    wmma::load_matrix_sync(right, b + k * n + column, n);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}
__global__ void fused(half2 *x, int n) {
  int i = threadIdx.x;
  if (i < n) x[i] = __hfma2(x[i], __float2half2_rn(2), __halves2half2(__int2half_rn(i), __float2half(1)));
}

int main() {
  const int n = 32;
  std::vector<half> a(n * n), b(n * n);
  for (int i = 0; i < n * n; i++) a[i] = __float2half(i % 7 - 3), b[i] = __float2half(i % 5 - 2);
  half *da = on_device(a), *db = on_device(b);
  float *c;
  CHECK(cudaMalloc(&c, n * n * sizeof(float)));
  product<<<dim3(n / 16, n / 16), 32>>>(da, db, c, n);
  std::vector<float> found = to_host(c, n * n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      float sum = 0;
      for (int k = 0; k < n; k++) sum += float((i * n + k) % 7 - 3) * float((k * n + j) % 5 - 2);
      EXPECT(found[i * n + j] == sum);
    }
  fused<<<1, 64>>>((half2 *)da, 50);
  std::vector<half> pairs = to_host(da, 100);
  for (int i = 0; i < 50; i++) {
    EXPECT(__half2float(pairs[2 * i]) == 2 * __half2float(a[2 * i]) + i);
    EXPECT(__half2float(pairs[2 * i + 1]) == 2 * __half2float(a[2 * i + 1]) + 1);
  }
}
