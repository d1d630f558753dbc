/* The platform, its one device, and contexts. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "opencl.h"
#include "opencl_functions.h"

#define VERSION_3_0 (3u << 22)

/* ---- platform ---- */

API status clGetPlatformIDs(uint32_t room, platform **to, uint32_t *count) {
  if ((!to && !count) || (to && !room)) return CL_INVALID_VALUE;
  if (to) *to = &the_platform;
  if (count) *count = 1;
  return CL_SUCCESS;
}

API status clIcdGetPlatformIDsKHR(uint32_t room, platform **to, uint32_t *count) {
  return clGetPlatformIDs(room, to, count);
}

static status device_value(uint32_t name, const char **value, size_t *bytes);

API status clGetPlatformInfo(const platform *asked, uint32_t name, size_t room, void *to,
                             size_t *needed) {
  if (asked && !is(asked, PLATFORM)) return CL_INVALID_PLATFORM;
  const char *extensions;
  size_t bytes;
  switch (name) {
    case CL_PLATFORM_PROFILE: return give_text("FULL_PROFILE", room, to, needed);
    case CL_PLATFORM_VERSION: return give_text("OpenCL 3.0 kernelcast", room, to, needed);
    case CL_PLATFORM_NAME: return give_text("kernelcast", room, to, needed);
    case CL_PLATFORM_VENDOR: return give_text("kernelcast", room, to, needed);
    case CL_PLATFORM_ICD_SUFFIX_KHR: return give_text("KERNELCAST", room, to, needed);
    case CL_PLATFORM_HOST_TIMER_RESOLUTION: return GIVE(uint64_t, 1);
    case CL_PLATFORM_NUMERIC_VERSION: return GIVE(uint32_t, VERSION_3_0);
    case CL_PLATFORM_EXTENSIONS_WITH_VERSION: return give(NULL, 0, room, to, needed);
    case CL_PLATFORM_EXTENSIONS:
      if (device_value(CL_DEVICE_EXTENSIONS, &extensions, &bytes)) return CL_OUT_OF_RESOURCES;
      return give(extensions, bytes, room, to, needed);
    default: return CL_INVALID_VALUE;
  }
}

API void *clGetExtensionFunctionAddress(const char *name) { return (void *)cl_function_named(name); }
API void *clGetExtensionFunctionAddressForPlatform(platform *of, const char *name) {
  return is(of, PLATFORM) ? (void *)cl_function_named(name) : NULL;
}
API status clUnloadCompiler(void) { return CL_SUCCESS; }
API status clUnloadPlatformCompiler(platform *of) {
  return is(of, PLATFORM) ? CL_SUCCESS : CL_INVALID_PLATFORM;
}

/* ---- device ---- */

API status clGetDeviceIDs(const platform *of, uint64_t type, uint32_t room, device **to,
                          uint32_t *count) {
  if (of && !is(of, PLATFORM)) return CL_INVALID_PLATFORM;
  if ((!to && !count) || (to && !room)) return CL_INVALID_VALUE;
  if (!type || (type != 0xFFFFFFFF && type >> 5)) return CL_INVALID_DEVICE_TYPE;
  int fits = (type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT)) != 0;
  if (to && fits) *to = &the_device;
  if (count) *count = (uint32_t)fits;
  return fits ? CL_SUCCESS : CL_DEVICE_NOT_FOUND;
}

/* What the server says of the device: number, size and bytes of one value after the other. */
#define FACT_BYTES 65536
static pthread_once_t once = PTHREAD_ONCE_INIT;
static char facts[FACT_BYTES];
static size_t fact_bytes;

static void ask_for_facts(void) {
  size_t all = 0;
  kc_ask(KC_CL_DEVICE, NULL, 0, NULL, 0, facts, sizeof facts, &all);
  fact_bytes = all < sizeof facts ? all : sizeof facts;
}

static status device_value(uint32_t name, const char **value, size_t *bytes) {
  pthread_once(&once, ask_for_facts);
  for (size_t at = 0; at + 8 <= fact_bytes;) {
    uint32_t what, size;
    memcpy(&what, facts + at, 4);
    memcpy(&size, facts + at + 4, 4);
    at += 8;
    if (what == name) {
      *value = facts + at, *bytes = size;
      return CL_SUCCESS;
    }
    at += size;
  }
  return CL_INVALID_VALUE;
}

API status clGetDeviceInfo(const device *of, uint32_t name, size_t room, void *to, size_t *needed) {
  if (!is(of, DEVICE)) return CL_INVALID_DEVICE;
  if (name == CL_DEVICE_PLATFORM) return GIVE(void *, &the_platform);
  const char *value;
  size_t bytes;
  status failure = device_value(name, &value, &bytes);
  return failure ? failure : give(value, bytes, room, to, needed);
}

API status clRetainDevice(device *it) { return is(it, DEVICE) ? CL_SUCCESS : CL_INVALID_DEVICE; }
API status clReleaseDevice(device *it) { return is(it, DEVICE) ? CL_SUCCESS : CL_INVALID_DEVICE; }
API status clCreateSubDevices(device *of, const intptr_t *how, uint32_t room, device **to,
                              uint32_t *count) {
  (void)of, (void)how, (void)room, (void)to, (void)count;
  return refuse("clCreateSubDevices", CL_DEVICE_PARTITION_FAILED);
}
API status clGetDeviceAndHostTimer(device *of, uint64_t *on_device, uint64_t *on_host) {
  if (!is(of, DEVICE)) return CL_INVALID_DEVICE;
  uint64_t now = 0;
  status failure = error_of(kc_ask(KC_TIME, NULL, 0, NULL, 0, &now, sizeof now, NULL));
  *on_device = *on_host = now;
  return failure;
}
API status clGetHostTimer(device *of, uint64_t *on_host) {
  uint64_t unused;
  return clGetDeviceAndHostTimer(of, &unused, on_host);
}
API status clSetDefaultDeviceCommandQueue(context *in, device *of, queue *which) {
  (void)in, (void)of, (void)which;
  return refuse("clSetDefaultDeviceCommandQueue", CL_INVALID_OPERATION);
}

/* ---- contexts ---- */

typedef void (*context_message)(const char *, const void *, size_t, void *);

API context *clCreateContext(const intptr_t *properties, uint32_t count, device *const *devices,
                             context_message tell, void *data, status *error) {
  (void)tell, (void)data;
  if (!devices || !count) return failed(error, CL_INVALID_VALUE);
  for (uint32_t i = 0; i < count; i++)
    if (!is(devices[i], DEVICE)) return failed(error, CL_INVALID_DEVICE);
  context *made = make(CONTEXT, sizeof *made);
  size_t words = 0;
  if (properties) {
    while (properties[words]) words += 2;
    made->property_bytes = (words + 1) * sizeof *properties;
    made->properties = malloc(made->property_bytes);
    memcpy(made->properties, properties, made->property_bytes);
  }
  if (error) *error = CL_SUCCESS;
  return made;
}

API context *clCreateContextFromType(const intptr_t *properties, uint64_t type, context_message tell,
                                     void *data, status *error) {
  device *found;
  status failure = clGetDeviceIDs(NULL, type, 1, &found, NULL);
  if (failure) return failed(error, failure);
  return clCreateContext(properties, 1, &found, tell, data, error);
}

API status clRetainContext(context *it) { return retain(it, CONTEXT, CL_INVALID_CONTEXT); }

void release_context(context *it) {
  if (drop(it)) return;
  while (it->callbacks) {
    callback *first = it->callbacks;
    it->callbacks = first->next;
    ((void (*)(context *, void *))first->function)(it, first->data);
    free(first);
  }
  free(it->properties);
  free(it);
}

API status clReleaseContext(context *it) {
  if (!is(it, CONTEXT)) return CL_INVALID_CONTEXT;
  release_context(it);
  return CL_SUCCESS;
}

API status clSetContextDestructorCallback(context *of, void *function, void *data) {
  if (!is(of, CONTEXT)) return CL_INVALID_CONTEXT;
  return function && add_callback(&of->callbacks, function, data, 0) ? CL_SUCCESS : CL_INVALID_VALUE;
}

API status clGetContextInfo(const context *of, uint32_t name, size_t room, void *to, size_t *needed) {
  if (!is(of, CONTEXT)) return CL_INVALID_CONTEXT;
  switch (name) {
    case CL_CONTEXT_REFERENCE_COUNT: return GIVE(uint32_t, (uint32_t)of->head.references);
    case CL_CONTEXT_NUM_DEVICES: return GIVE(uint32_t, 1);
    case CL_CONTEXT_DEVICES: return GIVE(void *, &the_device);
    case CL_CONTEXT_PROPERTIES: return give(of->properties, of->property_bytes, room, to, needed);
    default: return CL_INVALID_VALUE;
  }
}
