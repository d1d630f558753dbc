// Kernels for random numbers: each thread makes the numbers of one stream.
#include "random_orders.h"

#define KERNEL(generator, name, distribution)                                                \
  extern "C" __global__ void __launch_bounds__(STREAMS) kernelcast_##generator##_##name(     \
      void *to, uint64_t seed, uint64_t position, uint64_t count, double mean, double deviation, \
      int is_log) {                                                                          \
    const order how = {to, position, count, mean, deviation, is_log};                        \
    put_##generator(&how, distribution, seed, position / 4 / generator##_group + blockIdx.x, threadIdx.x); \
  }
#define KERNELS(generator)                             \
  KERNEL(generator, words, WORDS)                      \
  KERNEL(generator, uniform_f32, UNIFORM_F32)          \
  KERNEL(generator, uniform_f64, UNIFORM_F64)          \
  KERNEL(generator, normal_f32, NORMAL_F32)            \
  KERNEL(generator, normal_f64, NORMAL_F64)

KERNELS(philox)
KERNELS(xorwow)
KERNELS(mrg32k3a)

// One quad for each thread, of any counter: what tests compare with published ones.
extern "C" __global__ void kernelcast_philox_quads(quad *to, uint64_t seed, uint64_t low, uint64_t high) {
  to[threadIdx.x] = philox_quad(seed, low + threadIdx.x, high);
}
