/* Generators of random words, for C and for CUDA C++.

   A sequence is made of quads of 32-bit words. Philox4x32-10 (Salmon et al., SC 2011) makes each quad
   of its number. XORWOW (Marsaglia 2003) and MRG32k3a (L'Ecuyer 1999) run through many streams side
   by side, each of which begins with a state that Philox makes of the seed and the stream's number. */
#ifndef KERNELCAST_RANDOM_STREAMS_H
#define KERNELCAST_RANDOM_STREAMS_H
#include <stdint.h>

#ifdef __CUDACC__
#define FUNCTION __device__ __forceinline__
#define UNROLLED _Pragma("unroll")
#else
#define FUNCTION static inline
#define UNROLLED
#endif

/* A group of as many streams makes its quads in turn: the first of all streams, then the second. */
enum { STREAMS = 256, STREAM_QUADS = 16, GROUP_QUADS = STREAMS * STREAM_QUADS };
enum { PHILOX_ROUNDS = 10, STATES = 1 }; /* `STATES`: the counters of states, which no quad has */

typedef struct { uint32_t words[4]; } quad;

FUNCTION quad philox_quad(uint64_t seed, uint64_t low, uint64_t high) {
  quad q = {{(uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high, (uint32_t)(high >> 32)}};
  uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
  for (int round = 0; round < PHILOX_ROUNDS; round++) {
    uint64_t first = (uint64_t)0xD2511F53u * q.words[0], second = (uint64_t)0xCD9E8D57u * q.words[2];
    quad next = {{(uint32_t)(second >> 32) ^ q.words[1] ^ key[0], (uint32_t)second,
                  (uint32_t)(first >> 32) ^ q.words[3] ^ key[1], (uint32_t)first}};
    q = next;
    key[0] += 0x9E3779B9u, key[1] += 0xBB67AE85u;
  }
  return q;
}

typedef struct { uint32_t x[5], d; } xorwow;

FUNCTION xorwow xorwow_of(uint64_t seed, uint64_t stream) {
  quad a = philox_quad(seed, 2 * stream, STATES), b = philox_quad(seed, 2 * stream + 1, STATES);
  xorwow made = {{a.words[0], a.words[1], a.words[2], a.words[3], b.words[0] | 1}, b.words[1]};
  return made;
}
FUNCTION uint32_t xorwow_word(xorwow *of) {
  uint32_t mixed = of->x[0] ^ of->x[0] >> 2, last = of->x[4];
  of->x[0] = of->x[1], of->x[1] = of->x[2], of->x[2] = of->x[3], of->x[3] = last;
  of->x[4] = last ^ last << 4 ^ mixed ^ mixed << 1;
  of->d += 362437;
  return of->x[4] + of->d;
}

typedef struct { uint64_t first[3], second[3]; } mrg32k3a;
#define MRG_FIRST 4294967087u
#define MRG_SECOND 4294944443u

FUNCTION mrg32k3a mrg32k3a_of(uint64_t seed, uint64_t stream) {
  quad a = philox_quad(seed, 2 * stream, STATES), b = philox_quad(seed, 2 * stream + 1, STATES);
  mrg32k3a made = {{a.words[0] % (MRG_FIRST - 1) + 1, a.words[1] % MRG_FIRST, a.words[2] % MRG_FIRST},
                   {b.words[0] % (MRG_SECOND - 1) + 1, b.words[1] % MRG_SECOND, b.words[2] % MRG_SECOND}};
  return made;
}
FUNCTION uint32_t mrg32k3a_word(mrg32k3a *of) {
  uint64_t a = (1403580 * of->first[1] + (uint64_t)810728 * (MRG_FIRST - of->first[0])) % MRG_FIRST;
  uint64_t b = (527612 * of->second[2] + (uint64_t)1370589 * (MRG_SECOND - of->second[0])) % MRG_SECOND;
  of->first[0] = of->first[1], of->first[1] = of->first[2], of->first[2] = a;
  of->second[0] = of->second[1], of->second[1] = of->second[2], of->second[2] = b;
  return (uint32_t)(a >= b ? a - b : a + MRG_FIRST - b);
}

#define QUAD_OF(name)                                                                       \
  FUNCTION quad name##_quad(name *of) {                                                     \
    quad made;                                                                              \
    for (int i = 0; i < 4; i++) made.words[i] = name##_word(of);                            \
    return made;                                                                            \
  }
QUAD_OF(xorwow)
QUAD_OF(mrg32k3a)

/* ---- numbers of words: functions of our own, so that host and device agree ---- */

#define REAL float
#define BITS int32_t
#define OF(name) name##_f32
#define FRACTION_BITS 23
#define ROOT_HALF 0x3F3504F3
#define ONE 0x3F800000
#define LOG_TERMS 5
#define SINE_TERMS 5
#define EXP_TERMS 8
#define MOST_EXPONENT 252
#define LOG2_HIGH 0x1.62e4p-1f
#define LOG2_LOW 0x1.7f7d1cp-20f
#define SQUARE_ROOT __builtin_sqrtf
#include "random_numbers.h"

#define REAL double
#define BITS int64_t
#define OF(name) name##_f64
#define FRACTION_BITS 52
#define ROOT_HALF 0x3FE6A09E667F3BCD
#define ONE 0x3FF0000000000000
#define LOG_TERMS 11
#define SINE_TERMS 9
#define EXP_TERMS 14
#define MOST_EXPONENT 2044
#define LOG2_HIGH 0x1.62e42feep-1
#define LOG2_LOW 0x1.a39ef35793c76p-33
#define SQUARE_ROOT __builtin_sqrt
#include "random_numbers.h"

FUNCTION float uniform_f32(uint32_t word) { return (float)word * 0x1p-32f + 0x1p-33f; }
FUNCTION double uniform_f64(uint32_t low, uint32_t high) {
  return (double)(((uint64_t)high << 32 | low) >> 11) * 0x1p-53 + 0x1p-54;
}
#endif
