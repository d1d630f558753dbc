// What HIP kernels use, on clang alone: no ROCm is installed, and nothing of it is copied here.
// Functions named __ocml_ and __ockl_ are those of AMD's device libraries: the reader of LLVM IR
// knows their meanings, and the code generator has definitions of its own.
#ifndef KERNELCAST_HIP_RUNTIME_H
#define KERNELCAST_HIP_RUNTIME_H
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...) KC_HIP_BOUNDS(__VA_ARGS__, 1, 1)
#define KC_HIP_BOUNDS(threads, ...) __attribute__((amdgpu_flat_work_group_size(1, threads)))
#define __HIP_DEVICE_COMPILE__ 1
#define __HIP_PLATFORM_AMD__ 1
#define __HIPCC__ 1
#define KC_HIP static __device__ __forceinline__
#define KC_HIP_MEMBER __device__ __forceinline__
#define KC_HIP_CONST extern "C" __device__ __attribute__((const))

#ifdef __cplusplus
#if __has_include(<cmath>)  // before ours, whose overloads would hide those of std
#include <cmath>
#include <cstdlib>
#endif
#include <hip/vector_types.h>

#include <hip/hip_runtime_api.h>

#include <hip/coordinates.h>
#include <hip/synchronisation.h>
#include <hip/loads.h>
#include <hip/atomics.h>
#include <hip/lanes.h>
#include <hip/integers.h>
#include <hip/math_functions.h>
#endif
#endif
