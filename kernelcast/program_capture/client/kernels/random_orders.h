/* What a program asks of a generator, for C and for CUDA C++. */
#ifndef KERNELCAST_RANDOM_ORDERS_H
#define KERNELCAST_RANDOM_ORDERS_H
#include "random_streams.h"

enum { WORDS, UNIFORM_F32, UNIFORM_F64, NORMAL_F32, NORMAL_F64, DISTRIBUTIONS };

/* `count` numbers of one distribution, from the word `position` of a sequence on. */
typedef struct {
  void *to;
  uint64_t position, count;
  double mean, deviation;
  int is_log;
} order;

typedef union { float numbers[4]; uint32_t words[4]; } __attribute__((aligned(16))) four;
typedef struct { double numbers[2]; } __attribute__((aligned(16))) two;

/* Writes the numbers that are made of a quad; those of other places are not asked for. */
FUNCTION void put_words(const order *how, uint64_t quad_number, four made) {
  uint64_t first = 4 * quad_number - how->position;
  uint32_t *to = (uint32_t *)how->to + first;
  if (first < how->count && first + 3 < how->count && (uintptr_t)to % sizeof made == 0) {
    *(four *)to = made;
    return;
  }
  for (int i = 0; i < 4; i++)
    if (first + i < how->count) to[i] = made.words[i];
}
FUNCTION void put_f64(const order *how, uint64_t quad_number, two made) {
  uint64_t first = 2 * quad_number - how->position / 2;
  double *to = (double *)how->to + first;
  if (first < how->count && first + 1 < how->count && (uintptr_t)to % sizeof made == 0) {
    *(two *)to = made;
    return;
  }
  for (int i = 0; i < 2; i++)
    if (first + i < how->count) to[i] = made.numbers[i];
}

FUNCTION void put_quad(const order *how, int distribution, uint64_t number, quad q) {
  four made;
  two pair;
  for (int i = 0; i < 4; i++) made.words[i] = q.words[i];
  if (distribution == UNIFORM_F32)
    for (int i = 0; i < 4; i++) made.numbers[i] = uniform_f32(q.words[i]);
  if (distribution == NORMAL_F32)
    for (int i = 0; i < 4; i += 2)
      normal_pair_f32(uniform_f32(q.words[i]), uniform_f32(q.words[i + 1]), (float)how->mean,
                      (float)how->deviation, how->is_log, made.numbers + i);
  if (distribution != UNIFORM_F64 && distribution != NORMAL_F64) {
    put_words(how, number, made);
    return;
  }
  for (int i = 0; i < 2; i++) pair.numbers[i] = uniform_f64(q.words[2 * i], q.words[2 * i + 1]);
  if (distribution == NORMAL_F64)
    normal_pair_f64(pair.numbers[0], pair.numbers[1], how->mean, how->deviation, how->is_log,
                    pair.numbers);
  put_f64(how, number, pair);
}

/* The quad behind the last one that has numbers which are asked for. */
FUNCTION uint64_t end_of(const order *how, int distribution) {
  int is_double = distribution == UNIFORM_F64 || distribution == NORMAL_F64;
  return (how->position + how->count * (is_double ? 2 : 1) + 3) / 4;
}

/* A thread's part of an order: `group` counts from the sequence's beginning. */
#define PUT_STREAM(name)                                                                       \
  enum { name##_group = GROUP_QUADS };                                                         \
  FUNCTION void put_##name(const order *how, int distribution, uint64_t seed, uint64_t group,  \
                           int stream) {                                                       \
    uint64_t first = how->position / 4, end = end_of(how, distribution);                       \
    name state = name##_of(seed, group * STREAMS + stream);                                    \
    for (uint64_t number = group * GROUP_QUADS + stream, i = 0; i < STREAM_QUADS && number < end; \
         i++, number += STREAMS) {                                                             \
      quad made = name##_quad(&state);                                                         \
      if (number >= first) put_quad(how, distribution, number, made);                          \
    }                                                                                          \
  }
PUT_STREAM(xorwow)
PUT_STREAM(mrg32k3a)

/* The same with Philox, whose quads need no state. */
enum { PHILOX_TURNS = 2, philox_group = STREAMS * PHILOX_TURNS };
FUNCTION void put_philox(const order *how, int distribution, uint64_t seed, uint64_t group, int stream) {
  uint64_t first = how->position / 4, end = end_of(how, distribution);
  for (int i = 0; i < PHILOX_TURNS; i++) {
    uint64_t number = group * philox_group + (uint64_t)(i * STREAMS + stream);
    if (number >= first && number < end)
      put_quad(how, distribution, number, philox_quad(seed, number, 0));
  }
}
#endif
