// Half precision: `__half` and `__half2` on clang's _Float16.
#ifndef KERNELCAST_HIP_FP16_H
#define KERNELCAST_HIP_FP16_H
#include <hip/hip_runtime.h>
struct __half {
  _Float16 data;
  __half() = default;
  KC_HIP_BOTH __half(_Float16 x) : data(x) {}
  KC_HIP_BOTH __half(float x) : data((_Float16)x) {}
  KC_HIP_BOTH __half(double x) : data((_Float16)x) {}
  KC_HIP_BOTH __half(int x) : data((_Float16)x) {}
  KC_HIP_BOTH operator _Float16() const { return data; }
  KC_HIP_BOTH operator float() const { return (float)data; }
};
struct alignas(4) __half2 {
  __half x, y;
};
typedef __half half;
typedef __half2 half2;
#define KC_HIP_HALF(op)                                                                          \
  KC_HIP_BOTH __half operator op(__half a, __half b) { return __half((_Float16)(a.data op b.data)); } \
  KC_HIP_BOTH __half2 operator op(__half2 a, __half2 b) { return {a.x op b.x, a.y op b.y}; }     \
  KC_HIP_BOTH __half &operator op##=(__half &a, __half b) { return a = a op b; }                 \
  KC_HIP_BOTH __half2 &operator op##=(__half2 &a, __half2 b) { return a = a op b; }
KC_HIP_HALF(+) KC_HIP_HALF(-) KC_HIP_HALF(*) KC_HIP_HALF(/)
#undef KC_HIP_HALF
#define KC_HIP_HALF(op) \
  KC_HIP_BOTH bool operator op(__half a, __half b) { return a.data op b.data; }
KC_HIP_HALF(<) KC_HIP_HALF(>) KC_HIP_HALF(<=) KC_HIP_HALF(>=) KC_HIP_HALF(==) KC_HIP_HALF(!=)
#undef KC_HIP_HALF
KC_HIP_BOTH __half operator-(__half a) { return __half((_Float16)-a.data); }

KC_HIP __half __float2half(float x) { return __half(x); }
KC_HIP __half __float2half_rn(float x) { return __half(x); }
KC_HIP float __half2float(__half x) { return (float)x.data; }
KC_HIP __half __int2half_rn(int x) { return __half((_Float16)x); }
KC_HIP int __half2int_rz(__half x) { return (int)x.data; }
KC_HIP __half2 __float2half2_rn(float x) { return {__half(x), __half(x)}; }
KC_HIP __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
KC_HIP __half2 __half2half2(__half x) { return {x, x}; }
KC_HIP __half2 __halves2half2(__half x, __half y) { return {x, y}; }
KC_HIP __half __low2half(__half2 x) { return x.x; }
KC_HIP __half __high2half(__half2 x) { return x.y; }
KC_HIP float __low2float(__half2 x) { return (float)x.x.data; }
KC_HIP float __high2float(__half2 x) { return (float)x.y.data; }
KC_HIP float2 __half22float2(__half2 x) { return make_float2((float)x.x.data, (float)x.y.data); }
KC_HIP __half __hadd(__half a, __half b) { return a + b; }
KC_HIP __half __hsub(__half a, __half b) { return a - b; }
KC_HIP __half __hmul(__half a, __half b) { return a * b; }
KC_HIP __half __hdiv(__half a, __half b) { return a / b; }
KC_HIP __half __hfma(__half a, __half b, __half c) {
  return __half((_Float16)__builtin_fmaf16(a.data, b.data, c.data));
}
KC_HIP __half __hneg(__half a) { return -a; }
KC_HIP bool __hlt(__half a, __half b) { return a < b; }
KC_HIP bool __hgt(__half a, __half b) { return a > b; }
KC_HIP bool __hle(__half a, __half b) { return a <= b; }
KC_HIP bool __hge(__half a, __half b) { return a >= b; }
KC_HIP bool __heq(__half a, __half b) { return a == b; }
KC_HIP __half __hmax(__half a, __half b) { return a.data < b.data ? b : a; }
KC_HIP __half __hmin(__half a, __half b) { return b.data < a.data ? b : a; }
KC_HIP __half2 __hadd2(__half2 a, __half2 b) { return a + b; }
KC_HIP __half2 __hsub2(__half2 a, __half2 b) { return a - b; }
KC_HIP __half2 __hmul2(__half2 a, __half2 b) { return a * b; }
KC_HIP __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
// Functions of half are those of float, rounded.
KC_HIP __half hexp(__half x) { return __half(expf(x)); }
KC_HIP __half hlog(__half x) { return __half(logf(x)); }
KC_HIP __half hsqrt(__half x) { return __half(sqrtf(x)); }
KC_HIP __half hrsqrt(__half x) { return __half(rsqrtf(x)); }
KC_HIP __half hrcp(__half x) { return __half(1.0f / (float)x); }
KC_HIP __half htanh(__half x) { return __half(tanhf(x)); }
#endif
