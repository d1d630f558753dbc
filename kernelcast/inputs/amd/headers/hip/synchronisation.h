// Barriers, fences, dynamic shared memory, traps and clocks.
#ifndef KERNELCAST_HIP_SYNCHRONISATION_H
#define KERNELCAST_HIP_SYNCHRONISATION_H
#define HIP_DYNAMIC_SHARED(type, variable) extern __shared__ type variable[];
#define HIP_DYNAMIC_SHARED_ATTRIBUTE

KC_HIP void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
KC_HIP void __threadfence_block() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); }
KC_HIP void __threadfence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
KC_HIP void __threadfence_system() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, ""); }
KC_HIP void __syncwarp(unsigned long long = ~0ull) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

// The sum of a number of each thread, in all of them.
static __device__ __noinline__ int kc_hip_group_sum(int value) {
  __shared__ int sum;
  if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) sum = 0;
  __syncthreads();
  __atomic_fetch_add(&sum, value, __ATOMIC_RELAXED);
  __syncthreads();
  int found = sum;
  __syncthreads();
  return found;
}
KC_HIP int __syncthreads_count(int predicate) { return kc_hip_group_sum(predicate != 0); }
KC_HIP int __syncthreads_or(int predicate) { return kc_hip_group_sum(predicate != 0) != 0; }
KC_HIP int __syncthreads_and(int predicate) { return kc_hip_group_sum(predicate == 0) == 0; }

KC_HIP void __trap() { __builtin_trap(); }
KC_HIP void abort() { __builtin_trap(); }
KC_HIP long long int clock64() { return (long long)__builtin_readcyclecounter(); }
KC_HIP long long int wall_clock64() { return (long long)__builtin_readcyclecounter(); }
KC_HIP int clock() { return (int)__builtin_readcyclecounter(); }

extern "C" __device__ int __kernelcast_printf(const char *, ...);
template <typename... T> KC_HIP int printf(const char *format, T... values) {
  return __kernelcast_printf(format, values...);
}
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : __builtin_trap())
#endif
#endif
