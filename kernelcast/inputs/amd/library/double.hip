// Mathematics in double precision for AMD's GPUs: what LLVM's back end has no code for.
#define DEFINE extern "C" __attribute__((device, always_inline, const))

DEFINE double __ocml_round_f64(double x) { return __builtin_round(x); }
DEFINE double __ocml_sqrt_f64(double x) { return __builtin_sqrt(x); }
DEFINE double __ocml_rsqrt_f64(double x) { return 1.0 / __builtin_sqrt(x); }
DEFINE double __ocml_ldexp_f64(double x, int n) { return __builtin_amdgcn_ldexp(x, n); }
DEFINE double __ocml_fmod_f64(double x, double y) { return __builtin_fmod(x, y); }
DEFINE double __ocml_fdim_f64(double x, double y) { return x <= y ? 0.0 : x - y; }

// e^(high + low) - 1 for |high| of at most ln(2) / 2: Taylor's series to the thirteenth power.
static __attribute__((device, always_inline)) double kc_power_less_one(double high, double low) {
  const double factors[] = {1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0,
                            1.0 / 362880.0,     1.0 / 40320.0,     1.0 / 5040.0,     1.0 / 720.0,
                            1.0 / 120.0,        1.0 / 24.0,        1.0 / 6.0,        0.5};
  double p = factors[0];
#pragma unroll
  for (int i = 1; i < 12; ++i) p = __builtin_fma(p, high, factors[i]);
  double less = __builtin_fma(high * high, p, high);
  return __builtin_fma(low, 1.0 + less, less);
}
// x = n ln(2) + high + low.
struct KcParts {
  double high, low;
};
static __attribute__((device, always_inline)) KcParts kc_rest(double x, double n) {
  double high = __builtin_fma(n, -6.93147180369123816490e-01, x), low = n * -1.90821492927058770002e-10;
  double sum = high + low;
  return {sum, (high - sum) + low};
}
static __attribute__((device, always_inline)) int kc_exponent(double n) {
  return (int)__builtin_fmax(__builtin_fmin(n, 3000.0), -3000.0);
}
DEFINE double __ocml_exp_f64(double x) {
  double n = __builtin_rint(x * 1.4426950408889634074);
  KcParts rest = kc_rest(x, n);
  double found = __builtin_amdgcn_ldexp(1.0 + kc_power_less_one(rest.high, rest.low), kc_exponent(n));
  return x > 1000.0 ? __builtin_inf() : x < -1000.0 ? 0.0 : found;
}
DEFINE double __ocml_expm1_f64(double x) {
  double n = __builtin_rint(x * 1.4426950408889634074);
  KcParts rest = kc_rest(x, n);
  double less = kc_power_less_one(rest.high, rest.low), scale = __builtin_amdgcn_ldexp(1.0, kc_exponent(n));
  double found = n == 0.0 ? less : __builtin_fma(scale, less, scale - 1.0);
  return x > 709.0 ? __ocml_exp_f64(x) : x < -1000.0 ? -1.0 : found;
}
DEFINE double __ocml_exp2_f64(double x) {
  double n = __builtin_rint(x), rest = x - n;
  double high = rest * 0.69314718055994530942;
  double low = __builtin_fma(rest, 0.69314718055994530942, -high);
  double found = __builtin_amdgcn_ldexp(1.0 + kc_power_less_one(high, low), kc_exponent(n));
  return x > 2000.0 ? __builtin_inf() : x < -2000.0 ? 0.0 : found;
}
// ln(m) in two parts for m from sqrt(0.5) to sqrt(2), by the series of atanh.
static __attribute__((device, always_inline)) KcParts kc_logarithm(double m) {
  double less = m - 1.0, sum = m + 1.0, s = less / sum;
  double of_s = __builtin_fma(-s, sum, less) + s * ((m - sum) + 1.0) * -1.0;
  double tail = of_s / sum, z = s * s, p = 1.0 / 25.0;
#pragma unroll
  for (int n = 23; n >= 3; n -= 2) p = __builtin_fma(p, z, 1.0 / n);
  return {2.0 * s, 2.0 * __builtin_fma(s * z, p, tail)};
}
static __attribute__((device, always_inline)) double kc_scaled(double x, int *exponent) {
  double m = __builtin_amdgcn_frexp_mant(x);
  int e = __builtin_amdgcn_frexp_exp(x);
  bool is_small = m < 0.70710678118654752440;
  *exponent = is_small ? e - 1 : e;
  return is_small ? 2.0 * m : m;
}
static __attribute__((device, always_inline)) double kc_checked(double x, double found) {
  if (x == 0.0) return -__builtin_inf();
  if (x < 0.0 || x != x) return __builtin_nan("");
  return __builtin_isinf(x) ? x : found;
}
DEFINE double __ocml_log_f64(double x) {
  int e;
  KcParts l = kc_logarithm(kc_scaled(x, &e));
  double whole = e * 6.93147180369123816490e-01, sum = whole + l.high;
  double rest = (whole - sum) + l.high;
  return kc_checked(x, sum + (rest + l.low + e * 1.90821492927058770002e-10));
}
DEFINE double __ocml_log2_f64(double x) {
  int e;
  KcParts l = kc_logarithm(kc_scaled(x, &e));
  double high = l.high * 1.4426950408889634074;
  double low = __builtin_fma(l.high, 1.4426950408889634074, -high) + l.high * 2.0355273740931033e-17 +
               l.low * 1.4426950408889634074;
  double sum = e + high, rest = (e - sum) + high;
  return kc_checked(x, sum + (rest + low));
}
DEFINE double __ocml_log10_f64(double x) { return __ocml_log2_f64(x) * 0.30102999566398119521; }
DEFINE double __ocml_tanh_f64(double x) {
  double more = __ocml_expm1_f64(__builtin_fmin(2.0 * __builtin_fabs(x), 100.0));
  double found = more < 2.0 ? more / (more + 2.0) : 1.0 - 2.0 / (more + 2.0);
  return x != x ? x : __builtin_copysign(found, x);
}

// log2(m) in two parts, some 65 digits together, for m from sqrt(0.5) to sqrt(2): the series of
// atanh, whose first two terms are products of two parts each.
static __attribute__((device, always_inline)) KcParts kc_long_logarithm(double m) {
  double less = m - 1.0, sum = m + 1.0, s = less / sum;
  double beside = (__builtin_fma(-s, sum, less) - s * (m - (sum - 1.0))) / sum;
  double z = s * s, z_beside = __builtin_fma(s, s, -z) + 2.0 * s * beside;
  double cube = s * z, cube_beside = __builtin_fma(s, z, -cube) + s * z_beside + beside * z;
  double third = cube * (1.0 / 3.0);
  double third_beside = __builtin_fma(cube, 1.0 / 3.0, -third) + cube * 1.850371707708594e-17 + cube_beside * (1.0 / 3.0);
  double p = 1.0 / 25.0;
#pragma unroll
  for (int n = 23; n >= 5; n -= 2) p = __builtin_fma(p, z, 1.0 / n);
  double whole = s + third;
  double rest = ((s - whole) + third) + (beside + third_beside + cube * z * p);
  double high = whole + rest, low = (whole - high) + rest;
  double found = high * 2.8853900817779268;  // 2 / ln(2)
  return {found, __builtin_fma(high, 2.8853900817779268, -found) + high * 4.0710547481862066e-17 + low * 2.8853900817779268};
}
DEFINE double __ocml_pow_f64(double x, double y) {
  double a = __builtin_fabs(x);
  bool is_whole = __builtin_trunc(y) == y;
  bool is_odd = is_whole && 2.0 * __builtin_trunc(0.5 * y) != y;
  if (y == 0.0 || x == 1.0 || (x == -1.0 && __builtin_isinf(y))) return 1.0;
  if (x != x || y != y) return x + y;
  int e;
  KcParts l = kc_long_logarithm(kc_scaled(a, &e));
  double high = e + l.high, low = ((e - high) + l.high) + l.low;
  double product = y * high, beside = __builtin_fma(y, high, -product) + y * low;
  double n = __builtin_rint(product), rest = product - n;
  double power = rest * 0.69314718055994530942;
  double more = __builtin_fma(rest, 0.69314718055994530942, -power) + rest * 2.3190468138462996e-17 + beside * 0.69314718055994530942;
  double found = __builtin_amdgcn_ldexp(1.0 + kc_power_less_one(power, more), kc_exponent(n));
  if (a == 0.0 || __builtin_isinf(a)) found = (a == 0.0) == (y < 0.0) ? __builtin_inf() : 0.0;
  else if (__builtin_fabs(product) > 2000.0) found = product > 0.0 ? __builtin_inf() : 0.0;
  if (x < 0.0 && !is_whole && !__builtin_isinf(x)) return __builtin_nan("");
  return is_odd ? __builtin_copysign(found, x) : found;
}
DEFINE double __ocml_powr_f64(double x, double y) { return __ocml_pow_f64(x, y); }
DEFINE double __ocml_pown_f64(double x, int n) { return __ocml_pow_f64(x, (double)n); }

// Powers of float: by the logarithm in double precision.
DEFINE float __ocml_pow_f32(float x, float y) {
  float a = __builtin_fabsf(x);
  bool is_whole = __builtin_truncf(y) == y;
  bool is_odd = is_whole && __builtin_fabsf(y) < 16777216.0f && ((int)y & 1);
  if (y == 0.0f || x == 1.0f) return 1.0f;
  if (x != x || y != y) return x + y;
  if (x == -1.0f && __builtin_isinf(y)) return 1.0f;
  double product = (double)y * __ocml_log2_f64(a);
  float found = (float)__ocml_exp2_f64(__builtin_fmax(__builtin_fmin(product, 300.0), -300.0));
  if (x < 0.0f && !is_whole && !__builtin_isinf(x)) return __builtin_nanf("");
  return is_odd ? __builtin_copysignf(found, x) : found;
}
DEFINE float __ocml_powr_f32(float x, float y) { return __ocml_pow_f32(x, y); }
DEFINE float __ocml_pown_f32(float x, int n) { return __ocml_pow_f32(x, (float)n); }
