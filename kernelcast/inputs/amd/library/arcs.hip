// Arcs and hyperbolic functions in double precision.
#define DEFINE extern "C" __attribute__((device, always_inline, const))
#define DECLARE extern "C" __attribute__((device, const))
DECLARE double __ocml_exp_f64(double);
DECLARE double __ocml_expm1_f64(double);
DECLARE double __ocml_log_f64(double);
DECLARE double __ocml_log1p_f64(double);
constexpr double kc_half_turn = 3.14159265358979323846, kc_beside_half_turn = 1.2246467991473532e-16;

// The arc tangent of a quotient from 0 on, numerator and denominator not both 0 or infinite: the
// angle whose tangent is 0, 1 or infinity, and the series for the rest, which is at most 0.4143.
static __attribute__((device, always_inline)) double kc_arc_of(double top, double below) {
  double quotient = top / below, r = quotient, share = 0.0;
  if (quotient > 2.414213562373095) {
    r = -below / top;
    share = 0.5;
  } else if (quotient > 0.41421356237309503) {
    r = below > 1e300 ? (0.125 * top - 0.125 * below) / (0.125 * top + 0.125 * below)
                      : (top - below) / (top + below);
    share = 0.25;
  }
  double z = r * r, p = 1.0 / 45.0;
#pragma unroll
  for (int n = 43; n >= 3; n -= 2) p = __builtin_fma(p, -z, 1.0 / n);
  double small = __builtin_fma(-z * p, r, r);
  return share == 0.0 ? small : share * kc_half_turn + (small + share * kc_beside_half_turn);
}
DEFINE double __ocml_atan_f64(double x) {
  return x != x ? x : __builtin_copysign(kc_arc_of(__builtin_fabs(x), 1.0), x);
}
DEFINE double __ocml_atan2_f64(double y, double x) {
  double a = __builtin_fabs(y), b = __builtin_fabs(x);
  if (x != x || y != y) return x + y;
  if (__builtin_isinf(a) && __builtin_isinf(b)) a = b = 1.0;
  if (a == 0.0 && b == 0.0) b = 1.0;
  double arc = kc_arc_of(a, b);
  if (__builtin_signbit(x) && !__builtin_isinf(a / b)) arc = kc_half_turn - (arc - kc_beside_half_turn);
  return __builtin_copysign(arc, y);
}
DEFINE double __ocml_asin_f64(double x) {
  double a = __builtin_fabs(x);
  if (a > 1.0) return __builtin_nan("");
  return x != x ? x : __builtin_copysign(kc_arc_of(a, __builtin_sqrt((1.0 - a) * (1.0 + a))), x);
}
DEFINE double __ocml_acos_f64(double x) {
  if (__builtin_fabs(x) > 1.0) return __builtin_nan("");
  return x != x ? x : 2.0 * kc_arc_of(__builtin_sqrt(1.0 - x), __builtin_sqrt(1.0 + x));
}
DEFINE double __ocml_sinh_f64(double x) {
  double a = __builtin_fabs(x), more = __ocml_expm1_f64(__builtin_fmin(a, 700.0));
  double found = 0.5 * (more + more / (more + 1.0));
  double root = __ocml_exp_f64(0.5 * a);
  return x != x ? x : __builtin_copysign(a < 700.0 ? found : 0.5 * root * root, x);
}
DEFINE double __ocml_cosh_f64(double x) {
  double a = __builtin_fabs(x), power = __ocml_exp_f64(__builtin_fmin(a, 700.0));
  double root = __ocml_exp_f64(0.5 * a);
  return x != x ? x : a < 700.0 ? 0.5 * (power + 1.0 / power) : 0.5 * root * root;
}
DEFINE double __ocml_asinh_f64(double x) {
  double a = __builtin_fabs(x), square = a * a, root = __builtin_sqrt(1.0 + square);
  double found = a < 1e8 ? __ocml_log1p_f64(a + square / (1.0 + root))
                         : __ocml_log_f64(a) + 0.69314718055994530942;
  return x != x ? x : __builtin_copysign(found, x);
}
DEFINE double __ocml_acosh_f64(double x) {
  double above = x - 1.0;
  if (x < 1.0) return __builtin_nan("");
  return x < 1e8 ? __ocml_log1p_f64(above + __builtin_sqrt(above * (x + 1.0)))
                 : __ocml_log_f64(x) + 0.69314718055994530942;
}
DEFINE double __ocml_atanh_f64(double x) {
  double a = __builtin_fabs(x);
  if (a > 1.0) return __builtin_nan("");
  return x != x ? x : __builtin_copysign(0.5 * __ocml_log1p_f64(2.0 * a / (1.0 - a)), x);
}
