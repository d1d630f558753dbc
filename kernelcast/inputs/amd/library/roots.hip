// Roots, remainders and parts of numbers in double precision, and what exp, log and sine make.
#define DEFINE extern "C" __attribute__((device, always_inline, const))
#define DECLARE extern "C" __attribute__((device, const))
DECLARE double __ocml_exp_f64(double);
DECLARE double __ocml_log_f64(double);
DECLARE double __ocml_sin_f64(double);
DECLARE double __ocml_cos_f64(double);

// log(1 + x): what rounding has taken from 1 + x is added again.
DEFINE double __ocml_log1p_f64(double x) {
  double sum = 1.0 + x, lost = x - (sum - 1.0);
  double found = __ocml_log_f64(sum) + lost / sum;
  return sum == 1.0 || __builtin_isinf(x) ? x : x == -1.0 ? -__builtin_inf() : found;
}
// 10^x = 2^n e^y: log10(2) in two parts, the first of which has 32 bits.
DEFINE double __ocml_exp10_f64(double x) {
  double n = __builtin_rint(x * 3.3219280948873623);
  double rest = __builtin_fma(n, -0.3010299955494702, x);
  rest = __builtin_fma(n, -1.1451100898021839e-10, rest);
  double power = __ocml_exp_f64(rest * 2.3025850929940457);
  int exponent = (int)__builtin_fmax(__builtin_fmin(n, 3000.0), -3000.0);
  return x > 400.0 ? __builtin_inf() : x < -400.0 ? 0.0 : __builtin_amdgcn_ldexp(power, exponent);
}
// From a cube root in single precision, a step of Halley's and one of Newton's, whose remainder is
// exact.
DEFINE double __ocml_cbrt_f64(double x) {
  double a = __builtin_fabs(x), m = __builtin_amdgcn_frexp_mant(a);
  int exponent = __builtin_amdgcn_frexp_exp(a);
  int third = exponent >= 0 ? exponent / 3 : -((2 - exponent) / 3);
  m = __builtin_amdgcn_ldexp(m, exponent - 3 * third);
  double t = __builtin_amdgcn_exp2f(__builtin_amdgcn_logf((float)m) * 0.33333333f);
  double cube = t * t * t;
  t = t * (cube + 2.0 * m) / (2.0 * cube + m);
  double square = t * t, beside = __builtin_fma(t, t, -square);
  double more = __builtin_fma(-square, t, m) - beside * t;
  t += more / (3.0 * square);
  return x == 0.0 || x != x || __builtin_isinf(x) ? x : __builtin_copysign(__builtin_amdgcn_ldexp(t, third), x);
}
DEFINE double __ocml_hypot_f64(double x, double y) {
  double a = __builtin_fabs(x), b = __builtin_fabs(y);
  if (__builtin_isinf(a) || __builtin_isinf(b)) return __builtin_inf();
  if (x != x || y != y) return x + y;
  double large = __builtin_fmax(a, b), small = __builtin_fmin(a, b);
  if (large == 0.0) return 0.0;
  int exponent = __builtin_amdgcn_frexp_exp(large);
  large = __builtin_amdgcn_ldexp(large, -exponent);
  small = __builtin_amdgcn_ldexp(small, -exponent);
  double square = large * large, beside = __builtin_fma(large, large, -square);
  return __builtin_amdgcn_ldexp(__builtin_sqrt(square + __builtin_fma(small, small, beside)), exponent);
}
DEFINE double __ocml_remainder_f64(double x, double y) {
  double a = __builtin_fabs(x), b = __builtin_fabs(y);
  if (x != x || y != y || __builtin_isinf(a) || b == 0.0) return __builtin_nan("");
  if (__builtin_isinf(b)) return x;
  if (b < 8e307) a = __builtin_fmod(a, 2.0 * b);
  double less = a;
  if (b < 4.5e-308) {
    if (2.0 * less > b) {
      less -= b;
      if (2.0 * less >= b) less -= b;
    }
  } else if (less > 0.5 * b) {
    less -= b;
    if (less >= 0.5 * b) less -= b;
  }
  return __builtin_signbit(x) ? -less : less;
}
DEFINE double __ocml_nextafter_f64(double x, double y) {
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  if (x == 0.0) return __builtin_copysign(4.9406564584124654e-324, y);
  long long bits = __builtin_bit_cast(long long, x);
  bits += (x < y) == (x > 0.0) ? 1 : -1;
  return __builtin_bit_cast(double, bits);
}
DEFINE double __ocml_logb_f64(double x) {
  if (x == 0.0) return -__builtin_inf();
  if (x != x || __builtin_isinf(x)) return x * x;
  return (double)(__builtin_amdgcn_frexp_exp(x) - 1);
}
DEFINE int __ocml_ilogb_f64(double x) {
  if (x == 0.0 || x != x) return -2147483647 - 1;
  return __builtin_isinf(x) ? 2147483647 : __builtin_amdgcn_frexp_exp(x) - 1;
}
// Angles in half turns: at most a quarter of one is left.
static __attribute__((device, always_inline)) double kc_of_half_turns(double x, int quarters) {
  double n = __builtin_rint(2.0 * x), angle = (x - 0.5 * n) * 3.14159265358979323846;
  int quarter = ((int)(n - 4.0 * __builtin_floor(0.25 * n)) + quarters) & 3;
  double found = quarter & 1 ? __ocml_cos_f64(angle) : __ocml_sin_f64(angle);
  return __builtin_isinf(x) ? __builtin_nan("") : quarter & 2 ? -found : found;
}
DEFINE double __ocml_sinpi_f64(double x) { return kc_of_half_turns(x, 0); }
DEFINE double __ocml_cospi_f64(double x) { return kc_of_half_turns(x, 1); }
