// Functions of numbers, the same for every target.

// Common and geometric functions.
#define COMMON(T) \
  BINARY(T, max, a < b ? b : a) \
  BINARY(T, min, b < a ? b : a) \
  TERNARY(T, clamp, fmin(fmax(a, b), c)) \
  TERNARY(T, mix, fma(b - a, c, a)) \
  BINARY(T, maxmag, fabs(a) > fabs(b) ? a : fabs(b) > fabs(a) ? b : fmax(a, b)) \
  BINARY(T, minmag, fabs(a) < fabs(b) ? a : fabs(b) < fabs(a) ? b : fmin(a, b)) \
  BINARY(T, step, b < a ? (T)0 : (T)1) \
  TERNARY(T, smoothstep, ((c = clamp((c - a) / (b - a), (T)0, (T)1)), c * c * ((T)3 - 2 * c))) \
  UNARY(T, sign, a > 0 ? (T)1 : a < 0 ? (T)-1 : a == 0 ? a : (T)0) \
  UNARY(T, degrees, a * (T)57.295779513082320877) \
  UNARY(T, radians, a * (T)0.017453292519943295769) \
  MIXED_WIDTHS(T, 2) MIXED_WIDTHS(T, 3) MIXED_WIDTHS(T, 4) MIXED_WIDTHS(T, 8) MIXED_WIDTHS(T, 16)
#define MIXED_WIDTHS(T, n) \
  T##n OVERLOAD max(T##n a, T b) { return max(a, (T##n)b); } \
  T##n OVERLOAD min(T##n a, T b) { return min(a, (T##n)b); } \
  T##n OVERLOAD fmax(T##n a, T b) { return fmax(a, (T##n)b); } \
  T##n OVERLOAD fmin(T##n a, T b) { return fmin(a, (T##n)b); } \
  T##n OVERLOAD clamp(T##n a, T b, T c) { return clamp(a, (T##n)b, (T##n)c); } \
  T##n OVERLOAD mix(T##n a, T##n b, T c) { return mix(a, b, (T##n)c); } \
  T##n OVERLOAD step(T a, T##n b) { return step((T##n)a, b); }
COMMON(float) COMMON(double)


DOT(float) DOT(double)
#define GEOMETRY(T, V) \
  T OVERLOAD length(V a) { return sqrt(dot(a, a)); } \
  T OVERLOAD distance(V a, V b) { return length(a - b); } \
  V OVERLOAD normalize(V a) { return a * rsqrt(dot(a, a)); }
#define GEOMETRIES(T) \
  GEOMETRY(T, T) GEOMETRY(T, T##2) GEOMETRY(T, T##3) GEOMETRY(T, T##4) \
  T##3 OVERLOAD cross(T##3 a, T##3 b) { return a.yzx * b.zxy - a.zxy * b.yzx; } \
  T##4 OVERLOAD cross(T##4 a, T##4 b) { return (T##4)(cross(a.xyz, b.xyz), 0); }
GEOMETRIES(float) GEOMETRIES(double)
#define FAST_GEOMETRY(V) \
  float OVERLOAD fast_length(V a) { return native_sqrt(dot(a, a)); } \
  float OVERLOAD fast_distance(V a, V b) { return fast_length(a - b); } \
  V OVERLOAD fast_normalize(V a) { return normalize(a); }
FAST_GEOMETRY(float) FAST_GEOMETRY(float2) FAST_GEOMETRY(float3) FAST_GEOMETRY(float4)

// What other functions of mathematics make.
#define HALF_TURN 3.14159265358979323846
#define MADE(T, I) \
  UNARY(T, asinpi, asin(a) / (T)HALF_TURN) \
  UNARY(T, acospi, acos(a) / (T)HALF_TURN) \
  UNARY(T, atanpi, atan(a) / (T)HALF_TURN) \
  UNARY(T, tanpi, sinpi(a) / cospi(a)) \
  BINARY(T, atan2pi, atan2(a, b) / (T)HALF_TURN) \
  T OVERLOAD rootn(T a, int b) { \
    return copysign(pow(fabs(a), (T)1 / (T)b), b & 1 ? a : (T)1); \
  } \
  WITH_INTEGERS(T, 2) WITH_INTEGERS(T, 4) WITH_INTEGERS(T, 8) WITH_INTEGERS(T, 16) \
  WITH_THREE_INTEGERS(T, pown) WITH_THREE_INTEGERS(T, ldexp) WITH_THREE_INTEGERS(T, rootn) \
  UNARY_VECTORS(int, T, ilogb) \
  PARTS(T, private) PARTS(T, global) PARTS(T, local)
#define WITH_INTEGERS(T, n) \
  T##n OVERLOAD pown(T##n a, int##n b) { return (T##n)(pown(a.lo, b.lo), pown(a.hi, b.hi)); } \
  T##n OVERLOAD ldexp(T##n a, int##n b) { return (T##n)(ldexp(a.lo, b.lo), ldexp(a.hi, b.hi)); } \
  T##n OVERLOAD rootn(T##n a, int##n b) { return (T##n)(rootn(a.lo, b.lo), rootn(a.hi, b.hi)); } \
  T##n OVERLOAD ldexp(T##n a, int b) { return ldexp(a, (int##n)b); }
#define WITH_THREE_INTEGERS(T, f) \
  T##3 OVERLOAD f(T##3 a, int##3 b) { return (T##3)(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z)); }
#define PARTS(T, space) \
  T OVERLOAD sincos(T a, space T *cosine) { \
    *cosine = cos(a); \
    return sin(a); \
  } \
  T OVERLOAD fract(T a, space T *whole) { \
    *whole = floor(a); \
    return fmin(a - *whole, sizeof(T) == 4 ? (T)0x1.fffffep-1f : (T)0x1.fffffffffffffp-1); \
  } \
  T OVERLOAD modf(T a, space T *whole) { \
    *whole = trunc(a); \
    return copysign(fabs(a) == (T)INFINITY ? (T)0 : a - *whole, a); \
  } \
  T OVERLOAD frexp(T a, space int *exponent) { \
    bool is_plain = a != 0 && fabs(a) < (T)INFINITY; \
    int power = is_plain ? ilogb(a) + 1 : 0; \
    *exponent = power; \
    return is_plain ? ldexp(ldexp(a, -(power / 2)), -(power - power / 2)) : a; \
  } \
  PARTS_OF_VECTORS(T, space, 2) PARTS_OF_VECTORS(T, space, 3) PARTS_OF_VECTORS(T, space, 4) \
  PARTS_OF_VECTORS(T, space, 8) PARTS_OF_VECTORS(T, space, 16)
#define PARTS_OF_VECTORS(T, space, n) \
  PART_OF_VECTOR(T, T, space, n, sincos) PART_OF_VECTOR(T, T, space, n, fract) \
  PART_OF_VECTOR(T, T, space, n, modf) PART_OF_VECTOR(T, int, space, n, frexp)
#define PART_OF_VECTOR(T, O, space, n, f) \
  T##n OVERLOAD f(T##n a, space O##n *other) { \
    T##n found; \
    O##n others; \
    for (int i = 0; i < n; ++i) { \
      O one; \
      found[i] = f(a[i], &one); \
      others[i] = one; \
    } \
    *other = others; \
    return found; \
  }
MADE(float, int) MADE(double, long)
float OVERLOAD nan(uint code) { return as_float(0x7fc00000 | code); }
double OVERLOAD nan(ulong code) { return as_double(0x7ff8000000000000ul | code); }
UNARY_VECTORS(float, uint, nan)

OF_HALF(fabs) OF_HALF(floor) OF_HALF(ceil) OF_HALF(trunc) OF_HALF(rint) OF_HALF(round) OF_HALF(sqrt)
OF_HALF(rsqrt) OF_HALF(exp) OF_HALF(exp2) OF_HALF(exp10) OF_HALF(log) OF_HALF(log2) OF_HALF(log10)
OF_HALF(sin) OF_HALF(cos) OF_HALF(tan) OF_HALF(tanh) OF_HALF(sinh) OF_HALF(cosh) OF_HALF(erf)
PAIR_OF_HALF(fmin) PAIR_OF_HALF(fmax) PAIR_OF_HALF(pow) PAIR_OF_HALF(fmod) PAIR_OF_HALF(copysign)
TERNARY(half, fma, (half)fma((double)a, (double)b, (double)c))
TERNARY(half, mad, a * b + c)
BINARY(half, max, a < b ? b : a)
BINARY(half, min, b < a ? b : a)
TERNARY(half, clamp, fmin(fmax(a, b), c))
TERNARY(half, mix, a + (b - a) * c)

// Relations: all bits are set in vectors where one holds.
#define RELATION_OF_ONE(T, I, f, holds) \
  int OVERLOAD f(T a) { return holds; } \
  RELATION_N(T, I, f, holds, 2) RELATION_N(T, I, f, holds, 3) RELATION_N(T, I, f, holds, 4) \
  RELATION_N(T, I, f, holds, 8) RELATION_N(T, I, f, holds, 16)
#define RELATION_N(T, I, f, holds, n) \
  I##n OVERLOAD f(T##n a) { return holds; }
#define RELATION_OF_TWO(T, I, f, holds) \
  int OVERLOAD f(T a, T b) { return holds; } \
  RELATION_OF_TWO_N(T, I, f, holds, 2) RELATION_OF_TWO_N(T, I, f, holds, 3) \
  RELATION_OF_TWO_N(T, I, f, holds, 4) RELATION_OF_TWO_N(T, I, f, holds, 8) \
  RELATION_OF_TWO_N(T, I, f, holds, 16)
#define RELATION_OF_TWO_N(T, I, f, holds, n) \
  I##n OVERLOAD f(T##n a, T##n b) { return holds; }
#define RELATIONS(T, I, least) \
  RELATION_OF_ONE(T, I, isnan, a != a) \
  RELATION_OF_ONE(T, I, isinf, fabs(a) == (T)INFINITY) \
  RELATION_OF_ONE(T, I, isfinite, fabs(a) < (T)INFINITY) \
  RELATION_OF_ONE(T, I, isnormal, fabs(a) < (T)INFINITY & fabs(a) >= (T)least) \
  RELATION_OF_TWO(T, I, isequal, a == b) \
  RELATION_OF_TWO(T, I, isnotequal, a != b) \
  RELATION_OF_TWO(T, I, isgreater, a > b) \
  RELATION_OF_TWO(T, I, isgreaterequal, a >= b) \
  RELATION_OF_TWO(T, I, isless, a < b) \
  RELATION_OF_TWO(T, I, islessequal, a <= b) \
  RELATION_OF_TWO(T, I, islessgreater, (a < b) | (a > b)) \
  RELATION_OF_TWO(T, I, isordered, (a == a) & (b == b)) \
  RELATION_OF_TWO(T, I, isunordered, (a != a) | (b != b)) \
  int OVERLOAD signbit(T a) { return as_##I(a) < 0; } \
  SIGN_BIT(T, I, 2) SIGN_BIT(T, I, 3) SIGN_BIT(T, I, 4) SIGN_BIT(T, I, 8) SIGN_BIT(T, I, 16)
#define SIGN_BIT(T, I, n) \
  I##n OVERLOAD signbit(T##n a) { return as_##I##n(a) < 0; }
RELATIONS(float, int, 0x1p-126f) RELATIONS(double, long, 0x1p-1022)
#define SELECT(T, C) \
  T OVERLOAD select(T a, T b, C c) { return c ? b : a; } \
  SELECT_N(T, C, 2) SELECT_N(T, C, 3) SELECT_N(T, C, 4) SELECT_N(T, C, 8) SELECT_N(T, C, 16)
#define SELECT_N(T, C, n) \
  T##n OVERLOAD select(T##n a, T##n b, C##n c) { return as_##C##n(c) < (C##n)0 ? b : a; }
#define SELECT_BY(T, S, U) \
  SELECT(T, S) \
  T OVERLOAD select(T a, T b, U c) { return c ? b : a; } \
  SELECT_U(T, S, U, 2) SELECT_U(T, S, U, 3) SELECT_U(T, S, U, 4) SELECT_U(T, S, U, 8) \
  SELECT_U(T, S, U, 16)
#define SELECT_U(T, S, U, n) \
  T##n OVERLOAD select(T##n a, T##n b, U##n c) { return as_##S##n(c) < (S##n)0 ? b : a; }
SELECT_BY(char, char, uchar) SELECT_BY(uchar, char, uchar)
SELECT_BY(short, short, ushort) SELECT_BY(ushort, short, ushort) SELECT_BY(half, short, ushort)
SELECT_BY(int, int, uint) SELECT_BY(uint, int, uint) SELECT_BY(float, int, uint)
SELECT_BY(long, long, ulong) SELECT_BY(ulong, long, ulong) SELECT_BY(double, long, ulong)
#define ANY_OR_ALL(T) \
  int OVERLOAD any(T a) { return a < 0; } \
  int OVERLOAD all(T a) { return a < 0; } \
  int OVERLOAD any(T##2 a) { return (a.x | a.y) < 0; } \
  int OVERLOAD all(T##2 a) { return (a.x & a.y) < 0; } \
  int OVERLOAD any(T##3 a) { return (a.x | a.y | a.z) < 0; } \
  int OVERLOAD all(T##3 a) { return (a.x & a.y & a.z) < 0; } \
  ANY_OR_ALL_N(T, 4) ANY_OR_ALL_N(T, 8) ANY_OR_ALL_N(T, 16)
#define ANY_OR_ALL_N(T, n) \
  int OVERLOAD any(T##n a) { return any(a.lo | a.hi); } \
  int OVERLOAD all(T##n a) { return all(a.lo & a.hi); }
ANY_OR_ALL(char) ANY_OR_ALL(short) ANY_OR_ALL(int) ANY_OR_ALL(long)
#define BIT_SELECT(T, U) \
  TERNARY(T, bitselect, as_##T((U)((as_##U(a) & ~as_##U(c)) | (as_##U(b) & as_##U(c)))))
BIT_SELECT(char, uchar) BIT_SELECT(uchar, uchar) BIT_SELECT(short, ushort) BIT_SELECT(ushort, ushort)
BIT_SELECT(int, uint) BIT_SELECT(uint, uint) BIT_SELECT(float, uint)
BIT_SELECT(long, ulong) BIT_SELECT(ulong, ulong) BIT_SELECT(double, ulong)

// Integers.
#define INTEGERS(T, U, bits) \
  U OVERLOAD abs(T a) { return a < 0 ? -(U)a : (U)a; } \
  UNARY_VECTORS(U, T, abs) \
  DIFFERENCE(T, U, ) DIFFERENCE(T, U, 2) DIFFERENCE(T, U, 3) DIFFERENCE(T, U, 4) \
  DIFFERENCE(T, U, 8) DIFFERENCE(T, U, 16) \
  BINARY(T, max, a < b ? b : a) \
  BINARY(T, min, b < a ? b : a) \
  TERNARY(T, clamp, a < b ? b : c < a ? c : a) \
  BINARY(T, rotate, (T)((U)a << ((U)b & (bits - 1)) | (U)a >> (-(U)b & (bits - 1)))) \
  BINARY(T, hadd, (a >> 1) + (b >> 1) + (a & b & 1)) \
  BINARY(T, rhadd, (a >> 1) + (b >> 1) + ((a | b) & 1)) \
  INTEGER_WIDTHS(T, 2) INTEGER_WIDTHS(T, 3) INTEGER_WIDTHS(T, 4) INTEGER_WIDTHS(T, 8) \
  INTEGER_WIDTHS(T, 16)
#define DIFFERENCE(T, U, n) \
  U##n OVERLOAD abs_diff(T##n a, T##n b) { \
    return a < b ? as_##U##n(b) - as_##U##n(a) : as_##U##n(a) - as_##U##n(b); \
  }
#define INTEGER_WIDTHS(T, n) \
  T##n OVERLOAD max(T##n a, T b) { return max(a, (T##n)b); } \
  T##n OVERLOAD min(T##n a, T b) { return min(a, (T##n)b); } \
  T##n OVERLOAD clamp(T##n a, T b, T c) { return clamp(a, (T##n)b, (T##n)c); }
INTEGERS(char, uchar, 8) INTEGERS(uchar, uchar, 8)
INTEGERS(short, ushort, 16) INTEGERS(ushort, ushort, 16)
INTEGERS(int, uint, 32) INTEGERS(uint, uint, 32)
INTEGERS(long, ulong, 64) INTEGERS(ulong, ulong, 64)
#define BITS(T, U, builtin, spare) \
  UNARY(T, popcount, (T)__builtin_popcount##builtin((U)a)) \
  UNARY(T, clz, a ? (T)(__builtin_clz##builtin((U)a) - spare) : (T)(sizeof(T) * 8))
BITS(char, uchar, , 24) BITS(uchar, uchar, , 24) BITS(short, ushort, , 16) BITS(ushort, ushort, , 16)
BITS(int, uint, , 0) BITS(uint, uint, , 0) BITS(long, ulong, l, 0) BITS(ulong, ulong, l, 0)
BINARY(int, mul_hi, (int)((long)a * b >> 32))
BINARY(uint, mul_hi, (uint)((ulong)a * b >> 32))
ulong OVERLOAD mul_hi(ulong a, ulong b) {
  ulong low = (a & 0xffffffff) * (b & 0xffffffff);
  ulong middle = (a >> 32) * (b & 0xffffffff) + (low >> 32);
  ulong other = (a & 0xffffffff) * (b >> 32) + (middle & 0xffffffff);
  return (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
}
long OVERLOAD mul_hi(long a, long b) {
  return (long)(mul_hi((ulong)a, (ulong)b) - (a < 0 ? (ulong)b : 0) - (b < 0 ? (ulong)a : 0));
}
BINARY_VECTORS(long, mul_hi) BINARY_VECTORS(ulong, mul_hi)
BINARY(short, mul_hi, (short)((int)a * b >> 16))
BINARY(ushort, mul_hi, (ushort)((uint)a * b >> 16))
BINARY(char, mul_hi, (char)((int)a * b >> 8))
BINARY(uchar, mul_hi, (uchar)((uint)a * b >> 8))
#define HIGH_SUM(T) TERNARY(T, mad_hi, (T)(mul_hi(a, b) + c))
HIGH_SUM(char) HIGH_SUM(uchar) HIGH_SUM(short) HIGH_SUM(ushort)
HIGH_SUM(int) HIGH_SUM(uint) HIGH_SUM(long) HIGH_SUM(ulong)
BINARY(int, mul24, a * b)
BINARY(uint, mul24, a * b)
TERNARY(int, mad24, a * b + c)
TERNARY(uint, mad24, a * b + c)
#define CTZ(T, U, builtin) UNARY(T, ctz, a ? (T)__builtin_ctz##builtin((U)a) : (T)(sizeof(T) * 8))
CTZ(char, uchar, ) CTZ(uchar, uchar, ) CTZ(short, ushort, ) CTZ(ushort, ushort, )
CTZ(int, uint, ) CTZ(uint, uint, ) CTZ(long, ulong, l) CTZ(ulong, ulong, l)

// What a type does not hold becomes the nearest that it does.
#define SATURATED(T, U, least, most) \
  BINARY(T, add_sat, ((T)((U)a + (U)b) < a) == (b < 0) ? (T)((U)a + (U)b) : b < 0 ? least : most) \
  BINARY(T, sub_sat, ((T)((U)a - (U)b) > a) == (b < 0) ? (T)((U)a - (U)b) : b < 0 ? most : least)
#define SATURATED_UNSIGNED(U, most) \
  BINARY(U, add_sat, (U)(a + b) < a ? (U)most : (U)(a + b)) \
  BINARY(U, sub_sat, b > a ? (U)0 : (U)(a - b))
SATURATED(char, uchar, CHAR_MIN, CHAR_MAX) SATURATED_UNSIGNED(uchar, UCHAR_MAX)
SATURATED(short, ushort, SHRT_MIN, SHRT_MAX) SATURATED_UNSIGNED(ushort, USHRT_MAX)
SATURATED(int, uint, INT_MIN, INT_MAX) SATURATED_UNSIGNED(uint, UINT_MAX)
SATURATED(long, ulong, LONG_MIN, LONG_MAX) SATURATED_UNSIGNED(ulong, ULONG_MAX)
#define WIDE_SUM(T, W, least, most) \
  TERNARY(T, mad_sat, (T)((W)a * b + c < least ? least : (W)a * b + c > most ? most : (W)a * b + c))
WIDE_SUM(char, int, CHAR_MIN, CHAR_MAX) WIDE_SUM(uchar, int, 0, UCHAR_MAX)
WIDE_SUM(short, long, SHRT_MIN, SHRT_MAX) WIDE_SUM(ushort, long, 0, USHRT_MAX)
WIDE_SUM(int, long, INT_MIN, INT_MAX)
TERNARY(uint, mad_sat, (ulong)a * b + c > UINT_MAX ? UINT_MAX : (uint)((ulong)a * b + c))

#define UPSAMPLE(T, U, W, bits) \
  W OVERLOAD upsample(T high, U low) { return (W)((W)high << bits | (W)low); } \
  UPSAMPLE_N(T, U, W, bits, 2) UPSAMPLE_N(T, U, W, bits, 3) UPSAMPLE_N(T, U, W, bits, 4) \
  UPSAMPLE_N(T, U, W, bits, 8) UPSAMPLE_N(T, U, W, bits, 16)
#define UPSAMPLE_N(T, U, W, bits, n) \
  W##n OVERLOAD upsample(T##n high, U##n low) { \
    return __builtin_convertvector(high, W##n) << bits | __builtin_convertvector(low, W##n); \
  }
UPSAMPLE(char, uchar, short, 8) UPSAMPLE(uchar, uchar, ushort, 8)
UPSAMPLE(short, ushort, int, 16) UPSAMPLE(ushort, ushort, uint, 16)
UPSAMPLE(int, uint, long, 32) UPSAMPLE(uint, uint, ulong, 32)

// Elements of one vector, or of two side by side, by their numbers.
#define SHUFFLE(T, U, m, n) \
  T##n OVERLOAD shuffle(T##m a, U##n places) { \
    T##n found; \
    for (int i = 0; i < n; ++i) found[i] = a[places[i] & (m - 1)]; \
    return found; \
  } \
  T##n OVERLOAD shuffle2(T##m a, T##m b, U##n places) { \
    T##n found; \
    for (int i = 0; i < n; ++i) { \
      U place = places[i] & (2 * m - 1); \
      found[i] = place < m ? a[place] : b[place - m]; \
    } \
    return found; \
  }
#define SHUFFLE_FROM(T, U, m) \
  SHUFFLE(T, U, m, 2) SHUFFLE(T, U, m, 4) SHUFFLE(T, U, m, 8) SHUFFLE(T, U, m, 16)
#define SHUFFLES(T, U) \
  SHUFFLE_FROM(T, U, 2) SHUFFLE_FROM(T, U, 4) SHUFFLE_FROM(T, U, 8) SHUFFLE_FROM(T, U, 16)
SHUFFLES(char, uchar) SHUFFLES(uchar, uchar) SHUFFLES(short, ushort) SHUFFLES(ushort, ushort)
SHUFFLES(int, uint) SHUFFLES(uint, uint) SHUFFLES(float, uint)
SHUFFLES(long, ulong) SHUFFLES(ulong, ulong) SHUFFLES(double, ulong)

// Conversions without saturation, towards zero to integers.
#define CONVERT(S, T) \
  T OVERLOAD convert_##T(S a) { return (T)a; } \
  CONVERT_N(S, T, 2) CONVERT_N(S, T, 3) CONVERT_N(S, T, 4) CONVERT_N(S, T, 8) CONVERT_N(S, T, 16)
#define CONVERT_N(S, T, n) \
  T##n OVERLOAD convert_##T##n(S##n a) { return __builtin_convertvector(a, T##n); }
#define CONVERT_FROM(S) \
  CONVERT(S, char) CONVERT(S, uchar) CONVERT(S, short) CONVERT(S, ushort) CONVERT(S, int) \
  CONVERT(S, uint) CONVERT(S, long) CONVERT(S, ulong) CONVERT(S, float) CONVERT(S, double)
#define CONVERT_TO_HALF(S) CONVERT(S, half)
FOR_ALL_TYPES(CONVERT_FROM)
CONVERT_FROM(half) FOR_ALL_TYPES(CONVERT_TO_HALF) CONVERT(half, half)

// Conversions of one number by its vectors: from numbers with a fraction by each rounding, and to
// what the type holds.
#define CONVERSION(S, T, name, value) \
  T OVERLOAD convert_##T##name(S a) { return value; } \
  CONVERSION_N(S, T, name, 2) CONVERSION_3(S, T, name) CONVERSION_N(S, T, name, 4) \
  CONVERSION_N(S, T, name, 8) CONVERSION_N(S, T, name, 16)
#define CONVERSION_3(S, T, name) \
  T##3 OVERLOAD convert_##T##3##name(S##3 a) { \
    return (T##3)(convert_##T##name(a.x), convert_##T##name(a.y), convert_##T##name(a.z)); \
  }
#define CONVERSION_N(S, T, name, n) CONVERSION_HALVES_##n(S, T, name)
#define CONVERSION_HALVES_2(S, T, name) \
  T##2 OVERLOAD convert_##T##2##name(S##2 a) { \
    return (T##2)(convert_##T##name(a.x), convert_##T##name(a.y)); \
  }
#define CONVERSION_BY_HALVES(S, T, name, n, half_of) \
  T##n OVERLOAD convert_##T##n##name(S##n a) { \
    return (T##n)(convert_##T##half_of##name(a.lo), convert_##T##half_of##name(a.hi)); \
  }
#define CONVERSION_HALVES_4(S, T, name) CONVERSION_BY_HALVES(S, T, name, 4, 2)
#define CONVERSION_HALVES_8(S, T, name) CONVERSION_BY_HALVES(S, T, name, 8, 4)
#define CONVERSION_HALVES_16(S, T, name) CONVERSION_BY_HALVES(S, T, name, 16, 8)
#define BOUNDED(T, S, a, least, most) \
  (a != a ? (T)0 : a <= (S)least ? (T)least : a >= (S)most ? (T)most : (T)(a))
#define ROUNDED(S, T, least, most) \
  CONVERSION(S, T, _rte, (T)rint(a)) CONVERSION(S, T, _rtz, (T)a) \
  CONVERSION(S, T, _rtn, (T)floor(a)) CONVERSION(S, T, _rtp, (T)ceil(a)) \
  CONVERSION(S, T, _sat, BOUNDED(T, S, a, least, most)) \
  CONVERSION(S, T, _sat_rtz, BOUNDED(T, S, a, least, most)) \
  CONVERSION(S, T, _sat_rte, BOUNDED(T, S, rint(a), least, most)) \
  CONVERSION(S, T, _sat_rtn, BOUNDED(T, S, floor(a), least, most)) \
  CONVERSION(S, T, _sat_rtp, BOUNDED(T, S, ceil(a), least, most))
#define ROUNDED_FROM(S) \
  ROUNDED(S, char, CHAR_MIN, CHAR_MAX) ROUNDED(S, uchar, 0, UCHAR_MAX) \
  ROUNDED(S, short, SHRT_MIN, SHRT_MAX) ROUNDED(S, ushort, 0, USHRT_MAX) \
  ROUNDED(S, int, INT_MIN, INT_MAX) ROUNDED(S, uint, 0, UINT_MAX) \
  ROUNDED(S, long, LONG_MIN, LONG_MAX) ROUNDED(S, ulong, 0, ULONG_MAX)
ROUNDED_FROM(float) ROUNDED_FROM(double)
#define WITHIN(S, T, least, most) \
  CONVERSION(S, T, _sat, a < 0 && (long)a < (long)least ? (T)least \
                         : a > 0 && (ulong)a > (ulong)most ? (T)most : (T)a)
#define WITHIN_FROM(S) \
  WITHIN(S, char, CHAR_MIN, CHAR_MAX) WITHIN(S, uchar, 0, UCHAR_MAX) \
  WITHIN(S, short, SHRT_MIN, SHRT_MAX) WITHIN(S, ushort, 0, USHRT_MAX) \
  WITHIN(S, int, INT_MIN, INT_MAX) WITHIN(S, uint, 0, UINT_MAX) \
  WITHIN(S, long, LONG_MIN, LONG_MAX) WITHIN(S, ulong, 0, ULONG_MAX)
WITHIN_FROM(char) WITHIN_FROM(uchar) WITHIN_FROM(short) WITHIN_FROM(ushort)
WITHIN_FROM(int) WITHIN_FROM(uint) WITHIN_FROM(long) WITHIN_FROM(ulong)
#define TO_NEAREST(S) CONVERSION(S, float, _rte, (float)a) CONVERSION(S, double, _rte, (double)a)
FOR_ALL_TYPES(TO_NEAREST)
