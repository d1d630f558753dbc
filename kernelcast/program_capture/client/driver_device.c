/* The device, its attributes, and errors. */
#include <stdio.h>
#include <string.h>

#include "driver.h"
#include "errors.h"

enum { PROPERTIES_OF = 13, PROPERTIES_ROOM = 4096, NAME_BYTES = 256, UUID_BYTES = 16 };

status done(status found) {
  switch (found) {
    case 9:
    case 12:
    case 21: return KC_INVALID_VALUE;
    case 13: return NOT_FOUND;
    case 18:
    case 98: return INVALID_HANDLE;
    default: return found;
  }
}

status check_device(int device) { return device ? NO_DEVICE_OF_NUMBER : 0; }

API status cuInit(unsigned flags) { return flags ? KC_INVALID_VALUE : 0; }
API status cuDriverGetVersion(int *version) {
  *version = KC_DRIVER_VERSION;
  return 0;
}

API status cuGetErrorName(status number, const char **name) {
  const kc_error *found = kc_error_of(number);
  *name = found ? found->driver_name : NULL;
  return found ? 0 : KC_INVALID_VALUE;
}
API status cuGetErrorString(status number, const char **text) {
  const kc_error *found = kc_error_of(number);
  *text = found ? found->text : NULL;
  return found ? 0 : KC_INVALID_VALUE;
}

API status cuDeviceGetCount(int *count) {
  kc_connected();
  *count = 1;
  return 0;
}
API status cuDeviceGet(int *device, int ordinal) {
  *device = 0;
  return check_device(ordinal);
}

API status cuDeviceGetAttribute(int *value, int attribute, int device) {
  if (device) return NO_DEVICE_OF_NUMBER;
  uint64_t found = 0;
  status failure = KC_ASK_FOR(found, KC_ATTRIBUTE, (uint64_t)attribute);
  *value = (int)found;
  return done(failure);
}

API status cuDeviceComputeCapability(int *major, int *minor, int device) {
  status failure = cuDeviceGetAttribute(major, 75, device);
  return failure ? failure : cuDeviceGetAttribute(minor, 76, device);
}

/* The runtime's properties begin with the name and the UUID of the device. */
static status properties(char *to, int device) {
  if (device) return NO_DEVICE_OF_NUMBER;
  uint64_t version = PROPERTIES_OF;
  return done(kc_ask(KC_PROPERTIES, &version, sizeof version, NULL, 0, to, PROPERTIES_ROOM, NULL));
}
API status cuDeviceGetName(char *to, int size, int device) {
  char found[PROPERTIES_ROOM];
  status failure = properties(found, device);
  if (!failure && size > 0) snprintf(to, (size_t)size, "%s", found);
  return failure;
}
API status cuDeviceGetUuid_v2(void *to, int device) {
  char found[PROPERTIES_ROOM];
  status failure = properties(found, device);
  if (!failure) memcpy(to, found + NAME_BYTES, UUID_BYTES);
  return failure;
}
ALSO(cuDeviceGetUuid_v2, cuDeviceGetUuid)

API status cuDeviceTotalMem_v2(size_t *bytes, int device) {
  uint64_t found[2] = {0, 0};
  if (device) return NO_DEVICE_OF_NUMBER;
  status failure = kc_ask(KC_MEMORY_INFO, NULL, 0, NULL, 0, found, sizeof found, NULL);
  *bytes = found[1];
  return done(failure);
}

/* Maximum of threads, of each block and grid dimension, shared bytes of a block, constant bytes,
   warp size, pitch, registers of a block, clock, alignment of textures. */
API status cuDeviceGetProperties(int *to, int device) {
  for (int i = 0; i < 14; i++) {
    status failure = cuDeviceGetAttribute(&to[i], i + 1, device);
    if (failure) return failure;
  }
  return 0;
}

API status cuDeviceGetPCIBusId(char *to, int size, int device) {
  if (device) return NO_DEVICE_OF_NUMBER;
  snprintf(to, (size_t)size, "0000:01:00.0");
  return 0;
}
API status cuDeviceGetByPCIBusId(int *device, const char *bus) {
  (void)bus;
  *device = 0;
  return 0;
}
API status cuDeviceCanAccessPeer(int *can, int device, int other) {
  *can = 0;
  return check_device(device | other);
}
API status cuDeviceGetP2PAttribute(int *value, int attribute, int device, int other) {
  (void)attribute, (void)device, (void)other;
  *value = 0;
  return NO_DEVICE_OF_NUMBER;
}
API status cuDeviceGetExecAffinitySupport(int *is_supported, int kind, int device) {
  (void)kind;
  *is_supported = 0;
  return check_device(device);
}

API status cuProfilerStart(void) { return 0; }
API status cuProfilerStop(void) { return 0; }
API status cuProfilerInitialize(const char *configuration, const char *output, int mode) {
  (void)configuration, (void)output, (void)mode;
  return 0;
}
