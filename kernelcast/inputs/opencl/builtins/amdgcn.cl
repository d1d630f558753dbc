// What LLVM's AMDGPU back end has its own means for. Functions __ockl_* and __ocml_* are those of our
// library (`kernelcast/inputs/amd/library`).

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
void OVERLOAD work_group_barrier(cl_mem_fence_flags flags, memory_scope scope) { barrier(flags); }

// Mathematics of the library.
#define LIBRARY(name) \
  float __ocml_##name##_f32(float); \
  double __ocml_##name##_f64(double); \
  UNARY(float, name, __ocml_##name##_f32(a)) \
  UNARY(double, name, __ocml_##name##_f64(a))
LIBRARY(exp) LIBRARY(exp2) LIBRARY(exp10) LIBRARY(expm1)
LIBRARY(log) LIBRARY(log2) LIBRARY(log10) LIBRARY(log1p) LIBRARY(logb)
LIBRARY(sin) LIBRARY(cos) LIBRARY(tan) LIBRARY(sinpi) LIBRARY(cospi)
LIBRARY(asin) LIBRARY(acos) LIBRARY(atan) LIBRARY(sinh) LIBRARY(cosh) LIBRARY(tanh)
LIBRARY(asinh) LIBRARY(acosh) LIBRARY(atanh) LIBRARY(rsqrt) LIBRARY(round)
LIBRARY(cbrt) LIBRARY(erf) LIBRARY(erfc) LIBRARY(tgamma) LIBRARY(lgamma)
#define LIBRARY_PAIR(name) \
  float __ocml_##name##_f32(float, float); \
  double __ocml_##name##_f64(double, double); \
  BINARY(float, name, __ocml_##name##_f32(a, b)) \
  BINARY(double, name, __ocml_##name##_f64(a, b))
LIBRARY_PAIR(pow) LIBRARY_PAIR(powr) LIBRARY_PAIR(atan2) LIBRARY_PAIR(fmod) LIBRARY_PAIR(hypot)
LIBRARY_PAIR(fdim) LIBRARY_PAIR(remainder) LIBRARY_PAIR(nextafter)
#define POWERS_OF_INTEGERS(T, bits) \
  T __ocml_pown_f##bits(T, int); \
  T __ocml_ldexp_f##bits(T, int); \
  int __ocml_ilogb_f##bits(T); \
  T OVERLOAD pown(T a, int b) { return __ocml_pown_f##bits(a, b); } \
  T OVERLOAD ldexp(T a, int b) { return __ocml_ldexp_f##bits(a, b); } \
  int OVERLOAD ilogb(T a) { return __ocml_ilogb_f##bits(a); }
POWERS_OF_INTEGERS(float, 32) POWERS_OF_INTEGERS(double, 64)

// Approximations: instructions without what makes their results exact.
#define NATIVE(name) \
  float __ocml_native_##name##_f32(float); \
  UNARY(float, native_##name, __ocml_native_##name##_f32(a)) \
  UNARY(float, half_##name, __ocml_native_##name##_f32(a))
NATIVE(exp) NATIVE(exp2) NATIVE(exp10) NATIVE(log) NATIVE(log2) NATIVE(log10)
NATIVE(sin) NATIVE(cos) NATIVE(sqrt) NATIVE(rsqrt) NATIVE(recip)
#define MADE_OF_NATIVE(prefix) \
  UNARY(float, prefix##tan, native_sin(a) * native_recip(native_cos(a))) \
  BINARY(float, prefix##divide, a * native_recip(b)) \
  BINARY(float, prefix##powr, native_exp2(b * native_log2(a)))
MADE_OF_NATIVE(native_) MADE_OF_NATIVE(half_)

// Sums of products, from the first element on.
#define DOT(T) \
  T OVERLOAD dot(T a, T b) { return a * b; } \
  T OVERLOAD dot(T##2 a, T##2 b) { return a.x * b.x + a.y * b.y; } \
  T OVERLOAD dot(T##3 a, T##3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; } \
  T OVERLOAD dot(T##4 a, T##4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

// Atomics: in no order with other accesses, as those of OpenCL 1.
#define FETCH(operation, p, v) FETCH_##operation(p, v)
#define FETCH_add(p, v) __atomic_fetch_add(p, v, __ATOMIC_RELAXED)
#define FETCH_sub(p, v) __atomic_fetch_sub(p, v, __ATOMIC_RELAXED)
#define FETCH_and(p, v) __atomic_fetch_and(p, v, __ATOMIC_RELAXED)
#define FETCH_or(p, v) __atomic_fetch_or(p, v, __ATOMIC_RELAXED)
#define FETCH_xor(p, v) __atomic_fetch_xor(p, v, __ATOMIC_RELAXED)
#define FETCH_min(p, v) __atomic_fetch_min(p, v, __ATOMIC_RELAXED)
#define FETCH_max(p, v) __atomic_fetch_max(p, v, __ATOMIC_RELAXED)
#define FETCH_umin(p, v) __atomic_fetch_min(p, v, __ATOMIC_RELAXED)
#define FETCH_umax(p, v) __atomic_fetch_max(p, v, __ATOMIC_RELAXED)
#define HAS_LONG_EXTREMA
#define EXCHANGE(p, v) __atomic_exchange_n(p, v, __ATOMIC_RELAXED)
#define SWAP_IF(p, old, v) __sync_val_compare_and_swap(p, old, v)

// Sub-groups are wavefronts. Sums and extrema of those below are made in steps of 1, 2, 4 ... lanes.
int __kernelcast_wavefront_size(void);
uint OVERLOAD get_max_sub_group_size(void) { return __kernelcast_wavefront_size(); }
uint OVERLOAD get_sub_group_local_id(void) {
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
}
__attribute__((always_inline)) uint kc_group_size(void) {
  return __ockl_get_local_size(0) * __ockl_get_local_size(1) * __ockl_get_local_size(2);
}
uint OVERLOAD get_num_sub_groups(void) {
  return (kc_group_size() + get_max_sub_group_size() - 1) / get_max_sub_group_size();
}
uint OVERLOAD get_enqueued_num_sub_groups(void) { return get_num_sub_groups(); }
uint OVERLOAD get_sub_group_id(void) {
  uint item = (__ockl_get_local_id(2) * __ockl_get_local_size(1) + __ockl_get_local_id(1)) *
                  __ockl_get_local_size(0) + __ockl_get_local_id(0);
  return item / get_max_sub_group_size();
}
uint OVERLOAD get_sub_group_size(void) {
  uint left = kc_group_size() - get_sub_group_id() * get_max_sub_group_size();
  return left < get_max_sub_group_size() ? left : get_max_sub_group_size();
}
void OVERLOAD sub_group_barrier(cl_mem_fence_flags flags) { __builtin_amdgcn_wave_barrier(); }
void OVERLOAD sub_group_barrier(cl_mem_fence_flags flags, memory_scope scope) {
  __builtin_amdgcn_wave_barrier();
}
int OVERLOAD sub_group_any(int x) { return __builtin_amdgcn_uicmp((uint)x, 0u, 33) != 0; }
int OVERLOAD sub_group_all(int x) { return __builtin_amdgcn_uicmp((uint)x, 0u, 32) == 0; }
#define FROM_LANE(T) \
  T OVERLOAD sub_group_shuffle(T x, uint lane) { \
    return as_##T(__builtin_amdgcn_ds_bpermute((int)lane << 2, as_int(x))); \
  }
#define FROM_WIDE_LANE(T) \
  T OVERLOAD sub_group_shuffle(T x, uint lane) { \
    uint2 words = as_uint2(x); \
    words.x = sub_group_shuffle(words.x, lane); \
    words.y = sub_group_shuffle(words.y, lane); \
    return as_##T(words); \
  }
FROM_LANE(int) FROM_LANE(uint) FROM_LANE(float)
FROM_WIDE_LANE(long) FROM_WIDE_LANE(ulong) FROM_WIDE_LANE(double)
#define SUB_GROUPS(T) \
  T OVERLOAD sub_group_broadcast(T x, uint lane) { return sub_group_shuffle(x, lane); } \
  T OVERLOAD sub_group_shuffle_xor(T x, uint mask) { \
    return sub_group_shuffle(x, get_sub_group_local_id() ^ mask); \
  } \
  T OVERLOAD sub_group_shuffle_up(T x, uint distance) { \
    return sub_group_shuffle(x, get_sub_group_local_id() - distance); \
  } \
  T OVERLOAD sub_group_shuffle_down(T x, uint distance) { \
    return sub_group_shuffle(x, get_sub_group_local_id() + distance); \
  } \
  T OVERLOAD intel_sub_group_shuffle(T x, uint lane) { return sub_group_shuffle(x, lane); }
#define COMBINED(T, name, both, none) \
  T OVERLOAD sub_group_scan_inclusive_##name(T x) { \
    uint lane = get_sub_group_local_id(); \
    for (uint distance = 1; distance < get_max_sub_group_size(); distance *= 2) { \
      T y = sub_group_shuffle(x, lane - distance); \
      if (lane >= distance) x = both; \
    } \
    return x; \
  } \
  T OVERLOAD sub_group_scan_exclusive_##name(T x) { \
    uint lane = get_sub_group_local_id(); \
    T below = sub_group_shuffle(sub_group_scan_inclusive_##name(x), lane - 1); \
    return lane == 0 ? none : below; \
  } \
  T OVERLOAD sub_group_reduce_##name(T x) { \
    return sub_group_shuffle(sub_group_scan_inclusive_##name(x), get_sub_group_size() - 1); \
  }
#define SUB_GROUPS_OF(T, least, most) \
  SUB_GROUPS(T) COMBINED(T, add, y + x, (T)0) COMBINED(T, min, y < x ? y : x, most) \
  COMBINED(T, max, x < y ? y : x, least)
SUB_GROUPS_OF(int, INT_MIN, INT_MAX) SUB_GROUPS_OF(uint, 0, UINT_MAX)
SUB_GROUPS_OF(long, LONG_MIN, LONG_MAX) SUB_GROUPS_OF(ulong, 0, ULONG_MAX)
SUB_GROUPS_OF(float, -INFINITY, INFINITY) SUB_GROUPS_OF(double, -INFINITY, INFINITY)
