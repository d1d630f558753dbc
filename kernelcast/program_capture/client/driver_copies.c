/* Copies and fills. */
#include "driver_types.h"

enum { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, BY_ADDRESS };

static status copy_line(uint64_t to, uint64_t from, size_t size, uint64_t kind, stream_handle stream,
                        uint64_t is_async) {
  kc_copy rows = {to, size, size, from, size, size, size, 1, 1, kind, number(stream), is_async};
  return done(kc_do_copy(&rows));
}

#define COPY(name, to_type, from_type, kind)                                                      \
  API status cuMemcpy##name##_v2(to_type to, from_type from, size_t size) {                       \
    return copy_line((uint64_t)to, (uint64_t)from, size, kind, NULL, 0);                          \
  }                                                                                               \
  WITH_THREAD_COPIES(cuMemcpy##name##_v2)                                                         \
  API status cuMemcpy##name##Async_v2(to_type to, from_type from, size_t size,                    \
                                      stream_handle stream) {                                     \
    return copy_line((uint64_t)to, (uint64_t)from, size, kind, stream, 1);                        \
  }                                                                                               \
  WITH_THREAD_STREAMS(cuMemcpy##name##Async_v2)
COPY(HtoD, device_pointer, const void *, HOST_TO_DEVICE)
COPY(DtoH, void *, device_pointer, DEVICE_TO_HOST)
COPY(DtoD, device_pointer, device_pointer, DEVICE_TO_DEVICE)

API status cuMemcpy(device_pointer to, device_pointer from, size_t size) {
  return copy_line(to, from, size, BY_ADDRESS, NULL, 0);
}
WITH_THREAD_COPIES(cuMemcpy)
API status cuMemcpyAsync(device_pointer to, device_pointer from, size_t size, stream_handle stream) {
  return copy_line(to, from, size, BY_ADDRESS, stream, 1);
}
WITH_THREAD_STREAMS(cuMemcpyAsync)
API status cuMemcpyPeer(device_pointer to, void *context, device_pointer from, void *other,
                        size_t size) {
  (void)context, (void)other;
  return copy_line(to, from, size, DEVICE_TO_DEVICE, NULL, 0);
}
WITH_THREAD_COPIES(cuMemcpyPeer)
API status cuMemcpyPeerAsync(device_pointer to, void *context, device_pointer from, void *other,
                             size_t size, stream_handle stream) {
  (void)context, (void)other;
  return copy_line(to, from, size, DEVICE_TO_DEVICE, stream, 1);
}
WITH_THREAD_STREAMS(cuMemcpyPeerAsync)

/* ---- lines of arrays; offsets are in bytes ---- */

API status cuMemcpyDtoA_v2(kc_array *to, size_t offset, device_pointer from, size_t size) {
  return copy_line(to->address + offset, from, size, DEVICE_TO_DEVICE, NULL, 0);
}
WITH_THREAD_COPIES(cuMemcpyDtoA_v2)
API status cuMemcpyAtoD_v2(device_pointer to, const kc_array *from, size_t offset, size_t size) {
  return copy_line(to, from->address + offset, size, DEVICE_TO_DEVICE, NULL, 0);
}
WITH_THREAD_COPIES(cuMemcpyAtoD_v2)
API status cuMemcpyAtoA_v2(kc_array *to, size_t offset, const kc_array *from, size_t from_offset,
                           size_t size) {
  return copy_line(to->address + offset, from->address + from_offset, size, DEVICE_TO_DEVICE, NULL, 0);
}
WITH_THREAD_COPIES(cuMemcpyAtoA_v2)
API status cuMemcpyHtoA_v2(kc_array *to, size_t offset, const void *from, size_t size) {
  return copy_line(to->address + offset, number(from), size, HOST_TO_DEVICE, NULL, 0);
}
WITH_THREAD_COPIES(cuMemcpyHtoA_v2)
API status cuMemcpyAtoH_v2(void *to, const kc_array *from, size_t offset, size_t size) {
  return copy_line(number(to), from->address + offset, size, DEVICE_TO_HOST, NULL, 0);
}
WITH_THREAD_COPIES(cuMemcpyAtoH_v2)
API status cuMemcpyHtoAAsync_v2(kc_array *to, size_t offset, const void *from, size_t size,
                                stream_handle stream) {
  return copy_line(to->address + offset, number(from), size, HOST_TO_DEVICE, stream, 1);
}
WITH_THREAD_STREAMS(cuMemcpyHtoAAsync_v2)
API status cuMemcpyAtoHAsync_v2(void *to, const kc_array *from, size_t offset, size_t size,
                                stream_handle stream) {
  return copy_line(number(to), from->address + offset, size, DEVICE_TO_HOST, stream, 1);
}
WITH_THREAD_STREAMS(cuMemcpyAtoHAsync_v2)

/* ---- rectangles and boxes ---- */

static uint64_t base_of(int kind, const void *host, device_pointer device, const kc_array *array) {
  return kind == IN_ARRAY ? array->address : kind == IN_HOST ? number(host) : device;
}

kc_copy rows_of(const box_copy *how) {
  const kc_array *to = how->to_kind == IN_ARRAY ? how->to_array : NULL;
  const kc_array *from = how->from_kind == IN_ARRAY ? how->from_array : NULL;
  size_t height = how->height ? how->height : 1, depth = how->depth ? how->depth : 1;
  kc_copy rows = {.width = how->width, .height = height, .depth = depth};
  rows.to_pitch = to ? to->pitch : how->to_pitch ? how->to_pitch : how->width;
  rows.from_pitch = from ? from->pitch : how->from_pitch ? how->from_pitch : how->width;
  rows.to_slice = to ? to->slice : rows.to_pitch * (how->to_height ? how->to_height : height);
  rows.from_slice = from ? from->slice : rows.from_pitch * (how->from_height ? how->from_height : height);
  rows.to = base_of(how->to_kind, how->to_host, how->to_device, to) + how->to_z * rows.to_slice +
            how->to_y * rows.to_pitch + how->to_x;
  rows.from = base_of(how->from_kind, how->from_host, how->from_device, from) +
              how->from_z * rows.from_slice + how->from_y * rows.from_pitch + how->from_x;
  int is_to_host = how->to_kind == IN_HOST, is_from_host = how->from_kind == IN_HOST;
  rows.kind = how->to_kind == ANYWHERE || how->from_kind == ANYWHERE ? BY_ADDRESS
              : is_from_host ? (is_to_host ? HOST_TO_HOST : HOST_TO_DEVICE)
              : is_to_host   ? DEVICE_TO_HOST
                             : DEVICE_TO_DEVICE;
  return rows;
}

box_copy box_of(const rectangle_copy *how) {
  return (box_copy){.from_x = how->from_x, .from_y = how->from_y, .from_kind = how->from_kind,
                    .from_host = how->from_host, .from_device = how->from_device,
                    .from_array = how->from_array, .from_pitch = how->from_pitch,
                    .to_x = how->to_x, .to_y = how->to_y, .to_kind = how->to_kind,
                    .to_host = how->to_host, .to_device = how->to_device, .to_array = how->to_array,
                    .to_pitch = how->to_pitch, .width = how->width, .height = how->height, .depth = 1};
}

static status copy_box(const box_copy *how, stream_handle stream, uint64_t is_async) {
  kc_copy rows = rows_of(how);
  rows.stream = number(stream), rows.is_async = is_async;
  return done(kc_do_copy(&rows));
}

API status cuMemcpy2D_v2(const rectangle_copy *how) {
  box_copy box = box_of(how);
  return copy_box(&box, NULL, 0);
}
WITH_THREAD_COPIES(cuMemcpy2D_v2)
ALSO(cuMemcpy2D_v2, cuMemcpy2DUnaligned_v2)
ALSO(cuMemcpy2D_v2, cuMemcpy2DUnaligned_v2_ptds)
API status cuMemcpy2DAsync_v2(const rectangle_copy *how, stream_handle stream) {
  box_copy box = box_of(how);
  return copy_box(&box, stream, 1);
}
WITH_THREAD_STREAMS(cuMemcpy2DAsync_v2)
API status cuMemcpy3D_v2(const box_copy *how) { return copy_box(how, NULL, 0); }
WITH_THREAD_COPIES(cuMemcpy3D_v2)
ALSO(cuMemcpy3D_v2, cuMemcpy3DPeer)
ALSO(cuMemcpy3D_v2, cuMemcpy3DPeer_ptds)
API status cuMemcpy3DAsync_v2(const box_copy *how, stream_handle stream) {
  return copy_box(how, stream, 1);
}
WITH_THREAD_STREAMS(cuMemcpy3DAsync_v2)
ALSO(cuMemcpy3DAsync_v2, cuMemcpy3DPeerAsync)
ALSO(cuMemcpy3DAsync_v2, cuMemcpy3DPeerAsync_ptsz)

/* ---- fills ---- */

static status fill(device_pointer to, size_t pitch, unsigned value, size_t element_bytes, size_t width,
                   size_t height, stream_handle stream, uint64_t is_async) {
  return done(KC_ASK(KC_FILL, to, pitch, (uint64_t)value, element_bytes, width, height, number(stream),
                     is_async));
}

#define FILL(bits, type)                                                                          \
  API status cuMemsetD##bits##_v2(device_pointer to, type value, size_t count) {                  \
    return fill(to, count * sizeof value, value, sizeof value, count, 1, NULL, 0);                \
  }                                                                                               \
  WITH_THREAD_COPIES(cuMemsetD##bits##_v2)                                                        \
  API status cuMemsetD##bits##Async(device_pointer to, type value, size_t count,                  \
                                    stream_handle stream) {                                       \
    return fill(to, count * sizeof value, value, sizeof value, count, 1, stream, 1);              \
  }                                                                                               \
  WITH_THREAD_STREAMS(cuMemsetD##bits##Async)                                                     \
  API status cuMemsetD2D##bits##_v2(device_pointer to, size_t pitch, type value, size_t width,    \
                                    size_t height) {                                              \
    return fill(to, pitch, value, sizeof value, width, height, NULL, 0);                          \
  }                                                                                               \
  WITH_THREAD_COPIES(cuMemsetD2D##bits##_v2)                                                      \
  API status cuMemsetD2D##bits##Async(device_pointer to, size_t pitch, type value, size_t width,  \
                                      size_t height, stream_handle stream) {                      \
    return fill(to, pitch, value, sizeof value, width, height, stream, 1);                        \
  }                                                                                               \
  WITH_THREAD_STREAMS(cuMemsetD2D##bits##Async)
FILL(8, unsigned char)
FILL(16, unsigned short)
FILL(32, unsigned)

/* A word written in the order of a stream; waiting for one that another writes is refused. */
API status cuStreamWriteValue32(stream_handle stream, device_pointer to, unsigned value, unsigned flags) {
  (void)flags;
  return fill(to, sizeof value, value, sizeof value, 1, 1, stream, 1);
}
WITH_THREAD_STREAMS(cuStreamWriteValue32)
ALSO(cuStreamWriteValue32, cuStreamWriteValue32_v2)
