// What LLVM's NVPTX back end has its own means for. Functions __nv_* are those of NVIDIA's libdevice.

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

// Mathematics that PTX has instructions for.
EXACT(round)
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
#define POWERS_OF_INTEGERS(T, power, scaled) \
  T OVERLOAD pown(T a, int b) { return power(a, b); } \
  T OVERLOAD ldexp(T a, int b) { return scaled(a, b); }
POWERS_OF_INTEGERS(float, __nv_powif, __nv_ldexpf)
POWERS_OF_INTEGERS(double, __nv_powi, __nv_ldexp)
int __nv_ilogbf(float);
int __nv_ilogb(double);
int OVERLOAD ilogb(float a) { return __nv_ilogbf(a); }
int OVERLOAD ilogb(double a) { return __nv_ilogb(a); }

// Sums of products, from the last element on.
#define DOT(T) \
  T OVERLOAD dot(T a, T b) { return a * b; } \
  T OVERLOAD dot(T##2 a, T##2 b) { return fma(a.x, b.x, a.y * b.y); } \
  T OVERLOAD dot(T##3 a, T##3 b) { return fma(a.x, b.x, fma(a.y, b.y, a.z * b.z)); } \
  T OVERLOAD dot(T##4 a, T##4 b) { \
    return fma(a.x, b.x, fma(a.y, b.y, fma(a.z, b.z, a.w * b.w))); \
  }

// Atomics.
#define FETCH(operation, p, v) __sync_fetch_and_##operation(p, v)
#define EXCHANGE(p, v) __sync_lock_test_and_set(p, v)
#define SWAP_IF(p, old, v) __sync_val_compare_and_swap(p, old, v)
