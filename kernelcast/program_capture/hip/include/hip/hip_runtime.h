// HIP programs for nvcc: `nvcc -x cu` compiles them against the CUDA runtime, under HIP's names.
#ifndef KERNELCAST_HIP_RUNTIME_H
#define KERNELCAST_HIP_RUNTIME_H
#include <hip/hip_runtime_api.h>
#if defined(__cplusplus) && defined(__CUDACC__)
#include <hip/kernel_functions.h>
#include <hip/vector_operators.h>
#endif
#endif
