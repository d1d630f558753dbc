// What the kernels in place of cuBLAS's have in common. Matrices are column-major.
#pragma once
typedef long long wide;
enum { THREADS = 256 };

// A factor, which lies on the device where `at` is given.
template <class T>
__device__ T factor(const T *at, T value) {
  return at ? *at : value;
}

// Where the first element of a vector lies: with negative steps at the end of its memory.
__device__ inline wide first(wide count, wide step) { return step < 0 ? (1 - count) * step : 0; }

template <class T>
__device__ T absolute(T value) {
  return value < 0 ? -value : value;
}
