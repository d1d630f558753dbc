/* Chains of dependent operations: many for throughput, one of one work-item for latency.
 *
 * CHAINS: independent chains of each work-item. LANES_16, LANES_32, LANES_64: components of vectors
 * of 16, 32 and 64-bit values, empty for scalars. STEPS, LATENCY_STEPS: operations of a chain in the
 * unrolled loop body. FUNCTION_CHAINS, FUNCTION_STEPS, FUNCTION_LATENCY_STEPS: the same for
 * operations of many instructions, a program of their own with FUNCTIONS. SEEDS: length of `seeds`.
 * HAS_FP16, HAS_FP64, IS_CPU: about the device.
 *
 * Operands a to d come from a buffer, because a compiler that knows them may fold the chain.
 * Integer sums and products, which it may reorder, take both operands from the chain.
 */
#ifdef HAS_FP16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif
#ifdef HAS_FP64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

#define CHAIN_KERNEL(NAME, SCALAR, LANES, COUNT, LENGTH, ODD, EVEN)                                \
  kernel void NAME(global const SCALAR *seeds, global const SCALAR *operands,                      \
                   global JOIN(SCALAR, LANES) *sums, uint iterations) {                            \
    typedef JOIN(SCALAR, LANES) TYPE;                                                              \
    const TYPE a = operands[0], b = operands[1], c = operands[2], d = operands[3];                 \
    const uint first = (uint)get_global_id(0);                                                     \
    TYPE x[COUNT], y[COUNT];                                                                       \
    _Pragma("unroll") for (uint i = 0; i < COUNT; i++) {                                           \
      x[i] = seeds[(first + i) % SEEDS];                                                           \
      y[i] = seeds[(first + i + 1) % SEEDS];                                                       \
    }                                                                                              \
    for (uint n = 0; n < iterations; n++) {                                                        \
      _Pragma("unroll") for (int step = 0; step < LENGTH / 2; step++) {                            \
        _Pragma("unroll") for (int i = 0; i < COUNT; i++) ODD(x[i], y[i], LANES);                  \
        _Pragma("unroll") for (int i = 0; i < COUNT; i++) EVEN(x[i], y[i], LANES);                 \
      }                                                                                            \
    }                                                                                              \
    TYPE sum = x[0] + y[0];                                                                        \
    _Pragma("unroll") for (int i = 1; i < COUNT; i++) sum += x[i] + y[i];                          \
    sums[first] = sum;                                                                             \
  }

#define OPERATION(NAME, SCALAR, LANES, ODD, EVEN)                                                  \
  CHAIN_KERNEL(JOIN(NAME, _throughput), SCALAR, LANES, CHAINS, STEPS, ODD, EVEN)                   \
  CHAIN_KERNEL(JOIN(NAME, _latency), SCALAR, , 1, LATENCY_STEPS, ODD, EVEN)

/* Operations of many instructions: a loop of few of them compiles fast and hides itself as well. */
#define FUNCTION(NAME, SCALAR, LANES, ODD, EVEN)                                                   \
  CHAIN_KERNEL(JOIN(NAME, _throughput), SCALAR, LANES, FUNCTION_CHAINS, FUNCTION_STEPS, ODD, EVEN) \
  CHAIN_KERNEL(JOIN(NAME, _latency), SCALAR, , 1, FUNCTION_LATENCY_STEPS, ODD, EVEN)

/* Compilers for CPUs may reorder sums and products of floating-point numbers, loops of them too: a
 * chain in which every value is also compared with c, beside the chain, stays one. */
#ifdef IS_CPU
#define SEE(x) seen |= x > c
#else
#define SEE(x)
#endif
#define SEEN_LATENCY(NAME, SCALAR, ODD, EVEN)                                                      \
  kernel void JOIN(NAME, _latency)(global const SCALAR *seeds, global const SCALAR *operands,      \
                                   global SCALAR *sums, uint iterations) {                         \
    const SCALAR a = operands[0], b = operands[1], c = operands[2];                                \
    const uint first = (uint)get_global_id(0);                                                     \
    SCALAR x = seeds[first % SEEDS];                                                               \
    int seen = 0;                                                                                  \
    for (uint n = 0; n < iterations; n++) {                                                        \
      _Pragma("unroll") for (int step = 0; step < LATENCY_STEPS / 2; step++) {                     \
        ODD(x, x, );                                                                               \
        SEE(x);                                                                                    \
        EVEN(x, x, );                                                                              \
        SEE(x);                                                                                    \
      }                                                                                            \
    }                                                                                              \
    sums[first] = x + seeds[(first + 1) % SEEDS] + seen;                                           \
  }

/* A device without fused multiply-adds emulates fma(), which then measures something else. */
#if defined(FP_FAST_FMAF) || defined(IS_CPU)
#define MULTIPLY_ADD(x, a, b) fma(x, a, b)
#else
#define MULTIPLY_ADD(x, a, b) mad(x, a, b)
#endif

#define MULTIPLY_ADD_ODD(x, y, LANES) x = MULTIPLY_ADD(x, a, b)
#define MULTIPLY_ADD_EVEN(x, y, LANES) x = MULTIPLY_ADD(x, c, d)
#define ADD_ODD(x, y, LANES) x = x + a
#define ADD_EVEN(x, y, LANES) x = x + b
#define MULTIPLY_ODD(x, y, LANES) x = x * a
#define MULTIPLY_EVEN(x, y, LANES) x = x * b
#define DIVIDE_ODD(x, y, LANES) x = a / x
#define DIVIDE_EVEN(x, y, LANES) x = b / x
#define SQRT(x, y, LANES) x = sqrt(x)
#define RSQRT(x, y, LANES) x = rsqrt(x)
#define SIN(x, y, LANES) x = sin(x + a)
#define EXP(x, y, LANES) x = exp(-x)
#define LOG(x, y, LANES) x = log(x + a)

#define BASIC_FLOAT(NAME, SCALAR, LANES)                                                           \
  OPERATION(JOIN(NAME, _multiply_add), SCALAR, LANES, MULTIPLY_ADD_ODD, MULTIPLY_ADD_EVEN)         \
  CHAIN_KERNEL(JOIN(NAME, _add_throughput), SCALAR, LANES, CHAINS, STEPS, ADD_ODD, ADD_EVEN)       \
  SEEN_LATENCY(JOIN(NAME, _add), SCALAR, ADD_ODD, ADD_EVEN)                                        \
  CHAIN_KERNEL(JOIN(NAME, _multiply_throughput), SCALAR, LANES, CHAINS, STEPS, MULTIPLY_ODD,       \
               MULTIPLY_EVEN)                                                                      \
  SEEN_LATENCY(JOIN(NAME, _multiply), SCALAR, MULTIPLY_ODD, MULTIPLY_EVEN)

#define SPECIAL_FLOAT(NAME, SCALAR, LANES)                                                         \
  FUNCTION(JOIN(NAME, _division), SCALAR, LANES, DIVIDE_ODD, DIVIDE_EVEN)                          \
  FUNCTION(JOIN(NAME, _sqrt), SCALAR, LANES, SQRT, SQRT)                                           \
  FUNCTION(JOIN(NAME, _rsqrt), SCALAR, LANES, RSQRT, RSQRT)                                        \
  FUNCTION(JOIN(NAME, _sin), SCALAR, LANES, SIN, SIN)                                              \
  FUNCTION(JOIN(NAME, _exp), SCALAR, LANES, EXP, EXP)                                              \
  FUNCTION(JOIN(NAME, _log), SCALAR, LANES, LOG, LOG)

#ifdef FUNCTIONS
SPECIAL_FLOAT(fp32, float, LANES_32)
#ifdef HAS_FP64
SPECIAL_FLOAT(fp64, double, LANES_64)
#endif

#define NATIVE_DIVIDE_ODD(x, y, LANES) x = native_divide(a, x)
#define NATIVE_DIVIDE_EVEN(x, y, LANES) x = native_divide(b, x)
#define NATIVE_RECIP(x, y, LANES) x = native_recip(x)
#define NATIVE_SQRT(x, y, LANES) x = native_sqrt(x)
#define NATIVE_RSQRT(x, y, LANES) x = native_rsqrt(x)
#define NATIVE_SIN(x, y, LANES) x = native_sin(x + a)
#define NATIVE_EXP(x, y, LANES) x = native_exp(-x)
#define NATIVE_LOG(x, y, LANES) x = native_log(x + a)
FUNCTION(fp32_native_division, float, LANES_32, NATIVE_DIVIDE_ODD, NATIVE_DIVIDE_EVEN)
FUNCTION(fp32_native_recip, float, LANES_32, NATIVE_RECIP, NATIVE_RECIP)
FUNCTION(fp32_native_sqrt, float, LANES_32, NATIVE_SQRT, NATIVE_SQRT)
FUNCTION(fp32_native_rsqrt, float, LANES_32, NATIVE_RSQRT, NATIVE_RSQRT)
FUNCTION(fp32_native_sin, float, LANES_32, NATIVE_SIN, NATIVE_SIN)
FUNCTION(fp32_native_exp, float, LANES_32, NATIVE_EXP, NATIVE_EXP)
FUNCTION(fp32_native_log, float, LANES_32, NATIVE_LOG, NATIVE_LOG)

#define POPCOUNT_ODD(x, y, LANES) x = popcount(x ^ a)
#define POPCOUNT_EVEN(x, y, LANES) x = popcount(x ^ b)
FUNCTION(int32_popcount, uint, LANES_32, POPCOUNT_ODD, POPCOUNT_EVEN)
FUNCTION(int32_division, uint, LANES_32, DIVIDE_ODD, DIVIDE_EVEN)

#else
#ifdef HAS_FP16
BASIC_FLOAT(fp16, half, LANES_16)
#endif
BASIC_FLOAT(fp32, float, LANES_32)
#ifdef HAS_FP64
BASIC_FLOAT(fp64, double, LANES_64)
#endif

#define PAIR_ADD_ODD(x, y, LANES) x = x + y
#define PAIR_ADD_EVEN(x, y, LANES) y = y + x
#define PAIR_MULTIPLY_ODD(x, y, LANES) x = x * y
#define PAIR_MULTIPLY_EVEN(x, y, LANES) y = y * x

#define INTEGER_MULTIPLY_ADD_ODD(x, y, LANES) x = x * a + b
#define INTEGER_MULTIPLY_ADD_EVEN(x, y, LANES) x = x * c + d
#define SHIFT_ODD(x, y, LANES) x = x << a
#define SHIFT_EVEN(x, y, LANES) x = x >> b
#define LOGIC_ODD(x, y, LANES) x = (x & a) ^ b
#define LOGIC_EVEN(x, y, LANES) x = (x & c) ^ d
#define COMPARE_ODD(x, y, LANES) x = (x < a) ? y : b
#define COMPARE_EVEN(x, y, LANES) x = (x < c) ? d : y
OPERATION(int32_multiply_add, uint, LANES_32, INTEGER_MULTIPLY_ADD_ODD, INTEGER_MULTIPLY_ADD_EVEN)
OPERATION(int32_add, uint, LANES_32, PAIR_ADD_ODD, PAIR_ADD_EVEN)
OPERATION(int32_multiply, uint, LANES_32, PAIR_MULTIPLY_ODD, PAIR_MULTIPLY_EVEN)
OPERATION(int32_shift, uint, LANES_32, SHIFT_ODD, SHIFT_EVEN)
OPERATION(int32_logic, uint, LANES_32, LOGIC_ODD, LOGIC_EVEN)
OPERATION(int32_compare, uint, LANES_32, COMPARE_ODD, COMPARE_EVEN)

OPERATION(int64_add, ulong, LANES_64, PAIR_ADD_ODD, PAIR_ADD_EVEN)
OPERATION(int64_multiply, ulong, LANES_64, PAIR_MULTIPLY_ODD, PAIR_MULTIPLY_EVEN)

#define THROUGH_FLOAT(x, LANES) JOIN(convert_int, LANES)(JOIN(convert_float, LANES)(x))
#define THROUGH_FLOAT_ODD(x, y, LANES) x = THROUGH_FLOAT(x, LANES) + a
#define THROUGH_FLOAT_EVEN(x, y, LANES) x = THROUGH_FLOAT(x, LANES) + b
OPERATION(int32_fp32_conversion, int, LANES_32, THROUGH_FLOAT_ODD, THROUGH_FLOAT_EVEN)
#ifdef HAS_FP64
#define ROUNDED(x, LANES) JOIN(convert_double, LANES)(JOIN(convert_float, LANES)(x))
#define ROUNDED_ODD(x, y, LANES) x = ROUNDED(x, LANES) + a
#define ROUNDED_EVEN(x, y, LANES) x = ROUNDED(x, LANES) + b
OPERATION(fp32_fp64_conversion, double, LANES_64, ROUNDED_ODD, ROUNDED_EVEN)
#endif

/* Instruction-level parallelism. */
#define FP32_CHAINS(COUNT)                                                                         \
  CHAIN_KERNEL(JOIN(fp32_multiply_add_chains_, COUNT), float, LANES_32, COUNT, STEPS,              \
               MULTIPLY_ADD_ODD, MULTIPLY_ADD_EVEN)
FP32_CHAINS(1)
FP32_CHAINS(2)
FP32_CHAINS(3)
FP32_CHAINS(4)
FP32_CHAINS(5)
FP32_CHAINS(6)
FP32_CHAINS(7)
FP32_CHAINS(8)

/* Neighbouring work-items in runs of `run`; every other run takes the other branch. */
kernel void fp32_multiply_add_divergent(global const float *seeds, global const float *operands,
                                        global float *sums, uint iterations, uint run) {
  const uint item = (uint)get_global_id(0);
  const float a = operands[0], b = operands[1], c = operands[2], d = operands[3];
  float x = seeds[item % SEEDS];
  if (item / run % 2) {
    for (uint n = 0; n < iterations; n++) {
      _Pragma("unroll") for (int step = 0; step < STEPS; step++) x = MULTIPLY_ADD(x, a, b);
    }
  } else {
    for (uint n = 0; n < iterations; n++) {
      _Pragma("unroll") for (int step = 0; step < STEPS; step++) x = MULTIPLY_ADD(x, c, d);
    }
  }
  sums[item] = x + seeds[(item + 1) % SEEDS];
}
#endif
