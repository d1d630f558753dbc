/* Tensor maps: 128 bytes whose meaning the server knows. */
#include <string.h>

#include "driver.h"

enum { MOST_DIMENSIONS = 5, CORNERS = 3, MAP_BYTES = 128, MOST_BOX = 256, MOST_STEP = 8, ALIGNMENT = 16 };
enum { LAST_ELEMENT = 12, LAST_SWIZZLE = 3 };

static status sizes_of(kc_tensor_map *to, uint32_t rank, const uint64_t *sizes, const uint64_t *strides,
                       const uint32_t *box, const uint32_t *steps) {
  if (rank < 1 || rank > MOST_DIMENSIONS) return KC_INVALID_VALUE;
  for (uint32_t i = 0; i < MOST_DIMENSIONS; i++) {
    int is_there = i < rank;
    to->sizes[i] = is_there ? sizes[i] : 1;
    to->box[i] = is_there && box ? box[i] : 1;
    to->steps[i] = is_there ? steps[i] : 1;
    if (!to->sizes[i] || to->sizes[i] > (uint64_t)1 << 32) return KC_INVALID_VALUE;
    if (!to->box[i] || to->box[i] > MOST_BOX) return KC_INVALID_VALUE;
    if (!to->steps[i] || to->steps[i] > MOST_STEP) return KC_INVALID_VALUE;
    if (i + 1 >= rank) continue;
    to->strides[i] = strides[i];
    if (strides[i] % ALIGNMENT) return KC_INVALID_VALUE;
  }
  return 0;
}

static status encode(void *to, const kc_tensor_map *words) {
  char map[MAP_BYTES];
  if (!to || words->address % ALIGNMENT || words->fill > 1) return KC_INVALID_VALUE;
  if (words->element > LAST_ELEMENT) return kc_refuse("a tensor map of packed elements");
  if (words->interleave || words->swizzle > LAST_SWIZZLE)
    return kc_refuse("a tensor map that is interleaved, or swizzled in other units than 16 bytes");
  status failure = kc_ask(KC_TENSOR_MAP, words, sizeof *words, NULL, 0, map, sizeof map, NULL);
  if (!failure) memcpy(to, map, sizeof map);
  return done(failure);
}

API status cuTensorMapEncodeTiled(void *to, unsigned element, uint32_t rank, const void *address,
                                  const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,
                                  const uint32_t *steps, unsigned interleave, unsigned swizzle,
                                  unsigned promotion, unsigned fill) {
  (void)promotion;
  kc_tensor_map words = {.address = number(address), .rank = rank, .element = element,
                         .interleave = interleave, .swizzle = swizzle, .fill = fill};
  status failure = sizes_of(&words, rank, sizes, strides, box, steps);
  return failure ? failure : encode(to, &words);
}

API status cuTensorMapEncodeIm2col(void *to, unsigned element, uint32_t rank, const void *address,
                                   const uint64_t *sizes, const uint64_t *strides, const int *lower,
                                   const int *upper, uint32_t channels, uint32_t pixels,
                                   const uint32_t *steps, unsigned interleave, unsigned swizzle,
                                   unsigned promotion, unsigned fill) {
  (void)promotion;
  kc_tensor_map words = {.address = number(address), .rank = rank, .element = element,
                         .interleave = interleave, .swizzle = swizzle, .fill = fill,
                         .channels = channels, .pixels = pixels};
  status failure = sizes_of(&words, rank, sizes, strides, NULL, steps);
  if (failure || rank < 3) return failure ? failure : KC_INVALID_VALUE;
  for (uint32_t i = 0; i < CORNERS && i < rank - 2; i++)
    words.lower[i] = (uint64_t)(int64_t)lower[i], words.upper[i] = (uint64_t)(int64_t)upper[i];
  return encode(to, &words);
}

API status cuTensorMapReplaceAddress(void *to, const void *address) {
  uint64_t place = number(address);
  if (!to || place % ALIGNMENT) return KC_INVALID_VALUE;
  memcpy(to, &place, sizeof place); /* it stands first */
  return 0;
}
