/* Products of matrices: one, many of the same size, and a matrix with itself. */
#include "cublas.h"

KC_KERNELS(blas_gemm_f32);
KC_KERNELS(blas_gemm_f64);
KC_KERNELS(blas_gemm_f16);

/* Numbers of the matrices and of the sums; kernels for each in tiles of these sizes, largest first. */
typedef struct {
  kc_kernels *kernels;
  const char *name;
  int tiles[4];
  type sums;
} kind;
static const kind in_f32 = {&blas_gemm_f32, "f32", {128, 64, 32}, F32},
                  in_f64 = {&blas_gemm_f64, "f64", {64, 32}, F64},
                  in_f16 = {&blas_gemm_f16, "f16", {128, 32}, F32},
                  in_f16_f32 = {&blas_gemm_f16, "f16_f32", {128, 32}, F32};

/* One matrix, or as many as there are products: at a distance, or with an array of places. */
typedef struct {
  const void *at, *all;
  int64_t ld, distance;
  int operation;
} matrices;

enum { ALL, LOWER, UPPER }; /* the part of C that is made */

typedef struct {
  int64_t m, n, k, count;
  factor alpha, beta;
  matrices a, b, c;
  int part;
} product;

static uint64_t parts(int64_t whole, int64_t part) { return (uint64_t)((whole + part - 1) / part); }

/* The largest tile with which every processor has something to do. */
static int tile_for(const handle *of, const kind *numbers, const product *p) {
  const int *tile = numbers->tiles;
  while (tile[1] && parts(p->m, *tile) * parts(p->n, *tile) * (uint64_t)p->count < (uint64_t)of->processors)
    tile++;
  return *tile;
}

static status launch(const handle *of, const kind *numbers, product p, int tile) {
  char name[64];
  snprintf(name, sizeof name, "kernelcast_gemm_%s_%dx%d", numbers->name, tile, tile);
  int m = (int)p.m, n = (int)p.n, k = (int)p.k;
  int64_t a_row = p.a.operation ? p.a.ld : 1, a_column = p.a.operation ? 1 : p.a.ld;
  int64_t b_row = p.b.operation ? p.b.ld : 1, b_column = p.b.operation ? 1 : p.b.ld;
  void *arguments[] = {&m, &n, &k, &p.alpha.at, &p.alpha.value,
                       &p.a.at, &p.a.all, &p.a.distance, &a_row, &a_column,
                       &p.b.at, &p.b.all, &p.b.distance, &b_row, &b_column,
                       &p.beta.at, &p.beta.value,
                       &p.c.at, &p.c.all, &p.c.distance, &p.c.ld, &p.part};
  const uint64_t grid[] = {parts(p.m, tile), parts(p.n, tile), (uint64_t)p.count};
  return done(kc_run(numbers->kernels, name, grid, of->stream, arguments));
}

static int is_wrong(const matrices *of, int64_t rows, int64_t columns) {
  int64_t least = of->operation ? columns : rows;
  return !is_operation(of->operation) || of->ld < (least > 1 ? least : 1);
}

static status multiply(const handle *of, const kind *numbers, product p) {
  enum { MOST = INT32_MAX };
  if (p.m < 0 || p.n < 0 || p.k < 0 || p.count < 0 || p.m > MOST || p.n > MOST || p.k > MOST ||
      is_wrong(&p.a, p.m, p.k) || is_wrong(&p.b, p.k, p.n) || is_wrong(&p.c, p.m, p.n))
    return INVALID_VALUE;
  int is_nothing = !p.k || is_known(&p.alpha, numbers->sums, 0);
  if (!p.m || !p.n || !p.count || (is_nothing && is_known(&p.beta, numbers->sums, 1))) return 0;
  return launch(of, numbers, p, tile_for(of, numbers, &p));
}

/* The grid holds as many products; more are made by several launches. */
static status multiply_all(const handle *of, const kind *numbers, product p, int64_t in_bytes,
                           int64_t out_bytes) {
  enum { MOST_AT_ONCE = 65535, POINTER_BYTES = 8 };
  int64_t left = p.count;
  for (;; left -= MOST_AT_ONCE) {
    p.count = left < MOST_AT_ONCE ? left : MOST_AT_ONCE;
    status failure = multiply(of, numbers, p);
    if (failure || left <= MOST_AT_ONCE) return failure;
    matrices *each[] = {&p.a, &p.b, &p.c};
    for (int i = 0; i < 3; i++) {
      int64_t bytes = i == 2 ? out_bytes : in_bytes;
      if (each[i]->all) each[i]->all = (const char *)each[i]->all + (int64_t)MOST_AT_ONCE * POINTER_BYTES;
      else each[i]->at = (const char *)each[i]->at + MOST_AT_ONCE * each[i]->distance * bytes;
    }
  }
}

/* ---- single and double precision ---- */

#define GEMM(L, t, T, numbers, integer, suffix)                                                     \
  API status cublas##L##gemm_v2##suffix(handle *of, int a_operation, int b_operation, integer m,    \
                                        integer n, integer k, const T *alpha, const T *a,           \
                                        integer lda, const T *b, integer ldb, const T *beta, T *c,  \
                                        integer ldc) {                                              \
    if (!of) return NOT_INITIALIZED;                                                                \
    return multiply(of, &numbers,                                                                   \
                    (product){m, n, k, 1, factor_of(of, t, alpha), factor_of(of, t, beta),          \
                              {a, NULL, lda, 0, a_operation}, {b, NULL, ldb, 0, b_operation},       \
                              {c, NULL, ldc, 0, 0}, ALL});                                          \
  }                                                                                                 \
  API status cublas##L##gemmStridedBatched##suffix(                                                 \
      handle *of, int a_operation, int b_operation, integer m, integer n, integer k, const T *alpha, \
      const T *a, integer lda, long long a_distance, const T *b, integer ldb, long long b_distance, \
      const T *beta, T *c, integer ldc, long long c_distance, integer count) {                      \
    if (!of) return NOT_INITIALIZED;                                                                \
    return multiply_all(of, &numbers,                                                               \
                        (product){m, n, k, count, factor_of(of, t, alpha), factor_of(of, t, beta),  \
                                  {a, NULL, lda, a_distance, a_operation},                          \
                                  {b, NULL, ldb, b_distance, b_operation},                          \
                                  {c, NULL, ldc, c_distance, 0}, ALL}, sizeof *a, sizeof *c);       \
  }                                                                                                 \
  API status cublas##L##gemmBatched##suffix(                                                        \
      handle *of, int a_operation, int b_operation, integer m, integer n, integer k, const T *alpha, \
      const T *const a[], integer lda, const T *const b[], integer ldb, const T *beta, T *const c[], \
      integer ldc, integer count) {                                                                 \
    if (!of) return NOT_INITIALIZED;                                                                \
    return multiply_all(of, &numbers,                                                               \
                        (product){m, n, k, count, factor_of(of, t, alpha), factor_of(of, t, beta),  \
                                  {NULL, a, lda, 0, a_operation}, {NULL, b, ldb, 0, b_operation},   \
                                  {NULL, c, ldc, 0, 0}, ALL}, sizeof **a, sizeof **c);              \
  }                                                                                                 \
  API status cublas##L##syrk_v2##suffix(handle *of, int fill, int operation, integer n, integer k,  \
                                        const T *alpha, const T *a, integer lda, const T *beta,     \
                                        T *c, integer ldc) {                                        \
    if (!of) return NOT_INITIALIZED;                                                                \
    if (fill < 0 || fill > 1) return INVALID_VALUE;                                                 \
    return multiply(of, &numbers,                                                                   \
                    (product){n, n, k, 1, factor_of(of, t, alpha), factor_of(of, t, beta),          \
                              {a, NULL, lda, 0, operation}, {a, NULL, lda, 0, !operation},          \
                              {c, NULL, ldc, 0, 0}, fill ? UPPER : LOWER});                         \
  }
GEMM(S, F32, float, in_f32, int, )
GEMM(D, F64, double, in_f64, int, )
GEMM(S, F32, float, in_f32, int64_t, _64)
GEMM(D, F64, double, in_f64, int64_t, _64)

/* ---- half precision, and products whose types are given ---- */

enum { REAL_16F = 2, REAL_32F = 0, REAL_64F = 1 };          /* a cudaDataType */
enum { COMPUTE_16F = 64, COMPUTE_32F = 68, COMPUTE_64F = 70 }; /* a cublasComputeType_t */

static float from_half(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  float size = exponent ? (float)(1024 + fraction) : (float)(2 * fraction);
  if (exponent == 31) size = fraction ? __builtin_nanf("") : __builtin_inff();
  for (int at = exponent ? exponent : 1; at < 25 && exponent != 31; at++) size /= 2;
  for (int at = 25; at < exponent && exponent != 31; at++) size *= 2;
  return bits >> 15 ? -size : size;
}

/* A factor in half precision, for kernels that have it in single precision. */
static status half_factor(const handle *of, factor *to, const uint16_t *given, void *from) {
  if (of->is_device_mode) {
    kc_refuse_at("cuBLAS's products with half-precision factors that lie on the device", from);
    return NOT_SUPPORTED;
  }
  *to = (factor){0};
  to->value.f32 = from_half(*(const uint16_t *)kc_visible(number(given)));
  return 0;
}

/* The kernels for types; NULL where there are none. */
static const kind *kind_for(int a, int b, int c, int compute) {
  int is_single = compute >= COMPUTE_32F && compute != COMPUTE_64F && compute != COMPUTE_64F + 1 && compute < 80;
  if (a != b || compute == 72 || compute == 73) return NULL;
  if (a == REAL_64F && c == REAL_64F && (compute == COMPUTE_64F || compute == COMPUTE_64F + 1)) return &in_f64;
  if (a == REAL_32F && c == REAL_32F && is_single) return &in_f32;
  if (a == REAL_16F && c == REAL_32F && is_single) return &in_f16_f32;
  int is_half = compute == COMPUTE_16F || compute == COMPUTE_16F + 1;
  return a == REAL_16F && c == REAL_16F && (is_single || is_half) ? &in_f16 : NULL;
}

/* Products called from a place. */
static status multiply_typed(const handle *of, void *from, const int types[3], int compute,
                             const void *alpha, const void *beta, product p) {
  if (!of) return NOT_INITIALIZED;
  const kind *numbers = kind_for(types[0], types[1], types[2], compute);
  if (!numbers) {
    char name[80];
    snprintf(name, sizeof name, "cublasGemmEx of types %d, %d, %d, computed in %d", types[0], types[1],
             types[2], compute);
    kc_refuse_at(name, from);
    return NOT_SUPPORTED;
  }
  status failure = 0;
  if (compute < COMPUTE_32F) {
    failure = half_factor(of, &p.alpha, alpha, from);
    if (!failure) failure = half_factor(of, &p.beta, beta, from);
  } else {
    p.alpha = factor_of(of, numbers->sums, alpha), p.beta = factor_of(of, numbers->sums, beta);
  }
  int64_t in_bytes = numbers == &in_f64 ? 8 : types[0] == REAL_16F ? 2 : 4;
  int64_t out_bytes = numbers == &in_f64 ? 8 : types[2] == REAL_16F ? 2 : 4;
  return failure ? failure : multiply_all(of, numbers, p, in_bytes, out_bytes);
}

static const int halves[] = {REAL_16F, REAL_16F, REAL_16F};

#define CALLER __builtin_return_address(0)
#define GEMM_TYPED(integer, suffix)                                                                 \
  API status cublasHgemm##suffix(handle *of, int a_operation, int b_operation, integer m, integer n, \
                                 integer k, const void *alpha, const void *a, integer lda,          \
                                 const void *b, integer ldb, const void *beta, void *c,             \
                                 integer ldc) {                                                     \
    return multiply_typed(of, CALLER, halves, COMPUTE_16F, alpha, beta,                                     \
                          (product){m, n, k, 1, {0}, {0}, {a, NULL, lda, 0, a_operation},           \
                                    {b, NULL, ldb, 0, b_operation}, {c, NULL, ldc, 0, 0}, ALL});    \
  }                                                                                                 \
  API status cublasHgemmStridedBatched##suffix(                                                     \
      handle *of, int a_operation, int b_operation, integer m, integer n, integer k,                \
      const void *alpha, const void *a, integer lda, long long a_distance, const void *b,           \
      integer ldb, long long b_distance, const void *beta, void *c, integer ldc,                    \
      long long c_distance, integer count) {                                                        \
    return multiply_typed(of, CALLER, halves, COMPUTE_16F, alpha, beta,                                     \
                          (product){m, n, k, count, {0}, {0}, {a, NULL, lda, a_distance, a_operation}, \
                                    {b, NULL, ldb, b_distance, b_operation},                        \
                                    {c, NULL, ldc, c_distance, 0}, ALL});                           \
  }                                                                                                 \
  API status cublasGemmEx##suffix(handle *of, int a_operation, int b_operation, integer m, integer n, \
                                  integer k, const void *alpha, const void *a, int a_type,          \
                                  integer lda, const void *b, int b_type, integer ldb,              \
                                  const void *beta, void *c, int c_type, integer ldc, int compute,  \
                                  int algorithm) {                                                  \
    (void)algorithm;                                                                                \
    return multiply_typed(of, CALLER, (const int[]){a_type, b_type, c_type}, compute, alpha, beta,  \
                          (product){m, n, k, 1, {0}, {0}, {a, NULL, lda, 0, a_operation},           \
                                    {b, NULL, ldb, 0, b_operation}, {c, NULL, ldc, 0, 0}, ALL});    \
  }                                                                                                 \
  API status cublasGemmStridedBatchedEx##suffix(                                                    \
      handle *of, int a_operation, int b_operation, integer m, integer n, integer k,                \
      const void *alpha, const void *a, int a_type, integer lda, long long a_distance,              \
      const void *b, int b_type, integer ldb, long long b_distance, const void *beta, void *c,      \
      int c_type, integer ldc, long long c_distance, integer count, int compute, int algorithm) {   \
    (void)algorithm;                                                                                \
    return multiply_typed(of, CALLER, (const int[]){a_type, b_type, c_type}, compute, alpha, beta,  \
                          (product){m, n, k, count, {0}, {0}, {a, NULL, lda, a_distance, a_operation}, \
                                    {b, NULL, ldb, b_distance, b_operation},                        \
                                    {c, NULL, ldc, c_distance, 0}, ALL});                           \
  }
GEMM_TYPED(int, )
GEMM_TYPED(int64_t, _64)
