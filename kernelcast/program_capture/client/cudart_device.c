/* The device, its properties and what else concerns a whole process. */
#include <stdio.h>
#include <string.h>

#include "cudart.h"

enum { CLOCKS = 13, PROPERTIES_ROOM = 4096 };

/* The driver tells its context as current where the runtime is. */
__attribute__((constructor)) static void say_that_it_is_here(void) { kc_has_runtime = 1; }

API status cudaGetDeviceCount(int *count) {
  kc_connected();
  *count = 1;
  return 0;
}
API status cudaSetDevice(int device) { return done(device ? INVALID_DEVICE : 0); }
API status cudaInitDevice(int device, unsigned flags, unsigned more) {
  (void)flags, (void)more;
  return cudaSetDevice(device);
}
API status cudaGetDevice(int *device) {
  *device = 0;
  return 0;
}
API status cudaChooseDevice(int *device, const void *wanted) {
  (void)wanted;
  *device = 0;
  return 0;
}
API status cudaSetValidDevices(int *devices, int count) {
  (void)devices, (void)count;
  return 0;
}
API status cudaSetDeviceFlags(unsigned flags) {
  (void)flags;
  return 0;
}
API status cudaGetDeviceFlags(unsigned *flags) {
  *flags = 0;
  return 0;
}

API status cudaDeviceGetAttribute(int *value, int attribute, int device) {
  if (device) return done(INVALID_DEVICE);
  uint64_t found = 0;
  status failure = KC_ASK_FOR(found, KC_ATTRIBUTE, (uint64_t)attribute);
  *value = (int)found;
  return done(failure);
}

static status properties(void *to, int device, int major) {
  if (device) return done(INVALID_DEVICE);
  char found[PROPERTIES_ROOM];
  size_t bytes;
  uint64_t version = (uint64_t)major;
  status failure = kc_ask(KC_PROPERTIES, &version, sizeof version, NULL, 0, found, sizeof found, &bytes);
  if (!failure) memcpy(to, found, bytes);
  return done(failure);
}

/* The structure grew in CUDA 12 under a new name, and in CUDA 13 took the old name back. */
#if CUDART_MAJOR == 12
API status cudaGetDeviceProperties_v2(void *to, int device) { return properties(to, device, 12); }
API status cudaGetDeviceProperties(void *to, int device) { return properties(to, device, 11); }
#else
API status cudaGetDeviceProperties(void *to, int device) { return properties(to, device, CUDART_MAJOR); }
#endif

API status cudaDeviceGetName(char *to, int size, int device) {
  char found[PROPERTIES_ROOM];
  status failure = properties(found, device, 13);
  if (!failure) snprintf(to, (size_t)size, "%s", found); /* the name stands first */
  return failure;
}
API status cudaDeviceGetPCIBusId(char *to, int size, int device) {
  if (device) return done(INVALID_DEVICE);
  snprintf(to, (size_t)size, "0000:01:00.0");
  return 0;
}
API status cudaDeviceGetByPCIBusId(int *device, const char *bus) {
  (void)bus;
  *device = 0;
  return 0;
}
API status cudaDeviceCanAccessPeer(int *can, int device, int other) {
  *can = 0;
  return done(device || other ? INVALID_DEVICE : 0);
}
API status cudaDeviceEnablePeerAccess(int device, unsigned flags) {
  (void)device, (void)flags;
  return done(INVALID_DEVICE);
}
API status cudaDeviceDisablePeerAccess(int device) {
  (void)device;
  return done(INVALID_DEVICE);
}
API status cudaDeviceGetP2PAttribute(int *value, int attribute, int device, int other) {
  (void)attribute, (void)device, (void)other;
  *value = 0;
  return done(INVALID_DEVICE);
}

API status cudaDeviceSynchronize(void) { return done(KC_ASK(KC_SYNCHRONIZE, KC_ALL_STREAMS)); }
API status cudaThreadSynchronize(void) { return cudaDeviceSynchronize(); }
API status cudaDeviceReset(void) {
  cudaGetLastError();
  return done(reset_variables());
}
API status cudaThreadExit(void) { return cudaDeviceReset(); }
API status cudaDriverGetVersion(int *version) {
  *version = KC_DRIVER_VERSION;
  return 0;
}
API status cudaRuntimeGetVersion(int *version) {
  *version = CUDART_MAJOR == 11 ? 11080 : CUDART_MAJOR == 12 ? 12080 : 13000;
  return 0;
}
API status cudaProfilerStart(void) { return 0; }
API status cudaProfilerStop(void) { return 0; }

/* Limits are kept and told, and change nothing. */
API status cudaDeviceSetLimit(unsigned limit, size_t value) {
  size_t *kept = kc_setting(limit);
  if (kept) *kept = value;
  return done(kept ? 0 : KC_INVALID_VALUE);
}
API status cudaDeviceGetLimit(size_t *value, unsigned limit) {
  const size_t *kept = kc_setting(limit);
  if (kept) *value = *kept;
  return done(kept ? 0 : KC_INVALID_VALUE);
}
API status cudaDeviceSetCacheConfig(int configuration) {
  *kc_setting(KC_CACHE_CONFIGURATION) = (size_t)configuration;
  return 0;
}
API status cudaDeviceGetCacheConfig(int *configuration) {
  *configuration = (int)*kc_setting(KC_CACHE_CONFIGURATION);
  return 0;
}
API status cudaDeviceSetSharedMemConfig(int configuration) {
  *kc_setting(KC_BANK_CONFIGURATION) = (size_t)configuration;
  return 0;
}
API status cudaDeviceGetSharedMemConfig(int *configuration) {
  *configuration = (int)*kc_setting(KC_BANK_CONFIGURATION);
  return 0;
}

/* ---- pools: every pool is the memory of the device ---- */

API status cudaDeviceGetDefaultMemPool(void **pool, int device) {
  *pool = handle(16);
  return done(device ? INVALID_DEVICE : 0);
}
API status cudaDeviceGetMemPool(void **pool, int device) { return cudaDeviceGetDefaultMemPool(pool, device); }
API status cudaDeviceSetMemPool(int device, void *pool) {
  (void)pool;
  return done(device ? INVALID_DEVICE : 0);
}
API status cudaMemPoolCreate(void **pool, const void *properties) {
  (void)properties;
  *pool = handle(17);
  return 0;
}
API status cudaMemPoolDestroy(void *pool) {
  (void)pool;
  return 0;
}
API status cudaMemPoolTrimTo(void *pool, size_t keep) {
  (void)pool, (void)keep;
  return 0;
}
API status cudaMemPoolSetAttribute(void *pool, int attribute, void *value) {
  (void)pool;
  return done(kc_set_pool(attribute, value));
}
API status cudaMemPoolGetAttribute(void *pool, int attribute, void *value) {
  (void)pool;
  return done(kc_get_pool(attribute, value));
}
API status cudaMemPoolSetAccess(void *pool, const void *descriptions, size_t count) {
  (void)pool, (void)descriptions, (void)count;
  return 0;
}
API status cudaMemPoolGetAccess(int *flags, void *pool, void *location) {
  (void)pool, (void)location;
  *flags = 3;
  return 0;
}
