// Products of matrices in double precision.
#include "blas_gemm.cuh"

GEMM(f64, double, double, double, 64, 64, 8)
GEMM(f64, double, double, double, 32, 32, 16)
