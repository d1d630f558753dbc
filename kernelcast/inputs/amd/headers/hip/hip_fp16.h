// Half precision: `__half` and `__half2` on clang's _Float16.
#ifndef KERNELCAST_HIP_FP16_H
#define KERNELCAST_HIP_FP16_H
#include <hip/hip_runtime.h>
struct __half {
  _Float16 data;
  __half() = default;
  template <typename T, typename = kc_hip_if_number<T>>
  KC_HIP_BOTH __half(T x) : data((_Float16)x) {}
  template <typename T, typename = kc_hip_if_number<T>>
  KC_HIP_BOTH operator T() const {
    return (T)data;
  }
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
#define KC_HIP_HALF(op, name)                                                          \
  KC_HIP_BOTH bool operator op(__half a, __half b) { return a.data op b.data; }        \
  KC_HIP bool __h##name(__half a, __half b) { return a.data op b.data; }               \
  KC_HIP __half2 __h##name##2(__half2 a, __half2 b) {                                  \
    return {__half(a.x op b.x), __half(a.y op b.y)};                                   \
  }                                                                                    \
  KC_HIP bool __hb##name##2(__half2 a, __half2 b) { return a.x op b.x && a.y op b.y; }
KC_HIP_HALF(<, lt) KC_HIP_HALF(>, gt) KC_HIP_HALF(<=, le) KC_HIP_HALF(>=, ge)
KC_HIP_HALF(==, eq) KC_HIP_HALF(!=, ne)
#undef KC_HIP_HALF
#define KC_HIP_HALF(op)                                                                \
  KC_HIP_BOTH float &operator op(float &a, __half b) { return a op (float)b.data; }    \
  KC_HIP_BOTH double &operator op(double &a, __half b) { return a op (double)b.data; }
KC_HIP_HALF(+=) KC_HIP_HALF(-=) KC_HIP_HALF(*=) KC_HIP_HALF(/=)
#undef KC_HIP_HALF
KC_HIP_BOTH __half operator-(__half a) { return __half((_Float16)-a.data); }
KC_HIP_BOTH __half2 operator-(__half2 a) { return {-a.x, -a.y}; }

// ---- conversions ----
KC_HIP __half __float2half(float x) { return __half(x); }
KC_HIP __half __float2half_rn(float x) { return __half(x); }
KC_HIP __half __double2half(double x) { return __half(x); }
KC_HIP float __half2float(__half x) { return (float)x.data; }
#define KC_HIP_HALF(name, T)                                                              \
  KC_HIP T __half2##name##_rz(__half x) { return (T)x.data; }                             \
  KC_HIP T __half2##name##_rn(__half x) { return (T)__builtin_rintf((float)x.data); }     \
  KC_HIP T __half2##name##_rd(__half x) { return (T)__builtin_floorf((float)x.data); }    \
  KC_HIP T __half2##name##_ru(__half x) { return (T)__builtin_ceilf((float)x.data); }     \
  KC_HIP __half __##name##2half_rn(T x) { return __half(x); }
KC_HIP_HALF(short, short) KC_HIP_HALF(ushort, unsigned short)
KC_HIP_HALF(int, int) KC_HIP_HALF(uint, unsigned)
KC_HIP_HALF(ll, long long) KC_HIP_HALF(ull, unsigned long long)
#undef KC_HIP_HALF
KC_HIP_BITS(__half_as_short, __half, short)
KC_HIP_BITS(__half_as_ushort, __half, unsigned short)
KC_HIP_BITS(__short_as_half, short, __half)
KC_HIP_BITS(__ushort_as_half, unsigned short, __half)
KC_HIP __half2 __float2half2_rn(float x) { return {__half(x), __half(x)}; }
KC_HIP __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
KC_HIP __half2 __float22half2_rn(float2 x) { return {__half(x.x), __half(x.y)}; }
KC_HIP __half2 __half2half2(__half x) { return {x, x}; }
KC_HIP __half2 __halves2half2(__half x, __half y) { return {x, y}; }
KC_HIP __half2 make_half2(__half x, __half y) { return {x, y}; }
KC_HIP __half __low2half(__half2 x) { return x.x; }
KC_HIP __half __high2half(__half2 x) { return x.y; }
KC_HIP __half2 __low2half2(__half2 x) { return {x.x, x.x}; }
KC_HIP __half2 __high2half2(__half2 x) { return {x.y, x.y}; }
KC_HIP __half2 __lows2half2(__half2 x, __half2 y) { return {x.x, y.x}; }
KC_HIP __half2 __highs2half2(__half2 x, __half2 y) { return {x.y, y.y}; }
KC_HIP __half2 __lowhigh2highlow(__half2 x) { return {x.y, x.x}; }
KC_HIP float __low2float(__half2 x) { return (float)x.x.data; }
KC_HIP float __high2float(__half2 x) { return (float)x.y.data; }
KC_HIP float2 __half22float2(__half2 x) { return make_float2((float)x.x.data, (float)x.y.data); }

// ---- arithmetic ----
KC_HIP __half __hfma(__half a, __half b, __half c) {
  return __half((_Float16)__builtin_fmaf16(a.data, b.data, c.data));
}
KC_HIP __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
KC_HIP __half kc_hip_between(__half x) { return x.data < 0 ? __half(0) : x.data > 1 ? __half(1) : x; }
#define KC_HIP_HALF(name, op)                                                             \
  KC_HIP __half __h##name(__half a, __half b) { return a op b; }                          \
  KC_HIP __half __h##name##_rn(__half a, __half b) { return a op b; }                     \
  KC_HIP __half __h##name##_sat(__half a, __half b) { return kc_hip_between(a op b); }    \
  KC_HIP __half2 __h##name##2(__half2 a, __half2 b) { return a op b; }
KC_HIP_HALF(add, +) KC_HIP_HALF(sub, -) KC_HIP_HALF(mul, *)
#undef KC_HIP_HALF
KC_HIP __half __hfma_sat(__half a, __half b, __half c) { return kc_hip_between(__hfma(a, b, c)); }
KC_HIP __half __hdiv(__half a, __half b) { return a / b; }
KC_HIP __half2 __h2div(__half2 a, __half2 b) { return a / b; }
KC_HIP __half __hneg(__half a) { return -a; }
KC_HIP __half2 __hneg2(__half2 a) { return -a; }
KC_HIP __half __habs(__half a) { return __half((_Float16)__builtin_fabsf16(a.data)); }
KC_HIP __half2 __habs2(__half2 a) { return {__habs(a.x), __habs(a.y)}; }
KC_HIP __half __hmax(__half a, __half b) { return a.data < b.data ? b : a; }
KC_HIP __half __hmin(__half a, __half b) { return b.data < a.data ? b : a; }
KC_HIP __half2 __hmax2(__half2 a, __half2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }
KC_HIP __half2 __hmin2(__half2 a, __half2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }
KC_HIP bool __hisnan(__half a) { return a.data != a.data; }
KC_HIP int __hisinf(__half a) { return __builtin_isinf((float)a.data); }

// Functions of half are those of float, rounded.
#define KC_HIP_HALF(name, function)                                      \
  KC_HIP __half h##name(__half x) { return __half(function((float)x)); } \
  KC_HIP __half2 h2##name(__half2 x) { return {h##name(x.x), h##name(x.y)}; }
KC_HIP_OF_FLOAT(KC_HIP_HALF)
#undef KC_HIP_HALF
#endif
