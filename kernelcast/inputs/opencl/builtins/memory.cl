// Memory: vectors, atomics, copies; the same for every target.

// Work-items in their order.
size_t OVERLOAD get_local_linear_id(void) {
  return (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) +
         get_local_id(0);
}
size_t OVERLOAD get_global_linear_id(void) {
  return (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) +
         get_global_id(0);
}

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
ACCESSES(half)

// Numbers of half precision in memory as those of single and double precision.
#define LOAD_HALF(T, space) \
  T OVERLOAD vload_half(size_t i, const space half *p) { return p[i]; } \
  LOAD_HALF_N(space, 2, 2) LOAD_HALF_N(space, 3, 3) LOAD_HALF_N(space, 4, 4) \
  LOAD_HALF_N(space, 8, 8) LOAD_HALF_N(space, 16, 16)
#define LOAD_HALF_N(space, n, apart) \
  float##n OVERLOAD vload_half##n(size_t i, const space half *p) { \
    float##n found; \
    for (int at = 0; at < n; ++at) found[at] = p[i * n + at]; \
    return found; \
  } \
  float##n OVERLOAD vloada_half##n(size_t i, const space half *p) { \
    float##n found; \
    for (int at = 0; at < n; ++at) found[at] = p[i * (n == 3 ? 4 : n) + at]; \
    return found; \
  }
LOAD_HALF(float, global) LOAD_HALF(float, local) LOAD_HALF(float, private) LOAD_HALF(float, constant)
#define STORE_HALF(T, space, mode) \
  void OVERLOAD vstore_half##mode(T v, size_t i, space half *p) { p[i] = (half)v; } \
  STORE_HALF_N(T, space, mode, 2) STORE_HALF_N(T, space, mode, 3) STORE_HALF_N(T, space, mode, 4) \
  STORE_HALF_N(T, space, mode, 8) STORE_HALF_N(T, space, mode, 16)
#define STORE_HALF_N(T, space, mode, n) \
  void OVERLOAD vstore_half##n##mode(T##n v, size_t i, space half *p) { \
    for (int at = 0; at < n; ++at) p[i * n + at] = (half)v[at]; \
  } \
  void OVERLOAD vstorea_half##n##mode(T##n v, size_t i, space half *p) { \
    for (int at = 0; at < n; ++at) p[i * (n == 3 ? 4 : n) + at] = (half)v[at]; \
  }
#define STORES_OF_HALF(space) \
  STORE_HALF(float, space, ) STORE_HALF(float, space, _rte) \
  STORE_HALF(double, space, ) STORE_HALF(double, space, _rte)
STORES_OF_HALF(global) STORES_OF_HALF(local) STORES_OF_HALF(private)

// Atomics.
#define ATOMIC(prefix, T, space) \
  T OVERLOAD prefix##_add(volatile space T *p, T v) { return FETCH(add, p, v); } \
  T OVERLOAD prefix##_sub(volatile space T *p, T v) { return FETCH(sub, p, v); } \
  T OVERLOAD prefix##_and(volatile space T *p, T v) { return FETCH(and, p, v); } \
  T OVERLOAD prefix##_or(volatile space T *p, T v) { return FETCH(or, p, v); } \
  T OVERLOAD prefix##_xor(volatile space T *p, T v) { return FETCH(xor, p, v); } \
  T OVERLOAD prefix##_inc(volatile space T *p) { return FETCH(add, p, (T)1); } \
  T OVERLOAD prefix##_dec(volatile space T *p) { return FETCH(sub, p, (T)1); } \
  T OVERLOAD prefix##_xchg(volatile space T *p, T v) { return EXCHANGE(p, v); } \
  T OVERLOAD prefix##_cmpxchg(volatile space T *p, T old, T v) { \
    return SWAP_IF(p, old, v); \
  }
#define EXTREMA(prefix, T, space, sign) \
  T OVERLOAD prefix##_min(volatile space T *p, T v) { return FETCH(sign##min, p, v); } \
  T OVERLOAD prefix##_max(volatile space T *p, T v) { return FETCH(sign##max, p, v); }
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

#ifdef HAS_LONG_EXTREMA
EXTREMA(atom, long, global, ) EXTREMA(atom, ulong, global, u)
EXTREMA(atom, long, local, ) EXTREMA(atom, ulong, local, u)
#endif

// Atomics of OpenCL 2.0, in no order with other accesses but that of fences.
#define EXPLICIT(T) \
  void OVERLOAD atomic_init(volatile atomic_##T *p, T v) { *(volatile T *)p = v; } \
  T OVERLOAD atomic_load(volatile atomic_##T *p) { return *(volatile T *)p; } \
  T OVERLOAD atomic_load_explicit(volatile atomic_##T *p, memory_order o) { \
    return *(volatile T *)p; \
  } \
  T OVERLOAD atomic_load_explicit(volatile atomic_##T *p, memory_order o, memory_scope s) { \
    return *(volatile T *)p; \
  } \
  void OVERLOAD atomic_store(volatile atomic_##T *p, T v) { *(volatile T *)p = v; } \
  void OVERLOAD atomic_store_explicit(volatile atomic_##T *p, T v, memory_order o) { \
    *(volatile T *)p = v; \
  } \
  void OVERLOAD atomic_store_explicit(volatile atomic_##T *p, T v, memory_order o, \
                                      memory_scope s) { \
    *(volatile T *)p = v; \
  } \
  MODIFY(T, exchange, EXCHANGE((volatile T *)p, v)) \
  MODIFY(T, fetch_add, FETCH(add, (volatile T *)p, v)) \
  MODIFY(T, fetch_sub, FETCH(sub, (volatile T *)p, v)) \
  MODIFY(T, fetch_and, FETCH(and, (volatile T *)p, v)) \
  MODIFY(T, fetch_or, FETCH(or, (volatile T *)p, v)) \
  MODIFY(T, fetch_xor, FETCH(xor, (volatile T *)p, v)) \
  COMPARE_AND_EXCHANGE(T, strong) COMPARE_AND_EXCHANGE(T, weak)
#define MODIFY(T, operation, value) \
  T OVERLOAD atomic_##operation(volatile atomic_##T *p, T v) { return value; } \
  T OVERLOAD atomic_##operation##_explicit(volatile atomic_##T *p, T v, memory_order o) { \
    return value; \
  } \
  T OVERLOAD atomic_##operation##_explicit(volatile atomic_##T *p, T v, memory_order o, \
                                           memory_scope s) { \
    return value; \
  }
#define COMPARE_AND_EXCHANGE(T, kind) \
  bool OVERLOAD atomic_compare_exchange_##kind(volatile atomic_##T *p, T *expected, T v) { \
    T old = SWAP_IF((volatile T *)p, *expected, v); \
    bool is_same = old == *expected; \
    *expected = old; \
    return is_same; \
  } \
  bool OVERLOAD atomic_compare_exchange_##kind##_explicit( \
      volatile atomic_##T *p, T *expected, T v, memory_order o, memory_order failure) { \
    return atomic_compare_exchange_##kind(p, expected, v); \
  } \
  bool OVERLOAD atomic_compare_exchange_##kind##_explicit( \
      volatile atomic_##T *p, T *expected, T v, memory_order o, memory_order failure, \
      memory_scope s) { \
    return atomic_compare_exchange_##kind(p, expected, v); \
  }
#define EXPLICIT_EXTREMA(T, sign) \
  MODIFY(T, fetch_min, FETCH(sign##min, (volatile T *)p, v)) \
  MODIFY(T, fetch_max, FETCH(sign##max, (volatile T *)p, v))
EXPLICIT(int) EXPLICIT(uint) EXPLICIT(long) EXPLICIT(ulong)
EXPLICIT_EXTREMA(int, ) EXPLICIT_EXTREMA(uint, u)
#ifdef HAS_LONG_EXTREMA
EXPLICIT_EXTREMA(long, ) EXPLICIT_EXTREMA(ulong, u)
#endif

// Asynchronous copies are those of the work-items, and waiting for them is a barrier.
#define COPY(T, to, from) \
  event_t OVERLOAD async_work_group_copy(to T *target, const from T *source, size_t elements, \
                                         event_t event) { \
    size_t items = get_local_size(0) * get_local_size(1) * get_local_size(2); \
    for (size_t i = get_local_linear_id(); i < elements; i += items) target[i] = source[i]; \
    return event; \
  } \
  STRIDED_COPY(T, to, from)
#define STRIDED_COPY(T, to, from) STRIDED_COPY_##to(T)
#define STRIDED_COPY_local(T) \
  event_t OVERLOAD async_work_group_strided_copy(local T *target, const global T *source, \
                                                 size_t elements, size_t stride, event_t event) { \
    size_t items = get_local_size(0) * get_local_size(1) * get_local_size(2); \
    for (size_t i = get_local_linear_id(); i < elements; i += items) target[i] = source[i * stride]; \
    return event; \
  }
#define STRIDED_COPY_global(T) \
  event_t OVERLOAD async_work_group_strided_copy(global T *target, const local T *source, \
                                                 size_t elements, size_t stride, event_t event) { \
    size_t items = get_local_size(0) * get_local_size(1) * get_local_size(2); \
    for (size_t i = get_local_linear_id(); i < elements; i += items) target[i * stride] = source[i]; \
    return event; \
  }
#define COPIES_OF_ONE(T) COPY(T, local, global) COPY(T, global, local)
#define COPIES(T) \
  COPIES_OF_ONE(T) COPIES_OF_ONE(T##2) COPIES_OF_ONE(T##4) COPIES_OF_ONE(T##8) COPIES_OF_ONE(T##16)
FOR_ALL_TYPES(COPIES)
void OVERLOAD wait_group_events(int events, event_t *list) { barrier(CLK_LOCAL_MEM_FENCE); }
#define PREFETCH(T) void OVERLOAD prefetch(const global T *p, size_t elements) {}
FOR_ALL_TYPES(PREFETCH) PREFETCH(float2) PREFETCH(float4) PREFETCH(int2) PREFETCH(int4)
