/* Functions on a matrix and vectors, sums of matrices, and triangular systems. */
#include "cublas.h"

KC_KERNELS(blas_matrices);

static status run(const handle *of, const char *stem, type numbers, uint64_t across, uint64_t down,
                  void **arguments) {
  char name[64];
  name_of(name, stem, numbers);
  return done(kc_run(&blas_matrices, name, (const uint64_t[]){across, down, 1}, of->stream, arguments));
}

static uint64_t parts(int64_t whole, int64_t part) { return (uint64_t)((whole + part - 1) / part); }
static int64_t at_least_one(int64_t rows) { return rows > 1 ? rows : 1; }

/* Whether sizes are such that the kernels count in 32 bits. */
static int are_sizes(int64_t m, int64_t n) { return m >= 0 && n >= 0 && m <= INT32_MAX && n <= INT32_MAX; }

typedef struct {
  int64_t m, n;
  const void *a;
  int64_t lda;
} matrix;

typedef struct {
  void *at;
  int64_t step;
} vector;

static status gemv(handle *of, type t, int operation, matrix a, const void *given_alpha, vector x,
                   const void *given_beta, vector y) {
  if (!of) return NOT_INITIALIZED;
  if (!is_operation(operation) || !are_sizes(a.m, a.n) || a.lda < at_least_one(a.m) || !x.step || !y.step)
    return INVALID_VALUE;
  factor alpha = factor_of(of, t, given_alpha), beta = factor_of(of, t, given_beta);
  if (!a.m || !a.n || (is_known(&alpha, t, 0) && is_known(&beta, t, 1))) return 0;
  int m = (int)a.m, n = (int)a.n;
  void *arguments[] = {&m,      &n,      &alpha.at,   &alpha.value, &a.a,   &a.lda, &x.at,
                       &x.step, &beta.at, &beta.value, &y.at,        &y.step};
  if (operation == TRANSPOSED_NOT) return run(of, "gemv_n", t, parts(m, 32), 1, arguments);
  return run(of, "gemv_t", t, (uint64_t)n, 1, arguments);
}

static status ger(handle *of, type t, matrix a, const void *given, vector x, vector y) {
  enum { COLUMNS = 8, MOST_DOWN = 65535 };
  if (!of) return NOT_INITIALIZED;
  if (!are_sizes(a.m, a.n) || a.lda < at_least_one(a.m) || !x.step || !y.step) return INVALID_VALUE;
  factor alpha = factor_of(of, t, given);
  if (!a.m || !a.n || is_known(&alpha, t, 0)) return 0;
  int m = (int)a.m, n = (int)a.n;
  uint64_t down = parts(n, COLUMNS);
  return run(of, "ger", t, parts(m, KC_BLOCK_THREADS), down < MOST_DOWN ? down : MOST_DOWN,
             (void *[]){&m, &n, &alpha.at, &alpha.value, &x.at, &x.step, &y.at, &y.step, &a.a, &a.lda});
}

/* One side of a sum: a matrix, whether it is transposed, and its factor. */
typedef struct {
  const void *a;
  int64_t lda;
  int operation;
  const void *given;
} summand;

static int is_wrong(const summand *of, int64_t m, int64_t n) {
  return !is_operation(of->operation) || of->lda < at_least_one(of->operation ? n : m);
}

static status geam(handle *of, type t, matrix c, summand a, summand b) {
  if (!of) return NOT_INITIALIZED;
  int is_wrong_in_place = (c.a == a.a && (a.operation || c.lda != a.lda)) ||
                          (c.a == b.a && (b.operation || c.lda != b.lda));
  factor alpha = factor_of(of, t, a.given), beta = factor_of(of, t, b.given);
  int has_a = !is_known(&alpha, t, 0), has_b = !is_known(&beta, t, 0);
  if (!are_sizes(c.m, c.n) || c.lda < at_least_one(c.m) || (has_a && is_wrong(&a, c.m, c.n)) ||
      (has_b && is_wrong(&b, c.m, c.n)) || is_wrong_in_place)
    return INVALID_VALUE;
  if (!c.m || !c.n) return 0;
  int m = (int)c.m, n = (int)c.n;
  return run(of, "geam", t, parts(m, 32), parts(n, 32),
             (void *[]){&m, &n, &alpha.at, &alpha.value, &a.a, &a.lda, &a.operation, &beta.at,
                        &beta.value, &b.a, &b.lda, &b.operation, &c.a, &c.lda});
}

/* ---- triangular systems ---- */

enum { LOWER, UPPER };
enum { LEFT, RIGHT };


typedef struct {
  int fill, is_transposed, is_unit;
  const void *a;
  int64_t n, lda;
} triangle;

/* Right sides: the distance of elements, and from one to the next. */
typedef struct {
  void *at;
  int64_t count, step, distance;
} sides;

static status solve(const handle *of, type t, triangle how, const factor *alpha, sides b) {
  if (!how.n || !b.count) return 0;
  int64_t row = how.is_transposed ? how.lda : 1, column = how.is_transposed ? 1 : how.lda;
  int count = (int)how.n, is_forward = (how.fill == LOWER) ^ how.is_transposed;
  return run(of, "trsm", t, (uint64_t)b.count, 1,
             (void *[]){&count, &is_forward, &how.is_unit, (void *)&alpha->at, (void *)&alpha->value,
                        &how.a, &row, &column, &b.at, &b.step, &b.distance});
}

static int is_triangle(const triangle *of, int operation) {
  return is_operation(operation) && (of->fill == LOWER || of->fill == UPPER) && are_sizes(of->n, of->n) &&
         of->lda >= at_least_one(of->n);
}

/* A side that is the right one is the left one of the transposed system. */
static status trsm(handle *of, type t, int side, int operation, triangle a, const void *given, matrix b) {
  if (!of) return NOT_INITIALIZED;
  int is_right = side == RIGHT;
  a.n = is_right ? b.n : b.m, a.is_transposed = !!operation ^ is_right;
  if (!is_triangle(&a, operation) || !are_sizes(b.m, b.n) || b.lda < at_least_one(b.m)) return INVALID_VALUE;
  factor alpha = factor_of(of, t, given);
  sides all = {(void *)b.a, is_right ? b.m : b.n, is_right ? b.lda : 1, is_right ? 1 : b.lda};
  return solve(of, t, a, &alpha, all);
}

static status trsv(handle *of, type t, int operation, triangle a, vector x) {
  if (!of) return NOT_INITIALIZED;
  a.is_transposed = !!operation;
  if (!is_triangle(&a, operation) || !x.step) return INVALID_VALUE;
  factor one = {0};
  if (t == F64) one.value.f64 = 1;
  else one.value.f32 = 1;
  int64_t first = x.step < 0 ? (1 - a.n) * x.step * (t == F64 ? 8 : 4) : 0;
  return solve(of, t, a, &one, (sides){(char *)x.at + first, 1, x.step, 0});
}

#define MATRICES(L, t, T, integer, suffix)                                                          \
  API status cublas##L##gemv_v2##suffix(handle *of, int operation, integer m, integer n,            \
                                        const T *alpha, const T *a, integer lda, const T *x,        \
                                        integer dx, const T *beta, T *y, integer dy) {              \
    return gemv(of, t, operation, (matrix){m, n, a, lda}, alpha, (vector){(void *)x, dx}, beta,     \
                (vector){y, dy});                                                                   \
  }                                                                                                 \
  API status cublas##L##ger_v2##suffix(handle *of, integer m, integer n, const T *alpha, const T *x, \
                                       integer dx, const T *y, integer dy, T *a, integer lda) {     \
    return ger(of, t, (matrix){m, n, a, lda}, alpha, (vector){(void *)x, dx}, (vector){(void *)y, dy}); \
  }                                                                                                 \
  API status cublas##L##geam##suffix(handle *of, int a_operation, int b_operation, integer m,       \
                                     integer n, const T *alpha, const T *a, integer lda,            \
                                     const T *beta, const T *b, integer ldb, T *c, integer ldc) {   \
    return geam(of, t, (matrix){m, n, c, ldc}, (summand){a, lda, a_operation, alpha},               \
                (summand){b, ldb, b_operation, beta});                                              \
  }                                                                                                 \
  API status cublas##L##trsm_v2##suffix(handle *of, int side, int fill, int operation, int unit,    \
                                        integer m, integer n, const T *alpha, const T *a,           \
                                        integer lda, T *b, integer ldb) {                           \
    return trsm(of, t, side, operation, (triangle){fill, 0, unit, a, 0, lda}, alpha,                \
                (matrix){m, n, b, ldb});                                                            \
  }                                                                                                 \
  API status cublas##L##trsv_v2##suffix(handle *of, int fill, int operation, int unit, integer n,   \
                                        const T *a, integer lda, T *x, integer dx) {                \
    return trsv(of, t, operation, (triangle){fill, 0, unit, a, n, lda}, (vector){x, dx});           \
  }
MATRICES(S, F32, float, int, )
MATRICES(D, F64, double, int, )
MATRICES(S, F32, float, int64_t, _64)
MATRICES(D, F64, double, int64_t, _64)
