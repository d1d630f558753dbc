// bfloat16: the upper half of a float, rounded to nearest, even where two are.
#ifndef KERNELCAST_HIP_BF16_H
#define KERNELCAST_HIP_BF16_H
#include <hip/hip_runtime.h>
struct __hip_bfloat16 {
  unsigned short data;
  __hip_bfloat16() = default;
  __device__ __forceinline__ __hip_bfloat16(float x) {
    unsigned bits = __float_as_uint(x);
    bool is_nan = x != x;
    data = (unsigned short)((is_nan ? bits | 0x400000u : bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
  }
  __device__ __forceinline__ operator float() const { return __uint_as_float((unsigned)data << 16); }
};
struct alignas(4) __hip_bfloat162 {
  __hip_bfloat16 x, y;
};
typedef __hip_bfloat16 hip_bfloat16;
KC_HIP __hip_bfloat16 __float2bfloat16(float x) { return __hip_bfloat16(x); }
KC_HIP float __bfloat162float(__hip_bfloat16 x) { return (float)x; }
KC_HIP __hip_bfloat16 __hadd(__hip_bfloat16 a, __hip_bfloat16 b) { return (float)a + (float)b; }
KC_HIP __hip_bfloat16 __hsub(__hip_bfloat16 a, __hip_bfloat16 b) { return (float)a - (float)b; }
KC_HIP __hip_bfloat16 __hmul(__hip_bfloat16 a, __hip_bfloat16 b) { return (float)a * (float)b; }
#endif
