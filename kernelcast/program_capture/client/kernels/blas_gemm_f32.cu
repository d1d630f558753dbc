// Products of matrices in single precision.
#include "blas_gemm.cuh"

GEMM(f32, float, float, float, 128, 128, 8)
GEMM(f32, float, float, float, 64, 64, 8)
GEMM(f32, float, float, float, 32, 32, 16)
