/* Functions of cuBLAS on matrices, with transposes and leading dimensions, beside plain loops. */
#include "blas.h"

enum { MOST = 200 * 200 };
static object blas;
static real a[MOST], b[MOST], c[MOST], found[MOST];
static double expected[MOST], kept[MOST];

static void draw(void) {
  for (int i = 0; i < MOST; i++) a[i] = (real)drawn(), b[i] = (real)drawn(), c[i] = (real)drawn();
}
/* An element of op(matrix). */
static double of(const real *matrix, int ld, int operation, int row, int column) {
  return operation ? matrix[column + row * ld] : matrix[row + column * ld];
}
static void check(const void *from, int count, const char *what) {
  CHECK(cudaMemcpy(found, from, sizeof(real) * (size_t)count, 4));
  expect_all(found, expected, count, what);
}

/* C = alpha op(A) op(B) + beta C, where `part` is 1 for what is below and 2 for what is above. */
static void product(int opa, int opb, int m, int n, int k, double alpha, int lda, int ldb, double beta,
                    int ldc, int part, const real *left, const real *right, const real *old) {
  for (int i = 0; i < ldc * n; i++) expected[i] = old[i];
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) {
      double sum = 0;
      if ((part == 1 && i < j) || (part == 2 && i > j)) continue;
      for (int l = 0; l < k; l++) sum += of(left, lda, opa, i, l) * of(right, ldb, opb, l, j);
      expected[i + j * ldc] = alpha * sum + (beta != 0 ? beta * old[i + j * ldc] : 0);
    }
}

static void check_gemm(int opa, int opb, int m, int n, int k, real alpha, real beta, int more) {
  int lda = (opa ? k : m) + more, ldb = (opb ? n : k) + 2 * more + !k, ldc = m + 3 * more;
  draw();
  if (beta == 0) c[0] = (real)NAN;
  real *on_a = on_device(a, sizeof a), *on_b = on_device(b, sizeof b), *on_c = on_device(c, sizeof c);
  CHECK(OF(gemm, _v2)(blas, opa, opb, m, n, k, &alpha, on_a, lda, on_b, ldb, &beta, on_c, ldc));
  product(opa, opb, m, n, k, (double)alpha, lda, ldb, (double)beta, ldc, 0, a, b, c);
  check(on_c, ldc * n, "gemm");
  CHECK(cudaFree(on_a) || cudaFree(on_b) || cudaFree(on_c));
}

static void check_batches(void) {
  enum { M = 9, N = 7, K = 5, COUNT = 3 };
  const real alpha = (real)0.5, beta = 2;
  const long long distance[] = {M * K + 1, K * N + 2, M * N};
  draw();
  real *on_a = on_device(a, sizeof a), *on_b = on_device(b, sizeof b), *on_c = on_device(c, sizeof c);
  CHECK(OF(gemm, StridedBatched)(blas, 0, 1, M, N, K, &alpha, on_a, M, distance[0], on_b, N, distance[1],
                                 &beta, on_c, M, distance[2], COUNT));
  for (int i = 0; i < COUNT; i++) {
    product(0, 1, M, N, K, 0.5, M, N, 2, M, 0, a + i * distance[0], b + i * distance[1], c + i * distance[2]);
    check(on_c + i * distance[2], M * N, "gemmStridedBatched");
  }
  real *places[3][COUNT];
  CHECK(cudaMemcpy(on_c, c, sizeof c, 4));
  for (int i = 0; i < COUNT; i++)
    places[0][i] = on_a + 50 * i, places[1][i] = on_b + 60 * (COUNT - i), places[2][i] = on_c + 70 * i;
  real **on_places = on_device(places, sizeof places);
  CHECK(OF(gemm, Batched)(blas, 1, 0, M, N, K, &alpha, (const real *const *)on_places, K,
                          (const real *const *)on_places + COUNT, K, &beta, on_places + 2 * COUNT, M, COUNT));
  for (int i = 0; i < COUNT; i++) {
    product(1, 0, M, N, K, 0.5, K, K, 2, M, 0, a + 50 * i, b + 60 * (COUNT - i), c + 70 * i);
    check(on_c + 70 * i, M * N, "gemmBatched");
  }
}

static void check_syrk(int fill, int operation) {
  enum { N = 45, K = 11 };
  const real alpha = 1, beta = (real)-0.5;
  int lda = operation ? K : N;
  draw();
  real *on_a = on_device(a, sizeof a), *on_c = on_device(c, sizeof c);
  CHECK(OF(syrk, _v2)(blas, fill, operation, N, K, &alpha, on_a, lda, &beta, on_c, N));
  product(operation, !operation, N, N, K, 1, lda, lda, -0.5, N, fill ? 2 : 1, a, a, c);
  check(on_c, N * N, "syrk");
}

static void check_gemv(int operation, int m, int n, int dx, int dy, real beta) {
  const real alpha = (real)1.25;
  int lda = m + 3, in = operation ? m : n, out = operation ? n : m;
  draw();
  if (beta == 0) c[0] = (real)NAN;
  real *on_a = on_device(a, sizeof a), *on_x = on_device(b, sizeof b), *on_y = on_device(c, sizeof c);
  CHECK(OF(gemv, _v2)(blas, operation, m, n, &alpha, on_a, lda, on_x, dx, &beta, on_y, dy));
  int first_x = dx < 0 ? (1 - in) * dx : 0, first_y = dy < 0 ? (1 - out) * dy : 0, all = abs(dy) * out;
  for (int i = 0; i < all; i++) expected[i] = c[i];
  for (int i = 0; i < out; i++) {
    double sum = 0, *to = &expected[first_y + i * dy];
    for (int j = 0; j < in; j++) sum += of(a, lda, operation, i, j) * b[first_x + j * dx];
    *to = 1.25 * sum + (beta != 0 ? beta * *to : 0);
  }
  check(on_y, all, "gemv");
}

static void check_ger(void) {
  enum { M = 130, N = 21, LDA = 133 };
  const real alpha = -2;
  draw();
  real *on_a = on_device(a, sizeof a), *on_x = on_device(b, sizeof b), *on_y = on_device(c, sizeof c);
  CHECK(OF(ger, _v2)(blas, M, N, &alpha, on_x, 2, on_y, -1, on_a, LDA));
  for (int i = 0; i < LDA * N; i++) expected[i] = a[i];
  for (int j = 0; j < N; j++)
    for (int i = 0; i < M; i++) expected[i + j * LDA] += -2 * b[2 * i] * c[N - 1 - j];
  check(on_a, LDA * N, "ger");
}

static void check_geam(int opa, int opb) {
  enum { M = 40, N = 35, LD = 44 };
  const real alpha = 2, beta = (real)-0.5;
  draw();
  real *on_a = on_device(a, sizeof a), *on_b = on_device(b, sizeof b), *on_c = on_device(c, sizeof c);
  CHECK(OF(geam, )(blas, opa, opb, M, N, &alpha, on_a, LD, &beta, on_b, LD, on_c, LD));
  for (int i = 0; i < LD * N; i++) expected[i] = c[i];
  for (int j = 0; j < N; j++)
    for (int i = 0; i < M; i++) expected[i + j * LD] = 2 * of(a, LD, opa, i, j) - 0.5 * of(b, LD, opb, i, j);
  check(on_c, LD * N, "geam");
  EXPECT(OF(geam, )(blas, 1, 0, M, M, &alpha, on_a, LD, &beta, on_b, LD, on_a, LD) == 7);
}

/* Makes right sides of solutions that are known. */
static void check_triangle(int side, int fill, int operation, int is_unit) {
  enum { M = 33, N = 6, LDA = 40, LDB = 35 };
  const real alpha = 2;
  int size = side ? N : M;
  draw();
  for (int i = 0; i < size; i++) a[i + i * LDA] = (real)(3 + i % 4);
  for (int j = 0; j < size; j++)
    for (int i = 0; i < size; i++)
      if (i != j) a[i + j * LDA] /= 16;
  for (int i = 0; i < LDB * N; i++) expected[i] = kept[i] = b[i];
  for (int j = 0; j < N; j++)
    for (int i = 0; i < M; i++) {
      double sum = 0;
      for (int l = 0; l < size; l++) {
        int row = side ? l : i, column = side ? j : l, at_row = operation ? column : row,
            at_column = operation ? row : column;
        double element = at_row == at_column && is_unit ? 1 : a[at_row + at_column * LDA];
        if (fill ? at_row > at_column : at_row < at_column) element = 0;
        sum += element * kept[side ? i + l * LDB : l + j * LDB];
      }
      b[i + j * LDB] = (real)(sum / 2);
    }
  real *on_a = on_device(a, sizeof a), *on_b = on_device(b, sizeof b);
  CHECK(OF(trsm, _v2)(blas, side, fill, operation, is_unit, M, N, &alpha, on_a, LDA, on_b, LDB));
  check(on_b, LDB * N, "trsm");
  if (side) return;
  for (int i = 0; i < M; i++) c[2 * (M - 1 - i)] = 2 * b[i];
  real *on_x = on_device(c, sizeof c);
  CHECK(OF(trsv, _v2)(blas, fill, operation, is_unit, M, on_a, LDA, on_x, -2));
  CHECK(cudaMemcpy(found, on_x, 2 * M * sizeof(real), 4));
  for (int i = 0; i < M; i++) EXPECT(is_near((double)found[2 * (M - 1 - i)], kept[i]));
}

static void check_wrong_calls(void) {
  const real one = 1;
  EXPECT(OF(gemm, _v2)(blas, 0, 0, 4, 4, 4, &one, a, 3, b, 4, &one, c, 4) == 7);
  EXPECT(OF(gemm, _v2)(blas, 3, 0, 4, 4, 4, &one, a, 4, b, 4, &one, c, 4) == 7);
  EXPECT(OF(gemm, _v2)(blas, 0, 0, -1, 4, 4, &one, a, 4, b, 4, &one, c, 4) == 7);
  EXPECT(OF(gemm, _v2)(NULL, 0, 0, 4, 4, 4, &one, a, 4, b, 4, &one, c, 4) == 1);
  CHECK(OF(gemm, _v2)(blas, 0, 0, 0, 4, 4, &one, a, 4, b, 4, &one, c, 4));
}

/* With few processors tiles are large. */
static void check_tiles(int processors) {
  CHECK(cublasSetSmCountTarget(blas, processors));
  for (int operations = 0; operations < 4; operations++)
    check_gemm(operations & 1, operations >> 1, 130, 129, 21, (real)0.5, 1, operations & 1);
  check_gemm(0, 1, 128, 128, 17, 2, (real)0.5, 0);
  check_syrk(1, 0);
}

int main(void) {
  CHECK(cublasCreate_v2(&blas));
  check_wrong_calls();
  for (int operations = 0; operations < 4; operations++) {
    int opa = operations & 1, opb = operations >> 1;
    check_gemm(opa, opb, 37, 41, 19, (real)1.5, (real)-0.5, 1);
    check_gemm(opa, opb, 64, 32, 33, 1, 0, 0);
    check_geam(opa, opb);
    check_syrk(opa, opb);
  }
  check_gemm(0, 0, 8, 9, 0, 1, (real)0.5, 0);
  check_tiles(1);
  check_tiles(9);
  check_batches();
  check_gemv(0, 70, 45, 1, 1, (real)0.5);
  check_gemv(1, 70, 45, -2, 3, 0);
  check_gemv(0, 45, 70, 2, -1, 0);
  check_gemv(2, 45, 100, 1, 1, 1);
  check_ger();
  for (int which = 0; which < 16; which++)
    check_triangle(which & 1, which >> 1 & 1, which >> 2 & 1, which >> 3);
  CHECK(cublasDestroy_v2(blas));
  printf("all right\n");
  return 0;
}
