/* Memory, copies and fills. */
#include <string.h>

#include "cudart.h"

enum { HOST_MEMORY = 1, MAPPED = 2 };
enum { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, BY_ADDRESS };

static status allocate(void **to, size_t size, kc_space space) {
  uint64_t address = 0;
  if (!to) return done(KC_INVALID_VALUE);
  *to = NULL;
  if (!size) return 0;
  status failure = KC_ASK_FOR(address, KC_ALLOCATE, size, (uint64_t)space);
  if (!failure) *to = handle(address);
  return done(failure);
}

static status release(void *pointer, kc_space space) {
  return pointer ? done(KC_ASK(KC_FREE, number(pointer), (uint64_t)space)) : 0;
}

API status cudaMalloc(void **to, size_t size) { return allocate(to, size, KC_DEVICE); }
API status cudaFree(void *pointer) { return release(pointer, KC_DEVICE); }
API status cudaMallocManaged(void **to, size_t size, unsigned flags) {
  (void)flags;
  return size ? allocate(to, size, KC_MANAGED) : done(KC_INVALID_VALUE);
}
API status cudaMallocHost(void **to, size_t size) { return allocate(to, size, KC_HOST); }
API status cudaHostAlloc(void **to, size_t size, unsigned flags) {
  (void)flags;
  return allocate(to, size, KC_HOST);
}
API status cudaFreeHost(void *pointer) { return release(pointer, KC_HOST); }

API status cudaMallocAsync(void **to, size_t size, stream_handle stream) {
  (void)stream;
  return allocate(to, size, KC_DEVICE);
}
WITH_THREAD_STREAMS(cudaMallocAsync)
API status cudaMallocFromPoolAsync(void **to, size_t size, void *pool, stream_handle stream) {
  (void)pool, (void)stream;
  return allocate(to, size, KC_DEVICE);
}
WITH_THREAD_STREAMS(cudaMallocFromPoolAsync)
API status cudaFreeAsync(void *pointer, stream_handle stream) {
  (void)stream;
  return release(pointer, KC_DEVICE);
}
WITH_THREAD_STREAMS(cudaFreeAsync)

#define ROW_ALIGNMENT 512
static size_t row_bytes(size_t width) {
  return (width + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT;
}

API status cudaMallocPitch(void **to, size_t *pitch, size_t width, size_t height) {
  *pitch = row_bytes(width);
  return allocate(to, *pitch * height, KC_DEVICE);
}

API status cudaMalloc3D(pitched_pointer *to, extent size) {
  to->pitch = row_bytes(size.width), to->xsize = size.width, to->ysize = size.height;
  return allocate(&to->ptr, to->pitch * size.height * size.depth, KC_DEVICE);
}

API status cudaHostRegister(void *pointer, size_t size, unsigned flags) {
  (void)flags;
  return done(pointer && size ? kc_register(pointer, size) : KC_INVALID_VALUE);
}
API status cudaHostUnregister(void *pointer) { return done(kc_unregister(pointer)); }
API status cudaHostGetDevicePointer(void **to, void *pointer, unsigned flags) {
  (void)flags;
  uint64_t found[3] = {0, 0, 0}; /* type, base, size */
  status failure = KC_ASK_FOR(found, KC_POINTER, number(pointer));
  if (!failure && found[0] != HOST_MEMORY) failure = KC_INVALID_VALUE;
  if (!failure) *to = pointer;
  return done(failure);
}
/* All host memory that the device sees is mapped; what else it was made with is not kept. */
API status cudaHostGetFlags(unsigned *flags, void *pointer) {
  void *seen;
  *flags = MAPPED;
  return cudaHostGetDevicePointer(&seen, pointer, 0);
}

API status cudaMemGetInfo(size_t *free_bytes, size_t *all_bytes) {
  uint64_t found[2] = {0, 0};
  status failure = kc_ask(KC_MEMORY_INFO, NULL, 0, NULL, 0, found, sizeof found, NULL);
  *free_bytes = found[0], *all_bytes = found[1];
  return done(failure);
}

API status cudaPointerGetAttributes(pointer_attributes *to, const void *pointer) {
  uint64_t found[3] = {0, 0, 0}; /* type, base, size */
  status failure = KC_ASK_FOR(found, KC_POINTER, number(pointer));
  memset(to, 0, sizeof *to);
  to->type = (int)found[0];
  to->device = found[0] ? 0 : -2;
  to->device_pointer = found[0] ? (void *)pointer : NULL;
  to->host_pointer = found[0] == 2 ? NULL : (void *)pointer;
  return done(failure);
}

#if CUDART_MAJOR >= 13
#define WHERE memory_location
#else
#define WHERE int
#endif
API status cudaMemAdvise(const void *pointer, size_t size, int advice, WHERE where) {
  (void)pointer, (void)size, (void)advice, (void)where;
  return 0;
}
API status cudaMemAdvise_v2(const void *pointer, size_t size, int advice, memory_location where) {
  (void)pointer, (void)size, (void)advice, (void)where;
  return 0;
}
/* Where pages of managed memory are is not simulated. */
#if CUDART_MAJOR >= 13
API status cudaMemPrefetchAsync(const void *pointer, size_t size, memory_location where,
                                unsigned flags, stream_handle stream) {
  (void)flags;
#else
API status cudaMemPrefetchAsync(const void *pointer, size_t size, int where, stream_handle stream) {
#endif
  (void)pointer, (void)size, (void)where, (void)stream;
  return 0;
}
WITH_THREAD_STREAMS(cudaMemPrefetchAsync)
API status cudaMemPrefetchAsync_v2(const void *pointer, size_t size, memory_location where,
                                   unsigned flags, stream_handle stream) {
  (void)pointer, (void)size, (void)where, (void)flags, (void)stream;
  return 0;
}
API status cudaStreamAttachMemAsync(stream_handle stream, void *pointer, size_t size, unsigned flags) {
  (void)stream, (void)pointer, (void)size, (void)flags;
  return 0;
}
WITH_THREAD_STREAMS(cudaStreamAttachMemAsync)
API status cudaCtxResetPersistingL2Cache(void) { return 0; }

/* ---- copies ---- */

static status copy(const kc_copy *rows) {
  if (rows->kind > BY_ADDRESS) return done(21);
  return done(kc_do_copy(rows));
}

static status copy_line(uint64_t to, uint64_t from, size_t size, int kind, stream_handle stream,
                        int is_async) {
  kc_copy rows = {to, size, size, from, size, size, size, 1, 1, (uint64_t)kind, number(stream),
                  (uint64_t)is_async};
  return copy(&rows);
}

API status cudaMemcpy(void *to, const void *from, size_t size, int kind) {
  return copy_line(number(to), number(from), size, kind, NULL, 0);
}
API status cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, stream_handle stream) {
  return copy_line(number(to), number(from), size, kind, stream, 1);
}
API status cudaMemcpyPeer(void *to, int device, const void *from, int other, size_t size) {
  return device || other ? done(INVALID_DEVICE)
                         : copy_line(number(to), number(from), size, DEVICE_TO_DEVICE, NULL, 0);
}
API status cudaMemcpyPeerAsync(void *to, int device, const void *from, int other, size_t size,
                               stream_handle stream) {
  return device || other ? done(INVALID_DEVICE)
                         : copy_line(number(to), number(from), size, DEVICE_TO_DEVICE, stream, 1);
}

static status copy_symbol(const void *symbol, uint64_t host, size_t size, size_t offset, int kind,
                          stream_handle stream, int is_async, int is_to) {
  uint64_t address;
  size_t whole;
  status failure = variable_of(symbol, &address, &whole);
  if (!failure && offset + size > whole) failure = KC_INVALID_VALUE;
  if (failure) return done(failure);
  address += offset;
  return is_to ? copy_line(address, host, size, kind, stream, is_async)
               : copy_line(host, address, size, kind, stream, is_async);
}

API status cudaMemcpyToSymbol(const void *symbol, const void *from, size_t size, size_t offset, int kind) {
  return copy_symbol(symbol, number(from), size, offset, kind, NULL, 0, 1);
}
WITH_THREAD_COPIES(cudaMemcpyToSymbol)
API status cudaMemcpyFromSymbol(void *to, const void *symbol, size_t size, size_t offset, int kind) {
  return copy_symbol(symbol, number(to), size, offset, kind, NULL, 0, 0);
}
WITH_THREAD_COPIES(cudaMemcpyFromSymbol)
API status cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t size, size_t offset,
                                   int kind, stream_handle stream) {
  return copy_symbol(symbol, number(from), size, offset, kind, stream, 1, 1);
}
API status cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t size, size_t offset,
                                     int kind, stream_handle stream) {
  return copy_symbol(symbol, number(to), size, offset, kind, stream, 1, 0);
}

static status copy_2d(uint64_t to, size_t to_pitch, uint64_t from, size_t from_pitch, size_t width,
                      size_t height, int kind, stream_handle stream, int is_async) {
  if (height > 1 && (width > to_pitch || width > from_pitch)) return done(12);
  kc_copy rows = {to, to_pitch, to_pitch * height, from, from_pitch, from_pitch * height, width,
                  height, 1, (uint64_t)kind, number(stream), (uint64_t)is_async};
  return copy(&rows);
}

API status cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                        size_t height, int kind) {
  return copy_2d(number(to), to_pitch, number(from), from_pitch, width, height, kind, NULL, 0);
}
WITH_THREAD_COPIES(cudaMemcpy2D)
API status cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                             size_t width, size_t height, int kind, stream_handle stream) {
  return copy_2d(number(to), to_pitch, number(from), from_pitch, width, height, kind, stream, 1);
}

API status cudaMemcpy2DToArray(array *to, size_t x, size_t y, const void *from, size_t pitch,
                               size_t width, size_t height, int kind) {
  return copy_2d(kc_in_array(to, x, y, 0), to->pitch, number(from), pitch, width, height, kind, NULL, 0);
}
WITH_THREAD_COPIES(cudaMemcpy2DToArray)
API status cudaMemcpy2DToArrayAsync(array *to, size_t x, size_t y, const void *from, size_t pitch,
                                    size_t width, size_t height, int kind, stream_handle stream) {
  return copy_2d(kc_in_array(to, x, y, 0), to->pitch, number(from), pitch, width, height, kind, stream, 1);
}
WITH_THREAD_STREAMS(cudaMemcpy2DToArrayAsync)
API status cudaMemcpy2DFromArray(void *to, size_t pitch, const array *from, size_t x, size_t y,
                                 size_t width, size_t height, int kind) {
  return copy_2d(number(to), pitch, kc_in_array(from, x, y, 0), from->pitch, width, height, kind, NULL, 0);
}
WITH_THREAD_COPIES(cudaMemcpy2DFromArray)
API status cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, const array *from, size_t x, size_t y,
                                      size_t width, size_t height, int kind, stream_handle stream) {
  return copy_2d(number(to), pitch, kc_in_array(from, x, y, 0), from->pitch, width, height, kind, stream, 1);
}
WITH_THREAD_STREAMS(cudaMemcpy2DFromArrayAsync)
API status cudaMemcpy2DArrayToArray(array *to, size_t x, size_t y, const array *from, size_t from_x,
                                    size_t from_y, size_t width, size_t height, int kind) {
  return copy_2d(kc_in_array(to, x, y, 0), to->pitch, kc_in_array(from, from_x, from_y, 0),
                 from->pitch, width, height, kind, NULL, 0);
}
WITH_THREAD_COPIES(cudaMemcpy2DArrayToArray)

/* Bytes in a row of an array, which follow each other without gaps. */
static status copy_lines_to(array *in, size_t x, size_t y, uint64_t host, size_t size, int kind,
                            stream_handle stream, int is_async, int is_to) {
  uint64_t place = kc_in_array(in, x, y, 0);
  return is_to ? copy_line(place, host, size, kind, stream, is_async)
               : copy_line(host, place, size, kind, stream, is_async);
}
API status cudaMemcpyToArray(array *to, size_t x, size_t y, const void *from, size_t size, int kind) {
  return copy_lines_to(to, x, y, number(from), size, kind, NULL, 0, 1);
}
WITH_THREAD_COPIES(cudaMemcpyToArray)
API status cudaMemcpyToArrayAsync(array *to, size_t x, size_t y, const void *from, size_t size,
                                  int kind, stream_handle stream) {
  return copy_lines_to(to, x, y, number(from), size, kind, stream, 1, 1);
}
WITH_THREAD_STREAMS(cudaMemcpyToArrayAsync)
API status cudaMemcpyFromArray(void *to, array *from, size_t x, size_t y, size_t size, int kind) {
  return copy_lines_to(from, x, y, number(to), size, kind, NULL, 0, 0);
}
WITH_THREAD_COPIES(cudaMemcpyFromArray)
API status cudaMemcpyFromArrayAsync(void *to, array *from, size_t x, size_t y, size_t size, int kind,
                                    stream_handle stream) {
  return copy_lines_to(from, x, y, number(to), size, kind, stream, 1, 0);
}
WITH_THREAD_STREAMS(cudaMemcpyFromArrayAsync)
API status cudaMemcpyArrayToArray(array *to, size_t x, size_t y, array *from, size_t from_x,
                                  size_t from_y, size_t size, int kind) {
  return copy_lines_to(to, x, y, kc_in_array(from, from_x, from_y, 0), size, kind, NULL, 0, 1);
}
WITH_THREAD_COPIES(cudaMemcpyArrayToArray)

kc_copy box_rows(const copy_3d *how) {
  const array *in = how->src_array ? how->src_array : how->dst_array;
  size_t bytes = in ? in->element_bytes : 1;
  kc_copy rows = {.width = how->size.width * bytes, .height = how->size.height,
                  .depth = how->size.depth, .kind = (uint64_t)how->kind, .is_async = 1};
  if (how->src_array) {
    rows.from = kc_in_array(how->src_array, how->src_pos.x * bytes, how->src_pos.y, how->src_pos.z);
    rows.from_pitch = how->src_array->pitch, rows.from_slice = how->src_array->slice;
  } else {
    rows.from_pitch = how->src.pitch, rows.from_slice = how->src.pitch * how->src.ysize;
    rows.from = number(how->src.ptr) + how->src_pos.z * rows.from_slice +
                how->src_pos.y * rows.from_pitch + how->src_pos.x;
  }
  if (how->dst_array) {
    rows.to = kc_in_array(how->dst_array, how->dst_pos.x * bytes, how->dst_pos.y, how->dst_pos.z);
    rows.to_pitch = how->dst_array->pitch, rows.to_slice = how->dst_array->slice;
  } else {
    rows.to_pitch = how->dst.pitch, rows.to_slice = how->dst.pitch * how->dst.ysize;
    rows.to = number(how->dst.ptr) + how->dst_pos.z * rows.to_slice +
              how->dst_pos.y * rows.to_pitch + how->dst_pos.x;
  }
  return rows;
}

static status copy_box(const copy_3d *how, stream_handle stream, int is_async) {
  kc_copy rows = box_rows(how);
  rows.stream = number(stream), rows.is_async = (uint64_t)is_async;
  return copy(&rows);
}
API status cudaMemcpy3D(const copy_3d *how) { return copy_box(how, NULL, 0); }
WITH_THREAD_COPIES(cudaMemcpy3D)
API status cudaMemcpy3DAsync(const copy_3d *how, stream_handle stream) {
  return copy_box(how, stream, 1);
}

typedef struct {
  array *src_array;
  position src_pos;
  pitched_pointer src;
  int src_device;
  array *dst_array;
  position dst_pos;
  pitched_pointer dst;
  int dst_device;
  extent size;
} peer_copy_3d;
static status copy_peer(const peer_copy_3d *how, stream_handle stream, int is_async) {
  if (how->src_device || how->dst_device) return done(INVALID_DEVICE);
  copy_3d same = {how->src_array, how->src_pos, how->src, how->dst_array, how->dst_pos,
                  how->dst, how->size, DEVICE_TO_DEVICE};
  return copy_box(&same, stream, is_async);
}
API status cudaMemcpy3DPeer(const peer_copy_3d *how) { return copy_peer(how, NULL, 0); }
WITH_THREAD_COPIES(cudaMemcpy3DPeer)
API status cudaMemcpy3DPeerAsync(const peer_copy_3d *how, stream_handle stream) {
  return copy_peer(how, stream, 1);
}
WITH_THREAD_STREAMS(cudaMemcpy3DPeerAsync)

/* ---- fills ---- */

static status fill(void *to, size_t pitch, int value, size_t width, size_t height,
                   stream_handle stream, int is_async) {
  return done(KC_ASK(KC_FILL, number(to), pitch, (uint64_t)(value & 255), 1, width, height,
                     number(stream), (uint64_t)is_async));
}
API status cudaMemset(void *to, int value, size_t size) { return fill(to, size, value, size, 1, NULL, 0); }
API status cudaMemsetAsync(void *to, int value, size_t size, stream_handle stream) {
  return fill(to, size, value, size, 1, stream, 1);
}
API status cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) {
  return fill(to, pitch, value, width, height, NULL, 0);
}
WITH_THREAD_COPIES(cudaMemset2D)
API status cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                             stream_handle stream) {
  return fill(to, pitch, value, width, height, stream, 1);
}
static status fill_box(pitched_pointer to, int value, extent size, stream_handle stream, int is_async) {
  for (size_t slice = 0; slice < size.depth; slice++) {
    status failure = fill((char *)to.ptr + slice * to.pitch * to.ysize, to.pitch, value, size.width,
                          size.height, stream, is_async);
    if (failure) return failure;
  }
  return 0;
}
API status cudaMemset3D(pitched_pointer to, int value, extent size) {
  return fill_box(to, value, size, NULL, 0);
}
WITH_THREAD_COPIES(cudaMemset3D)
API status cudaMemset3DAsync(pitched_pointer to, int value, extent size, stream_handle stream) {
  return fill_box(to, value, size, stream, 1);
}
WITH_THREAD_STREAMS(cudaMemset3DAsync)
