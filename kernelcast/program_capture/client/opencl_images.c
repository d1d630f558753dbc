/* Images and samplers. Texels lie in rows where program and kernels see them alike. */
#include <stdlib.h>
#include <string.h>

#include "opencl.h"

API memory *clCreateBuffer(context *in, uint64_t flags, size_t size, void *host, status *error);

/* ---- formats ---- */

enum { R = 0x10B0, A, RG, RA, RGB, RGBA, BGRA, ARGB, INTENSITY, LUMINANCE };
enum { SNORM_INT8 = 0x10D0, SNORM_INT16, UNORM_INT8, UNORM_INT16, SHORT_565, SHORT_555, INT_101010,
       SIGNED_INT8, SIGNED_INT16, SIGNED_INT32, UNSIGNED_INT8, UNSIGNED_INT16, UNSIGNED_INT32, HALF,
       FLOAT };

static const uint32_t orders[] = {R, A, RG, RA, RGBA, BGRA, ARGB, INTENSITY, LUMINANCE};
static const uint32_t types[] = {SNORM_INT8, SNORM_INT16, UNORM_INT8, UNORM_INT16, SIGNED_INT8,
                                 SIGNED_INT16, SIGNED_INT32, UNSIGNED_INT8, UNSIGNED_INT16,
                                 UNSIGNED_INT32, HALF, FLOAT};
#define COUNT(list) (sizeof(list) / sizeof *(list))

static size_t bytes_of_type(uint32_t type) {
  switch (type) {
    case SNORM_INT8: case UNORM_INT8: case SIGNED_INT8: case UNSIGNED_INT8: return 1;
    case SNORM_INT16: case UNORM_INT16: case SIGNED_INT16: case UNSIGNED_INT16: case HALF: return 2;
    case SIGNED_INT32: case UNSIGNED_INT32: case FLOAT: return 4;
    default: return 0;
  }
}

static int is_integer(uint32_t type) { return type >= SIGNED_INT8 && type <= UNSIGNED_INT32; }

/* Bytes of a texel; 0 for a format that there is not. */
static size_t texel_bytes(image_format of) {
  size_t bytes = bytes_of_type(of.type);
  switch (of.order) {
    case R: case A: return bytes;
    case RG: case RA: return 2 * bytes;
    case RGBA: return 4 * bytes;
    case BGRA: case ARGB: return bytes == 1 ? 4 : 0;
    case INTENSITY: case LUMINANCE: return is_integer(of.type) ? 0 : bytes;
    default: return 0;
  }
}

API status clGetSupportedImageFormats(context *in, uint64_t flags, uint32_t type, uint32_t room,
                                      image_format *to, uint32_t *count) {
  (void)flags;
  if (!is(in, CONTEXT)) return CL_INVALID_CONTEXT;
  if (type < CL_MEM_OBJECT_IMAGE2D || type > CL_MEM_OBJECT_IMAGE1D_BUFFER) return CL_INVALID_VALUE;
  uint32_t found = 0;
  for (size_t i = 0; i < COUNT(orders); i++)
    for (size_t j = 0; j < COUNT(types); j++) {
      image_format one = {orders[i], types[j]};
      if (!texel_bytes(one)) continue;
      if (to && found < room) to[found] = one;
      found++;
    }
  if (count) *count = found;
  return CL_SUCCESS;
}

/* ---- making ---- */

static int dimensions_of(uint32_t type) {
  if (type == CL_MEM_OBJECT_IMAGE3D) return 3;
  return type == CL_MEM_OBJECT_IMAGE2D || type == CL_MEM_OBJECT_IMAGE2D_ARRAY ? 2 : 1;
}

static int is_array(uint32_t type) {
  return type == CL_MEM_OBJECT_IMAGE1D_ARRAY || type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
}

/* Sizes that a type does not have are 1 from here on. */
static status complete(image_description *it, size_t texel) {
  int dimensions = dimensions_of(it->type);
  if (it->type < CL_MEM_OBJECT_IMAGE2D || it->type > CL_MEM_OBJECT_IMAGE1D_BUFFER || it->levels ||
      it->samples)
    return CL_INVALID_IMAGE_DESCRIPTOR;
  if (dimensions < 2) it->height = 1;
  if (dimensions < 3) it->depth = 1;
  if (!is_array(it->type)) it->layers = 1;
  if (!it->width || !it->height || !it->depth || !it->layers) return CL_INVALID_IMAGE_SIZE;
  if (!it->row_pitch) it->row_pitch = it->width * texel;
  if (!it->slice_pitch) it->slice_pitch = it->row_pitch * it->height;
  int is_narrow = it->row_pitch < it->width * texel || it->slice_pitch < it->row_pitch * it->height;
  return is_narrow ? CL_INVALID_IMAGE_DESCRIPTOR : CL_SUCCESS;
}

static status make_object(memory *it) {
  const image_description *image = &it->image;
  return error_of(KC_ASK_FOR(it->object, KC_CL_IMAGE, (uint64_t)(uintptr_t)it->bytes, image->type,
                             it->format.order, it->format.type, image->width, image->height,
                             image->depth, image->layers, image->row_pitch, image->slice_pitch));
}

/* An image over a buffer. */
static memory *over_buffer(memory *of, uint64_t flags, size_t bytes, status *error) {
  if (!is(of, MEMORY) || of->type != CL_MEM_OBJECT_BUFFER)
    return failed(error, CL_INVALID_IMAGE_DESCRIPTOR);
  if (bytes > of->size) return failed(error, CL_INVALID_IMAGE_SIZE);
  memory *made = make(MEMORY, sizeof *made);
  made->in = of->in, made->size = bytes, made->parent = of, made->bytes = of->bytes;
  made->flags = flags & 7 ? flags : flags | (of->flags & 7);
  made->host = of->host;
  retain(of, MEMORY, 0);
  retain(of->in, CONTEXT, 0);
  return made;
}

API memory *clCreateImage(context *in, uint64_t flags, const image_format *format,
                          const image_description *description, void *host, status *error) {
  if (!is(in, CONTEXT)) return failed(error, CL_INVALID_CONTEXT);
  if (!format || !description) return failed(error, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
  size_t texel = texel_bytes(*format);
  if (!texel) return failed(error, CL_IMAGE_FORMAT_NOT_SUPPORTED);
  image_description image = *description;
  status failure = complete(&image, texel);
  if (failure) return failed(error, failure);
  size_t bytes = image.slice_pitch * image.depth * image.layers;
  memory *made = image.memory ? over_buffer(image.memory, flags, bytes, error)
                              : clCreateBuffer(in, flags, bytes, host, error);
  if (!made) return NULL;
  made->type = image.type, made->format = *format, made->image = image, made->texel_bytes = texel;
  failure = make_object(made);
  if (failure) {
    release_memory(made);
    return failed(error, failure);
  }
  if (error) *error = CL_SUCCESS;
  return made;
}

API memory *clCreateImageWithProperties(context *in, const uint64_t *properties, uint64_t flags,
                                        const image_format *format,
                                        const image_description *description, void *host,
                                        status *error) {
  if (properties && properties[0]) return failed(error, CL_INVALID_PROPERTY);
  return clCreateImage(in, flags, format, description, host, error);
}

API memory *clCreateImage2D(context *in, uint64_t flags, const image_format *format, size_t width,
                            size_t height, size_t row_pitch, void *host, status *error) {
  image_description image = {.type = CL_MEM_OBJECT_IMAGE2D, .width = width, .height = height,
                             .row_pitch = row_pitch};
  return clCreateImage(in, flags, format, &image, host, error);
}

API memory *clCreateImage3D(context *in, uint64_t flags, const image_format *format, size_t width,
                            size_t height, size_t depth, size_t row_pitch, size_t slice_pitch,
                            void *host, status *error) {
  image_description image = {.type = CL_MEM_OBJECT_IMAGE3D, .width = width, .height = height,
                             .depth = depth, .row_pitch = row_pitch, .slice_pitch = slice_pitch};
  return clCreateImage(in, flags, format, &image, host, error);
}

API status clGetImageInfo(const memory *of, uint32_t name, size_t room, void *to, size_t *needed) {
  if (!is(of, MEMORY) || !of->object) return CL_INVALID_MEM_OBJECT;
  const image_description *image = &of->image;
  int dimensions = dimensions_of(image->type), has_slices = dimensions == 3 || is_array(image->type);
  switch (name) {
    case CL_IMAGE_FORMAT: return give(&of->format, sizeof of->format, room, to, needed);
    case CL_IMAGE_ELEMENT_SIZE: return GIVE(size_t, of->texel_bytes);
    case CL_IMAGE_ROW_PITCH: return GIVE(size_t, image->row_pitch);
    case CL_IMAGE_SLICE_PITCH: return GIVE(size_t, has_slices ? image->slice_pitch : 0);
    case CL_IMAGE_WIDTH: return GIVE(size_t, image->width);
    case CL_IMAGE_HEIGHT: return GIVE(size_t, dimensions > 1 ? image->height : 0);
    case CL_IMAGE_DEPTH: return GIVE(size_t, dimensions > 2 ? image->depth : 0);
    case CL_IMAGE_ARRAY_SIZE: return GIVE(size_t, is_array(image->type) ? image->layers : 0);
    case CL_IMAGE_BUFFER: return GIVE(void *, image->memory);
    case CL_IMAGE_NUM_MIP_LEVELS:
    case CL_IMAGE_NUM_SAMPLES: return GIVE(uint32_t, 0);
    default: return CL_INVALID_VALUE;
  }
}

/* ---- samplers ---- */

API sampler *clCreateSampler(context *in, uint32_t is_normalized, uint32_t addressing,
                             uint32_t filter, status *error) {
  if (!is(in, CONTEXT)) return failed(error, CL_INVALID_CONTEXT);
  sampler *made = make(SAMPLER, sizeof *made);
  made->in = in, made->is_normalized = is_normalized != 0;
  made->addressing = addressing, made->filter = filter;
  status failure = error_of(KC_ASK_FOR(made->object, KC_CL_SAMPLER, (uint64_t)made->is_normalized,
                                       addressing, filter));
  if (failure) {
    free(made);
    return failed(error, failure);
  }
  retain(in, CONTEXT, 0);
  if (error) *error = CL_SUCCESS;
  return made;
}

API sampler *clCreateSamplerWithProperties(context *in, const uint64_t *properties, status *error) {
  uint32_t values[] = {1, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST};
  for (; properties && *properties; properties += 2) {
    uint64_t place = properties[0] - CL_SAMPLER_NORMALIZED_COORDS;
    if (place >= COUNT(values)) return failed(error, CL_INVALID_VALUE);
    values[place] = (uint32_t)properties[1];
  }
  return clCreateSampler(in, values[0], values[1], values[2], error);
}

API status clRetainSampler(sampler *it) { return retain(it, SAMPLER, CL_INVALID_SAMPLER); }

API status clReleaseSampler(sampler *it) {
  if (!is(it, SAMPLER)) return CL_INVALID_SAMPLER;
  if (drop(it)) return CL_SUCCESS;
  KC_POST(KC_TEXTURE_DESTROY, it->object);
  release_context(it->in);
  free(it);
  return CL_SUCCESS;
}

API status clGetSamplerInfo(const sampler *of, uint32_t name, size_t room, void *to, size_t *needed) {
  if (!is(of, SAMPLER)) return CL_INVALID_SAMPLER;
  switch (name) {
    case CL_SAMPLER_REFERENCE_COUNT: return GIVE(uint32_t, (uint32_t)of->head.references);
    case CL_SAMPLER_CONTEXT: return GIVE(void *, of->in);
    case CL_SAMPLER_NORMALIZED_COORDS: return GIVE(uint32_t, of->is_normalized);
    case CL_SAMPLER_ADDRESSING_MODE: return GIVE(uint32_t, of->addressing);
    case CL_SAMPLER_FILTER_MODE: return GIVE(uint32_t, of->filter);
    default: return CL_INVALID_VALUE;
  }
}
