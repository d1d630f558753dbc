// Sine, cosine and tangent in double precision for AMD's GPUs. Angles are reduced by three parts of
// pi / 2 (Cody and Waite), large ones by the digits of 2 / pi that count (Payne and Hanek, 1983);
// what is left goes into Taylor's series.
#define DEFINE extern "C" __attribute__((device, always_inline, const))
#define PART static __attribute__((device, always_inline))

// An angle is quarter * pi / 2 + high + low: the quarter modulo 4, the rest at most pi / 4.
struct KcAngle {
  int quarter;
  double high, low;
};
PART KcAngle kc_small_angle(double x) {
  double n = __builtin_rint(x * 0.63661977236758134308);
  double rest = __builtin_fma(n, -1.5707963267948966, x);  // exact: n has 20 bits
  double more = n * 6.123233995736766e-17;
  double beside = __builtin_fma(n, 6.123233995736766e-17, -more);
  double sum = rest - more, back = sum - rest;
  double lost = (rest - (sum - back)) + (-more - back);
  double low = __builtin_fma(n, 1.4973849048591698e-33, lost - beside);
  double high = sum + low;
  return {(int)n & 3, high, (sum - high) + low};
}
// The 192 binary digits of 2 / pi from a place on, words with the highest first.
PART void kc_digits(int place, unsigned *found) {
  const unsigned words[40] = {
      0x00000000u, 0x00000000u, 0xA2F9836Eu, 0x4E441529u, 0xFC2757D1u, 0xF534DDC0u, 0xDB629599u,
      0x3C439041u, 0xFE5163ABu, 0xDEBBC561u, 0xB7246E3Au, 0x424DD2E0u, 0x06492EEAu, 0x09D1921Cu,
      0xFE1DEB1Cu, 0xB129A73Eu, 0xE88235F5u, 0x2EBB4484u, 0xE99C7026u, 0xB45F7E41u, 0x3991D639u,
      0x835339F4u, 0x9C845F8Bu, 0xBDF9283Bu, 0x1FF897FFu, 0xDE05980Fu, 0xEF2F118Bu, 0x5A0A6D1Fu,
      0x6D367ECFu, 0x27CB09B7u, 0x4F463F66u, 0x9E5FEA2Du, 0x7527BAC7u, 0xEBE5F17Bu, 0x3D0739F7u,
      0x8A5292EAu, 0x6BFB5FB1u, 0x1F8D5D08u, 0x56033046u, 0xFC7B6BABu};
  int word = place / 32, shift = place % 32;
#pragma unroll
  for (int i = 0; i < 6; ++i) {
    unsigned long long both = (unsigned long long)words[word + i] << 32 | words[word + i + 1];
    found[i] = (unsigned)(both >> (32 - shift));
  }
}
PART KcAngle kc_large_angle(double x) {
  unsigned long long bits = __builtin_bit_cast(unsigned long long, x);
  int exponent = (int)(bits >> 52 & 2047) - 1075;  // |x| = digits * 2^exponent
  unsigned long long digits = (bits & 0xFFFFFFFFFFFFFull) | 0x10000000000000ull;
  unsigned factor[6], product[6];
  kc_digits(exponent - 2 + 64, factor);
  unsigned long long low = (unsigned)digits, high = digits >> 32, carry = 0;
#pragma unroll
  for (int i = 5; i >= 0; --i) {
    unsigned long long one = low * factor[i], other = i < 5 ? high * factor[i + 1] : 0;
    unsigned long long sum = carry + (unsigned)one + (unsigned)other;
    product[i] = (unsigned)sum;
    carry = (sum >> 32) + (one >> 32) + (other >> 32);
  }
  unsigned quarter = product[0] >> 30;
  unsigned a = product[0] << 2 | product[1] >> 30, b = product[1] << 2 | product[2] >> 30;
  unsigned c = product[2] << 2 | product[3] >> 30, d = product[3] << 2 | product[4] >> 30;
  bool is_above = a >> 31;
  if (is_above) ++quarter, a = ~a, b = ~b, c = ~c, d = ~d;
  double upper = a * 0x1p-32, lower = b * 0x1p-64, sum = upper + lower;
  double rest = ((upper - sum) + lower) + (c * 0x1p-96 + d * 0x1p-128);
  double part = sum + rest, left = (sum - part) + rest;
  double angle = part * 1.5707963267948966;
  double beside = __builtin_fma(part, 1.5707963267948966, -angle) +
                  __builtin_fma(part, 6.123233995736766e-17, left * 1.5707963267948966);
  bool is_negative = is_above != (x < 0.0);
  if (x < 0.0) quarter = -quarter;
  return {(int)quarter & 3, is_negative ? -angle : angle, is_negative ? -beside : beside};
}
PART KcAngle kc_angle(double x) {
  return __builtin_fabs(x) < 1048576.0 ? kc_small_angle(x) : kc_large_angle(x);
}
PART double kc_sine(double x, double low) {
  const double factors[] = {1.0 / 355687428096000.0, -1.0 / 1307674368000.0, 1.0 / 6227020800.0,
                            -1.0 / 39916800.0,       1.0 / 362880.0,         -1.0 / 5040.0,
                            1.0 / 120.0,             -1.0 / 6.0};
  double z = x * x, p = factors[0];
#pragma unroll
  for (int i = 1; i < 8; ++i) p = __builtin_fma(p, z, factors[i]);
  return x + __builtin_fma(x * z, p, low * __builtin_fma(z, -0.5, 1.0));
}
PART double kc_cosine(double x, double low) {
  const double factors[] = {1.0 / 20922789888000.0, -1.0 / 87178291200.0, 1.0 / 479001600.0,
                            -1.0 / 3628800.0,       1.0 / 40320.0,        -1.0 / 720.0,
                            1.0 / 24.0};
  double z = x * x, half = 0.5 * z, less = 1.0 - half, p = factors[0];
#pragma unroll
  for (int i = 1; i < 7; ++i) p = __builtin_fma(p, z, factors[i]);
  double tail = ((1.0 - less) - half) + __builtin_fma(z * z, p, -x * low);
  return less + tail;
}
PART double kc_turned(KcAngle angle, int quarters) {
  int quarter = angle.quarter + quarters & 3;
  double sine = kc_sine(angle.high, angle.low), cosine = kc_cosine(angle.high, angle.low);
  double value = quarter & 1 ? cosine : sine;
  return quarter & 2 ? -value : value;
}
DEFINE double __ocml_sin_f64(double x) {
  if (!__builtin_isfinite(x)) return __builtin_nan("");
  return x == 0.0 ? x : kc_turned(kc_angle(x), 0);
}
DEFINE double __ocml_cos_f64(double x) {
  return __builtin_isfinite(x) ? kc_turned(kc_angle(x), 1) : __builtin_nan("");
}
DEFINE double __ocml_tan_f64(double x) {
  if (!__builtin_isfinite(x)) return __builtin_nan("");
  KcAngle angle = kc_angle(x);
  double sine = kc_sine(angle.high, angle.low), cosine = kc_cosine(angle.high, angle.low);
  double found = angle.quarter & 1 ? -cosine / sine : sine / cosine;
  return x == 0.0 ? x : found;
}
