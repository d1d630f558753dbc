/* Arrays, textures and surfaces. */
#include "driver_types.h"

enum { READ_AS_INTEGER = 1, NORMALIZED_COORDINATES = 2, SIGNED_FORMAT = 8 };
enum { OF_ARRAY, OF_MIPMAPPED, OF_LINE, OF_ROWS };

/* Bits and kind of a format's number: whole numbers of 8, 16 and 32 bits, half and single floats. */
static int channels_of(kc_channels *to, int format, unsigned channels) {
  enum { HALF = 0x10, SINGLE = 0x20 };
  int is_float = format == HALF || format == SINGLE;
  int size = format == HALF ? 2 : format == SINGLE ? 3 : format & (SIGNED_FORMAT - 1);
  if (size < 1 || size > 3 || (!is_float && format > (SIGNED_FORMAT | 3))) return KC_NOT_SUPPORTED;
  if (channels != 1 && channels != 2 && channels != 4) return KC_INVALID_VALUE;
  int bits = 4 << size;
  *to = (kc_channels){bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 2 ? bits : 0,
                      is_float ? 2 : format & SIGNED_FORMAT ? 0 : 1};
  return 0;
}

static int format_of(kc_channels channels) {
  if (channels.kind == 2) return channels.x == 16 ? 0x10 : 0x20;
  return (channels.x == 8 ? 1 : channels.x == 16 ? 2 : 3) + (channels.kind ? 0 : SIGNED_FORMAT);
}
static unsigned count_of(kc_channels channels) {
  return (unsigned)((channels.x > 0) + (channels.y > 0) + (channels.z > 0) + (channels.w > 0));
}

API status cuArray3DCreate_v2(kc_array **to, const box_description *how) {
  kc_channels format;
  status failure = channels_of(&format, how->format, how->channels);
  if (failure == KC_NOT_SUPPORTED) return kc_refuse("an array of compressed or packed elements");
  if (failure) return failure;
  return done(kc_create_array(to, format, (kc_extent){how->width, how->height, how->depth}, how->flags));
}
API status cuArrayCreate_v2(kc_array **to, const array_description *how) {
  box_description box = {how->width, how->height, 0, how->format, how->channels, 0};
  return cuArray3DCreate_v2(to, &box);
}
API status cuArrayDestroy(kc_array *destroyed) { return done(kc_free_array(destroyed)); }
API status cuArray3DGetDescriptor_v2(box_description *to, const kc_array *of) {
  *to = (box_description){of->size.width,        of->size.height,     of->size.depth,
                          format_of(of->format), count_of(of->format), of->flags};
  return 0;
}
API status cuArrayGetDescriptor_v2(array_description *to, const kc_array *of) {
  *to = (array_description){of->size.width, of->size.height, format_of(of->format), count_of(of->format)};
  return 0;
}
API status cuMipmappedArrayCreate(kc_mipmapped_array **to, const box_description *how, unsigned levels) {
  kc_channels format;
  status failure = channels_of(&format, how->format, how->channels);
  if (failure == KC_NOT_SUPPORTED) return kc_refuse("an array of compressed or packed elements");
  if (failure) return failure;
  kc_extent size = {how->width, how->height, how->depth};
  return done(kc_create_mipmapped(to, format, size, how->flags, levels));
}
API status cuMipmappedArrayGetLevel(kc_array **to, const kc_mipmapped_array *of, unsigned level) {
  if (level >= of->levels) return KC_INVALID_VALUE;
  *to = of->level[level];
  return 0;
}
API status cuMipmappedArrayDestroy(kc_mipmapped_array *destroyed) {
  return done(kc_free_mipmapped(destroyed));
}

static status set_resource(kc_texture *to, const driver_resource *from) {
  kc_channels format = {0, 0, 0, 0, 0};
  status failure = 0;
  if (from->kind == OF_LINE) {
    failure = channels_of(&format, from->of.linear.format, from->of.linear.channels);
    if (!failure) kc_of_line(to, from->of.linear.at, format, from->of.linear.bytes);
  } else if (from->kind == OF_ROWS) {
    failure = channels_of(&format, from->of.pitched.format, from->of.pitched.channels);
    if (!failure)
      kc_of_rows(to, from->of.pitched.at, format, from->of.pitched.width, from->of.pitched.height,
                 from->of.pitched.pitch);
  } else if (from->kind == OF_MIPMAPPED) {
    kc_of_mipmapped(to, from->of.handle);
  } else {
    kc_of_array(to, from->of.handle);
  }
  return failure;
}

API status cuTexObjectCreate(unsigned long long *to, const driver_resource *from,
                             const driver_texture *how, const void *view) {
  (void)view;
  kc_texture words = {0};
  status failure = set_resource(&words, from);
  if (failure) return failure;
  for (int i = 0; i < 3; i++) words.address_mode[i] = (uint64_t)how->address_mode[i];
  words.filter_mode = (uint64_t)how->filter_mode;
  words.is_normalized = (how->flags & NORMALIZED_COORDINATES) != 0;
  /* Small whole numbers are read as fractions unless the program wants them as they are. */
  int is_small = words.channel_kind != 2 && words.channel_bits < 32;
  words.read_mode = is_small && !(how->flags & READ_AS_INTEGER);
  return done(kc_create_texture(to, &words, from->kind == OF_MIPMAPPED ? from->of.handle : NULL));
}
API status cuTexObjectDestroy(unsigned long long texture) {
  return done(KC_ASK(KC_TEXTURE_DESTROY, texture));
}
API status cuSurfObjectCreate(unsigned long long *to, const driver_resource *from) {
  kc_texture words = {.is_surface = 1};
  status failure = set_resource(&words, from);
  return failure ? failure : done(kc_create_texture(to, &words, NULL));
}
ALSO(cuTexObjectDestroy, cuSurfObjectDestroy)
