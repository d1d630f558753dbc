// Mathematics in single precision for AMD's GPUs. LLVM's back end has exp, exp2, exp10, log, log2,
// log10, sqrt, divisions and remainders; the rest is here. Polynomials of asin, atan, sinh and tanh
// are those of Cephes 2.2 (S. Moshier), of erf and erfc those of fdlibm (Sun Microsystems, 1993).
#define DEFINE extern "C" __attribute__((device, always_inline, const))

DEFINE float __ocml_exp_f32(float x) { return __builtin_expf(x); }
DEFINE float __ocml_exp2_f32(float x) { return __builtin_exp2f(x); }
DEFINE float __ocml_log_f32(float x) { return __builtin_logf(x); }
DEFINE float __ocml_log2_f32(float x) { return __builtin_log2f(x); }
DEFINE float __ocml_log10_f32(float x) { return __builtin_log10f(x); }
DEFINE float __ocml_round_f32(float x) { return __builtin_roundf(x); }
DEFINE float __ocml_rsqrt_f32(float x) { return __builtin_amdgcn_rsqf(x); }
DEFINE float __ocml_sqrt_f32(float x) { return __builtin_sqrtf(x); }
DEFINE float __ocml_ldexp_f32(float x, int n) { return __builtin_amdgcn_ldexpf(x, n); }
DEFINE float __ocml_fmod_f32(float x, float y) { return __builtin_fmodf(x, y); }
DEFINE float __ocml_fdim_f32(float x, float y) { return x <= y ? 0.0f : x - y; }

// 10^x = 2^(x log2(10)), with the product in two parts.
DEFINE float __ocml_exp10_f32(float x) {
  float high = x * 3.3219280948873623f;
  float low = __builtin_fmaf(x, 3.3219280948873623f, -high) + x * 7.059536999420857e-8f;
  float whole = __builtin_rintf(high);
  float power = __builtin_exp2f(high - whole + low);
  float found = __builtin_amdgcn_ldexpf(power, (int)__builtin_fmaxf(__builtin_fminf(whole, 300.0f), -300.0f));
  return x != x ? x : found;
}
DEFINE float __ocml_expm1_f32(float x) {
  float power = __builtin_expf(x), less = power - 1.0f;
  if (power == 1.0f) return x;
  if (less == -1.0f || __builtin_isinf(power)) return less;
  return less * x / __builtin_logf(power);
}
DEFINE float __ocml_log1p_f32(float x) {
  float sum = 1.0f + x;
  if (sum == 1.0f || __builtin_isinf(x)) return x;
  return __builtin_logf(sum) * x / (sum - 1.0f);
}
DEFINE int __ocml_ilogb_f32(float x) {
  if (x == 0.0f || x != x) return -2147483647 - 1;
  if (__builtin_isinf(x)) return 2147483647;
  return __builtin_amdgcn_frexp_expf(x) - 1;
}
DEFINE float __ocml_logb_f32(float x) {
  if (x == 0.0f) return -__builtin_inff();
  if (__builtin_isinf(x) || x != x) return x * x;
  return (float)(__builtin_amdgcn_frexp_expf(x) - 1);
}

// x = quarter * pi / 2 + rest: the quarter modulo 4, the rest at most pi / 4 in magnitude.
struct Reduced {
  int quarter;
  float rest;
};
static __attribute__((device, always_inline)) Reduced kc_reduced(float x) {
  if (__builtin_fabsf(x) < 30000.0f) {
    float n = __builtin_rintf(x * 0.63661977236758134f);
    float rest = __builtin_fmaf(n, -1.5707963705062866f, x);
    rest = __builtin_fmaf(n, 4.371138828673793e-8f, rest);
    rest = __builtin_fmaf(n, 1.7151245100058819e-15f, rest);
    return {(int)n & 3, rest};
  }
  // Payne and Hanek: 2 / pi in words of 32 bits, of which three meet the digits of x.
  const unsigned words[8] = {0x00000000u, 0xA2F9836Eu, 0x4E441529u, 0xFC2757D1u,
                             0xF534DDC0u, 0xDB629599u, 0x3C439041u, 0xFE5163ABu};
  unsigned bits = __builtin_bit_cast(unsigned, x);
  int exponent = (int)(bits >> 23 & 255) - 150;  // x = digits * 2^exponent
  unsigned long long digits = (bits & 0x7FFFFF) | 0x800000;
  int first = exponent + 32 - 2;  // the binary digits of 2 / pi from this place on count
  int word = first / 32, shift = first % 32;
  unsigned w[4];
  for (int i = 0; i < 4; ++i) w[i] = words[word + i];
  unsigned taken[3];
  for (int i = 0; i < 3; ++i)
    taken[i] = shift ? w[i] << shift | w[i + 1] >> (32 - shift) : w[i];
  unsigned long long low = digits * taken[2], middle = digits * taken[1] + (low >> 32);
  unsigned long long whole = (digits * taken[0] << 32) + middle;
  long long part = (long long)(whole << 2);
  int quarter = (int)(whole >> 62);
  if (part < 0) ++quarter;
  float rest = (float)((double)part * 8.515303950216386e-20);  // pi / 2 * 2^-64
  return x < 0 ? Reduced{-quarter & 3, -rest} : Reduced{quarter & 3, rest};
}
static __attribute__((device, always_inline)) float kc_sine(float x) {
  float z = x * x;
  float p = __builtin_fmaf(z, __builtin_fmaf(z, 2.7181216275e-6f, -1.98390955e-4f), 8.333293097e-3f);
  return __builtin_fmaf(x * z, __builtin_fmaf(z, p, -1.666665468e-1f), x);
}
static __attribute__((device, always_inline)) float kc_cosine(float x) {
  float z = x * x;
  float p = __builtin_fmaf(z, __builtin_fmaf(z, 2.44331571e-5f, -1.38873162e-3f), 4.16666457e-2f);
  return __builtin_fmaf(z * z, p, __builtin_fmaf(z, -0.5f, 1.0f));
}
static __attribute__((device, always_inline)) float kc_turned(Reduced r, int quarters) {
  int quarter = r.quarter + quarters & 3;
  float value = quarter & 1 ? kc_cosine(r.rest) : kc_sine(r.rest);
  return quarter & 2 ? -value : value;
}
DEFINE float __ocml_sin_f32(float x) {
  return __builtin_isfinite(x) ? kc_turned(kc_reduced(x), 0) : __builtin_nanf("");
}
DEFINE float __ocml_cos_f32(float x) {
  return __builtin_isfinite(x) ? kc_turned(kc_reduced(x), 1) : __builtin_nanf("");
}
DEFINE float __ocml_tan_f32(float x) {
  if (!__builtin_isfinite(x)) return __builtin_nanf("");
  Reduced r = kc_reduced(x);
  float sine = kc_sine(r.rest), cosine = kc_cosine(r.rest);
  return r.quarter & 1 ? -cosine / sine : sine / cosine;
}
static __attribute__((device, always_inline)) Reduced kc_of_half_turns(float x) {
  float n = __builtin_rintf(2.0f * x);
  float rest = __builtin_fmaf(n, -0.5f, x);
  float quarters = n - 4.0f * __builtin_floorf(0.25f * n);
  return {(int)quarters & 3, rest * 3.14159274101257324f};
}
DEFINE float __ocml_sinpi_f32(float x) {
  return __builtin_isfinite(x) ? kc_turned(kc_of_half_turns(x), 0) : __builtin_nanf("");
}
DEFINE float __ocml_cospi_f32(float x) {
  return __builtin_isfinite(x) ? kc_turned(kc_of_half_turns(x), 1) : __builtin_nanf("");
}

static __attribute__((device, always_inline)) float kc_small_asin(float x, float z) {
  float p = __builtin_fmaf(z, __builtin_fmaf(z, 4.2163199048e-2f, 2.4181311049e-2f), 4.5470025998e-2f);
  p = __builtin_fmaf(z, __builtin_fmaf(z, p, 7.4953002686e-2f), 1.6666752422e-1f);
  return __builtin_fmaf(x * z, p, x);
}
DEFINE float __ocml_asin_f32(float x) {
  float a = __builtin_fabsf(x);
  if (a <= 0.5f) return kc_small_asin(x, x * x);
  float z = 0.5f * (1.0f - a);
  float angle = 1.5707963267948966f - 2.0f * kc_small_asin(__builtin_sqrtf(z), z);
  return __builtin_copysignf(angle, x);
}
DEFINE float __ocml_acos_f32(float x) {
  float a = __builtin_fabsf(x);
  if (a <= 0.5f) return 1.5707963267948966f - kc_small_asin(x, x * x);
  float z = 0.5f * (1.0f - a);
  float angle = 2.0f * kc_small_asin(__builtin_sqrtf(z), z);
  return x < 0 ? 3.14159265358979324f - angle : angle;
}
DEFINE float __ocml_atan_f32(float x) {
  float a = __builtin_fabsf(x), from = 0.0f, y = a;
  if (a > 2.414213562373095f) from = 1.5707963267948966f, y = -1.0f / a;
  else if (a > 0.4142135623730950f) from = 0.7853981633974483f, y = (a - 1.0f) / (a + 1.0f);
  float z = y * y;
  float p = __builtin_fmaf(z, __builtin_fmaf(z, 8.05374449538e-2f, -1.38776856032e-1f), 1.99777106478e-1f);
  p = __builtin_fmaf(z, p, -3.33329491539e-1f);
  return __builtin_copysignf(from + __builtin_fmaf(y * z, p, y), x);
}
DEFINE float __ocml_atan2_f32(float y, float x) {
  float a = __builtin_fabsf(y), b = __builtin_fabsf(x);
  float most = __builtin_fmaxf(a, b), least = __builtin_fminf(a, b);
  float ratio = most == 0.0f ? 0.0f : __builtin_isinf(least) ? 1.0f : least / most;
  float angle = __ocml_atan_f32(ratio);
  if (a > b) angle = 1.5707963267948966f - angle;
  if (__builtin_signbit(x)) angle = 3.14159265358979324f - angle;
  return x != x || y != y ? x + y : __builtin_copysignf(angle, y);
}
DEFINE float __ocml_sinh_f32(float x) {
  float a = __builtin_fabsf(x);
  if (a <= 1.0f) {
    float z = x * x;
    float p = __builtin_fmaf(z, __builtin_fmaf(z, 2.03721912945e-4f, 8.33028376239e-3f), 1.66667160211e-1f);
    return __builtin_fmaf(x * z, p, x);
  }
  float half = 0.5f * __builtin_expf(0.5f * a), power = half * __builtin_expf(0.5f * a);
  return __builtin_copysignf(power - 0.25f / power, x);
}
DEFINE float __ocml_cosh_f32(float x) {
  float half = __builtin_expf(0.5f * __builtin_fabsf(x)), power = 0.5f * half * half;
  return power + 0.25f / power;
}
DEFINE float __ocml_tanh_f32(float x) {
  float a = __builtin_fabsf(x);
  if (a >= 0.625f) return __builtin_copysignf(1.0f - 2.0f / (__builtin_expf(2.0f * a) + 1.0f), x);
  float z = x * x;
  float p = __builtin_fmaf(z, __builtin_fmaf(z, -5.70498872745e-3f, 2.06390887954e-2f), -5.37397155531e-2f);
  p = __builtin_fmaf(z, __builtin_fmaf(z, p, 1.33314422036e-1f), -3.33332819422e-1f);
  return __builtin_fmaf(x * z, p, x);
}
DEFINE float __ocml_asinh_f32(float x) {
  float a = __builtin_fabsf(x);
  float found = a > 1.0e9f ? __builtin_logf(a) + 0.69314718055994531f
                           : __ocml_log1p_f32(a + a * a / (1.0f + __builtin_sqrtf(a * a + 1.0f)));
  return __builtin_copysignf(found, x);
}
DEFINE float __ocml_acosh_f32(float x) {
  if (x > 1.0e9f) return __builtin_logf(x) + 0.69314718055994531f;
  float less = x - 1.0f;
  return __ocml_log1p_f32(less + __builtin_sqrtf(2.0f * less + less * less));
}
DEFINE float __ocml_atanh_f32(float x) {
  float a = __builtin_fabsf(x);
  return __builtin_copysignf(0.5f * __ocml_log1p_f32(2.0f * a / (1.0f - a)), x);
}
DEFINE float __ocml_cbrt_f32(float x) {
  float a = __builtin_fabsf(x);
  if (a == 0.0f || !__builtin_isfinite(x)) return x;
  float root = __builtin_exp2f(__builtin_log2f(a) * 0.33333333333333331f);
  root = root - (root - a / (root * root)) * 0.33333333333333331f;
  return __builtin_copysignf(root, x);
}
DEFINE float __ocml_hypot_f32(float x, float y) {
  float a = __builtin_fmaxf(__builtin_fabsf(x), __builtin_fabsf(y));
  float b = __builtin_fminf(__builtin_fabsf(x), __builtin_fabsf(y));
  if (__builtin_isinf(x) || __builtin_isinf(y)) return __builtin_inff();
  if (x != x || y != y) return x + y;
  if (a == 0.0f) return a;
  int e = __builtin_amdgcn_frexp_expf(a);
  a = __builtin_amdgcn_ldexpf(a, -e), b = __builtin_amdgcn_ldexpf(b, -e);
  return __builtin_amdgcn_ldexpf(__builtin_sqrtf(__builtin_fmaf(a, a, b * b)), e);
}
DEFINE float __ocml_remainder_f32(float x, float y) {
  float b = __builtin_fabsf(y), rest = __builtin_fabsf(__builtin_fmodf(x, 2.0f * b));
  if (__builtin_isinf(2.0f * b)) rest = __builtin_fabsf(x);
  if (__builtin_isinf(x) || b == 0.0f || x != x || y != y) return __builtin_nanf("");
  float half = 0.5f * b;
  if (rest > half || (b < 1e-37f && rest + rest > b)) {
    rest -= b;
    if (rest >= half) rest -= b;
  }
  return __builtin_signbit(x) ? -rest : rest;
}
DEFINE float __ocml_nextafter_f32(float x, float y) {
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  int bits = __builtin_bit_cast(int, x);
  if (x == 0.0f) return __builtin_copysignf(1.401298464324817e-45f, y);
  bits += (x < y) == (x > 0.0f) ? 1 : -1;
  return __builtin_bit_cast(float, bits);
}

DEFINE float __ocml_native_sin_f32(float x) { return __builtin_amdgcn_sinf(x * 0.15915494309189535f); }
DEFINE float __ocml_native_cos_f32(float x) { return __builtin_amdgcn_cosf(x * 0.15915494309189535f); }
DEFINE float __ocml_native_recip_f32(float x) { return __builtin_amdgcn_rcpf(x); }
DEFINE float __ocml_native_sqrt_f32(float x) { return __builtin_amdgcn_sqrtf(x); }
DEFINE float __ocml_native_rsqrt_f32(float x) { return __builtin_amdgcn_rsqf(x); }
extern "C" __attribute__((device, const)) float kc_power(float) __asm("llvm.amdgcn.exp2.f32");
extern "C" __attribute__((device, const)) float kc_logarithm(float) __asm("llvm.amdgcn.log.f32");
DEFINE float __ocml_native_exp2_f32(float x) { return kc_power(x); }
DEFINE float __ocml_native_exp_f32(float x) { return kc_power(x * 1.4426950408889634f); }
DEFINE float __ocml_native_exp10_f32(float x) { return kc_power(x * 3.3219280948873623f); }
DEFINE float __ocml_native_log2_f32(float x) { return kc_logarithm(x); }
DEFINE float __ocml_native_log_f32(float x) { return kc_logarithm(x) * 0.69314718055994531f; }
DEFINE float __ocml_native_log10_f32(float x) { return kc_logarithm(x) * 0.30102999566398120f; }
