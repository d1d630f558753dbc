// The gamma function and its logarithm: Stirling's series from 10 on, products below.
#define DEFINE extern "C" __attribute__((device, always_inline, const))
#define DECLARE extern "C" __attribute__((device, const))
DECLARE double __ocml_exp_f64(double);
DECLARE double __ocml_log_f64(double);
DECLARE double __ocml_pow_f64(double, double);
DECLARE double __ocml_sinpi_f64(double);

// The logarithm of what Stirling's formula leaves: Bernoulli's numbers over n (n - 1) x^(n - 1).
static __attribute__((device, always_inline)) double kc_rest_of_stirling(double x) {
  double z = 1.0 / (x * x), p = 1.0 / 156.0;
  p = __builtin_fma(p, z, -691.0 / 360360.0);
  p = __builtin_fma(p, z, 1.0 / 1188.0);
  p = __builtin_fma(p, z, -1.0 / 1680.0);
  p = __builtin_fma(p, z, 1.0 / 1260.0);
  p = __builtin_fma(p, z, -1.0 / 360.0);
  return __builtin_fma(p, z, 1.0 / 12.0) / x;
}
// x (x + 1) ... up to 10, corrected for what rounding takes from what x becomes: between 10 and 11
// the logarithm of gamma rises by psi(x), which is nearly straight.
static __attribute__((device, always_inline)) double kc_raised(double x, double *product) {
  double steps = __builtin_fmax(__builtin_ceil(10.0 - x), 0.0);
  *product = 1.0;
#pragma unroll
  for (int step = 0; step < 10; ++step) *product = step < steps ? *product * (x + step) : *product;
  double y = x + steps, lost = x - (y - steps);
  if (steps > 0.0) *product -= *product * lost * (2.2517525890667211 + 0.1 * (y - 10.0));
  return y;
}
static __attribute__((device, always_inline)) double kc_gamma(double x) {
  double product, y = kc_raised(x, &product);
  double power = __ocml_pow_f64(y, 0.5 * y - 0.25);  // of half the exponent: the whole is too large
  double beside = __ocml_exp_f64(kc_rest_of_stirling(y));
  double found = 2.5066282746310002 * power * __ocml_exp_f64(-y) * power * beside;
  return x > 172.0 ? __builtin_inf() : found / product;
}
static __attribute__((device, always_inline)) double kc_log_gamma(double x) {
  double product, y = kc_raised(x, &product);
  double found = (y - 0.5) * (__ocml_log_f64(y) - 1.0) + (0.41893853320467274 + kc_rest_of_stirling(y));
  return x < 10.0 ? found - __ocml_log_f64(product) : found;
}
DEFINE double __ocml_tgamma_f64(double x) {
  if (x == 0.0) return __builtin_copysign(__builtin_inf(), x);
  if (x < 0.0 && __builtin_trunc(x) == x) return __builtin_nan("");
  if (x != x || x > 1e3) return x > 0.0 ? __builtin_inf() : x;
  if (x > 0.0) return kc_gamma(x);
  return x < -184.0 ? 0.0 : 3.14159265358979323846 / (__ocml_sinpi_f64(x) * kc_gamma(1.0 - x));
}
DEFINE double __ocml_lgamma_f64(double x) {
  if (x != x || __builtin_isinf(x)) return x * x;
  if (x <= 0.0 && __builtin_trunc(x) == x) return __builtin_inf();
  if (x > 0.0) return x == 1.0 || x == 2.0 ? 0.0 : kc_log_gamma(x);
  double sine = __builtin_fabs(__ocml_sinpi_f64(x));
  return __ocml_log_f64(3.14159265358979323846 / sine) - kc_log_gamma(1.0 - x);
}
DEFINE float __ocml_tgamma_f32(float x) { return (float)__ocml_tgamma_f64(x); }
DEFINE float __ocml_lgamma_f32(float x) { return (float)__ocml_lgamma_f64(x); }
