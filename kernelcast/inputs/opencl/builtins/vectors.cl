// How OpenCL C's built-in functions become those of vectors. Definitions for a back end, which comes
// without any, are this file, then that of the target (`nvptx.cl`, `amdgcn.cl`), then `numbers.cl`
// and `memory.cl`. What is missing stays a call of its mangled name.

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define OVERLOAD __attribute__((overloadable, always_inline))
#define FOR_ALL_TYPES(M) \
  M(char) M(uchar) M(short) M(ushort) M(int) M(uint) M(long) M(ulong) M(float) M(double)

// A function of vectors from that of their parts.
#define UNARY_3(R, T, f) \
  R##3 OVERLOAD f(T##3 a) { return (R##3)(f(a.x), f(a.y), f(a.z)); }
#define UNARY_N(R, T, f, n) \
  R##n OVERLOAD f(T##n a) { return (R##n)(f(a.lo), f(a.hi)); }
#define UNARY_VECTORS(R, T, f) \
  UNARY_N(R, T, f, 2) UNARY_3(R, T, f) UNARY_N(R, T, f, 4) UNARY_N(R, T, f, 8) UNARY_N(R, T, f, 16)
#define BINARY_3(T, f) \
  T##3 OVERLOAD f(T##3 a, T##3 b) { return (T##3)(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z)); }
#define BINARY_N(T, f, n) \
  T##n OVERLOAD f(T##n a, T##n b) { return (T##n)(f(a.lo, b.lo), f(a.hi, b.hi)); }
#define BINARY_VECTORS(T, f) \
  BINARY_N(T, f, 2) BINARY_3(T, f) BINARY_N(T, f, 4) BINARY_N(T, f, 8) BINARY_N(T, f, 16)
#define TERNARY_3(T, f) \
  T##3 OVERLOAD f(T##3 a, T##3 b, T##3 c) { \
    return (T##3)(f(a.x, b.x, c.x), f(a.y, b.y, c.y), f(a.z, b.z, c.z)); \
  }
#define TERNARY_N(T, f, n) \
  T##n OVERLOAD f(T##n a, T##n b, T##n c) { \
    return (T##n)(f(a.lo, b.lo, c.lo), f(a.hi, b.hi, c.hi)); \
  }
#define TERNARY_VECTORS(T, f) \
  TERNARY_N(T, f, 2) TERNARY_3(T, f) TERNARY_N(T, f, 4) TERNARY_N(T, f, 8) TERNARY_N(T, f, 16)

#define UNARY(T, f, value) T OVERLOAD f(T a) { return value; } UNARY_VECTORS(T, T, f)
#define BINARY(T, f, value) T OVERLOAD f(T a, T b) { return value; } BINARY_VECTORS(T, f)
#define TERNARY(T, f, value) T OVERLOAD f(T a, T b, T c) { return value; } TERNARY_VECTORS(T, f)
// Of half precision: that of single precision, rounded.
#define OF_HALF(f) UNARY(half, f, (half)f((float)a))
#define PAIR_OF_HALF(f) BINARY(half, f, (half)f((float)a, (float)b))

// Mathematics that all targets have instructions for.
#define EXACT(name) \
  UNARY(float, name, __builtin_##name##f(a)) \
  UNARY(double, name, __builtin_##name(a))
EXACT(fabs) EXACT(floor) EXACT(ceil) EXACT(trunc) EXACT(rint) EXACT(sqrt)
#define EXACT_PAIR(name) \
  BINARY(float, name, __builtin_##name##f(a, b)) \
  BINARY(double, name, __builtin_##name(a, b))
EXACT_PAIR(fmin) EXACT_PAIR(fmax) EXACT_PAIR(copysign)
TERNARY(float, fma, __builtin_fmaf(a, b, c))
TERNARY(double, fma, __builtin_fma(a, b, c))
TERNARY(float, mad, __builtin_fmaf(a, b, c))
TERNARY(double, mad, __builtin_fma(a, b, c))
