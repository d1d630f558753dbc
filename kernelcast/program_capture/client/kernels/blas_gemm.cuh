// Kernels for products of matrices: C = alpha op(A) op(B) + beta C.
//
// A thread block makes one tile of C. Tiles of A and B come through shared memory, the next ones are
// on their way in registers meanwhile. Each thread holds HIGH x WIDE elements of the tile of C, in
// groups of as many as 16 bytes hold. Matrices have steps for rows and columns, so that one kernel
// does all transposes: what is contiguous in memory is read by neighbouring threads.
#pragma once
#include "blas_common.cuh"

__device__ inline float wider(float value) { return value; }
__device__ inline double wider(double value) { return value; }
__device__ inline void narrow(float value, float &to) { to = value; }
__device__ inline void narrow(double value, double &to) { to = value; }

// One matrix of each product: at a distance from each other, or where `all` says.
template <class T>
struct Matrices {
  T *begin;
  T *const *all;
  wide distance;
  __device__ T *of(unsigned number) const { return all ? all[number] : begin + number * distance; }
};

// What one thread brings of the tiles of A or B: `LINES` elements of C's row or column, DEPTH deep.
template <class In, class Sum, int LINES, int DEPTH>
struct Bringer {
  static constexpr int COUNT = LINES * DEPTH / THREADS;
  static constexpr int PITCH = LINES + 16 / sizeof(Sum);
  const In *at;
  wide by, next;
  int line, deep, line_by, deep_by, lines_left, depth_left;
  Sum kept[COUNT];

  __device__ Bringer(const In *matrix, wide line_step, wide depth_step, int first, int lines, int depth)
      : next(DEPTH * depth_step) {
    bool is_deep = depth_step == 1 && line_step != 1;
    line = is_deep ? threadIdx.x / DEPTH : threadIdx.x % LINES;
    deep = is_deep ? threadIdx.x % DEPTH : threadIdx.x / LINES;
    line_by = is_deep ? THREADS / DEPTH : 0;
    deep_by = is_deep ? 0 : THREADS / LINES;
    by = is_deep ? line_by * line_step : deep_by * depth_step;
    lines_left = lines - first - line;
    depth_left = depth - deep;
    at = matrix + (first + line) * line_step + deep * depth_step;
  }
  __device__ void fetch() {
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
      bool is_inside = i * line_by < lines_left && i * deep_by < depth_left;
      kept[i] = is_inside ? wider(at[i * by]) : Sum(0);
    }
    at += next;
    depth_left -= DEPTH;
  }
  __device__ void put(Sum *tile) const {
#pragma unroll
    for (int i = 0; i < COUNT; i++) tile[(deep + i * deep_by) * PITCH + line + i * line_by] = kept[i];
  }
};

template <class T, int COUNT>
struct alignas(sizeof(T) * COUNT) Group {
  T items[COUNT];
  __device__ static Group of(const T *from) {
    Group made;
#pragma unroll
    for (int i = 0; i < COUNT; i++) made.items[i] = from[i];
    return made;
  }
};

// Changes a group of C's elements: those from `begin` up to `end`.
template <class Out, class Sum, int COUNT>
__device__ __forceinline__ void change(Out *to, Group<Sum, COUNT> sums, Sum alpha, Sum beta, int begin,
                                       int end, bool is_aligned) {
  Group<Out, COUNT> found = {};
  bool is_whole = is_aligned && begin <= 0 && end >= COUNT;
  if (beta != Sum(0)) {
    if (is_whole) found = *(Group<Out, COUNT> *)to;
#pragma unroll
    for (int i = 0; i < COUNT; i++)
      if (!is_whole && i >= begin && i < end) found.items[i] = to[i];
#pragma unroll
    for (int i = 0; i < COUNT; i++)
      sums.items[i] = alpha * sums.items[i] + beta * wider(found.items[i]);
  } else {
#pragma unroll
    for (int i = 0; i < COUNT; i++) sums.items[i] *= alpha;
  }
#pragma unroll
  for (int i = 0; i < COUNT; i++) narrow(sums.items[i], found.items[i]);
  if (is_whole) *(Group<Out, COUNT> *)to = found;
#pragma unroll
  for (int i = 0; i < COUNT; i++)
    if (!is_whole && i >= begin && i < end) to[i] = found.items[i];
}

enum Part { ALL, LOWER, UPPER };

template <class In, class Out, class Sum, int TALL, int BROAD, int DEPTH>
__device__ void product(int m, int n, int k, const Sum *alpha_at, Sum alpha, Matrices<const In> as,
                        wide a_row, wide a_column, Matrices<const In> bs, wide b_row, wide b_column,
                        const Sum *beta_at, Sum beta, Matrices<Out> cs, wide c_column, int part) {
  constexpr int HIGH = TALL / 16, WIDE = BROAD / 16, MOST = 16 / sizeof(Sum);
  constexpr int UP = HIGH < MOST ? HIGH : MOST, ACROSS = WIDE < MOST ? WIDE : MOST;
  typedef Bringer<In, Sum, TALL, DEPTH> OfA;
  typedef Bringer<In, Sum, BROAD, DEPTH> OfB;
  __shared__ __align__(16) Sum a_tile[DEPTH * OfA::PITCH], b_tile[DEPTH * OfB::PITCH];
  int row = blockIdx.x * TALL, column = blockIdx.y * BROAD;
  if (part == LOWER && row + TALL <= column) return;
  if (part == UPPER && column + BROAD <= row) return;
  alpha = factor(alpha_at, alpha), beta = factor(beta_at, beta);
  if (alpha == Sum(0)) k = 0;
  OfA a(k ? as.of(blockIdx.z) : nullptr, a_row, a_column, row, m, k);
  OfB b(k ? bs.of(blockIdx.z) : nullptr, b_column, b_row, column, n, k);
  int tx = threadIdx.x % 16 * UP, ty = threadIdx.x / 16 * ACROSS;
  Sum sums[WIDE][HIGH] = {};
  if (k) a.fetch(), b.fetch();
  for (int done = 0; done < k; done += DEPTH) {
    a.put(a_tile), b.put(b_tile);
    __syncthreads();
    if (done + DEPTH < k) a.fetch(), b.fetch();
#pragma unroll
    for (int deep = 0; deep < DEPTH; deep++) {
      Sum left[HIGH], right[WIDE];
#pragma unroll
      for (int i = 0; i < HIGH; i += UP)
        *(Group<Sum, UP> *)(left + i) =
            *(const Group<Sum, UP> *)(a_tile + deep * OfA::PITCH + i * 16 + tx);
#pragma unroll
      for (int i = 0; i < WIDE; i += ACROSS)
        *(Group<Sum, ACROSS> *)(right + i) =
            *(const Group<Sum, ACROSS> *)(b_tile + deep * OfB::PITCH + i * 16 + ty);
#pragma unroll
      for (int j = 0; j < WIDE; j++)
#pragma unroll
        for (int i = 0; i < HIGH; i++) sums[j][i] += left[i] * right[j];
    }
    __syncthreads();
  }
  Out *c = cs.of(blockIdx.z);
  bool is_aligned = ((wide)c | c_column * (wide)sizeof(Out)) % sizeof(Group<Out, UP>) == 0;
#pragma unroll
  for (int j = 0; j < WIDE; j++) {
    int at_column = column + j / ACROSS * ACROSS * 16 + ty + j % ACROSS;
    int begin = part == LOWER ? at_column : 0;
    int end = at_column >= n ? 0 : part == UPPER ? min(m, at_column + 1) : m;
#pragma unroll
    for (int i = 0; i < HIGH; i += UP) {
      int at_row = row + i * 16 + tx;
      change(c + at_row + at_column * c_column, Group<Sum, UP>::of(&sums[j][i]), alpha, beta,
             begin - at_row, end - at_row, is_aligned);
    }
  }
}

#define GEMM(type, In, Out, Sum, TALL, BROAD, DEPTH)                                             \
  extern "C" __global__ void __launch_bounds__(THREADS, TALL > 64 ? 2 : 3)                  \
      kernelcast_gemm_##type##_##TALL##x##BROAD(                                                 \
          int m, int n, int k, const Sum *alpha_at, Sum alpha, const In *a, const In *const *as, \
          wide a_distance, wide a_row, wide a_column, const In *b, const In *const *bs,          \
          wide b_distance, wide b_row, wide b_column, const Sum *beta_at, Sum beta, Out *c,      \
          Out *const *cs, wide c_distance, wide c_column, int part) {                            \
    product<In, Out, Sum, TALL, BROAD, DEPTH>(                                                   \
        m, n, k, alpha_at, alpha, Matrices<const In>{a, as, a_distance}, a_row, a_column,        \
        Matrices<const In>{b, bs, b_distance}, b_row, b_column, beta_at, beta,                   \
        Matrices<Out>{c, cs, c_distance}, c_column, part);                                       \
  }
