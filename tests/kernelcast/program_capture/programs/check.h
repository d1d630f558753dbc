// What all programs have in common: they end with status 1 at the first thing that is wrong.
#pragma once
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                        \
  do {                                                                                     \
    cudaError_t found_ = (call);                                                           \
    if (found_ != cudaSuccess) {                                                           \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(found_)); \
      exit(1);                                                                             \
    }                                                                                      \
  } while (0)

#define EXPECT(condition)                                                    \
  do {                                                                       \
    if (!(condition)) {                                                      \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                               \
    }                                                                        \
  } while (0)

template <class T>
T *on_device(const std::vector<T> &from) {
  T *made;
  CHECK(cudaMalloc(&made, from.size() * sizeof(T)));
  CHECK(cudaMemcpy(made, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
  return made;
}

template <class T>
std::vector<T> to_host(const T *from, size_t count) {
  std::vector<T> made(count);
  CHECK(cudaMemcpy(made.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost));
  return made;
}
