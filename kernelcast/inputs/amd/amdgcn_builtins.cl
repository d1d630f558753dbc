// Definitions of OpenCL C's built-in functions for LLVM's AMDGPU back end, which comes without any.
// Functions __ockl_* and __ocml_* are those of our library beside this file. What is missing here
// stays a call of its mangled name: kernels that contain one have no machine code.

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define OVERLOAD __attribute__((overloadable, always_inline))

// Work-items: the offset of the NDRange is zero.
size_t __ockl_get_local_id(uint axis);
size_t __ockl_get_local_size(uint axis);
size_t __ockl_get_group_id(uint axis);
size_t __ockl_get_num_groups(uint axis);
size_t OVERLOAD get_local_id(uint axis) { return __ockl_get_local_id(axis); }
size_t OVERLOAD get_local_size(uint axis) { return __ockl_get_local_size(axis); }
size_t OVERLOAD get_enqueued_local_size(uint axis) { return __ockl_get_local_size(axis); }
size_t OVERLOAD get_group_id(uint axis) { return __ockl_get_group_id(axis); }
size_t OVERLOAD get_num_groups(uint axis) { return __ockl_get_num_groups(axis); }
size_t OVERLOAD get_global_offset(uint axis) { return 0; }
size_t OVERLOAD get_global_id(uint axis) {
  return (uint)(get_group_id(axis) * get_local_size(axis) + get_local_id(axis));
}
size_t OVERLOAD get_global_size(uint axis) { return get_num_groups(axis) * get_local_size(axis); }

// Barriers and fences.
void OVERLOAD mem_fence(cl_mem_fence_flags flags) {
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
}
void OVERLOAD read_mem_fence(cl_mem_fence_flags flags) { mem_fence(flags); }
void OVERLOAD write_mem_fence(cl_mem_fence_flags flags) { mem_fence(flags); }
void OVERLOAD barrier(cl_mem_fence_flags flags) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
void OVERLOAD work_group_barrier(cl_mem_fence_flags flags) { barrier(flags); }

// Mathematics that the hardware has instructions for.
#define EXACT(name) \
  float OVERLOAD name(float a) { return __builtin_##name##f(a); } \
  double OVERLOAD name(double a) { return __builtin_##name(a); }
EXACT(fabs) EXACT(floor) EXACT(ceil) EXACT(trunc) EXACT(rint) EXACT(sqrt)
#define EXACT_PAIR(name) \
  float OVERLOAD name(float a, float b) { return __builtin_##name##f(a, b); } \
  double OVERLOAD name(double a, double b) { return __builtin_##name(a, b); }
EXACT_PAIR(fmin) EXACT_PAIR(fmax) EXACT_PAIR(copysign)
float OVERLOAD fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
double OVERLOAD fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
float OVERLOAD mad(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
double OVERLOAD mad(double a, double b, double c) { return __builtin_fma(a, b, c); }

// Geometry: sums of products from the first element on.
#define GEOMETRY(T) \
  T OVERLOAD dot(T a, T b) { return a * b; } \
  T OVERLOAD dot(T##2 a, T##2 b) { return a.x * b.x + a.y * b.y; } \
  T OVERLOAD dot(T##3 a, T##3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; } \
  T OVERLOAD dot(T##4 a, T##4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
#define LENGTHS(T) \
  float OVERLOAD length(T a) { return sqrt(dot(a, a)); } \
  float OVERLOAD distance(T a, T b) { return length(a - b); }
GEOMETRY(float) GEOMETRY(double)
LENGTHS(float) LENGTHS(float2) LENGTHS(float3) LENGTHS(float4)

// Mathematics of the library.
#define LIBRARY(name) \
  float __ocml_##name##_f32(float); \
  double __ocml_##name##_f64(double); \
  float OVERLOAD name(float a) { return __ocml_##name##_f32(a); } \
  double OVERLOAD name(double a) { return __ocml_##name##_f64(a); }
LIBRARY(exp) LIBRARY(exp2) LIBRARY(exp10) LIBRARY(expm1) LIBRARY(log) LIBRARY(log2)
LIBRARY(log10) LIBRARY(log1p) LIBRARY(sin) LIBRARY(cos) LIBRARY(tan) LIBRARY(asin) LIBRARY(acos)
LIBRARY(atan) LIBRARY(sinh) LIBRARY(cosh) LIBRARY(tanh) LIBRARY(erf) LIBRARY(cbrt) LIBRARY(round)
LIBRARY(rsqrt) LIBRARY(erfc)
#define LIBRARY_PAIR(name) \
  float __ocml_##name##_f32(float, float); \
  double __ocml_##name##_f64(double, double); \
  float OVERLOAD name(float a, float b) { return __ocml_##name##_f32(a, b); } \
  double OVERLOAD name(double a, double b) { return __ocml_##name##_f64(a, b); }
LIBRARY_PAIR(pow) LIBRARY_PAIR(powr) LIBRARY_PAIR(fmod) LIBRARY_PAIR(atan2) LIBRARY_PAIR(hypot)
#define NATIVE(name) \
  float OVERLOAD native_##name(float a) { return name(a); } \
  float OVERLOAD half_##name(float a) { return name(a); }
NATIVE(exp) NATIVE(exp2) NATIVE(log) NATIVE(log2) NATIVE(sin) NATIVE(cos) NATIVE(sqrt) NATIVE(rsqrt)
float OVERLOAD native_recip(float a) { return 1.0f / a; }
float OVERLOAD native_divide(float a, float b) { return a / b; }

// Integers.
#define INTEGERS(T) \
  T OVERLOAD min(T a, T b) { return a < b ? a : b; } \
  T OVERLOAD max(T a, T b) { return a > b ? a : b; } \
  T OVERLOAD clamp(T a, T low, T high) { return min(max(a, low), high); }
INTEGERS(int) INTEGERS(uint) INTEGERS(long) INTEGERS(ulong)
#define BY_24_BITS(T) \
  T OVERLOAD mul24(T a, T b) { return a * b; } \
  T OVERLOAD mad24(T a, T b, T c) { return a * b + c; }
BY_24_BITS(int) BY_24_BITS(uint)
float OVERLOAD min(float a, float b) { return __builtin_fminf(a, b); }
float OVERLOAD max(float a, float b) { return __builtin_fmaxf(a, b); }
float OVERLOAD clamp(float a, float low, float high) { return min(max(a, low), high); }

// Atomics of 32 bits.
#define ATOMIC_2(name, T, space, value) \
  T OVERLOAD atomic_##name(volatile space T *p, T x) { return value; } \
  T OVERLOAD atom_##name(volatile space T *p, T x) { return value; }
#define ATOMIC_1(name, T, space, value) \
  T OVERLOAD atomic_##name(volatile space T *p) { return value; } \
  T OVERLOAD atom_##name(volatile space T *p) { return value; }
#define ATOMICS(T, space) \
  ATOMIC_2(add, T, space, __atomic_fetch_add(p, x, __ATOMIC_RELAXED)) \
  ATOMIC_2(sub, T, space, __atomic_fetch_sub(p, x, __ATOMIC_RELAXED)) \
  ATOMIC_2(and, T, space, __atomic_fetch_and(p, x, __ATOMIC_RELAXED)) \
  ATOMIC_2(or, T, space, __atomic_fetch_or(p, x, __ATOMIC_RELAXED)) \
  ATOMIC_2(xor, T, space, __atomic_fetch_xor(p, x, __ATOMIC_RELAXED)) \
  ATOMIC_2(min, T, space, __atomic_fetch_min(p, x, __ATOMIC_RELAXED)) \
  ATOMIC_2(max, T, space, __atomic_fetch_max(p, x, __ATOMIC_RELAXED)) \
  ATOMIC_1(inc, T, space, __atomic_fetch_add(p, 1, __ATOMIC_RELAXED)) \
  ATOMIC_1(dec, T, space, __atomic_fetch_sub(p, 1, __ATOMIC_RELAXED))
ATOMICS(int, __global) ATOMICS(uint, __global) ATOMICS(int, __local) ATOMICS(uint, __local)
