// What users write beside plain arithmetic: halves, arrays in registers, groups of threads.
#include <hip/hip_bf16.h>
#include <hip/hip_complex.h>
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_fp16.h>
#include <hip/hip_math_constants.h>
#include <hip/hip_runtime.h>
namespace cg = cooperative_groups;
typedef _Float16 half_pair __attribute__((ext_vector_type(2)));
#define KERNEL extern "C" __global__ void

KERNEL half_quotient(const __half *a, const __half *b, __half *c) {
  int i = threadIdx.x;
  c[i] = a[i] / b[i];
}
KERNEL half_constants(const __half *a, __half *c) {
  int i = threadIdx.x;
  _Float16 x = a[i];
  x = __builtin_fmaf16(x, x, (_Float16)0.3f);
  c[i] = __builtin_fmaf16(x, (_Float16)0.7f, (_Float16)a[i]);
}
KERNEL half_turns(const __half *a, __half *c) {
  int i = threadIdx.x;
  _Float16 x = a[i];
  c[i] = __builtin_sinf16(x) + __builtin_floorf16(x) - __builtin_cosf16(x);
}
KERNEL half_bounds(const __half2 *a, __half2 *b, __half *c) {
  int i = threadIdx.x;
  half_pair x = __builtin_bit_cast(half_pair, a[i]) * (_Float16)0.5;
  half_pair none = {0, 0}, one = {1, 1};
  half_pair y = __builtin_elementwise_min(__builtin_elementwise_max(x + x * x, none), one);
  b[i] = __builtin_bit_cast(__half2, y);
  c[i] = __builtin_fminf16(__builtin_fmaxf16(x.x - x.y, (_Float16)0), (_Float16)1);
}
KERNEL half_as_others(const __half *a, int *b, double *c) {
  int i = threadIdx.x;
  int whole = a[i];
  b[i] = a[i] ? whole : 100;
  c[i] = a[i];
  c[i] += a[i];
}
KERNEL half_and_single_bounds(const __half *a, const float *b, float *c, __half *d, __half2 *e) {
  int i = threadIdx.x;
  c[i] = fminf(fmaxf((float)a[i], 0.0f), 1.0f);
  _Float16 x = (_Float16)b[i];
  d[i] = __builtin_fminf16(__builtin_fmaxf16(x, (_Float16)0), (_Float16)1);
  half_pair pair = {(_Float16)a[i], 2};
  float sum = (float)pair.x * (float)pair.x + b[i];
  pair.x = (_Float16)fminf(fmaxf(sum, 0.0f), 1.0f);
  e[i] = __builtin_bit_cast(__half2, pair);
}
KERNEL half_pairs(const __half2 *a, __half2 *b, float s) {
  int i = threadIdx.x;
  __half2 x = __hfma2(a[i], __float2half2_rn(s), __hneg2(__habs2(a[i])));
  x = __hmax2(x, __half2half2(__float2half(-2.0f)));
  b[i] = __hgt(__low2half(x), __high2half(x)) ? __lowhigh2highlow(x) : x;
}
KERNEL brain_floats(const __hip_bfloat16 *a, __hip_bfloat16 *b, float s) {
  int i = threadIdx.x;
  __hip_bfloat16 x = a[i] * a[i];
  x += __float2bfloat16(s);
  b[i] = __hmax(x - a[i], __habs(a[i]));
}
KERNEL chosen_by_all(const float *a, const int *which, float *c) {
  float v[16];
  int i = threadIdx.x, n = which[blockIdx.x];
  for (int k = 0; k < 16; k++) v[k] = a[i * 16 + k];
  v[n & 15] = 3.0f;
  c[i] = v[(n + which[1]) & 15];
}
KERNEL chosen_by_each(const float *a, const int *which, float *c) {
  float v[16];
  int i = threadIdx.x;
  for (int k = 0; k < 16; k++) v[k] = a[i * 16 + k];
  v[which[i] & 15] = 3.0f;
  c[i] = v[which[i + 1] & 15];
}
KERNEL taking_turns(unsigned *a, int n) {
  unsigned x = a[threadIdx.x], y = a[threadIdx.x + 64];
  for (int i = 0; i < n; i++) {
    unsigned kept = x;
    x = y * 3;
    y = kept;
  }
  a[threadIdx.x] = x;
  a[threadIdx.x + 64] = y;
}
KERNEL of_signs(int *a, long long *b, float *c) {
  int i = threadIdx.x;
  a[i] = __builtin_clrsb(a[i]);
  c[i] = (float)b[i];
}
typedef short short_pair __attribute__((ext_vector_type(2)));
KERNEL at_the_ends(int *a, unsigned *b, short_pair *c) {
  int i = threadIdx.x;
  a[i] = __builtin_elementwise_add_sat(a[i], a[i + 64]);
  b[i] = __builtin_elementwise_add_sat(b[i], b[i + 64]);
  b[i + 64] = __builtin_elementwise_sub_sat(b[i + 64], b[i]);
  c[i] = __builtin_elementwise_sub_sat(c[i], c[i + 64]);
}
KERNEL packed(const float *a, unsigned *b) {
  int i = threadIdx.x;
  auto pair = __builtin_amdgcn_cvt_pkrtz(a[2 * i], a[2 * i + 1]);
  __builtin_memcpy(&b[i], &pair, 4);
}
KERNEL differences(const unsigned *a, const unsigned *b, unsigned *c) {
  int i = threadIdx.x;
  c[i] = __builtin_amdgcn_sad_u8(a[i], b[i], 5);
  c[i + 64] = __builtin_amdgcn_msad_u8(a[i], b[i], 7);
  c[i + 128] = __builtin_amdgcn_sad_u16(a[i], b[i], 9);
  c[i + 192] = __builtin_amdgcn_alignbyte(a[i], b[i], 3);
}
__device__ __noinline__ float sum_of_roots(float x, int n) {
  float sum = 0.0f;
  for (int i = 0; i < n; i++) sum += sqrtf(x + (float)i);
  return sum;
}
KERNEL called(float *a, int n) {
  int i = threadIdx.x;
  a[i] = sum_of_roots(a[i], n) + sum_of_roots(a[i + 64], n + 1);
}
KERNEL counters(int *a) {
  long long start = clock64(), then = wall_clock64();
  a[threadIdx.x] *= 2;
  a[threadIdx.x + 64] = clock64() >= start && wall_clock64() >= then;
}
KERNEL ticks(unsigned long long *a) { a[threadIdx.x] = __builtin_amdgcn_s_memrealtime(); }
KERNEL lanes_that_take_part(int *a) {
  int i = threadIdx.x;
  if (a[i] & 1) a[i] = __popcll(__activemask()) * 100 + __popcll(__match_any(a[i] & 6));
}
KERNEL tiles(int *a) {
  auto tile = cg::tiled_partition<4>(cg::this_thread_block());
  int i = threadIdx.x, v = a[i];
  int found = tile.shfl(v, 2) + 10 * tile.shfl_up(v, 1) + 100 * tile.shfl_xor(v, 3);
  a[i] = found + 1000 * (int)tile.ballot(v & 1) + 100000 * (int)tile.meta_group_rank();
}
KERNEL compacted(const int *a, int *to, int *count) {
  int i = threadIdx.x;
  if (a[i] & 1) {
    cg::coalesced_group group = cg::coalesced_threads();
    int first = 0;
    if (group.thread_rank() == 0) first = atomicAdd(count, (int)group.size());
    to[group.shfl(first, 0) + (int)group.thread_rank()] = a[i];
  }
}
KERNEL complex_numbers(const hipFloatComplex *a, const hipDoubleComplex *b, hipFloatComplex *c,
                       hipDoubleComplex *d) {
  int i = threadIdx.x;
  c[i] = hipCaddf(hipCmulf(a[i], a[i]), make_hipFloatComplex(HIP_PI_F, hipCabsf(a[i])));
  d[i] = hipCdiv(b[i], hipCadd(hipConj(b[i]), make_hipDoubleComplex(1, 2)));
}
KERNEL parts(const float *a, float *fraction, int *exponent, long long *whole) {
  int i = threadIdx.x;
  fraction[i] = frexpf(a[i], &exponent[i]);
  whole[i] = __float2ll_rd(a[i]) * 1000 + __double2int_ru((double)a[i]) + __half2int_rn(__float2half(a[i]));
}
