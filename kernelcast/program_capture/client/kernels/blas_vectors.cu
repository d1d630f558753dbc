// Kernels on vectors: copies, sums of multiples, and reductions in two steps.
#include "blas_common.cuh"

#define EACH(i, count)                                                           \
  for (wide i = (wide)blockIdx.x * THREADS + threadIdx.x, step_ = (wide)gridDim.x * THREADS; \
       i < count; i += step_)

template <class T>
__device__ void axpy(wide n, const T *at, T value, const T *x, wide dx, T *y, wide dy) {
  T alpha = factor(at, value);
  x += first(n, dx), y += first(n, dy);
  EACH(i, n) y[i * dy] += alpha * x[i * dx];
}

template <class T>
__device__ void scal(wide n, const T *at, T value, T *x, wide dx) {
  T alpha = factor(at, value);
  EACH(i, n) x[i * dx] *= alpha;
}

template <class T>
__device__ void copy(wide n, const T *x, wide dx, T *y, wide dy) {
  x += first(n, dx), y += first(n, dy);
  EACH(i, n) y[i * dy] = x[i * dx];
}

template <class T>
__device__ void swap(wide n, T *x, wide dx, T *y, wide dy) {
  x += first(n, dx), y += first(n, dy);
  EACH(i, n) {
    T kept = x[i * dx];
    x[i * dx] = y[i * dy];
    y[i * dy] = kept;
  }
}

template <class T>
__device__ void rot(wide n, T *x, wide dx, T *y, wide dy, const T *c_at, T c_value, const T *s_at,
                    T s_value) {
  T c = factor(c_at, c_value), s = factor(s_at, s_value);
  x += first(n, dx), y += first(n, dy);
  EACH(i, n) {
    T a = x[i * dx], b = y[i * dy];
    x[i * dx] = c * a + s * b;
    y[i * dy] = c * b - s * a;
  }
}

// ---- reductions: each has a state that starts empty, takes elements and other states ----

template <class T>
struct Sum {
  T sum;
  __device__ static Sum none() { return {0}; }
  __device__ void join(const Sum &other) { sum += other.sum; }
  __device__ T result() const { return sum; }
};

template <class T>
struct Range;
template <>
struct Range<float> {
  static constexpr float small = 0x1p-63f, large = 0x1p52f, up = 0x1p75f, down = 0x1p-76f;
};
template <>
struct Range<double> {
  static constexpr double small = 0x1p-511, large = 0x1p486, up = 0x1p537, down = 0x1p-538;
};

// Squares of numbers that are small, usual and large, which are added apart (Blue 1978).
template <class T>
struct Squares {
  T low, middle, high;
  __device__ static Squares none() { return {0, 0, 0}; }
  __device__ void take(T value) {
    T size = absolute(value);
    if (size > Range<T>::large) {
      T scaled = size * Range<T>::down;
      high += scaled * scaled;
    } else if (size < Range<T>::small) {
      T scaled = size * Range<T>::up;
      low += scaled * scaled;
    } else {
      middle += size * size;
    }
  }
  __device__ void join(const Squares &other) {
    low += other.low, middle += other.middle, high += other.high;
  }
  __device__ T result() const {
    if (high > 0) return sqrt(high + middle * Range<T>::down * Range<T>::down) / Range<T>::down;
    if (low == 0 || middle != middle) return sqrt(middle);
    T a = sqrt(middle), b = sqrt(low) / Range<T>::up;
    T most = a > b ? a : b, least = a > b ? b : a;
    return most * sqrt(1 + (least / most) * (least / most));
  }
};

// The first of the largest, or with SIGN -1 of the smallest, numbers; places count from 1.
template <class T, int SIGN>
struct Extreme {
  T value;
  int place;
  __device__ static Extreme none() { return {0, 0}; }
  __device__ void take(T given, int at) { join({SIGN * absolute(given), at}); }
  __device__ void join(const Extreme &other) {
    bool is_better = other.value > value || (other.value == value && other.place < place);
    if (other.place && (!place || is_better)) *this = other;
  }
  __device__ int result() const { return place; }
};

template <class State>
__device__ void join_block(State &own) {
  __shared__ State all[THREADS];
  all[threadIdx.x] = own;
  for (int half = THREADS / 2; half; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) all[threadIdx.x].join(all[threadIdx.x + half]);
  }
  own = all[0];
}

// With one block it is the result, else each leaves a part for `finish`.
template <class State, class Result>
__device__ void leave(State own, State *parts, Result *result) {
  join_block(own);
  if (threadIdx.x) return;
  if (gridDim.x == 1) *result = own.result();
  else parts[blockIdx.x] = own;
}

template <class State, class Result>
__device__ void finish(int count, const State *parts, Result *result) {
  State own = State::none();
  for (int i = threadIdx.x; i < count; i += THREADS) own.join(parts[i]);
  join_block(own);
  if (!threadIdx.x) *result = own.result();
}

template <class T>
__device__ Sum<T> dot(wide n, const T *x, wide dx, const T *y, wide dy) {
  Sum<T> own = Sum<T>::none();
  x += first(n, dx), y += first(n, dy);
  EACH(i, n) own.sum += x[i * dx] * y[i * dy];
  return own;
}

template <class T>
__device__ Sum<T> asum(wide n, const T *x, wide dx) {
  Sum<T> own = Sum<T>::none();
  EACH(i, n) own.sum += absolute(x[i * dx]);
  return own;
}

template <class T>
__device__ Squares<T> nrm2(wide n, const T *x, wide dx) {
  Squares<T> own = Squares<T>::none();
  EACH(i, n) own.take(x[i * dx]);
  return own;
}

template <class T, int SIGN>
__device__ Extreme<T, SIGN> extreme(wide n, const T *x, wide dx) {
  Extreme<T, SIGN> own = Extreme<T, SIGN>::none();
  EACH(i, n) own.take(x[i * dx], (int)i + 1);
  return own;
}

#define KERNEL extern "C" __global__ void __launch_bounds__(THREADS)
#define FINISH(name, State, Result)                                                          \
  KERNEL kernelcast_##name(int count, const State *parts, Result *result) {                  \
    finish(count, parts, result);                                                            \
  }
#define EXTREME(name, T, SIGN)                                                               \
  KERNEL kernelcast_##name(wide n, const T *x, wide dx, Extreme<T, SIGN> *parts, int *result) { \
    leave(extreme<T, SIGN>(n, x, dx), parts, result);                                        \
  }
#define VECTORS(type, T)                                                                     \
  KERNEL kernelcast_axpy_##type(wide n, const T *at, T value, const T *x, wide dx, T *y, wide dy) { \
    axpy(n, at, value, x, dx, y, dy);                                                        \
  }                                                                                          \
  KERNEL kernelcast_scal_##type(wide n, const T *at, T value, T *x, wide dx) {               \
    scal(n, at, value, x, dx);                                                               \
  }                                                                                          \
  KERNEL kernelcast_copy_##type(wide n, const T *x, wide dx, T *y, wide dy) {                \
    copy(n, x, dx, y, dy);                                                                   \
  }                                                                                          \
  KERNEL kernelcast_swap_##type(wide n, T *x, wide dx, T *y, wide dy) { swap(n, x, dx, y, dy); } \
  KERNEL kernelcast_rot_##type(wide n, T *x, wide dx, T *y, wide dy, const T *c_at, T c,     \
                               const T *s_at, T s) {                                         \
    rot(n, x, dx, y, dy, c_at, c, s_at, s);                                                  \
  }                                                                                          \
  KERNEL kernelcast_dot_##type(wide n, const T *x, wide dx, const T *y, wide dy, Sum<T> *parts, \
                               T *result) {                                                  \
    leave(dot(n, x, dx, y, dy), parts, result);                                              \
  }                                                                                          \
  KERNEL kernelcast_asum_##type(wide n, const T *x, wide dx, Sum<T> *parts, T *result) {     \
    leave(asum(n, x, dx), parts, result);                                                    \
  }                                                                                          \
  KERNEL kernelcast_nrm2_##type(wide n, const T *x, wide dx, Squares<T> *parts, T *result) { \
    leave(nrm2(n, x, dx), parts, result);                                                    \
  }                                                                                          \
  EXTREME(iamax_##type, T, 1)                                                                \
  EXTREME(iamin_##type, T, -1)                                                               \
  FINISH(sum_finish_##type, Sum<T>, T)                                                       \
  FINISH(nrm2_finish_##type, Squares<T>, T)                                                  \
  typedef Extreme<T, 1> largest_##type;                                                      \
  typedef Extreme<T, -1> smallest_##type;                                                    \
  FINISH(iamax_finish_##type, largest_##type, int)                                           \
  FINISH(iamin_finish_##type, smallest_##type, int)

VECTORS(f32, float)
VECTORS(f64, double)
