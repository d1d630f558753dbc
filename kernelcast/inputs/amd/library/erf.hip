// Error functions; erfc in single precision by rational approximations of fdlibm (Sun Microsystems, 1993).
#define DEFINE extern "C" __attribute__((device, always_inline, const))
#define FMA __builtin_fmaf

static __attribute__((device, always_inline)) float kc_small_erf(float z) {
  float p = FMA(z, FMA(z, -2.3763017452e-05f, -5.7702702470e-03f), -2.8481749818e-02f);
  p = FMA(z, FMA(z, p, -3.2504209876e-01f), 1.2837916613e-01f);
  float q = FMA(z, FMA(z, -3.9602282413e-06f, 1.3249473704e-04f), 5.0813062117e-03f);
  q = FMA(z, FMA(z, FMA(z, q, 6.5022252500e-02f), 3.9791721106e-01f), 1.0f);
  return p / q;
}
// 1 - erf(x) for x from 0.84375 on.
static __attribute__((device, always_inline)) float kc_rest_of_erf(float x) {
  if (x < 1.25f) {
    float s = x - 1.0f;
    float p = FMA(s, FMA(s, -2.1663755178e-03f, 3.5478305072e-02f), -1.1089469492e-01f);
    p = FMA(s, FMA(s, FMA(s, FMA(s, p, 3.1834661961e-01f), -3.7220788002e-01f), 4.1485610604e-01f),
            -2.3621185683e-03f);
    float q = FMA(s, FMA(s, 1.1984500103e-02f, 1.3637083583e-02f), 1.2617121637e-01f);
    q = FMA(s, FMA(s, FMA(s, FMA(s, q, 7.1828655899e-02f), 5.4039794207e-01f), 1.0642088205e-01f), 1.0f);
    return (1.0f - 8.4506291151e-01f) - p / q;
  }
  float s = 1.0f / (x * x), p, q;
  if (x < 2.857142857f) {
    p = FMA(s, FMA(s, -9.8143291473e+00f, -8.1287437439e+01f), -1.8460508728e+02f);
    p = FMA(s, FMA(s, FMA(s, p, -1.6239666748e+02f), -6.2375331879e+01f), -1.0558626175e+01f);
    p = FMA(s, FMA(s, p, -6.9385856390e-01f), -9.8649440333e-03f);
    q = FMA(s, FMA(s, -6.0424413532e-02f, 6.5702495575e+00f), 1.0863500214e+02f);
    q = FMA(s, FMA(s, FMA(s, q, 4.2900814819e+02f), 6.4538726807e+02f), 4.3456588745e+02f);
    q = FMA(s, FMA(s, FMA(s, q, 1.3765776062e+02f), 1.9651271820e+01f), 1.0f);
  } else {
    p = FMA(s, FMA(s, -4.8351919556e+02f, -1.0250950928e+03f), -6.3756646729e+02f);
    p = FMA(s, FMA(s, FMA(s, FMA(s, p, -1.6063638306e+02f), -1.7757955551e+01f), -7.9928326607e-01f),
            -9.8649431020e-03f);
    q = FMA(s, FMA(s, -2.2440952301e+01f, 4.7452853394e+02f), 2.5530502930e+03f);
    q = FMA(s, FMA(s, FMA(s, q, 3.1998581543e+03f), 1.5367296143e+03f), 3.2579251099e+02f);
    q = FMA(s, FMA(s, q, 3.0338060379e+01f), 1.0f);
  }
  float high = __builtin_bit_cast(float, __builtin_bit_cast(unsigned, x) & 0xFFFFE000u);
  float power = __builtin_expf(FMA(-high, high, -0.5625f)) * __builtin_expf((high - x) * (high + x) + p / q);
  return power / x;
}
// Polynomials fitted to erf(x) / x - 1 up to 1, and to -log(1 - erf(x)) from 1 to 4, where it is 1.
DEFINE float __ocml_erf_f32(float x) {
  float a = __builtin_fabsf(x);
  if (a < 1.0f) {
    float z = x * x;
    float p = FMA(z, FMA(z, 7.8539754191e-05f, -8.0102310066e-04f), 5.1883324051e-03f);
    p = FMA(z, FMA(z, FMA(z, FMA(z, p, -2.6853814801e-02f), 1.1283585233e-01f), -3.7612625835e-01f),
            1.2837916573e-01f);
    return FMA(x, p, x);
  }
  float b = __builtin_fminf(a, 4.0f);
  float t = FMA(b, FMA(b, -1.8637948577e-04f, 2.9476611021e-03f), -2.1838074871e-02f);
  t = FMA(b, FMA(b, FMA(b, FMA(b, t, 1.0310677657e-01f), 6.3814480825e-01f), 1.1270892045e+00f),
          3.4151960556e-04f);
  return x != x ? x : __builtin_copysignf(1.0f - __builtin_expf(-t), x);
}
DEFINE float __ocml_erfc_f32(float x) {
  float a = __builtin_fabsf(x);
  if (a < 0.84375f) return 1.0f - FMA(x, kc_small_erf(x * x), x);
  float rest = a < 11.0f ? kc_rest_of_erf(a) : 0.0f;
  return x != x ? x : x < 0 ? 2.0f - rest : rest;
}

// ---- double precision ----
#define DECLARE extern "C" __attribute__((device, const))
DECLARE double __ocml_exp_f64(double);
#undef FMA
#define FMA __builtin_fma

// 1 - erf(x) for x from 0 on: e^(-x^2) P(t) / (x + 3) with t = (x - 3) / (x + 3), P a sum of
// Chebyshev polynomials that was found with 60 digits.
static __attribute__((device, always_inline)) double kc_rest_of_erf(double x) {
  const double factors[] = {
      -1.3486619525318313e-10, 1.6421143016942986e-10, 1.653982449951394e-09,
      -9.783136387840652e-10, -1.1011786999949914e-08, -9.818356605591901e-10,
      5.4870169496574923e-08, 4.605790019424851e-08, -2.3760728025226044e-07,
      -4.0795588546379703e-07, 1.001369462400479e-06, 2.7653934843589293e-06,
      -4.750203745627632e-06, -1.7470579898367112e-05, 3.0398415421531873e-05,
      0.00010756149572800276, -0.000276777887591881, -0.0005483096943765837,
      0.0030340620052543557, -0.001212416626845832, -0.02682723462469515, 0.11952776128726766,
      -0.31046726190056234, 0.5902283571041024, -0.8833944531698836, 1.0740069070883398};
  double t = (x - 3.0) / (x + 3.0), p = factors[0];
#pragma unroll
  for (int i = 1; i < 26; ++i) p = FMA(p, t, factors[i]);
  double square = x * x, beside = FMA(x, x, -square);
  double power = __ocml_exp_f64(-square);
  return FMA(-beside, power, power) * p / (x + 3.0);
}
// The series of erf up to 1, whose terms change their signs.
static __attribute__((device, always_inline)) double kc_series_of_erf(double x) {
  double z = x * x, p = 0.0;
  const double factors[] = {
      1.0 / 51090942171709440000.0 / 43.0, 1.0 / 2432902008176640000.0 / 41.0,
      1.0 / 121645100408832000.0 / 39.0, 1.0 / 6402373705728000.0 / 37.0,
      1.0 / 355687428096000.0 / 35.0, 1.0 / 20922789888000.0 / 33.0, 1.0 / 1307674368000.0 / 31.0,
      1.0 / 87178291200.0 / 29.0, 1.0 / 6227020800.0 / 27.0, 1.0 / 479001600.0 / 25.0,
      1.0 / 39916800.0 / 23.0, 1.0 / 3628800.0 / 21.0, 1.0 / 362880.0 / 19.0, 1.0 / 40320.0 / 17.0,
      1.0 / 5040.0 / 15.0, 1.0 / 720.0 / 13.0, 1.0 / 120.0 / 11.0, 1.0 / 24.0 / 9.0, 1.0 / 6.0 / 7.0,
      1.0 / 2.0 / 5.0, 1.0 / 3.0};
#pragma unroll
  for (int i = 0; i < 21; ++i) p = FMA(p, -z, factors[i]);
  double sum = FMA(-z * p, x, x);  // erf(x) sqrt(pi) / 2
  return FMA(sum, 1.1283791670955126, sum * 1.533545961316588e-17);
}
DEFINE double __ocml_erf_f64(double x) {
  double a = __builtin_fabs(x);
  if (a < 1.0) return kc_series_of_erf(x);
  double rest = a < 6.0 ? kc_rest_of_erf(a) : 0.0;
  return x != x ? x : __builtin_copysign(1.0 - rest, x);
}
DEFINE double __ocml_erfc_f64(double x) {
  double a = __builtin_fabs(x);
  if (a < 0.5) return 1.0 - kc_series_of_erf(x);
  double rest = a < 28.0 ? kc_rest_of_erf(a) : 0.0;
  return x != x ? x : x < 0 ? 2.0 - rest : rest;
}
