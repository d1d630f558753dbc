// Definitions of OpenCL C's built-in functions for LLVM's NVPTX back end, which comes without any.
// Functions __nv_* are those of NVIDIA's libdevice. What is missing here stays a call of its
// mangled name, and kernels that contain one are refused by that name.

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define OVERLOAD __attribute__((overloadable, always_inline))

// Work-items: sizes of the grid are those of the NDRange, whose offset is zero.
#define BY_AXIS(axis, x, y, z, otherwise) \
  ((axis) == 0 ? (x) : (axis) == 1 ? (y) : (axis) == 2 ? (z) : (otherwise))
#define REGISTER(axis, name, otherwise) \
  (size_t)(uint)BY_AXIS(axis, __nvvm_read_ptx_sreg_##name##_x(), \
                        __nvvm_read_ptx_sreg_##name##_y(), \
                        __nvvm_read_ptx_sreg_##name##_z(), otherwise)

size_t OVERLOAD get_local_id(uint axis) { return REGISTER(axis, tid, 0); }
size_t OVERLOAD get_local_size(uint axis) { return REGISTER(axis, ntid, 1); }
size_t OVERLOAD get_enqueued_local_size(uint axis) { return REGISTER(axis, ntid, 1); }
size_t OVERLOAD get_group_id(uint axis) { return REGISTER(axis, ctaid, 0); }
size_t OVERLOAD get_num_groups(uint axis) { return REGISTER(axis, nctaid, 1); }
size_t OVERLOAD get_global_offset(uint axis) { return 0; }
size_t OVERLOAD get_global_id(uint axis) {
  return (uint)(get_group_id(axis) * get_local_size(axis) + get_local_id(axis));
}
size_t OVERLOAD get_global_size(uint axis) { return get_num_groups(axis) * get_local_size(axis); }
size_t OVERLOAD get_local_linear_id(void) {
  return (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) +
         get_local_id(0);
}
size_t OVERLOAD get_global_linear_id(void) {
  return (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) +
         get_global_id(0);
}

// Barriers and fences.
void OVERLOAD barrier(cl_mem_fence_flags flags) { __syncthreads(); }
void OVERLOAD work_group_barrier(cl_mem_fence_flags flags) { __syncthreads(); }
void OVERLOAD work_group_barrier(cl_mem_fence_flags flags, memory_scope scope) { __syncthreads(); }
void OVERLOAD mem_fence(cl_mem_fence_flags flags) {
  if (flags & CLK_GLOBAL_MEM_FENCE)
    __nvvm_membar_gl();
  else
    __nvvm_membar_cta();
}
void OVERLOAD read_mem_fence(cl_mem_fence_flags flags) { mem_fence(flags); }
void OVERLOAD write_mem_fence(cl_mem_fence_flags flags) { mem_fence(flags); }

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

// Mathematics that PTX has instructions for.
#define EXACT(name) \
  UNARY(float, name, __builtin_##name##f(a)) \
  UNARY(double, name, __builtin_##name(a))
EXACT(fabs) EXACT(floor) EXACT(ceil) EXACT(trunc) EXACT(rint) EXACT(sqrt) EXACT(round)
#define EXACT_PAIR(name) \
  BINARY(float, name, __builtin_##name##f(a, b)) \
  BINARY(double, name, __builtin_##name(a, b))
EXACT_PAIR(fmin) EXACT_PAIR(fmax) EXACT_PAIR(copysign)
TERNARY(float, fma, __builtin_fmaf(a, b, c))
TERNARY(double, fma, __builtin_fma(a, b, c))
TERNARY(float, mad, __builtin_fmaf(a, b, c))
TERNARY(double, mad, __builtin_fma(a, b, c))
UNARY(float, rsqrt, __nvvm_rsqrt_approx_f(a))
UNARY(double, rsqrt, __nvvm_rsqrt_approx_d(a))

#define LOG2_E 1.44269504088896340736f
#define LN_2 0.69314718055994530942f
#define LOG10_2 0.30102999566398119521f
#define LOG2_10 3.32192809488736234787f
#define APPROXIMATE(prefix) \
  UNARY(float, prefix##exp2, __nvvm_ex2_approx_f(a)) \
  UNARY(float, prefix##exp, __nvvm_ex2_approx_f(a * LOG2_E)) \
  UNARY(float, prefix##exp10, __nvvm_ex2_approx_f(a * LOG2_10)) \
  UNARY(float, prefix##log2, __nvvm_lg2_approx_f(a)) \
  UNARY(float, prefix##log, __nvvm_lg2_approx_f(a) * LN_2) \
  UNARY(float, prefix##log10, __nvvm_lg2_approx_f(a) * LOG10_2) \
  UNARY(float, prefix##sin, __nvvm_sin_approx_f(a)) \
  UNARY(float, prefix##cos, __nvvm_cos_approx_f(a)) \
  UNARY(float, prefix##tan, __nvvm_sin_approx_f(a) / __nvvm_cos_approx_f(a)) \
  UNARY(float, prefix##sqrt, __nvvm_sqrt_approx_f(a)) \
  UNARY(float, prefix##rsqrt, __nvvm_rsqrt_approx_f(a)) \
  UNARY(float, prefix##recip, __nvvm_div_approx_f(1.0f, a)) \
  BINARY(float, prefix##divide, __nvvm_div_approx_f(a, b)) \
  BINARY(float, prefix##powr, __nvvm_ex2_approx_f(b * __nvvm_lg2_approx_f(a)))
APPROXIMATE(native_)
// The accuracy of half_ functions, 8192 ulp, is that of these within the same range.
APPROXIMATE(half_)

// Mathematics of libdevice.
#define LIBRARY(name) \
  float __nv_##name##f(float); \
  double __nv_##name(double); \
  UNARY(float, name, __nv_##name##f(a)) \
  UNARY(double, name, __nv_##name(a))
LIBRARY(exp) LIBRARY(exp2) LIBRARY(exp10) LIBRARY(expm1)
LIBRARY(log) LIBRARY(log2) LIBRARY(log10) LIBRARY(log1p) LIBRARY(logb)
LIBRARY(sin) LIBRARY(cos) LIBRARY(tan) LIBRARY(sinpi) LIBRARY(cospi)
LIBRARY(asin) LIBRARY(acos) LIBRARY(atan) LIBRARY(sinh) LIBRARY(cosh) LIBRARY(tanh)
LIBRARY(asinh) LIBRARY(acosh) LIBRARY(atanh)
LIBRARY(cbrt) LIBRARY(erf) LIBRARY(erfc) LIBRARY(tgamma) LIBRARY(lgamma)
#define LIBRARY_PAIR(name) \
  float __nv_##name##f(float, float); \
  double __nv_##name(double, double); \
  BINARY(float, name, __nv_##name##f(a, b)) \
  BINARY(double, name, __nv_##name(a, b))
LIBRARY_PAIR(pow) LIBRARY_PAIR(atan2) LIBRARY_PAIR(fmod) LIBRARY_PAIR(hypot) LIBRARY_PAIR(fdim)
LIBRARY_PAIR(remainder) LIBRARY_PAIR(nextafter)
BINARY(float, powr, __nv_powf(a, b))
BINARY(double, powr, __nv_pow(a, b))
float __nv_powif(float, int);
double __nv_powi(double, int);
float __nv_ldexpf(float, int);
double __nv_ldexp(double, int);
float OVERLOAD pown(float a, int b) { return __nv_powif(a, b); }
double OVERLOAD pown(double a, int b) { return __nv_powi(a, b); }
float OVERLOAD ldexp(float a, int b) { return __nv_ldexpf(a, b); }
double OVERLOAD ldexp(double a, int b) { return __nv_ldexp(a, b); }
#define SINE_AND_COSINE(T, space) \
  T OVERLOAD sincos(T a, space T *cosine) { \
    *cosine = cos(a); \
    return sin(a); \
  }
SINE_AND_COSINE(float, private) SINE_AND_COSINE(float, global) SINE_AND_COSINE(float, local)
SINE_AND_COSINE(double, private) SINE_AND_COSINE(double, global) SINE_AND_COSINE(double, local)

// Common and geometric functions.
#define COMMON(T) \
  BINARY(T, max, a < b ? b : a) \
  BINARY(T, min, b < a ? b : a) \
  TERNARY(T, clamp, fmin(fmax(a, b), c)) \
  TERNARY(T, mix, fma(b - a, c, a)) \
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

#define GEOMETRY(T, V, products) \
  T OVERLOAD dot(V a, V b) { return products; } \
  T OVERLOAD length(V a) { return sqrt(dot(a, a)); } \
  T OVERLOAD distance(V a, V b) { return length(a - b); } \
  V OVERLOAD normalize(V a) { return a * rsqrt(dot(a, a)); }
#define GEOMETRIES(T) \
  GEOMETRY(T, T, a * b) \
  GEOMETRY(T, T##2, fma(a.x, b.x, a.y * b.y)) \
  GEOMETRY(T, T##3, fma(a.x, b.x, fma(a.y, b.y, a.z * b.z))) \
  GEOMETRY(T, T##4, fma(a.x, b.x, fma(a.y, b.y, fma(a.z, b.z, a.w * b.w)))) \
  T##3 OVERLOAD cross(T##3 a, T##3 b) { return a.yzx * b.zxy - a.zxy * b.yzx; } \
  T##4 OVERLOAD cross(T##4 a, T##4 b) { return (T##4)(cross(a.xyz, b.xyz), 0); }
GEOMETRIES(float) GEOMETRIES(double)
#define FAST_GEOMETRY(V) \
  float OVERLOAD fast_length(V a) { return __nvvm_sqrt_approx_f(dot(a, a)); } \
  float OVERLOAD fast_distance(V a, V b) { return fast_length(a - b); } \
  V OVERLOAD fast_normalize(V a) { return normalize(a); }
FAST_GEOMETRY(float) FAST_GEOMETRY(float2) FAST_GEOMETRY(float3) FAST_GEOMETRY(float4)

// Relations.
#define SAME_BITS(T, I) \
  int OVERLOAD isnan(T a) { return a != a; } \
  int OVERLOAD isinf(T a) { return fabs(a) == (T)INFINITY; } \
  int OVERLOAD isfinite(T a) { return fabs(a) < (T)INFINITY; } \
  int OVERLOAD signbit(T a) { return as_##I(a) < 0; } \
  RELATIONS(T, I, 2) RELATIONS(T, I, 3) RELATIONS(T, I, 4) RELATIONS(T, I, 8) RELATIONS(T, I, 16)
#define RELATIONS(T, I, n) \
  I##n OVERLOAD isnan(T##n a) { return a != a; } \
  I##n OVERLOAD isinf(T##n a) { return fabs(a) == (T##n)INFINITY; } \
  I##n OVERLOAD isfinite(T##n a) { return fabs(a) < (T##n)INFINITY; } \
  I##n OVERLOAD signbit(T##n a) { return as_##I##n(a) < 0; }
SAME_BITS(float, int) SAME_BITS(double, long)
#define SELECT(T, C) \
  T OVERLOAD select(T a, T b, C c) { return c ? b : a; } \
  SELECT_N(T, C, 2) SELECT_N(T, C, 3) SELECT_N(T, C, 4) SELECT_N(T, C, 8) SELECT_N(T, C, 16)
#define SELECT_N(T, C, n) \
  T##n OVERLOAD select(T##n a, T##n b, C##n c) { return c < (C##n)0 ? b : a; }
SELECT(float, int) SELECT(int, int) SELECT(uint, int) SELECT(double, long) SELECT(long, long)
#define ANY_OR_ALL(n, any_of, all_of) \
  int OVERLOAD any(int##n a) { return (any_of) < 0; } \
  int OVERLOAD all(int##n a) { return (all_of) < 0; }
ANY_OR_ALL(, a, a)
ANY_OR_ALL(2, a.x | a.y, a.x & a.y)
ANY_OR_ALL(3, a.x | a.y | a.z, a.x & a.y & a.z)
ANY_OR_ALL(4, a.x | a.y | a.z | a.w, a.x & a.y & a.z & a.w)

// Integers.
#define INTEGERS(T, U, bits) \
  U OVERLOAD abs(T a) { return a < 0 ? -(U)a : (U)a; } \
  UNARY_VECTORS(U, T, abs) \
  U OVERLOAD abs_diff(T a, T b) { return a < b ? (U)b - (U)a : (U)a - (U)b; } \
  BINARY(T, max, a < b ? b : a) \
  BINARY(T, min, b < a ? b : a) \
  TERNARY(T, clamp, a < b ? b : c < a ? c : a) \
  BINARY(T, rotate, (T)((U)a << ((U)b & (bits - 1)) | (U)a >> (-(U)b & (bits - 1)))) \
  BINARY(T, hadd, (a >> 1) + (b >> 1) + (a & b & 1)) \
  BINARY(T, rhadd, (a >> 1) + (b >> 1) + ((a | b) & 1)) \
  INTEGER_WIDTHS(T, 2) INTEGER_WIDTHS(T, 3) INTEGER_WIDTHS(T, 4) INTEGER_WIDTHS(T, 8) \
  INTEGER_WIDTHS(T, 16)
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
TERNARY(int, mad_hi, mul_hi(a, b) + c)
TERNARY(uint, mad_hi, mul_hi(a, b) + c)
BINARY(int, mul24, a * b)
BINARY(uint, mul24, a * b)
TERNARY(int, mad24, a * b + c)
TERNARY(uint, mad24, a * b + c)

// Conversions without saturation, towards zero to integers.
#define CONVERT(S, T) \
  T OVERLOAD convert_##T(S a) { return (T)a; } \
  CONVERT_N(S, T, 2) CONVERT_N(S, T, 3) CONVERT_N(S, T, 4) CONVERT_N(S, T, 8) CONVERT_N(S, T, 16)
#define CONVERT_N(S, T, n) \
  T##n OVERLOAD convert_##T##n(S##n a) { return __builtin_convertvector(a, T##n); }
#define CONVERT_FROM(S) \
  CONVERT(S, char) CONVERT(S, uchar) CONVERT(S, short) CONVERT(S, ushort) CONVERT(S, int) \
  CONVERT(S, uint) CONVERT(S, long) CONVERT(S, ulong) CONVERT(S, float) CONVERT(S, double)
#define FOR_ALL_TYPES(M) \
  M(char) M(uchar) M(short) M(ushort) M(int) M(uint) M(long) M(ulong) M(float) M(double)
FOR_ALL_TYPES(CONVERT_FROM)
int OVERLOAD convert_int_rte(float a) { return (int)rint(a); }
int OVERLOAD convert_int_rtz(float a) { return (int)a; }
int OVERLOAD convert_int_rtn(float a) { return (int)floor(a); }
int OVERLOAD convert_int_rtp(float a) { return (int)ceil(a); }

// Vectors of unaligned elements.
#define LOAD_N(T, space, n, ...) \
  T##n OVERLOAD vload##n(size_t i, const space T *p) { \
    p += i * n; \
    return (T##n)(__VA_ARGS__); \
  }
#define LOADS(T, space) \
  LOAD_N(T, space, 2, p[0], p[1]) \
  LOAD_N(T, space, 3, p[0], p[1], p[2]) \
  LOAD_N(T, space, 4, p[0], p[1], p[2], p[3]) \
  LOAD_N(T, space, 8, vload4(0, p), vload4(1, p)) \
  LOAD_N(T, space, 16, vload8(0, p), vload8(1, p))
#define STORES(T, space) \
  void OVERLOAD vstore2(T##2 v, size_t i, space T *p) { \
    p[2 * i] = v.x; \
    p[2 * i + 1] = v.y; \
  } \
  void OVERLOAD vstore3(T##3 v, size_t i, space T *p) { \
    p[3 * i] = v.x; \
    p[3 * i + 1] = v.y; \
    p[3 * i + 2] = v.z; \
  } \
  STORE_N(T, space, 4, 2) STORE_N(T, space, 8, 4) STORE_N(T, space, 16, 8)
#define STORE_N(T, space, n, half) \
  void OVERLOAD vstore##n(T##n v, size_t i, space T *p) { \
    vstore##half(v.lo, 2 * i, p); \
    vstore##half(v.hi, 2 * i + 1, p); \
  }
#define ACCESSES(T) \
  LOADS(T, global) LOADS(T, local) LOADS(T, private) LOADS(T, constant) \
  STORES(T, global) STORES(T, local) STORES(T, private)
FOR_ALL_TYPES(ACCESSES)

// Atomics.
#define ATOMIC(prefix, T, space) \
  T OVERLOAD prefix##_add(volatile space T *p, T v) { return __sync_fetch_and_add(p, v); } \
  T OVERLOAD prefix##_sub(volatile space T *p, T v) { return __sync_fetch_and_sub(p, v); } \
  T OVERLOAD prefix##_and(volatile space T *p, T v) { return __sync_fetch_and_and(p, v); } \
  T OVERLOAD prefix##_or(volatile space T *p, T v) { return __sync_fetch_and_or(p, v); } \
  T OVERLOAD prefix##_xor(volatile space T *p, T v) { return __sync_fetch_and_xor(p, v); } \
  T OVERLOAD prefix##_inc(volatile space T *p) { return __sync_fetch_and_add(p, (T)1); } \
  T OVERLOAD prefix##_dec(volatile space T *p) { return __sync_fetch_and_sub(p, (T)1); } \
  T OVERLOAD prefix##_xchg(volatile space T *p, T v) { return __sync_lock_test_and_set(p, v); } \
  T OVERLOAD prefix##_cmpxchg(volatile space T *p, T old, T v) { \
    return __sync_val_compare_and_swap(p, old, v); \
  }
#define EXTREMA(prefix, T, space, sign) \
  T OVERLOAD prefix##_min(volatile space T *p, T v) { return __sync_fetch_and_##sign##min(p, v); } \
  T OVERLOAD prefix##_max(volatile space T *p, T v) { return __sync_fetch_and_##sign##max(p, v); }
#define ATOMICS(prefix, space) \
  ATOMIC(prefix, int, space) ATOMIC(prefix, uint, space) \
  EXTREMA(prefix, int, space, ) EXTREMA(prefix, uint, space, u)
ATOMICS(atomic, global) ATOMICS(atomic, local) ATOMICS(atom, global) ATOMICS(atom, local)
ATOMIC(atom, long, global) ATOMIC(atom, ulong, global)
ATOMIC(atom, long, local) ATOMIC(atom, ulong, local)
float OVERLOAD atomic_xchg(volatile global float *p, float v) {
  return as_float(atomic_xchg((volatile global int *)p, as_int(v)));
}
float OVERLOAD atomic_xchg(volatile local float *p, float v) {
  return as_float(atomic_xchg((volatile local int *)p, as_int(v)));
}

// Atomics of OpenCL 2.0, with the strongest order and scope there are.
#define EXPLICIT(T, sign) \
  void OVERLOAD atomic_init(volatile atomic_##T *p, T v) { *(volatile T *)p = v; } \
  T OVERLOAD atomic_load(volatile atomic_##T *p) { return *(volatile T *)p; } \
  T OVERLOAD atomic_load_explicit(volatile atomic_##T *p, memory_order o, memory_scope s) { \
    return *(volatile T *)p; \
  } \
  void OVERLOAD atomic_store(volatile atomic_##T *p, T v) { *(volatile T *)p = v; } \
  void OVERLOAD atomic_store_explicit(volatile atomic_##T *p, T v, memory_order o, \
                                      memory_scope s) { \
    *(volatile T *)p = v; \
  } \
  MODIFY(T, exchange, __sync_lock_test_and_set) \
  MODIFY(T, fetch_add, __sync_fetch_and_add) MODIFY(T, fetch_sub, __sync_fetch_and_sub) \
  MODIFY(T, fetch_and, __sync_fetch_and_and) MODIFY(T, fetch_or, __sync_fetch_and_or) \
  MODIFY(T, fetch_xor, __sync_fetch_and_xor) \
  MODIFY(T, fetch_min, __sync_fetch_and_##sign##min) \
  MODIFY(T, fetch_max, __sync_fetch_and_##sign##max) \
  COMPARE_AND_EXCHANGE(T, strong) COMPARE_AND_EXCHANGE(T, weak)
#define MODIFY(T, operation, function) \
  T OVERLOAD atomic_##operation(volatile atomic_##T *p, T v) { \
    return function((volatile T *)p, v); \
  } \
  T OVERLOAD atomic_##operation##_explicit(volatile atomic_##T *p, T v, memory_order o, \
                                           memory_scope s) { \
    return function((volatile T *)p, v); \
  }
#define COMPARE_AND_EXCHANGE(T, kind) \
  bool OVERLOAD atomic_compare_exchange_##kind(volatile atomic_##T *p, T *expected, T v) { \
    T old = __sync_val_compare_and_swap((volatile T *)p, *expected, v); \
    bool is_same = old == *expected; \
    *expected = old; \
    return is_same; \
  } \
  bool OVERLOAD atomic_compare_exchange_##kind##_explicit( \
      volatile atomic_##T *p, T *expected, T v, memory_order o, memory_order failure, \
      memory_scope s) { \
    return atomic_compare_exchange_##kind(p, expected, v); \
  }
EXPLICIT(int, ) EXPLICIT(uint, u)

// Asynchronous copies are those of the work-items, and waiting for them is a barrier.
#define COPY(T, to, from) \
  event_t OVERLOAD async_work_group_copy(to T *target, const from T *source, size_t elements, \
                                         event_t event) { \
    size_t items = get_local_size(0) * get_local_size(1) * get_local_size(2); \
    for (size_t i = get_local_linear_id(); i < elements; i += items) target[i] = source[i]; \
    return event; \
  }
#define COPIES(T) COPY(T, local, global) COPY(T, global, local)
FOR_ALL_TYPES(COPIES) COPIES(float2) COPIES(float4) COPIES(int2) COPIES(int4)
void OVERLOAD wait_group_events(int events, event_t *list) { __syncthreads(); }
