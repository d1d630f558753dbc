// Products of matrices in half precision, which add up in single precision.
#include <cuda_fp16.h>

__device__ inline float wider(__half value) { return __half2float(value); }
__device__ inline void narrow(float value, __half &to) { to = __float2half_rn(value); }

#include "blas_gemm.cuh"

GEMM(f16, __half, __half, float, 128, 128, 8)
GEMM(f16, __half, __half, float, 32, 32, 16)
GEMM(f16_f32, __half, float, float, 128, 128, 8)
GEMM(f16_f32, __half, float, float, 32, 32, 16)
