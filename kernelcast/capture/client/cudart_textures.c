/* Arrays, textures and surfaces. */
#include <stdlib.h>
#include <string.h>

#include "cudart.h"

enum { ALIGNMENT = 256, LAYERED = 1, CUBEMAP = 4, LINEAR = 2, PITCHED = 3 };

static size_t element_bytes(channel_format format) {
  return (size_t)(format.x + format.y + format.z + format.w) / 8;
}

API channel_format cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return (channel_format){x, y, z, w, kind};
}

static size_t at_least_one(size_t size) { return size ? size : 1; }

API status cudaMalloc3DArray(array **to, const channel_format *format, extent size, unsigned flags) {
  array *made = calloc(1, sizeof *made);
  made->format = *format, made->size = size, made->flags = flags;
  made->element_bytes = element_bytes(*format);
  made->pitch = made->element_bytes * size.width;
  made->slice = made->pitch * at_least_one(size.height);
  status failure = KC_ASK_FOR(made->address, KC_ALLOCATE, made->slice * at_least_one(size.depth),
                              (uint64_t)KC_ARRAY);
  *to = made;
  return done(failure);
}
API status cudaMallocArray(array **to, const channel_format *format, size_t width, size_t height,
                           unsigned flags) {
  return cudaMalloc3DArray(to, format, (extent){width, height, 0}, flags);
}
API status cudaFreeArray(array *freed) {
  if (!freed) return 0;
  status failure = KC_ASK(KC_FREE, freed->address, (uint64_t)KC_ARRAY);
  free(freed);
  return done(failure);
}
API status cudaArrayGetInfo(channel_format *format, extent *size, unsigned *flags, const array *of) {
  if (format) *format = of->format;
  if (size) *size = of->size;
  if (flags) *flags = of->flags;
  return 0;
}
API status cudaGetChannelDesc(channel_format *format, const array *of) {
  *format = of->format;
  return 0;
}

static size_t halved(size_t size) { return size > 1 ? size / 2 : size; }

API status cudaMallocMipmappedArray(mipmapped_array **to, const channel_format *format, extent size,
                                    unsigned levels, unsigned flags) {
  mipmapped_array *made = calloc(1, sizeof *made);
  if (levels > 16) return done(KC_INVALID_VALUE);
  for (made->levels = 0; made->levels < levels; made->levels++) {
    status failure = cudaMalloc3DArray(&made->level[made->levels], format, size, flags);
    if (failure) return failure;
    size = (extent){halved(size.width), halved(size.height), halved(size.depth)};
  }
  *to = made;
  return 0;
}
API status cudaGetMipmappedArrayLevel(array **to, const mipmapped_array *of, unsigned level) {
  if (level >= of->levels) return done(KC_INVALID_VALUE);
  *to = of->level[level];
  return 0;
}
API status cudaFreeMipmappedArray(mipmapped_array *freed) {
  for (unsigned level = 0; level < freed->levels; level++) cudaFreeArray(freed->level[level]);
  free(freed);
  return 0;
}

static void set_format(kc_texture *to, channel_format format) {
  to->channels = (uint64_t)((format.x > 0) + (format.y > 0) + (format.z > 0) + (format.w > 0));
  to->channel_bits = (uint64_t)format.x, to->channel_kind = (uint64_t)format.kind;
}

static void set_array(kc_texture *to, const array *of) {
  int is_layered = of->flags & LAYERED;
  to->address = of->address, to->pitch = of->pitch;
  to->width = of->size.width, to->height = of->size.height, to->depth = of->size.depth;
  to->is_cubemap = (of->flags & CUBEMAP) != 0;
  if (is_layered) to->layers = of->size.depth, to->depth = 0;
  to->shape = 1 + (to->height > 0) + (to->depth > 0 && !to->is_cubemap);
  set_format(to, of->format);
}

static void set_resource(kc_texture *to, const resource *from) {
  if (from->kind == LINEAR) {
    set_format(to, from->of.linear.format);
    to->address = number(from->of.linear.ptr);
    to->width = from->of.linear.bytes / element_bytes(from->of.linear.format);
  } else if (from->kind == PITCHED) {
    set_format(to, from->of.pitched.format);
    to->address = number(from->of.pitched.ptr), to->shape = 2;
    to->width = from->of.pitched.width, to->height = from->of.pitched.height;
    to->pitch = from->of.pitched.pitch;
  } else if (from->kind == 1) {
    set_array(to, from->of.of_mipmapped->level[0]);
    to->levels = from->of.of_mipmapped->levels;
  } else {
    set_array(to, from->of.of_array);
  }
}

static status create(uint64_t *to, const kc_texture *words, const resource *from) {
  uint64_t addresses[16] = {0};
  unsigned levels = from && from->kind == 1 ? from->of.of_mipmapped->levels : 0;
  for (unsigned level = 0; level < levels; level++)
    addresses[level] = from->of.of_mipmapped->level[level]->address;
  return done(kc_ask(KC_TEXTURE_CREATE, words, sizeof *words, addresses, levels * sizeof *addresses,
                     to, sizeof *to, NULL));
}

API status cudaCreateTextureObject(unsigned long long *to, const resource *from,
                                   const texture_description *how, const void *view) {
  (void)view;
  kc_texture words = {0};
  uint64_t made = 0;
  set_resource(&words, from);
  for (int i = 0; i < 3; i++) words.address_mode[i] = (uint64_t)how->address_mode[i];
  words.filter_mode = (uint64_t)how->filter_mode, words.read_mode = (uint64_t)how->read_mode;
  words.is_normalized = how->is_normalized != 0;
  status failure = create(&made, &words, from);
  *to = made;
  return failure;
}
API status cudaCreateTextureObject_v2(unsigned long long *to, const resource *from,
                                      const texture_description *how, const void *view) {
  return cudaCreateTextureObject(to, from, how, view);
}
API status cudaCreateSurfaceObject(unsigned long long *to, const resource *from) {
  kc_texture words = {.is_surface = 1};
  uint64_t made = 0;
  set_resource(&words, from);
  status failure = create(&made, &words, NULL);
  *to = made;
  return failure;
}
API status cudaDestroyTextureObject(unsigned long long texture) {
  return done(KC_ASK(KC_TEXTURE_DESTROY, texture));
}
API status cudaDestroySurfaceObject(unsigned long long surface) { return cudaDestroyTextureObject(surface); }

/* ---- texture references, which CUDA 12 removed: code that samples them is refused ---- */
#if CUDART_MAJOR < 12
#define REFUSED(name) \
  API status name(void) { return done(kc_refuse(#name)); }
REFUSED(cudaBindTexture)
REFUSED(cudaBindTexture2D)
REFUSED(cudaBindTextureToArray)
REFUSED(cudaBindTextureToMipmappedArray)
REFUSED(cudaBindSurfaceToArray)
REFUSED(cudaGetTextureReference)
API status cudaUnbindTexture(const void *reference) {
  (void)reference;
  return 0;
}
#endif
