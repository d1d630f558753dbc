/* Functions of cuBLAS on vectors, with all signs of steps, in both pointer modes, beside plain loops. */
#include "blas.h"

enum { MOST = 3, ROOM = 9000 };
static object blas;
static real x[ROOM * MOST], y[ROOM * MOST], found[ROOM * MOST];
static double expected[ROOM * MOST], other[ROOM * MOST];

static int place(int i, int n, int step) { return step < 0 ? (i - n + 1) * step : i * step; }

static void draw(int n) {
  for (int i = 0; i < n * MOST; i++) x[i] = (real)drawn(), y[i] = (real)drawn();
}

static void check(const void *from, const double *is, int n, const char *what) {
  CHECK(cudaMemcpy(found, from, sizeof(real) * (size_t)n, 4));
  expect_all(found, is, n, what);
}

static void check_changes(int n, int dx, int dy) {
  const real alpha = (real)0.75, c = (real)0.6, s = (real)0.8;
  int all = n * MOST;
  size_t bytes = sizeof(real) * (size_t)all;
  draw(n);
  real *on_x = on_device(x, bytes), *on_y = on_device(y, bytes);
  for (int i = 0; i < all; i++) expected[i] = y[i], other[i] = x[i];
  CHECK(OF(axpy, _v2)(blas, n, &alpha, on_x, dx, on_y, dy));
  for (int i = 0; i < n; i++) expected[place(i, n, dy)] += alpha * other[place(i, n, dx)];
  check(on_y, expected, all, "axpy");
  CHECK(OF(rot, _v2)(blas, n, on_x, dx, on_y, dy, &c, &s));
  for (int i = 0; i < n; i++) {
    double a = other[place(i, n, dx)], b = expected[place(i, n, dy)];
    other[place(i, n, dx)] = c * a + s * b, expected[place(i, n, dy)] = c * b - s * a;
  }
  check(on_x, other, all, "rot");
  check(on_y, expected, all, "rot");
  CHECK(OF(swap, _v2)(blas, n, on_x, dx, on_y, dy));
  for (int i = 0; i < n; i++) {
    double kept = other[place(i, n, dx)];
    other[place(i, n, dx)] = expected[place(i, n, dy)], expected[place(i, n, dy)] = kept;
  }
  check(on_x, other, all, "swap");
  check(on_y, expected, all, "swap");
  CHECK(OF(scal, _v2)(blas, n, &alpha, on_x, dx));
  for (int i = 0; i < n && dx > 0; i++) other[i * dx] *= alpha;
  check(on_x, other, all, "scal");
  CHECK(OF(copy, _v2)(blas, n, on_x, dx, on_y, dy));
  for (int i = 0; i < n; i++) expected[place(i, n, dy)] = other[place(i, n, dx)];
  check(on_y, expected, all, "copy");
  CHECK(cudaFree(on_x) || cudaFree(on_y));
}

static void check_sums(int n, int dx, int dy) {
  real result;
  int at;
  double dot = 0, sum = 0, squares = 0;
  int largest = 0, smallest = 0;
  draw(n);
  for (int i = 0; i < n; i++) dot += (double)x[place(i, n, dx)] * y[place(i, n, dy)];
  for (int i = 0; i < n && dx > 0; i++) {
    double size = fabs((double)x[i * dx]);
    sum += size, squares += size * size;
    if (size > fabs((double)x[largest * dx])) largest = i;
    if (size < fabs((double)x[smallest * dx])) smallest = i;
  }
  real *on_x = on_device(x, sizeof x), *on_y = on_device(y, sizeof y);
  CHECK(OF(dot, _v2)(blas, n, on_x, dx, on_y, dy, &result));
  EXPECT(fabs((double)result - dot) <= TOLERANCE * n);
  CHECK(OF(asum, _v2)(blas, n, on_x, dx, &result));
  EXPECT(is_near((double)result, sum));
  CHECK(OF(nrm2, _v2)(blas, n, on_x, dx, &result));
  EXPECT(is_near((double)result, sqrt(squares)));
  CHECK(PLACE_OF(amax)(blas, n, on_x, dx, &at));
  EXPECT(at == (dx > 0 ? largest + 1 : 0));
  CHECK(PLACE_OF(amin)(blas, n, on_x, dx, &at));
  EXPECT(at == (dx > 0 ? smallest + 1 : 0));
  CHECK(cudaFree(on_x) || cudaFree(on_y));
}

static void check_norms(void) {
#ifdef DOUBLE
  const double huge = 1e300, tiny = 1e-300;
#else
  const double huge = 1e35, tiny = 1e-38;
#endif
  const double sizes[] = {huge, tiny};
  real result;
  for (int which = 0; which < 2; which++) {
    for (int i = 0; i < 4; i++) x[i] = (real)(sizes[which] * (i + 1));
    real *on_x = on_device(x, 4 * sizeof(real));
    CHECK(OF(nrm2, _v2)(blas, 4, on_x, 1, &result));
    EXPECT(fabs((double)result / sizes[which] - sqrt(30.0)) < 1e-4);
    CHECK(cudaFree(on_x));
  }
}

static void check_device_mode(void) {
  enum { N = 300 };
  real factors[] = {(real)-1.5, 0}, back[2];
  draw(N);
  real *on_x = on_device(x, sizeof x), *on_y = on_device(y, sizeof y);
  real *numbers = on_device(factors, sizeof factors);
  int *at = on_device(NULL, sizeof *at), place_back;
  double dot = 0;
  CHECK(cublasSetPointerMode_v2(blas, 1));
  CHECK(OF(axpy, _v2)(blas, N, numbers, on_x, 1, on_y, 1));
  CHECK(OF(dot, _v2)(blas, N, on_x, 1, on_y, 1, numbers + 1));
  CHECK(PLACE_OF(amax)(blas, N, on_x, 1, at));
  CHECK(cudaMemcpy(back, numbers, sizeof back, 4));
  CHECK(cudaMemcpy(&place_back, at, sizeof place_back, 4));
  for (int i = 0; i < N; i++) dot += x[i] * (y[i] - 1.5 * x[i]);
  EXPECT(is_near((double)back[1], dot) && place_back > 0);
  CHECK(OF(dot, _v2)(blas, 0, on_x, 1, on_y, 1, numbers + 1));
  CHECK(cudaMemcpy(back, numbers, sizeof back, 4));
  EXPECT(back[1] == 0);
  CHECK(cublasSetPointerMode_v2(blas, 0));
}

static void check_settings(void) {
  object stream, got;
  int mode, version;
  CHECK(cudaStreamCreate(&stream) || cublasSetStream_v2(blas, stream) || cublasGetStream_v2(blas, &got));
  EXPECT(got == stream);
  CHECK(cublasSetMathMode(blas, 1) || cublasGetMathMode(blas, &mode));
  EXPECT(mode == 1);
  CHECK(cublasGetPointerMode_v2(blas, &mode));
  EXPECT(mode == 0);
  CHECK(cublasGetVersion_v2(blas, &version) || cublasSetWorkspace_v2(blas, NULL, 0));
  EXPECT(version > 10000);
  EXPECT(!strcmp(cublasGetStatusName(7), "CUBLAS_STATUS_INVALID_VALUE") && cublasGetStatusString(0));
  EXPECT(cublasDestroy_v2(NULL) == 1 && OF(axpy, _v2)(NULL, 1, x, x, 1, y, 1) == 1);
}

static void check_copies(void) {
  enum { ROWS = 5, COLUMNS = 4, LEADING = 7 };
  real *device = on_device(NULL, sizeof(real) * LEADING * COLUMNS), back[ROWS * COLUMNS];
  draw(ROWS * COLUMNS);
  CHECK(cublasSetMatrix(ROWS, COLUMNS, sizeof(real), x, ROWS, device, LEADING));
  CHECK(cublasGetMatrix(ROWS, COLUMNS, sizeof(real), device, LEADING, back, ROWS));
  EXPECT(!memcmp(x, back, sizeof back));
  CHECK(cublasSetVectorAsync(ROWS, sizeof(real), x, 2, device, 3, NULL));
  CHECK(cublasGetVector(ROWS, sizeof(real), device, 3, back, 1));
  for (int i = 0; i < ROWS; i++) EXPECT(back[i] == x[2 * i]);
  EXPECT(cublasSetVector(1, 4, x, 0, device, 1) == 7);
}

int main(int count, char **arguments) {
  int n = count > 1 ? atoi(arguments[1]) : 1000;
  CHECK(cublasCreate_v2(&blas));
  check_settings();
  check_changes(n, 1, 1);
  check_changes(37, -2, 3);
  check_changes(37, 3, -1);
  check_sums(n, 1, 1);
  check_sums(300, 2, -3);
  check_sums(1, -1, 1);
  check_norms();
  check_device_mode();
  check_copies();
  CHECK(cublasDestroy_v2(blas));
  printf("all right\n");
  return 0;
}
