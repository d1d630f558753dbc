// Mathematics of float and double; what LLVM has no instruction for is that of AMD's device library.
#ifndef KERNELCAST_HIP_MATH_FUNCTIONS_H
#define KERNELCAST_HIP_MATH_FUNCTIONS_H
#define KC_HIP_ONE(name, f32, f64)                         \
  KC_HIP float name##f(float x) { return f32(x); }         \
  KC_HIP float name(float x) { return f32(x); }            \
  KC_HIP double name(double x) { return f64(x); }
#define KC_HIP_TWO(name, f32, f64)                                    \
  KC_HIP float name##f(float x, float y) { return f32(x, y); }        \
  KC_HIP float name(float x, float y) { return f32(x, y); }           \
  KC_HIP double name(double x, double y) { return f64(x, y); }
#define KC_HIP_INSTRUCTION(name) KC_HIP_ONE(name, __builtin_##name##f, __builtin_##name)
#define KC_HIP_LIBRARY(name)                        \
  KC_HIP_CONST float __ocml_##name##_f32(float);    \
  KC_HIP_CONST double __ocml_##name##_f64(double);  \
  KC_HIP_ONE(name, __ocml_##name##_f32, __ocml_##name##_f64)
#define KC_HIP_LIBRARY_TWO(name)                            \
  KC_HIP_CONST float __ocml_##name##_f32(float, float);     \
  KC_HIP_CONST double __ocml_##name##_f64(double, double);  \
  KC_HIP_TWO(name, __ocml_##name##_f32, __ocml_##name##_f64)
KC_HIP_INSTRUCTION(sqrt) KC_HIP_INSTRUCTION(fabs) KC_HIP_INSTRUCTION(floor)
KC_HIP_INSTRUCTION(ceil) KC_HIP_INSTRUCTION(trunc) KC_HIP_INSTRUCTION(rint)
KC_HIP_ONE(nearbyint, __builtin_nearbyintf, __builtin_nearbyint)
KC_HIP_TWO(fmin, __builtin_fminf, __builtin_fmin)
KC_HIP_TWO(fmax, __builtin_fmaxf, __builtin_fmax)
KC_HIP_TWO(copysign, __builtin_copysignf, __builtin_copysign)
KC_HIP_LIBRARY(exp) KC_HIP_LIBRARY(exp2) KC_HIP_LIBRARY(exp10) KC_HIP_LIBRARY(expm1)
KC_HIP_LIBRARY(log) KC_HIP_LIBRARY(log2) KC_HIP_LIBRARY(log10) KC_HIP_LIBRARY(log1p)
KC_HIP_LIBRARY(logb) KC_HIP_LIBRARY(sin) KC_HIP_LIBRARY(cos) KC_HIP_LIBRARY(tan)
KC_HIP_LIBRARY(sinpi) KC_HIP_LIBRARY(cospi) KC_HIP_LIBRARY(asin) KC_HIP_LIBRARY(acos)
KC_HIP_LIBRARY(atan) KC_HIP_LIBRARY(sinh) KC_HIP_LIBRARY(cosh) KC_HIP_LIBRARY(tanh)
KC_HIP_LIBRARY(asinh) KC_HIP_LIBRARY(acosh) KC_HIP_LIBRARY(atanh) KC_HIP_LIBRARY(cbrt)
KC_HIP_LIBRARY(erf) KC_HIP_LIBRARY(erfc) KC_HIP_LIBRARY(tgamma) KC_HIP_LIBRARY(lgamma)
KC_HIP_LIBRARY(rsqrt) KC_HIP_LIBRARY(round)
KC_HIP_LIBRARY_TWO(pow) KC_HIP_LIBRARY_TWO(atan2) KC_HIP_LIBRARY_TWO(fmod)
KC_HIP_LIBRARY_TWO(hypot) KC_HIP_LIBRARY_TWO(fdim) KC_HIP_LIBRARY_TWO(remainder)
KC_HIP_LIBRARY_TWO(nextafter)
#undef KC_HIP_LIBRARY_TWO
#undef KC_HIP_LIBRARY
#undef KC_HIP_INSTRUCTION
#undef KC_HIP_TWO
#undef KC_HIP_ONE

KC_HIP float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
KC_HIP float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
KC_HIP double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
KC_HIP_CONST float __ocml_ldexp_f32(float, int);
KC_HIP_CONST double __ocml_ldexp_f64(double, int);
KC_HIP_CONST float __ocml_pown_f32(float, int);
KC_HIP_CONST double __ocml_pown_f64(double, int);
KC_HIP_CONST int __ocml_ilogb_f32(float);
KC_HIP_CONST int __ocml_ilogb_f64(double);
KC_HIP float ldexpf(float x, int n) { return __ocml_ldexp_f32(x, n); }
KC_HIP float ldexp(float x, int n) { return __ocml_ldexp_f32(x, n); }
KC_HIP double ldexp(double x, int n) { return __ocml_ldexp_f64(x, n); }
KC_HIP float scalbnf(float x, int n) { return __ocml_ldexp_f32(x, n); }
KC_HIP double scalbn(double x, int n) { return __ocml_ldexp_f64(x, n); }
KC_HIP float powif(float x, int n) { return __ocml_pown_f32(x, n); }
KC_HIP double powi(double x, int n) { return __ocml_pown_f64(x, n); }
KC_HIP float pow(float x, int n) { return __ocml_pown_f32(x, n); }
KC_HIP double pow(double x, int n) { return __ocml_pown_f64(x, n); }
KC_HIP int ilogbf(float x) { return __ocml_ilogb_f32(x); }
KC_HIP int ilogb(double x) { return __ocml_ilogb_f64(x); }
KC_HIP bool isnan(float x) { return __builtin_isnan(x); }
KC_HIP bool isnan(double x) { return __builtin_isnan(x); }
KC_HIP bool isinf(float x) { return __builtin_isinf(x); }
KC_HIP bool isinf(double x) { return __builtin_isinf(x); }
KC_HIP bool isfinite(float x) { return __builtin_isfinite(x); }
KC_HIP bool isfinite(double x) { return __builtin_isfinite(x); }
KC_HIP bool signbit(float x) { return __builtin_signbit(x); }
KC_HIP bool signbit(double x) { return __builtin_signbit(x); }
KC_HIP float abs(float x) { return __builtin_fabsf(x); }
KC_HIP double abs(double x) { return __builtin_fabs(x); }
KC_HIP float min(float x, float y) { return __builtin_fminf(x, y); }
KC_HIP double min(double x, double y) { return __builtin_fmin(x, y); }
KC_HIP float max(float x, float y) { return __builtin_fmaxf(x, y); }
KC_HIP double max(double x, double y) { return __builtin_fmax(x, y); }
KC_HIP float saturate(float x) { return __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f); }
KC_HIP float __saturatef(float x) { return saturate(x); }
KC_HIP float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
KC_HIP double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
KC_HIP float rcbrtf(float x) { return 1.0f / cbrtf(x); }
KC_HIP double rcbrt(double x) { return 1.0 / cbrt(x); }
KC_HIP float norm3df(float x, float y, float z) { return hypotf(hypotf(x, y), z); }
KC_HIP double norm3d(double x, double y, double z) { return hypot(hypot(x, y), z); }
KC_HIP long lrintf(float x) { return (long)__builtin_rintf(x); }
KC_HIP long lrint(double x) { return (long)__builtin_rint(x); }
KC_HIP long long llrintf(float x) { return (long long)__builtin_rintf(x); }
KC_HIP long long llrint(double x) { return (long long)__builtin_rint(x); }
KC_HIP long long llroundf(float x) { return (long long)roundf(x); }
KC_HIP long long llround(double x) { return (long long)round(x); }
KC_HIP long lroundf(float x) { return (long)roundf(x); }
KC_HIP long lround(double x) { return (long)round(x); }
KC_HIP float normcdff(float x) { return 0.5f * erfcf(-0.70710678f * x); }
KC_HIP double normcdf(double x) { return 0.5 * erfc(-0.70710678118654752440 * x); }
KC_HIP float frexpf(float x, int *exponent) {
  *exponent = __builtin_amdgcn_frexp_expf(x);
  return __builtin_amdgcn_frexp_mantf(x);
}
KC_HIP float frexp(float x, int *exponent) { return frexpf(x, exponent); }
KC_HIP double frexp(double x, int *exponent) {
  *exponent = __builtin_amdgcn_frexp_exp(x);
  return __builtin_amdgcn_frexp_mant(x);
}
KC_HIP float modff(float x, float *whole) {
  *whole = __builtin_truncf(x);
  return __builtin_copysignf(__builtin_isinf(x) ? 0.0f : x - *whole, x);
}
KC_HIP double modf(double x, double *whole) {
  *whole = __builtin_trunc(x);
  return __builtin_copysign(__builtin_isinf(x) ? 0.0 : x - *whole, x);
}
KC_HIP void sincosf(float x, float *sine, float *cosine) { *sine = sinf(x), *cosine = cosf(x); }
KC_HIP void sincos(double x, double *sine, double *cosine) { *sine = sin(x), *cosine = cos(x); }
KC_HIP void sincospif(float x, float *sine, float *cosine) { *sine = sinpif(x), *cosine = cospif(x); }

// Approximations, as far from the exact result as the instructions are.
KC_HIP_CONST float __ocml_native_sin_f32(float);
KC_HIP_CONST float __ocml_native_cos_f32(float);
KC_HIP_CONST float __ocml_native_exp_f32(float);
KC_HIP_CONST float __ocml_native_exp2_f32(float);
KC_HIP_CONST float __ocml_native_exp10_f32(float);
KC_HIP_CONST float __ocml_native_log_f32(float);
KC_HIP_CONST float __ocml_native_log2_f32(float);
KC_HIP_CONST float __ocml_native_log10_f32(float);
KC_HIP_CONST float __ocml_native_recip_f32(float);
KC_HIP float __sinf(float x) { return __ocml_native_sin_f32(x); }
KC_HIP float __cosf(float x) { return __ocml_native_cos_f32(x); }
KC_HIP float __tanf(float x) { return __sinf(x) * __ocml_native_recip_f32(__cosf(x)); }
KC_HIP float __expf(float x) { return __ocml_native_exp_f32(x); }
KC_HIP float __exp10f(float x) { return __ocml_native_exp10_f32(x); }
KC_HIP float __logf(float x) { return __ocml_native_log_f32(x); }
KC_HIP float __log2f(float x) { return __ocml_native_log2_f32(x); }
KC_HIP float __log10f(float x) { return __ocml_native_log10_f32(x); }
KC_HIP float __powf(float x, float y) { return __ocml_native_exp2_f32(y * __ocml_native_log2_f32(x)); }
KC_HIP float __fdividef(float x, float y) { return x * __ocml_native_recip_f32(y); }
KC_HIP float fdividef(float x, float y) { return x / y; }
KC_HIP double __drcp_rn(double x) { return 1.0 / x; }
KC_HIP double __dsqrt_rn(double x) { return __builtin_sqrt(x); }
KC_HIP float __frcp_rn(float x) { return 1.0f / x; }
KC_HIP float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
KC_HIP float __frsqrt_rn(float x) { return rsqrtf(x); }
KC_HIP void __sincosf(float x, float *sine, float *cosine) { *sine = __sinf(x), *cosine = __cosf(x); }

// Operations that are never joined with others.
#define KC_HIP_ALONE(name, T, operation)      \
  KC_HIP T name(T x, T y) {                   \
    _Pragma("clang fp contract(off)")         \
    return x operation y;                     \
  }
KC_HIP_ALONE(__fadd_rn, float, +) KC_HIP_ALONE(__fsub_rn, float, -)
KC_HIP_ALONE(__fmul_rn, float, *) KC_HIP_ALONE(__fdiv_rn, float, /)
KC_HIP_ALONE(__dadd_rn, double, +) KC_HIP_ALONE(__dsub_rn, double, -)
KC_HIP_ALONE(__dmul_rn, double, *) KC_HIP_ALONE(__ddiv_rn, double, /)
#undef KC_HIP_ALONE
KC_HIP float __fmaf_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
KC_HIP double __fma_rn(double x, double y, double z) { return __builtin_fma(x, y, z); }

#define KC_HIP_CONVERSION(name, From, To, value) \
  KC_HIP To name(From x) { return (To)(value); }
// AMD's have no other rounding than to nearest where a floating-point number is made.
#define KC_HIP_WHOLE(From, name, To, rounded, lower, upper)              \
  KC_HIP_CONVERSION(__##From##2##name##_rn, From, To, rounded(x))        \
  KC_HIP_CONVERSION(__##From##2##name##_rz, From, To, x)                 \
  KC_HIP_CONVERSION(__##From##2##name##_rd, From, To, lower(x))          \
  KC_HIP_CONVERSION(__##From##2##name##_ru, From, To, upper(x))          \
  KC_HIP_CONVERSION(__##name##2##From##_rn, To, From, x)
#define KC_HIP_WHOLES(name, To)                                                                 \
  KC_HIP_WHOLE(float, name, To, __builtin_rintf, __builtin_floorf, __builtin_ceilf)             \
  KC_HIP_WHOLE(double, name, To, __builtin_rint, __builtin_floor, __builtin_ceil)
KC_HIP_WHOLES(int, int) KC_HIP_WHOLES(uint, unsigned)
KC_HIP_WHOLES(ll, long long) KC_HIP_WHOLES(ull, unsigned long long)
KC_HIP_CONVERSION(__double2float_rn, double, float, x)
#undef KC_HIP_WHOLES
#undef KC_HIP_WHOLE
#undef KC_HIP_CONVERSION

// Functions that narrower numbers have of those of float, rounded: what follows `h` in their names.
#define KC_HIP_OF_FLOAT(M) \
  M(exp, expf) M(exp2, exp2f) M(exp10, exp10f) \
  M(log, logf) M(log2, log2f) M(log10, log10f) \
  M(sin, sinf) M(cos, cosf) M(tanh, tanhf) \
  M(sqrt, sqrtf) M(rsqrt, rsqrtf) M(rcp, 1.0f /) \
  M(ceil, ceilf) M(floor, floorf) M(rint, rintf) \
  M(trunc, truncf)

// The device's functions of double under std, whose own are the host's; those of float are both.
namespace std {
using ::sqrt, ::fabs, ::floor, ::ceil, ::trunc, ::rint, ::fmin, ::fmax, ::copysign, ::fma, ::abs;
using ::exp, ::exp2, ::expm1, ::log, ::log2, ::log10, ::log1p, ::sin, ::cos, ::tan, ::asin, ::acos;
using ::atan, ::atan2, ::sinh, ::cosh, ::tanh, ::pow, ::fmod, ::hypot, ::cbrt, ::erf, ::erfc, ::round;
}  // namespace std
#endif
