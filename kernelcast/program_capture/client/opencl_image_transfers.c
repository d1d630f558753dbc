/* Reads, writes, copies, fills and mappings of images. */
#include <stdlib.h>
#include <string.h>

#include "opencl.h"

typedef struct { char *bytes; size_t pitches[2], region[3]; } part;

static size_t largest(size_t first, size_t second) { return first > second ? first : second; }

/* The bytes of a region of an image: rows of an array of rows are its layers. */
static status part_of(part *to, const memory *of, const size_t *origin, const size_t *region) {
  if (!is(of, MEMORY) || !of->object) return CL_INVALID_MEM_OBJECT;
  if (!origin || !region) return CL_INVALID_VALUE;
  const image_description *image = &of->image;
  int has_rows = image->type != CL_MEM_OBJECT_IMAGE1D_ARRAY;
  size_t most[] = {image->width, has_rows ? image->height : image->layers,
                   has_rows ? image->depth * image->layers : 1};
  for (int i = 0; i < 3; i++)
    if (!region[i] || origin[i] > most[i] || region[i] > most[i] - origin[i]) return CL_INVALID_VALUE;
  to->pitches[0] = has_rows ? image->row_pitch : image->slice_pitch;
  to->pitches[1] = image->slice_pitch;
  to->region[0] = region[0] * of->texel_bytes, to->region[1] = region[1], to->region[2] = region[2];
  to->bytes = of->bytes + origin[0] * of->texel_bytes + origin[1] * to->pitches[0] +
              origin[2] * to->pitches[1];
  return CL_SUCCESS;
}

static size_t volume(const part *of) { return of->region[0] * of->region[1] * of->region[2]; }

static void host_pitches(size_t *to, const memory *of, const part *with, size_t row, size_t slice) {
  to[0] = largest(of->type == CL_MEM_OBJECT_IMAGE1D_ARRAY && slice ? slice : row, with->region[0]);
  to[1] = largest(slice, to[0] * with->region[1]);
}

API status clEnqueueReadImage(queue *on, memory *of, uint32_t is_blocking, const size_t *origin,
                              const size_t *region, size_t row_pitch, size_t slice_pitch, void *host,
                              uint32_t count, event *const *before, event **to) {
  part it;
  size_t pitches[2];
  status failure = begin_command(on, (waits){count, before});
  if (!failure) failure = part_of(&it, of, origin, region);
  if (!failure && !host) failure = CL_INVALID_VALUE;
  if (failure) return failure;
  host_pitches(pitches, of, &it, row_pitch, slice_pitch);
  copy_box(host, pitches, it.bytes, it.pitches, it.region);
  move(on, TO_HOST, volume(&it), host);
  return end_command(on, CL_COMMAND_READ_IMAGE, (int)is_blocking, to);
}

API status clEnqueueWriteImage(queue *on, memory *of, uint32_t is_blocking, const size_t *origin,
                               const size_t *region, size_t row_pitch, size_t slice_pitch,
                               const void *host, uint32_t count, event *const *before, event **to) {
  part it;
  size_t pitches[2];
  status failure = begin_command(on, (waits){count, before});
  if (!failure) failure = part_of(&it, of, origin, region);
  if (!failure && !host) failure = CL_INVALID_VALUE;
  if (failure) return failure;
  host_pitches(pitches, of, &it, row_pitch, slice_pitch);
  copy_box(it.bytes, it.pitches, host, pitches, it.region);
  move(on, TO_DEVICE, volume(&it), host);
  return end_command(on, CL_COMMAND_WRITE_IMAGE, (int)is_blocking, to);
}

static status copy_part(queue *on, uint32_t command, const part *into, const part *from, event **to) {
  copy_box(into->bytes, into->pitches, from->bytes, from->pitches, from->region);
  move(on, ON_DEVICE, volume(from), NULL);
  return end_command(on, command, 0, to);
}

API status clEnqueueCopyImage(queue *on, memory *from, memory *into, const size_t *from_origin,
                              const size_t *origin, const size_t *region, uint32_t count,
                              event *const *before, event **to) {
  part source, target;
  status failure = begin_command(on, (waits){count, before});
  if (!failure) failure = part_of(&source, from, from_origin, region);
  if (!failure) failure = part_of(&target, into, origin, region);
  if (!failure && from->texel_bytes != into->texel_bytes) failure = -9; /* formats differ */
  return failure ? failure : copy_part(on, CL_COMMAND_COPY_IMAGE, &target, &source, to);
}

/* Bytes of a buffer as a region of an image, without gaps. */
static status part_of_buffer(part *to, const memory *of, size_t offset, const part *like) {
  if (!is(of, MEMORY) || of->object) return CL_INVALID_MEM_OBJECT;
  if (offset > of->size || volume(like) > of->size - offset) return CL_INVALID_VALUE;
  to->bytes = of->bytes + offset;
  memcpy(to->region, like->region, sizeof to->region);
  to->pitches[0] = like->region[0], to->pitches[1] = like->region[0] * like->region[1];
  return CL_SUCCESS;
}

API status clEnqueueCopyImageToBuffer(queue *on, memory *from, memory *into, const size_t *origin,
                                      const size_t *region, size_t offset, uint32_t count,
                                      event *const *before, event **to) {
  part source, target;
  status failure = begin_command(on, (waits){count, before});
  if (!failure) failure = part_of(&source, from, origin, region);
  if (!failure) failure = part_of_buffer(&target, into, offset, &source);
  return failure ? failure : copy_part(on, CL_COMMAND_COPY_IMAGE_TO_BUFFER, &target, &source, to);
}

API status clEnqueueCopyBufferToImage(queue *on, memory *from, memory *into, size_t offset,
                                      const size_t *origin, const size_t *region, uint32_t count,
                                      event *const *before, event **to) {
  part source, target;
  status failure = begin_command(on, (waits){count, before});
  if (!failure) failure = part_of(&target, into, origin, region);
  if (!failure) failure = part_of_buffer(&source, from, offset, &target);
  return failure ? failure : copy_part(on, CL_COMMAND_COPY_BUFFER_TO_IMAGE, &target, &source, to);
}

API void *clEnqueueMapImage(queue *on, memory *of, uint32_t is_blocking, uint64_t flags,
                            const size_t *origin, const size_t *region, size_t *row_pitch,
                            size_t *slice_pitch, uint32_t count, event *const *before, event **to,
                            status *error) {
  part it;
  status failure = begin_command(on, (waits){count, before});
  if (!failure) failure = part_of(&it, of, origin, region);
  if (!failure && !row_pitch) failure = CL_INVALID_VALUE;
  if (failure) return failed(error, failure);
  char *pointer = of->host ? (char *)of->host + (it.bytes - of->bytes) : it.bytes;
  if (!(flags & CL_MAP_WRITE_INVALIDATE_REGION)) {
    if (pointer != it.bytes) copy_box(pointer, it.pitches, it.bytes, it.pitches, it.region);
    move(on, TO_HOST, volume(&it), NULL);
  }
  *row_pitch = of->image.row_pitch;
  if (slice_pitch) *slice_pitch = of->image.slice_pitch;
  add_mapping(of, &(mapping){NULL, pointer, it.bytes, flags, it.region[0], it.pitches[0],
                             it.pitches[1], it.region[1], it.region[2]});
  failure = end_command(on, CL_COMMAND_MAP_IMAGE, (int)is_blocking, to);
  if (error) *error = failure;
  return failure ? NULL : pointer;
}

API status clEnqueueFillImage(queue *on, memory *of, const void *color, const size_t *origin,
                              const size_t *region, uint32_t count, event *const *before, event **to) {
  part it;
  status failure = begin_command(on, (waits){count, before});
  if (!failure) failure = part_of(&it, of, origin, region);
  if (failure) return failure;
  /* Of four words of the color those that a texel has, where their type is that of the texel. */
  int is_wide = of->format.type == 0x10D9 || of->format.type == 0x10DC || of->format.type == 0x10DE;
  if (!is_wide || of->format.order > 0x10B5 || of->format.order == 0x10B1 || of->format.order == 0x10B3)
    return refuse("clEnqueueFillImage of texels that are not of 32-bit channels", CL_INVALID_OPERATION);
  for (size_t slice = 0; slice < it.region[2]; slice++)
    for (size_t row = 0; row < it.region[1]; row++) {
      char *line = it.bytes + slice * it.pitches[1] + row * it.pitches[0];
      for (size_t at = 0; at < it.region[0]; at += of->texel_bytes)
        memcpy(line + at, color, of->texel_bytes);
    }
  move(on, FILL, volume(&it), NULL);
  return end_command(on, CL_COMMAND_FILL_IMAGE, 0, to);
}
