#include "arrays.h"

#include <stdlib.h>

enum { LAYERED = 1, CUBEMAP = 4, MOST_LEVELS = 16 };

size_t kc_element_bytes(kc_channels format) {
  return (size_t)(format.x + format.y + format.z + format.w) / 8;
}

static size_t at_least_one(size_t size) { return size ? size : 1; }

int kc_create_array(kc_array **to, kc_channels format, kc_extent size, unsigned flags) {
  kc_array *made = calloc(1, sizeof *made);
  made->format = format, made->size = size, made->flags = flags;
  made->element_bytes = kc_element_bytes(format);
  made->pitch = made->element_bytes * size.width;
  made->slice = made->pitch * at_least_one(size.height);
  int failure = KC_ASK_FOR(made->address, KC_ALLOCATE, made->slice * at_least_one(size.depth),
                           (uint64_t)KC_ARRAY);
  *to = made;
  return failure;
}

int kc_free_array(kc_array *freed) {
  if (!freed) return KC_SUCCESS;
  int failure = KC_ASK(KC_FREE, freed->address, (uint64_t)KC_ARRAY);
  free(freed);
  return failure;
}

static size_t halved(size_t size) { return size > 1 ? size / 2 : size; }

int kc_create_mipmapped(kc_mipmapped_array **to, kc_channels format, kc_extent size, unsigned flags,
                        unsigned levels) {
  if (levels > MOST_LEVELS) return KC_INVALID_VALUE;
  kc_mipmapped_array *made = calloc(1, sizeof *made);
  for (made->levels = 0; made->levels < levels; made->levels++) {
    int failure = kc_create_array(&made->level[made->levels], format, size, flags);
    if (failure) return failure;
    size = (kc_extent){halved(size.width), halved(size.height), halved(size.depth)};
  }
  *to = made;
  return KC_SUCCESS;
}

int kc_free_mipmapped(kc_mipmapped_array *freed) {
  for (unsigned level = 0; level < freed->levels; level++) kc_free_array(freed->level[level]);
  free(freed);
  return KC_SUCCESS;
}

uint64_t kc_in_array(const kc_array *in, size_t x_bytes, size_t y, size_t z) {
  return in->address + z * in->slice + y * in->pitch + x_bytes;
}

static void set_format(kc_texture *to, kc_channels format) {
  to->channels = (uint64_t)((format.x > 0) + (format.y > 0) + (format.z > 0) + (format.w > 0));
  to->channel_bits = (uint64_t)format.x, to->channel_kind = (uint64_t)format.kind;
}

void kc_of_array(kc_texture *to, const kc_array *from) {
  int is_layered = from->flags & LAYERED;
  to->address = from->address, to->pitch = from->pitch;
  to->width = from->size.width, to->height = from->size.height, to->depth = from->size.depth;
  to->is_cubemap = (from->flags & CUBEMAP) != 0;
  if (is_layered) to->layers = from->size.depth, to->depth = 0;
  to->shape = 1 + (to->height > 0) + (to->depth > 0 && !to->is_cubemap);
  set_format(to, from->format);
}

void kc_of_mipmapped(kc_texture *to, const kc_mipmapped_array *from) {
  kc_of_array(to, from->level[0]);
  to->levels = from->levels;
}

void kc_of_line(kc_texture *to, uint64_t address, kc_channels format, size_t bytes) {
  set_format(to, format);
  to->address = address;
  to->width = bytes / kc_element_bytes(format);
}

void kc_of_rows(kc_texture *to, uint64_t address, kc_channels format, size_t width, size_t height,
                size_t pitch) {
  set_format(to, format);
  to->address = address, to->shape = 2;
  to->width = width, to->height = height, to->pitch = pitch;
}

int kc_create_texture(unsigned long long *to, const kc_texture *words,
                      const kc_mipmapped_array *levels) {
  uint64_t addresses[MOST_LEVELS] = {0}, made = 0;
  unsigned count = levels ? levels->levels : 0;
  for (unsigned level = 0; level < count; level++) addresses[level] = levels->level[level]->address;
  int failure = kc_ask(KC_TEXTURE_CREATE, words, sizeof *words, addresses, count * sizeof *addresses,
                       &made, sizeof made, NULL);
  *to = made;
  return failure;
}
