// Kernels on a matrix and vectors, sums of matrices, and triangular systems.
#include "blas_common.cuh"

enum { LANES = 32, ROWS = THREADS / LANES };

// y = alpha A x + beta y: a thread block makes 32 elements; its warps take columns in turn.
template <class T>
__device__ void gemv_n(int m, int n, const T *alpha_at, T alpha, const T *a, wide lda, const T *x,
                       wide dx, const T *beta_at, T beta, T *y, wide dy) {
  __shared__ T sums[ROWS][LANES];
  alpha = factor(alpha_at, alpha), beta = factor(beta_at, beta);
  int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
  wide row = (wide)blockIdx.x * LANES + lane;
  x += first(n, dx), y += first(m, dy);
  T sum = 0;
  if (row < m && alpha != T(0))
    for (int column = warp; column < n; column += ROWS)
      sum += a[row + column * lda] * x[column * dx];
  sums[warp][lane] = sum;
  __syncthreads();
  if (warp || row >= m) return;
  for (int other = 1; other < ROWS; other++) sum += sums[other][lane];
  y[row * dy] = alpha * sum + (beta != T(0) ? beta * y[row * dy] : T(0));
}

// y = alpha A' x + beta y: a thread block makes one element.
template <class T>
__device__ void gemv_t(int m, int n, const T *alpha_at, T alpha, const T *a, wide lda, const T *x,
                       wide dx, const T *beta_at, T beta, T *y, wide dy) {
  __shared__ T sums[THREADS];
  alpha = factor(alpha_at, alpha), beta = factor(beta_at, beta);
  x += first(m, dx), y += first(n, dy);
  a += blockIdx.x * lda;
  T sum = 0;
  if (alpha != T(0))
    for (int row = threadIdx.x; row < m; row += THREADS) sum += a[row] * x[row * dx];
  sums[threadIdx.x] = sum;
  for (int half = THREADS / 2; half; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x) return;
  T *to = y + blockIdx.x * dy;
  *to = alpha * sums[0] + (beta != T(0) ? beta * *to : T(0));
}

// A = alpha x y' + A: a thread block changes 256 rows of 8 columns.
template <class T>
__device__ void ger(int m, int n, const T *alpha_at, T alpha, const T *x, wide dx, const T *y, wide dy,
                    T *a, wide lda) {
  wide row = (wide)blockIdx.x * THREADS + threadIdx.x;
  if (row >= m) return;
  x += first(m, dx), y += first(n, dy);
  T scaled = factor(alpha_at, alpha) * x[row * dx];
  for (int group = blockIdx.y * ROWS; group < n; group += gridDim.y * ROWS)
    for (int column = group; column < min(n, group + ROWS); column++)
      a[row + column * lda] += scaled * y[column * dy];
}

// One 32 x 32 tile of a matrix or its transpose; `kept` gets this thread's elements.
template <class T>
__device__ void bring(const T *from, wide ld, bool is_transposed, int row, int column, int m, int n,
                      T (*tile)[LANES + 1], T *kept) {
  int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
  if (is_transposed) {
    for (int i = warp; i < LANES; i += ROWS)
      if (column + lane < n && row + i < m) tile[i][lane] = from[column + lane + (row + i) * ld];
    __syncthreads();
  }
  for (int i = 0; i < LANES / ROWS; i++) {
    int at = warp + i * ROWS;
    bool is_inside = row + lane < m && column + at < n;
    if (is_transposed) kept[i] = tile[lane][at];
    else if (is_inside) kept[i] = from[row + lane + (column + at) * ld];
  }
  __syncthreads();
}

// C = alpha op(A) + beta op(B): a thread block makes a tile of 32 x 32.
template <class T>
__device__ void geam(int m, int n, const T *alpha_at, T alpha, const T *a, wide lda, int a_is_transposed,
                     const T *beta_at, T beta, const T *b, wide ldb, int b_is_transposed, T *c,
                     wide ldc) {
  __shared__ T tile[LANES][LANES + 1];
  T left[LANES / ROWS] = {}, right[LANES / ROWS] = {};
  alpha = factor(alpha_at, alpha), beta = factor(beta_at, beta);
  int row = blockIdx.x * LANES, column = blockIdx.y * LANES;
  if (alpha != T(0)) bring(a, lda, a_is_transposed, row, column, m, n, tile, left);
  if (beta != T(0)) bring(b, ldb, b_is_transposed, row, column, m, n, tile, right);
  row += threadIdx.x % LANES, column += threadIdx.x / LANES;
  for (int i = 0; i < LANES / ROWS; i++) {
    T sum = (alpha != T(0) ? alpha * left[i] : T(0)) + (beta != T(0) ? beta * right[i] : T(0));
    if (row < m && column + i * ROWS < n) c[row + (column + i * ROWS) * ldc] = sum;
  }
}

// Solves a triangular system for one right side in each thread block. Steps are those of rows and
// columns of the triangle, of a right side's elements, and from one right side to the next.
template <class T>
__device__ void trsm(int n, int is_forward, int is_unit, const T *alpha_at, T alpha, const T *a,
                     wide row_step, wide column_step, T *b, wide step, wide distance) {
  __shared__ T solved;
  alpha = factor(alpha_at, alpha);
  b += blockIdx.x * distance;
  if (alpha != T(1))
    for (int i = threadIdx.x; i < n; i += THREADS) b[i * step] = alpha != T(0) ? alpha * b[i * step] : T(0);
  if (alpha == T(0)) return;
  for (int done = 0; done < n; done++) {
    int at = is_forward ? done : n - 1 - done;
    __syncthreads();
    if (!threadIdx.x) {
      solved = b[at * step];
      if (!is_unit) solved /= a[at * (row_step + column_step)];
      b[at * step] = solved;
    }
    __syncthreads();
    int begin = is_forward ? at + 1 : 0, end = is_forward ? n : at;
    for (int i = begin + threadIdx.x; i < end; i += THREADS)
      b[i * step] -= solved * a[i * row_step + at * column_step];
  }
}

#define KERNEL extern "C" __global__ void __launch_bounds__(THREADS)
#define GEMV(name, T, of)                                                                    \
  KERNEL kernelcast_##name(int m, int n, const T *alpha_at, T alpha, const T *a, wide lda,   \
                           const T *x, wide dx, const T *beta_at, T beta, T *y, wide dy) {   \
    of(m, n, alpha_at, alpha, a, lda, x, dx, beta_at, beta, y, dy);                          \
  }
#define MATRICES(type, T)                                                                    \
  GEMV(gemv_n_##type, T, gemv_n)                                                             \
  GEMV(gemv_t_##type, T, gemv_t)                                                             \
  KERNEL kernelcast_ger_##type(int m, int n, const T *alpha_at, T alpha, const T *x, wide dx, \
                               const T *y, wide dy, T *a, wide lda) {                        \
    ger(m, n, alpha_at, alpha, x, dx, y, dy, a, lda);                                        \
  }                                                                                          \
  KERNEL kernelcast_geam_##type(int m, int n, const T *alpha_at, T alpha, const T *a, wide lda, \
                                int a_is_transposed, const T *beta_at, T beta, const T *b,   \
                                wide ldb, int b_is_transposed, T *c, wide ldc) {             \
    geam(m, n, alpha_at, alpha, a, lda, a_is_transposed, beta_at, beta, b, ldb,              \
         b_is_transposed, c, ldc);                                                           \
  }                                                                                          \
  KERNEL kernelcast_trsm_##type(int n, int is_forward, int is_unit, const T *alpha_at, T alpha, \
                                const T *a, wide row_step, wide column_step, T *b, wide step, \
                                wide distance) {                                             \
    trsm(n, is_forward, is_unit, alpha_at, alpha, a, row_step, column_step, b, step, distance); \
  }

MATRICES(f32, float)
MATRICES(f64, double)
