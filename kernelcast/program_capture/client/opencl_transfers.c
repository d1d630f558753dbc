/* Reads, writes, copies, fills and mappings of buffers. */
#include <stdlib.h>
#include <string.h>

#include "opencl.h"

status move(const queue *on, movement how, size_t bytes, const void *host) {
  const kc_session *facts = kc_connected();
  uint64_t address = (uint64_t)(uintptr_t)host;
  int is_pinned = !host || (address >= facts->base && address < facts->base + facts->size);
  KC_POST(KC_CL_MOVE, how, bytes, on->stream, (uint64_t)is_pinned);
  return CL_SUCCESS;
}

static int holds(const memory *it, size_t offset, size_t size) {
  return offset <= it->size && size <= it->size - offset;
}

static status check(const queue *on, const memory *of, waits before) {
  if (!is(on, QUEUE)) return CL_INVALID_COMMAND_QUEUE;
  if (!is(of, MEMORY)) return CL_INVALID_MEM_OBJECT;
  return on->in == of->in ? begin_command(on, before) : CL_INVALID_CONTEXT;
}

API status clEnqueueReadBuffer(queue *on, memory *of, uint32_t is_blocking, size_t offset,
                               size_t size, void *host, uint32_t count, event *const *before,
                               event **to) {
  status failure = check(on, of, (waits){count, before});
  if (failure) return failure;
  if (!host || !size || !holds(of, offset, size)) return CL_INVALID_VALUE;
  memmove(host, of->bytes + offset, size);
  move(on, TO_HOST, size, host);
  return end_command(on, CL_COMMAND_READ_BUFFER, (int)is_blocking, to);
}

API status clEnqueueWriteBuffer(queue *on, memory *of, uint32_t is_blocking, size_t offset,
                                size_t size, const void *host, uint32_t count,
                                event *const *before, event **to) {
  status failure = check(on, of, (waits){count, before});
  if (failure) return failure;
  if (!host || !size || !holds(of, offset, size)) return CL_INVALID_VALUE;
  memmove(of->bytes + offset, host, size);
  move(on, TO_DEVICE, size, host);
  return end_command(on, CL_COMMAND_WRITE_BUFFER, (int)is_blocking, to);
}

API status clEnqueueCopyBuffer(queue *on, memory *from, memory *into, size_t from_offset,
                               size_t offset, size_t size, uint32_t count, event *const *before,
                               event **to) {
  status failure = check(on, from, (waits){count, before});
  if (!failure && !is(into, MEMORY)) failure = CL_INVALID_MEM_OBJECT;
  if (failure) return failure;
  if (!size || !holds(from, from_offset, size) || !holds(into, offset, size))
    return CL_INVALID_VALUE;
  const char *source = from->bytes + from_offset, *target = into->bytes + offset;
  if (source < target + size && target < source + size) return CL_MEM_COPY_OVERLAP;
  memcpy(into->bytes + offset, source, size);
  move(on, ON_DEVICE, size, NULL);
  return end_command(on, CL_COMMAND_COPY_BUFFER, 0, to);
}

API status clEnqueueFillBuffer(queue *on, memory *of, const void *pattern, size_t pattern_bytes,
                               size_t offset, size_t size, uint32_t count, event *const *before,
                               event **to) {
  status failure = check(on, of, (waits){count, before});
  if (failure) return failure;
  int is_power = pattern_bytes && pattern_bytes <= 128 && !(pattern_bytes & (pattern_bytes - 1));
  if (!pattern || !is_power || offset % pattern_bytes || size % pattern_bytes ||
      !holds(of, offset, size))
    return CL_INVALID_VALUE;
  for (size_t at = offset; at < offset + size; at += pattern_bytes)
    memcpy(of->bytes + at, pattern, pattern_bytes);
  move(on, FILL, size, NULL);
  return end_command(on, CL_COMMAND_FILL_BUFFER, 0, to);
}

API status clEnqueueMigrateMemObjects(queue *on, uint32_t objects, memory *const *list,
                                      uint64_t flags, uint32_t count, event *const *before,
                                      event **to) {
  (void)flags;
  if (!objects || !list) return CL_INVALID_VALUE;
  status failure = begin_command(on, (waits){count, before});
  return failure ? failure : end_command(on, CL_COMMAND_MIGRATE_MEM_OBJECTS, 0, to);
}

/* ---- boxes ---- */

void copy_box(char *to, const size_t *to_pitches, const char *from, const size_t *from_pitches,
              const size_t *region) {
  for (size_t slice = 0; slice < region[2]; slice++)
    for (size_t row = 0; row < region[1]; row++)
      memmove(to + slice * to_pitches[1] + row * to_pitches[0],
              from + slice * from_pitches[1] + row * from_pitches[0], region[0]);
}

typedef struct { size_t pitches[2], begin, end; } box;

/* Where a box lies: pitches of 0 leave no gaps. */
static status place(box *to, const size_t *origin, const size_t *region, size_t row_pitch,
                    size_t slice_pitch) {
  if (!origin || !region || !region[0] || !region[1] || !region[2]) return CL_INVALID_VALUE;
  to->pitches[0] = row_pitch ? row_pitch : region[0];
  to->pitches[1] = slice_pitch ? slice_pitch : region[1] * to->pitches[0];
  if (to->pitches[0] < region[0]) return CL_INVALID_VALUE;
  to->begin = origin[2] * to->pitches[1] + origin[1] * to->pitches[0] + origin[0];
  to->end = to->begin + (region[2] - 1) * to->pitches[1] + (region[1] - 1) * to->pitches[0] + region[0];
  return CL_SUCCESS;
}

static size_t volume(const size_t *region) { return region[0] * region[1] * region[2]; }

API status clEnqueueReadBufferRect(queue *on, memory *of, uint32_t is_blocking, const size_t *origin,
                                   const size_t *host_origin, const size_t *region, size_t row_pitch,
                                   size_t slice_pitch, size_t host_row_pitch,
                                   size_t host_slice_pitch, void *host, uint32_t count,
                                   event *const *before, event **to) {
  box here, there;
  status failure = check(on, of, (waits){count, before});
  if (!failure) failure = place(&here, origin, region, row_pitch, slice_pitch);
  if (!failure) failure = place(&there, host_origin, region, host_row_pitch, host_slice_pitch);
  if (failure) return failure;
  if (!host || here.end > of->size) return CL_INVALID_VALUE;
  copy_box((char *)host + there.begin, there.pitches, of->bytes + here.begin, here.pitches, region);
  move(on, TO_HOST, volume(region), host);
  return end_command(on, CL_COMMAND_READ_BUFFER_RECT, (int)is_blocking, to);
}

API status clEnqueueWriteBufferRect(queue *on, memory *of, uint32_t is_blocking, const size_t *origin,
                                    const size_t *host_origin, const size_t *region,
                                    size_t row_pitch, size_t slice_pitch, size_t host_row_pitch,
                                    size_t host_slice_pitch, const void *host, uint32_t count,
                                    event *const *before, event **to) {
  box here, there;
  status failure = check(on, of, (waits){count, before});
  if (!failure) failure = place(&here, origin, region, row_pitch, slice_pitch);
  if (!failure) failure = place(&there, host_origin, region, host_row_pitch, host_slice_pitch);
  if (failure) return failure;
  if (!host || here.end > of->size) return CL_INVALID_VALUE;
  copy_box(of->bytes + here.begin, here.pitches, (const char *)host + there.begin, there.pitches,
           region);
  move(on, TO_DEVICE, volume(region), host);
  return end_command(on, CL_COMMAND_WRITE_BUFFER_RECT, (int)is_blocking, to);
}

API status clEnqueueCopyBufferRect(queue *on, memory *from, memory *into, const size_t *from_origin,
                                   const size_t *origin, const size_t *region, size_t from_row_pitch,
                                   size_t from_slice_pitch, size_t row_pitch, size_t slice_pitch,
                                   uint32_t count, event *const *before, event **to) {
  box source, target;
  status failure = check(on, from, (waits){count, before});
  if (!failure && !is(into, MEMORY)) failure = CL_INVALID_MEM_OBJECT;
  if (!failure) failure = place(&source, from_origin, region, from_row_pitch, from_slice_pitch);
  if (!failure) failure = place(&target, origin, region, row_pitch, slice_pitch);
  if (failure) return failure;
  if (source.end > from->size || target.end > into->size) return CL_INVALID_VALUE;
  copy_box(into->bytes + target.begin, target.pitches, from->bytes + source.begin, source.pitches,
           region);
  move(on, ON_DEVICE, volume(region), NULL);
  return end_command(on, CL_COMMAND_COPY_BUFFER_RECT, 0, to);
}

/* ---- mappings ---- */

static size_t mapped_bytes(const mapping *it) { return it->size * it->rows * it->slices; }

mapping *add_mapping(memory *of, const mapping *given) {
  mapping *made = malloc(sizeof *made);
  *made = *given;
  made->next = of->mappings;
  of->mappings = made;
  return made;
}

API void *clEnqueueMapBuffer(queue *on, memory *of, uint32_t is_blocking, uint64_t flags,
                             size_t offset, size_t size, uint32_t count, event *const *before,
                             event **to, status *error) {
  status failure = check(on, of, (waits){count, before});
  if (!failure && (!size || !holds(of, offset, size))) failure = CL_INVALID_VALUE;
  if (failure) return failed(error, failure);
  char *bytes = of->bytes + offset;
  char *pointer = of->host ? (char *)of->host + offset : bytes;
  if (!(flags & CL_MAP_WRITE_INVALIDATE_REGION)) {
    move(on, TO_HOST, size, NULL);
    if (pointer != bytes) memcpy(pointer, bytes, size);
  }
  add_mapping(of, &(mapping){NULL, pointer, bytes, flags, size, size, size, 1, 1});
  failure = end_command(on, CL_COMMAND_MAP_BUFFER, (int)is_blocking, to);
  if (error) *error = failure;
  return failure ? NULL : pointer;
}

API status clEnqueueUnmapMemObject(queue *on, memory *of, void *pointer, uint32_t count,
                                   event *const *before, event **to) {
  status failure = check(on, of, (waits){count, before});
  if (failure) return failure;
  mapping **place = &of->mappings;
  while (*place && (*place)->pointer != pointer) place = &(*place)->next;
  mapping *found = *place;
  if (!found) return CL_INVALID_VALUE;
  *place = found->next;
  if (found->flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) {
    const size_t pitches[] = {found->row_pitch, found->slice_pitch};
    const size_t region[] = {found->size, found->rows, found->slices};
    if (found->pointer != found->bytes)
      copy_box(found->bytes, pitches, found->pointer, pitches, region);
    move(on, TO_DEVICE, mapped_bytes(found), NULL);
  }
  free(found);
  return end_command(on, CL_COMMAND_UNMAP_MEM_OBJECT, 0, to);
}
