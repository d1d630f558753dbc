// Complex numbers: vectors of two.
#ifndef KERNELCAST_HIP_COMPLEX_H
#define KERNELCAST_HIP_COMPLEX_H
#include <hip/hip_runtime.h>
typedef float2 hipFloatComplex;
typedef double2 hipDoubleComplex;
typedef hipFloatComplex hipComplex;
#define KC_HIP_COMPLEX(C, T, made, f, root, fused)                                          \
  KC_HIP_BOTH C made(T real, T imaginary) { return {real, imaginary}; }                     \
  KC_HIP_BOTH T hipCreal##f(C z) { return z.x; }                                            \
  KC_HIP_BOTH T hipCimag##f(C z) { return z.y; }                                            \
  KC_HIP_BOTH C hipConj##f(C z) { return {z.x, -z.y}; }                                     \
  KC_HIP_BOTH T hipCsqabs##f(C z) { return z.x * z.x + z.y * z.y; }                         \
  KC_HIP_BOTH C hipCadd##f(C p, C q) { return {p.x + q.x, p.y + q.y}; }                     \
  KC_HIP_BOTH C hipCsub##f(C p, C q) { return {p.x - q.x, p.y - q.y}; }                     \
  KC_HIP_BOTH C hipCmul##f(C p, C q) {                                                      \
    return {p.x * q.x - p.y * q.y, p.y * q.x + p.x * q.y};                                  \
  }                                                                                         \
  KC_HIP_BOTH C hipCdiv##f(C p, C q) {                                                      \
    T size = hipCsqabs##f(q);                                                               \
    return {(p.x * q.x + p.y * q.y) / size, (p.y * q.x - p.x * q.y) / size};                \
  }                                                                                         \
  KC_HIP_BOTH T hipCabs##f(C z) { return root(hipCsqabs##f(z)); }                           \
  KC_HIP_BOTH C fused(C p, C q, C r) {                                                      \
    return {p.x * q.x + r.x - p.y * q.y, q.x * p.y + r.y + p.x * q.y};                      \
  }
KC_HIP_COMPLEX(hipFloatComplex, float, make_hipFloatComplex, f, __builtin_sqrtf, hipCfmaf)
KC_HIP_COMPLEX(hipDoubleComplex, double, make_hipDoubleComplex, , __builtin_sqrt, hipCfma)
#undef KC_HIP_COMPLEX
KC_HIP_BOTH hipComplex make_hipComplex(float x, float y) { return {x, y}; }
KC_HIP_BOTH hipFloatComplex hipComplexDoubleToFloat(hipDoubleComplex z) {
  return {(float)z.x, (float)z.y};
}
KC_HIP_BOTH hipDoubleComplex hipComplexFloatToDouble(hipFloatComplex z) { return {z.x, z.y}; }
#endif
