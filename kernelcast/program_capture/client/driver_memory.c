/* Memory: allocations, pools, reserved addresses, and what is known about a pointer. */
#include <stdlib.h>
#include <string.h>

#include "driver.h"

enum { ROW_ALIGNMENT = 512, GRANULARITY = 2 << 20 };

static status allocate(device_pointer *to, size_t size, kc_space space) {
  if (!to || !size) return KC_INVALID_VALUE;
  return done(KC_ASK_FOR(*to, KC_ALLOCATE, size, (uint64_t)space));
}
static status release(device_pointer pointer, kc_space space) {
  return pointer ? done(KC_ASK(KC_FREE, pointer, (uint64_t)space)) : 0;
}

API status cuMemAlloc_v2(device_pointer *to, size_t size) { return allocate(to, size, KC_DEVICE); }
API status cuMemFree_v2(device_pointer pointer) { return release(pointer, KC_DEVICE); }
API status cuMemAllocPitch_v2(device_pointer *to, size_t *pitch, size_t width, size_t height,
                              unsigned element_bytes) {
  (void)element_bytes;
  *pitch = (width + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT;
  return allocate(to, *pitch * height, KC_DEVICE);
}
API status cuMemAllocManaged(device_pointer *to, size_t size, unsigned flags) {
  (void)flags;
  return allocate(to, size, KC_MANAGED);
}
API status cuMemHostAlloc(void **to, size_t size, unsigned flags) {
  (void)flags;
  device_pointer made = 0;
  status failure = allocate(&made, size, KC_HOST);
  if (!failure) *to = handle(made);
  return failure;
}
API status cuMemAllocHost_v2(void **to, size_t size) { return cuMemHostAlloc(to, size, 0); }
API status cuMemFreeHost(void *pointer) { return release(number(pointer), KC_HOST); }
API status cuMemHostRegister_v2(void *pointer, size_t size, unsigned flags) {
  (void)flags;
  return pointer && size ? done(kc_register(pointer, size)) : KC_INVALID_VALUE;
}
ALSO(cuMemHostRegister_v2, cuMemHostRegister)
API status cuMemHostUnregister(void *pointer) { return done(kc_unregister(pointer)); }
API status cuMemHostGetDevicePointer_v2(device_pointer *to, void *pointer, unsigned flags) {
  (void)flags;
  *to = number(pointer);
  return 0;
}
API status cuMemHostGetFlags(unsigned *flags, void *pointer) {
  (void)pointer;
  *flags = 0;
  return 0;
}

API status cuMemGetInfo_v2(size_t *free_bytes, size_t *all_bytes) {
  uint64_t found[2] = {0, 0};
  status failure = kc_ask(KC_MEMORY_INFO, NULL, 0, NULL, 0, found, sizeof found, NULL);
  if (free_bytes) *free_bytes = found[0];
  if (all_bytes) *all_bytes = found[1];
  return done(failure);
}

/* ---- pools: every pool is the memory of the device ---- */

API status cuMemAllocAsync(device_pointer *to, size_t size, stream_handle stream) {
  (void)stream;
  return allocate(to, size, KC_DEVICE);
}
WITH_THREAD_STREAMS(cuMemAllocAsync)
API status cuMemAllocFromPoolAsync(device_pointer *to, size_t size, void *pool, stream_handle stream) {
  (void)pool, (void)stream;
  return allocate(to, size, KC_DEVICE);
}
WITH_THREAD_STREAMS(cuMemAllocFromPoolAsync)
API status cuMemFreeAsync(device_pointer pointer, stream_handle stream) {
  (void)stream;
  return release(pointer, KC_DEVICE);
}
WITH_THREAD_STREAMS(cuMemFreeAsync)
API status cuDeviceGetDefaultMemPool(void **pool, int device) {
  *pool = handle(16);
  return check_device(device);
}
ALSO(cuDeviceGetDefaultMemPool, cuDeviceGetMemPool)
API status cuDeviceSetMemPool(int device, void *pool) {
  (void)pool;
  return check_device(device);
}
API status cuMemPoolCreate(void **pool, const void *properties) {
  (void)properties;
  *pool = handle(17);
  return 0;
}
API status cuMemPoolDestroy(void *pool) {
  (void)pool;
  return 0;
}
API status cuMemPoolTrimTo(void *pool, size_t keep) {
  (void)pool, (void)keep;
  return 0;
}
API status cuMemPoolSetAttribute(void *pool, int attribute, void *value) {
  (void)pool;
  return done(kc_set_pool(attribute, value));
}
API status cuMemPoolGetAttribute(void *pool, int attribute, void *value) {
  (void)pool;
  return done(kc_get_pool(attribute, value));
}
API status cuMemPoolSetAccess(void *pool, const void *descriptions, size_t count) {
  (void)pool, (void)descriptions, (void)count;
  return 0;
}
API status cuMemPoolGetAccess(int *flags, void *pool, void *location) {
  (void)pool, (void)location;
  *flags = 3;
  return 0;
}

/* ---- where pages of managed memory are is not simulated ---- */

API status cuMemAdvise(device_pointer pointer, size_t size, int advice, int device) {
  (void)pointer, (void)size, (void)advice, (void)device;
  return 0;
}
API status cuMemAdvise_v2(device_pointer pointer, size_t size, int advice, memory_location where) {
  (void)pointer, (void)size, (void)advice, (void)where;
  return 0;
}
API status cuMemPrefetchAsync(device_pointer pointer, size_t size, int device, stream_handle stream) {
  (void)pointer, (void)size, (void)device, (void)stream;
  return 0;
}
WITH_THREAD_STREAMS(cuMemPrefetchAsync)
API status cuMemPrefetchAsync_v2(device_pointer pointer, size_t size, memory_location where,
                                 unsigned flags, stream_handle stream) {
  (void)pointer, (void)size, (void)where, (void)flags, (void)stream;
  return 0;
}
WITH_THREAD_STREAMS(cuMemPrefetchAsync_v2)
API status cuStreamAttachMemAsync(stream_handle stream, device_pointer pointer, size_t size,
                                  unsigned flags) {
  (void)stream, (void)pointer, (void)size, (void)flags;
  return 0;
}
WITH_THREAD_STREAMS(cuStreamAttachMemAsync)

/* ---- addresses and memory apart: reserving allocates, and memory is where it was mapped first ---- */

typedef struct { char bytes[32]; } memory_properties;
typedef struct {
  size_t size;
  memory_properties properties;
  device_pointer mapped_at;
} memory;

API status cuMemGetAllocationGranularity(size_t *bytes, const memory_properties *of, int option) {
  (void)of, (void)option;
  *bytes = GRANULARITY;
  return 0;
}
API status cuMemAddressReserve(device_pointer *to, size_t size, size_t alignment,
                               device_pointer wanted, unsigned long long flags) {
  (void)alignment, (void)wanted, (void)flags;
  return size % GRANULARITY ? KC_INVALID_VALUE : allocate(to, size, KC_DEVICE);
}
API status cuMemAddressFree(device_pointer pointer, size_t size) {
  (void)size;
  return release(pointer, KC_DEVICE);
}
API status cuMemCreate(memory **to, size_t size, const memory_properties *properties,
                       unsigned long long flags) {
  (void)flags;
  if (!size || size % GRANULARITY) return KC_INVALID_VALUE;
  *to = calloc(1, sizeof **to);
  (*to)->size = size, (*to)->properties = *properties;
  return 0;
}
API status cuMemRelease(memory *released) {
  if (!released) return KC_INVALID_VALUE;
  /* Memory lives on while it is mapped; the few bytes about it are kept. */
  return 0;
}
API status cuMemMap(device_pointer at, size_t size, size_t offset, memory *mapped,
                    unsigned long long flags) {
  (void)flags;
  if (!mapped || offset || size > mapped->size) return KC_INVALID_VALUE;
  if (mapped->mapped_at && mapped->mapped_at != at) return kc_refuse("cuMemMap at a second address");
  mapped->mapped_at = at;
  return 0;
}
API status cuMemUnmap(device_pointer at, size_t size) {
  (void)at, (void)size;
  return done(KC_ASK(KC_SYNCHRONIZE, KC_ALL_STREAMS));
}
API status cuMemSetAccess(device_pointer at, size_t size, const void *descriptions, size_t count) {
  (void)at, (void)size, (void)descriptions, (void)count;
  return 0;
}
API status cuMemGetAccess(unsigned long long *flags, const memory_location *where, device_pointer at) {
  (void)where, (void)at;
  *flags = 3;
  return 0;
}
API status cuMemGetAllocationPropertiesFromHandle(memory_properties *to, const memory *of) {
  *to = of->properties;
  return 0;
}

/* ---- pointers ---- */

typedef struct { uint64_t type, base, size; } place;
enum { UNKNOWN, OF_HOST, OF_DEVICE, OF_BOTH };

API status cuMemGetAddressRange_v2(device_pointer *base, size_t *size, device_pointer pointer) {
  place found = {0, 0, 0};
  status failure = KC_ASK_FOR(found, KC_POINTER, pointer);
  if (!failure && found.type == UNKNOWN) failure = NOT_FOUND;
  if (base) *base = found.base;
  if (size) *size = found.size;
  return done(failure);
}

/* How many bytes the answer has; 0 where there is none. */
static size_t pointer_fact(const place *found, device_pointer pointer, int attribute, uint64_t *value) {
  switch (attribute) {
    case 1: /* context */
      *value = number(current_context());
      return sizeof(void *);
    case 2: /* kind of memory: managed memory counts as the device's */
      *value = found->type == OF_HOST ? 1 : 2;
      return sizeof(int);
    case 3: *value = pointer; return sizeof(device_pointer);
    case 4: /* seen by the host */
      *value = pointer;
      return found->type == OF_DEVICE ? 0 : sizeof(void *);
    case 6: /* synchronous operations */
    case 10: /* can be shared */
      *value = 0;
      return sizeof(int);
    case 7: *value = found->base; return sizeof(uint64_t);
    case 8: *value = found->type == OF_BOTH; return sizeof(int);
    case 9: *value = 0; return sizeof(int);
    case 11: *value = found->base; return sizeof(device_pointer);
    case 12: *value = found->size; return sizeof(size_t);
    case 13: *value = 1; return sizeof(int);
    case 14: *value = 0; return sizeof(uint64_t);
    case 15: *value = 0; return sizeof(int);
    case 16: *value = 3; return sizeof(int);
    case 17: *value = 0; return sizeof(void *);
    default: return 0;
  }
}

API status cuPointerGetAttribute(void *to, int attribute, device_pointer pointer) {
  place found = {0, 0, 0};
  uint64_t value = 0;
  status failure = KC_ASK_FOR(found, KC_POINTER, pointer);
  if (failure) return done(failure);
  size_t bytes = found.type == UNKNOWN ? 0 : pointer_fact(&found, pointer, attribute, &value);
  if (bytes) memcpy(to, &value, bytes);
  return bytes ? 0 : KC_INVALID_VALUE;
}
API status cuPointerGetAttributes(unsigned count, const int *attributes, void **to,
                                  device_pointer pointer) {
  place found = {0, 0, 0};
  status failure = KC_ASK_FOR(found, KC_POINTER, pointer);
  for (unsigned i = 0; !failure && i < count; i++) {
    uint64_t value = 0;
    size_t bytes = pointer_fact(&found, pointer, attributes[i], &value);
    if (found.type == UNKNOWN) value = 0;
    if (attributes[i] == 4 && !bytes) bytes = sizeof(void *), value = 0;
    memcpy(to[i], &value, bytes);
  }
  return done(failure);
}
API status cuPointerSetAttribute(const void *value, int attribute, device_pointer pointer) {
  (void)value, (void)attribute, (void)pointer;
  return 0;
}
