/* Arrays, textures and surfaces, as the runtime and the driver have them alike. */
#ifndef KERNELCAST_ARRAYS_H
#define KERNELCAST_ARRAYS_H
#include "client.h"

typedef struct { int x, y, z, w, kind; } kc_channels; /* bits of each; 0 signed, 1 unsigned, 2 float */
typedef struct { size_t width, height, depth; } kc_extent;

/* An array is memory of the device in plain rows; programs only hold its address. */
typedef struct {
  uint64_t address;
  kc_channels format;
  kc_extent size; /* as it was asked for: 0 stands for a dimension that there is not */
  unsigned flags;
  size_t element_bytes, pitch, slice;
} kc_array;
typedef struct { unsigned levels; kc_array *level[16]; } kc_mipmapped_array;

KC_PUBLIC size_t kc_element_bytes(kc_channels format);
KC_PUBLIC int kc_create_array(kc_array **to, kc_channels format, kc_extent size, unsigned flags);
KC_PUBLIC int kc_free_array(kc_array *freed);
KC_PUBLIC int kc_create_mipmapped(kc_mipmapped_array **to, kc_channels format, kc_extent size,
                                  unsigned flags, unsigned levels);
KC_PUBLIC int kc_free_mipmapped(kc_mipmapped_array *freed);
/* Where a byte of an array is. */
KC_PUBLIC uint64_t kc_in_array(const kc_array *in, size_t x_bytes, size_t y, size_t z);
/* Words of a texture that reads an array, all levels of one, a line of `bytes`, or rows. */
KC_PUBLIC void kc_of_array(kc_texture *to, const kc_array *from);
KC_PUBLIC void kc_of_mipmapped(kc_texture *to, const kc_mipmapped_array *from);
KC_PUBLIC void kc_of_line(kc_texture *to, uint64_t address, kc_channels format, size_t bytes);
KC_PUBLIC void kc_of_rows(kc_texture *to, uint64_t address, kc_channels format, size_t width,
                          size_t height, size_t pitch);
/* The number of a new texture; `levels` are those that it reads, or NULL. */
KC_PUBLIC int kc_create_texture(unsigned long long *to, const kc_texture *words,
                                const kc_mipmapped_array *levels);
#endif
