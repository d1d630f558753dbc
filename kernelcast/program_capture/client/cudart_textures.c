/* Arrays, textures and surfaces. */
#include "cudart.h"

enum { OF_ARRAY, OF_MIPMAPPED, OF_LINE, OF_ROWS };

API channel_format cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return (channel_format){x, y, z, w, kind};
}

API status cudaMalloc3DArray(array **to, const channel_format *format, extent size, unsigned flags) {
  return done(kc_create_array(to, *format, size, flags));
}
API status cudaMallocArray(array **to, const channel_format *format, size_t width, size_t height,
                           unsigned flags) {
  return cudaMalloc3DArray(to, format, (extent){width, height, 0}, flags);
}
API status cudaFreeArray(array *freed) { return done(kc_free_array(freed)); }
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
API status cudaMallocMipmappedArray(mipmapped_array **to, const channel_format *format, extent size,
                                    unsigned levels, unsigned flags) {
  return done(kc_create_mipmapped(to, *format, size, flags, levels));
}
API status cudaGetMipmappedArrayLevel(array **to, const mipmapped_array *of, unsigned level) {
  if (level >= of->levels) return done(KC_INVALID_VALUE);
  *to = of->level[level];
  return 0;
}
API status cudaFreeMipmappedArray(mipmapped_array *freed) { return done(kc_free_mipmapped(freed)); }

static void set_resource(kc_texture *to, const resource *from) {
  switch (from->kind) {
    case OF_LINE:
      kc_of_line(to, number(from->of.linear.ptr), from->of.linear.format, from->of.linear.bytes);
      break;
    case OF_ROWS:
      kc_of_rows(to, number(from->of.pitched.ptr), from->of.pitched.format, from->of.pitched.width,
                 from->of.pitched.height, from->of.pitched.pitch);
      break;
    case OF_MIPMAPPED: kc_of_mipmapped(to, from->of.of_mipmapped); break;
    default: kc_of_array(to, from->of.of_array);
  }
}

API status cudaCreateTextureObject(unsigned long long *to, const resource *from,
                                   const texture_description *how, const void *view) {
  (void)view;
  kc_texture words = {0};
  set_resource(&words, from);
  for (int i = 0; i < 3; i++) words.address_mode[i] = (uint64_t)how->address_mode[i];
  words.filter_mode = (uint64_t)how->filter_mode, words.read_mode = (uint64_t)how->read_mode;
  words.is_normalized = how->is_normalized != 0;
  return done(
      kc_create_texture(to, &words, from->kind == OF_MIPMAPPED ? from->of.of_mipmapped : NULL));
}
API status cudaCreateTextureObject_v2(unsigned long long *to, const resource *from,
                                      const texture_description *how, const void *view) {
  return cudaCreateTextureObject(to, from, how, view);
}
API status cudaCreateSurfaceObject(unsigned long long *to, const resource *from) {
  kc_texture words = {.is_surface = 1};
  set_resource(&words, from);
  return done(kc_create_texture(to, &words, NULL));
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
