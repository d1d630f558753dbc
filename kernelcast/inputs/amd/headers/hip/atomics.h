// Atomics, relaxed: of all threads of the device, of the thread block, and of the system.
#ifndef KERNELCAST_HIP_ATOMICS_H
#define KERNELCAST_HIP_ATOMICS_H
#define KC_HIP_ATOMIC(T, name, builtin)                                                    \
  KC_HIP T name(T *at, T value) {                                                          \
    return builtin(at, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);                 \
  }                                                                                        \
  KC_HIP T name##_block(T *at, T value) {                                                  \
    return builtin(at, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);             \
  }                                                                                        \
  KC_HIP T name##_system(T *at, T value) {                                                 \
    return builtin(at, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);                \
  }
#define KC_HIP_FOR_INTEGERS(name, builtin)  \
  KC_HIP_ATOMIC(int, name, builtin)         \
  KC_HIP_ATOMIC(unsigned, name, builtin)    \
  KC_HIP_ATOMIC(unsigned long, name, builtin) \
  KC_HIP_ATOMIC(unsigned long long, name, builtin)
#define KC_HIP_FOR_NUMBERS(name, builtin)   \
  KC_HIP_FOR_INTEGERS(name, builtin)        \
  KC_HIP_ATOMIC(long long, name, builtin)   \
  KC_HIP_ATOMIC(float, name, builtin)       \
  KC_HIP_ATOMIC(double, name, builtin)
#define KC_HIP_NEGATED(at, value, order, scope) __hip_atomic_fetch_add(at, -(value), order, scope)
KC_HIP_FOR_NUMBERS(atomicAdd, __hip_atomic_fetch_add)
KC_HIP_FOR_NUMBERS(atomicSub, KC_HIP_NEGATED)
KC_HIP_FOR_NUMBERS(atomicMin, __hip_atomic_fetch_min)
KC_HIP_FOR_NUMBERS(atomicMax, __hip_atomic_fetch_max)
KC_HIP_FOR_NUMBERS(atomicExch, __hip_atomic_exchange)
KC_HIP_FOR_INTEGERS(atomicAnd, __hip_atomic_fetch_and)
KC_HIP_FOR_INTEGERS(atomicOr, __hip_atomic_fetch_or)
KC_HIP_FOR_INTEGERS(atomicXor, __hip_atomic_fetch_xor)
#undef KC_HIP_NEGATED

#define KC_HIP_EXCHANGE(T, name, scope)                                                     \
  KC_HIP T name(T *at, T expected, T value) {                                               \
    __hip_atomic_compare_exchange_strong(at, &expected, value, __ATOMIC_RELAXED,            \
                                         __ATOMIC_RELAXED, scope);                          \
    return expected;                                                                        \
  }
#define KC_HIP_EXCHANGES(T)                                            \
  KC_HIP_EXCHANGE(T, atomicCAS, __HIP_MEMORY_SCOPE_AGENT)              \
  KC_HIP_EXCHANGE(T, atomicCAS_block, __HIP_MEMORY_SCOPE_WORKGROUP)    \
  KC_HIP_EXCHANGE(T, atomicCAS_system, __HIP_MEMORY_SCOPE_SYSTEM)
KC_HIP_EXCHANGES(int)
KC_HIP_EXCHANGES(unsigned)
KC_HIP_EXCHANGES(unsigned long)
KC_HIP_EXCHANGES(unsigned long long)
#undef KC_HIP_EXCHANGES
#undef KC_HIP_EXCHANGE
#undef KC_HIP_FOR_NUMBERS
#undef KC_HIP_FOR_INTEGERS
#undef KC_HIP_ATOMIC

KC_HIP unsigned atomicInc(unsigned *at, unsigned largest) {
  return __builtin_amdgcn_atomic_inc32(at, largest, __ATOMIC_RELAXED, "agent");
}
KC_HIP unsigned atomicDec(unsigned *at, unsigned largest) {
  return __builtin_amdgcn_atomic_dec32(at, largest, __ATOMIC_RELAXED, "agent");
}
KC_HIP float unsafeAtomicAdd(float *at, float value) { return atomicAdd(at, value); }
KC_HIP double unsafeAtomicAdd(double *at, double value) { return atomicAdd(at, value); }
KC_HIP float safeAtomicAdd(float *at, float value) { return atomicAdd(at, value); }
KC_HIP double safeAtomicAdd(double *at, double value) { return atomicAdd(at, value); }
#endif
