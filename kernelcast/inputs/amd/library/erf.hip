// Error functions in single precision; erfc by rational approximations of fdlibm (Sun Microsystems, 1993).
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
