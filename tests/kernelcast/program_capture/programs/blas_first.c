/* The functions of cuBLAS that programs call most. */
#include "blas.h"

int cublasChemm_v2(object);
int cublasLtCreate(object *);

int main(void) {
  enum { N = 16 };
  object blas;
  const real two = 2, none = 0;
  real a[N * N], b[N * N], found[N * N], sum = 0;
  double expected[N * N] = {0}, dot = 0;
  for (int i = 0; i < N * N; i++) a[i] = (real)drawn(), b[i] = (real)drawn();
  CHECK(cublasCreate_v2(&blas));
  real *on_a = on_device(NULL, sizeof a), *on_b = on_device(b, sizeof b), *on_c = on_device(NULL, sizeof a);
  CHECK(cublasSetMatrix(N, N, sizeof *a, a, N, on_a, N));
  CHECK(OF(gemm, _v2)(blas, 0, 0, N, N, N, &two, on_a, N, on_b, N, &none, on_c, N));
  CHECK(OF(axpy, _v2)(blas, N * N, &two, on_a, 1, on_c, 1));
  CHECK(OF(dot, _v2)(blas, N * N, on_a, 1, on_b, 1, &sum));
  CHECK(cublasGetVector(N * N, sizeof *a, on_c, 1, found, 1));
  for (int i = 0; i < N * N; i++) {
    dot += a[i] * b[i];
    for (int l = 0; l < N; l++) expected[i] += 2 * a[i % N + l * N] * b[l + i / N * N];
    expected[i] += 2 * a[i];
  }
  expect_all(found, expected, N * N, "gemm and axpy");
  EXPECT(is_near((double)sum, dot));
  EXPECT(cublasChemm_v2(blas) == 15);
  EXPECT(cublasLtCreate(&blas) == 15);
  printf("all right\n");
  return 0;
}
