/* Products in half precision, of given types, and with 64-bit sizes, beside plain loops. */
#include "blas.h"

enum { M = 40, N = 36, K = 24, HALF = 2, SINGLE = 0, COMPUTE_16F = 64, COMPUTE_32F = 68 };
typedef _Float16 half;
int cublasHgemm(object, int, int, int, int, int, const half *, const half *, int, const half *, int,
                const half *, half *, int);
static half a[M * K], b[K * N], c[M * N], found[M * N];
static float single[M * N];

static double expected(int row, int column, double alpha, double beta) {
  double sum = 0;
  for (int l = 0; l < K; l++) sum += (double)a[l + row * K] * (double)b[l + column * K];
  return alpha * sum + beta * (double)c[row + column * M];
}

static void check_products(int processors) {
  object blas;
  const half alpha = (half)1.5, beta = (half)-0.25;
  const float one = 1, none = 0;
  int64_t wide[] = {M, N};
  CHECK(cublasCreate_v2(&blas) || cublasSetSmCountTarget(blas, processors));
  for (int i = 0; i < M * K; i++) a[i] = (half)drawn();
  for (int i = 0; i < K * N; i++) b[i] = (half)drawn();
  for (int i = 0; i < M * N; i++) c[i] = (half)drawn();
  half *on_a = on_device(a, sizeof a), *on_b = on_device(b, sizeof b), *on_c = on_device(c, sizeof c);
  CHECK(cublasHgemm(blas, 1, 0, M, N, K, &alpha, on_a, K, on_b, K, &beta, on_c, M));
  CHECK(cudaMemcpy(found, on_c, sizeof found, 4));
  for (int i = 0; i < M * N; i++) {
    double is = expected(i % M, i / M, 1.5, -0.25);
    EXPECT(fabs((double)found[i] - is) < 2e-3 * (1 + fabs(is)));
  }
  float *on_single = on_device(NULL, sizeof single);
  CHECK(cublasGemmEx(blas, 1, 0, M, N, K, &one, on_a, HALF, K, on_b, HALF, K, &none, on_single, SINGLE, M,
                     COMPUTE_32F, -1));
  CHECK(cudaMemcpy(single, on_single, sizeof single, 4));
  for (int i = 0; i < M * N; i++) EXPECT(fabs(single[i] - expected(i % M, i / M, 1, 0)) < 1e-4);
  float *on_other = on_device(NULL, sizeof single), other[M * N];
  CHECK(cublasSgemm_v2_64(blas, 0, 1, wide[0], wide[1], 1, &one, on_single, wide[0], on_single, wide[1],
                          &none, on_other, wide[0]));
  CHECK(cudaMemcpy(other, on_other, sizeof other, 4));
  for (int i = 0; i < M * N; i++) EXPECT(fabs(other[i] - single[i % M] * single[i / M]) < 1e-4);
  EXPECT(cublasGemmEx(blas, 0, 0, 4, 4, 4, &one, on_a, 3, 4, on_b, 3, 4, &none, on_c, 10, 4, 72, -1) == 15);
  CHECK(cublasDestroy_v2(blas));
}

int main(void) {
  check_products(1); /* with large tiles */
  check_products(1000);
  printf("all right\n");
  return 0;
}
