// bfloat16: the upper half of a float, rounded to nearest, even where two are.
#ifndef KERNELCAST_HIP_BF16_H
#define KERNELCAST_HIP_BF16_H
#include <hip/hip_runtime.h>
struct __hip_bfloat16 {
  unsigned short data;
  __hip_bfloat16() = default;
  template <typename T, typename = kc_hip_if_number<T>>
  KC_HIP_BOTH __hip_bfloat16(T number) {
    float x = (float)number;
    unsigned bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    data = (unsigned short)((x != x ? bits | 0x400000u : bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
  }
  KC_HIP_BOTH operator float() const {
    unsigned bits = (unsigned)data << 16;
    float x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
  }
};
struct alignas(4) __hip_bfloat162 {
  __hip_bfloat16 x, y;
};
typedef __hip_bfloat16 hip_bfloat16;
// What is computed in single precision and rounded.
#define KC_HIP_BF16(op, name)                                                        \
  KC_HIP_BOTH __hip_bfloat16 operator op(__hip_bfloat16 a, __hip_bfloat16 b) {       \
    return __hip_bfloat16((float)a op (float)b);                                     \
  }                                                                                  \
  KC_HIP_BOTH __hip_bfloat162 operator op(__hip_bfloat162 a, __hip_bfloat162 b) {    \
    return {a.x op b.x, a.y op b.y};                                                 \
  }                                                                                  \
  KC_HIP_BOTH __hip_bfloat16 &operator op##=(__hip_bfloat16 &a, __hip_bfloat16 b) {  \
    return a = a op b;                                                               \
  }                                                                                  \
  KC_HIP __hip_bfloat16 __h##name(__hip_bfloat16 a, __hip_bfloat16 b) { return a op b; }
KC_HIP_BF16(+, add) KC_HIP_BF16(-, sub) KC_HIP_BF16(*, mul) KC_HIP_BF16(/, div)
#undef KC_HIP_BF16
#define KC_HIP_BF16(op, name)                                                                    \
  KC_HIP_BOTH bool operator op(__hip_bfloat16 a, __hip_bfloat16 b) { return (float)a op (float)b; } \
  KC_HIP bool __h##name(__hip_bfloat16 a, __hip_bfloat16 b) { return (float)a op (float)b; }
KC_HIP_BF16(<, lt) KC_HIP_BF16(>, gt) KC_HIP_BF16(<=, le) KC_HIP_BF16(>=, ge)
KC_HIP_BF16(==, eq) KC_HIP_BF16(!=, ne)
#undef KC_HIP_BF16
KC_HIP_BOTH __hip_bfloat16 operator-(__hip_bfloat16 a) {
  a.data ^= 0x8000u;
  return a;
}

// ---- conversions ----
KC_HIP __hip_bfloat16 __float2bfloat16(float x) { return __hip_bfloat16(x); }
KC_HIP __hip_bfloat16 __float2bfloat16_rn(float x) { return __hip_bfloat16(x); }
KC_HIP __hip_bfloat16 __double2bfloat16(double x) { return __hip_bfloat16(x); }
KC_HIP __hip_bfloat16 __int2bfloat16_rn(int x) { return __hip_bfloat16(x); }
KC_HIP __hip_bfloat16 __uint2bfloat16_rn(unsigned x) { return __hip_bfloat16(x); }
KC_HIP float __bfloat162float(__hip_bfloat16 x) { return (float)x; }
KC_HIP int __bfloat162int_rz(__hip_bfloat16 x) { return (int)(float)x; }
KC_HIP int __bfloat162int_rn(__hip_bfloat16 x) { return (int)__builtin_rintf((float)x); }
KC_HIP_BITS(__bfloat16_as_short, __hip_bfloat16, short)
KC_HIP_BITS(__bfloat16_as_ushort, __hip_bfloat16, unsigned short)
KC_HIP_BITS(__short_as_bfloat16, short, __hip_bfloat16)
KC_HIP_BITS(__ushort_as_bfloat16, unsigned short, __hip_bfloat16)
KC_HIP __hip_bfloat162 __float2bfloat162_rn(float x) { return {__hip_bfloat16(x), __hip_bfloat16(x)}; }
KC_HIP __hip_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return {__hip_bfloat16(x), __hip_bfloat16(y)};
}
KC_HIP __hip_bfloat162 __float22bfloat162_rn(float2 x) {
  return {__hip_bfloat16(x.x), __hip_bfloat16(x.y)};
}
KC_HIP float2 __bfloat1622float2(__hip_bfloat162 x) { return make_float2((float)x.x, (float)x.y); }
KC_HIP __hip_bfloat162 __bfloat162bfloat162(__hip_bfloat16 x) { return {x, x}; }
KC_HIP __hip_bfloat162 __halves2bfloat162(__hip_bfloat16 x, __hip_bfloat16 y) { return {x, y}; }
KC_HIP __hip_bfloat162 make_bfloat162(__hip_bfloat16 x, __hip_bfloat16 y) { return {x, y}; }
KC_HIP __hip_bfloat16 __low2bfloat16(__hip_bfloat162 x) { return x.x; }
KC_HIP __hip_bfloat16 __high2bfloat16(__hip_bfloat162 x) { return x.y; }
KC_HIP float __low2float(__hip_bfloat162 x) { return (float)x.x; }
KC_HIP float __high2float(__hip_bfloat162 x) { return (float)x.y; }

// ---- functions ----
KC_HIP __hip_bfloat16 __hfma(__hip_bfloat16 a, __hip_bfloat16 b, __hip_bfloat16 c) {
  return __hip_bfloat16(__builtin_fmaf((float)a, (float)b, (float)c));
}
KC_HIP __hip_bfloat162 __hfma2(__hip_bfloat162 a, __hip_bfloat162 b, __hip_bfloat162 c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
KC_HIP __hip_bfloat162 __hadd2(__hip_bfloat162 a, __hip_bfloat162 b) { return a + b; }
KC_HIP __hip_bfloat162 __hsub2(__hip_bfloat162 a, __hip_bfloat162 b) { return a - b; }
KC_HIP __hip_bfloat162 __hmul2(__hip_bfloat162 a, __hip_bfloat162 b) { return a * b; }
KC_HIP __hip_bfloat16 __hneg(__hip_bfloat16 a) { return -a; }
KC_HIP __hip_bfloat16 __habs(__hip_bfloat16 a) {
  a.data &= 0x7FFFu;
  return a;
}
KC_HIP __hip_bfloat16 __hmax(__hip_bfloat16 a, __hip_bfloat16 b) { return a < b ? b : a; }
KC_HIP __hip_bfloat16 __hmin(__hip_bfloat16 a, __hip_bfloat16 b) { return b < a ? b : a; }
KC_HIP bool __hisnan(__hip_bfloat16 a) { return (float)a != (float)a; }
KC_HIP int __hisinf(__hip_bfloat16 a) { return __builtin_isinf((float)a); }
#define KC_HIP_BF16(name, function) \
  KC_HIP __hip_bfloat16 h##name(__hip_bfloat16 x) { return __hip_bfloat16(function((float)x)); }
KC_HIP_OF_FLOAT(KC_HIP_BF16)
#undef KC_HIP_BF16
#endif
