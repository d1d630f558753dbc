/* Contexts: all of them are of one device and share its memory. Every thread has a stack of them. */
#include <stdlib.h>

#include "driver.h"

enum { MOST_NESTED = 64, API_VERSION = 3020, CONTEXT_USED = 708 };

typedef struct {
  uint64_t id;
  unsigned flags;
  int uses;
} context;

static context primary = {.id = 1};
static uint64_t last_id = 1;
static __thread context *nested[MOST_NESTED];
static __thread int nested_count;

static context *current(void) {
  if (nested_count) return nested[nested_count - 1];
  return kc_has_runtime ? &primary : NULL; /* the runtime makes it current at its first call */
}

void *current_context(void) { return current(); }

static status push(context *pushed) {
  if (nested_count == MOST_NESTED) return KC_INVALID_VALUE;
  nested[nested_count++] = pushed;
  return 0;
}

API status cuDevicePrimaryCtxRetain(context **to, int device) {
  kc_connected();
  __atomic_fetch_add(&primary.uses, 1, __ATOMIC_RELAXED);
  *to = &primary;
  return check_device(device);
}
API status cuDevicePrimaryCtxRelease_v2(int device) {
  if (primary.uses <= 0) return INVALID_CONTEXT;
  __atomic_fetch_sub(&primary.uses, 1, __ATOMIC_RELAXED);
  return check_device(device);
}
ALSO(cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease)
API status cuDevicePrimaryCtxReset_v2(int device) {
  return device ? NO_DEVICE_OF_NUMBER : done(KC_ASK(KC_SYNCHRONIZE, KC_ALL_STREAMS));
}
ALSO(cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxReset)
API status cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) {
  primary.flags = flags;
  return check_device(device);
}
ALSO(cuDevicePrimaryCtxSetFlags_v2, cuDevicePrimaryCtxSetFlags)
API status cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *is_active) {
  *flags = primary.flags;
  *is_active = primary.uses > 0 || kc_has_runtime;
  return check_device(device);
}

API status cuCtxCreate_v2(context **to, unsigned flags, int device) {
  if (device) return NO_DEVICE_OF_NUMBER;
  kc_connected();
  context *made = calloc(1, sizeof *made);
  made->id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
  made->flags = flags;
  *to = made;
  return push(made);
}
ALSO(cuCtxCreate_v2, cuCtxCreate)
API status cuCtxCreate_v3(context **to, void *affinities, int count, unsigned flags, int device) {
  (void)affinities, (void)count;
  return cuCtxCreate_v2(to, flags, device);
}
API status cuCtxCreate_v4(context **to, void *parameters, unsigned flags, int device) {
  (void)parameters;
  return cuCtxCreate_v2(to, flags, device);
}
API status cuCtxDestroy_v2(context *destroyed) {
  if (!destroyed || destroyed == &primary) return INVALID_CONTEXT;
  status failure = KC_ASK(KC_SYNCHRONIZE, KC_ALL_STREAMS);
  if (nested_count && nested[nested_count - 1] == destroyed) nested_count--;
  free(destroyed);
  return done(failure);
}
ALSO(cuCtxDestroy_v2, cuCtxDestroy)

API status cuCtxPushCurrent_v2(context *pushed) { return pushed ? push(pushed) : INVALID_CONTEXT; }
ALSO(cuCtxPushCurrent_v2, cuCtxPushCurrent)
API status cuCtxPopCurrent_v2(context **popped) {
  if (!nested_count) return INVALID_CONTEXT;
  nested_count--;
  if (popped) *popped = nested[nested_count];
  return 0;
}
ALSO(cuCtxPopCurrent_v2, cuCtxPopCurrent)
API status cuCtxSetCurrent(context *wanted) {
  if (nested_count) nested_count--;
  return wanted ? push(wanted) : 0;
}
API status cuCtxGetCurrent(context **to) {
  *to = current();
  return 0;
}
API status cuCtxAttach(context **to, unsigned flags) {
  (void)flags;
  *to = current();
  if (!*to) return INVALID_CONTEXT;
  (*to)->uses++;
  return 0;
}
API status cuCtxDetach(context *detached) {
  if (!detached) return INVALID_CONTEXT;
  if (detached->uses > 0) {
    detached->uses--;
    return 0;
  }
  return cuCtxDestroy_v2(detached);
}

API status cuCtxGetDevice(int *device) {
  *device = 0;
  return current() ? 0 : INVALID_CONTEXT;
}
API status cuCtxGetDevice_v2(int *device, context *of) {
  *device = 0;
  return of || current() ? 0 : INVALID_CONTEXT;
}
API status cuCtxGetFlags(unsigned *flags) {
  *flags = current() ? current()->flags : 0;
  return current() ? 0 : INVALID_CONTEXT;
}
API status cuCtxSetFlags(unsigned flags) {
  if (current()) current()->flags = flags;
  return current() ? 0 : INVALID_CONTEXT;
}
API status cuCtxGetId(context *of, unsigned long long *id) {
  if (!of) of = current();
  if (of) *id = of->id;
  return of ? 0 : INVALID_CONTEXT;
}
API status cuCtxGetApiVersion(context *of, unsigned *version) {
  (void)of;
  *version = API_VERSION;
  return 0;
}
API status cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return 0;
}
API status cuCtxGetExecAffinity(void *affinity, int kind) {
  (void)affinity, (void)kind;
  return kc_refuse("cuCtxGetExecAffinity");
}

API status cuCtxSynchronize(void) { return done(KC_ASK(KC_SYNCHRONIZE, KC_ALL_STREAMS)); }
API status cuCtxSynchronize_v2(context *of) {
  (void)of;
  return cuCtxSynchronize();
}
API status cuCtxRecordEvent(context *of, event_handle event) {
  (void)of;
  return done(KC_ASK(KC_EVENT_RECORD, number(event), 0));
}
API status cuCtxWaitEvent(context *of, event_handle event) {
  (void)of;
  return done(KC_ASK(KC_STREAM_WAIT, 0, number(event)));
}
API status cuCtxResetPersistingL2Cache(void) { return 0; }
API status cuCtxEnablePeerAccess(context *peer, unsigned flags) {
  (void)peer, (void)flags;
  return INVALID_CONTEXT;
}
API status cuCtxDisablePeerAccess(context *peer) {
  (void)peer;
  return INVALID_CONTEXT;
}

API status cuCtxSetLimit(unsigned limit, size_t value) {
  size_t *kept = kc_setting(limit);
  if (kept) *kept = value;
  return kept ? 0 : KC_INVALID_VALUE;
}
API status cuCtxGetLimit(size_t *value, unsigned limit) {
  const size_t *kept = kc_setting(limit);
  if (kept) *value = *kept;
  return kept ? 0 : KC_INVALID_VALUE;
}
static int get_configuration(int *to, unsigned setting) {
  *to = (int)*kc_setting(setting);
  return 0;
}
static int set_configuration(unsigned setting, int value) {
  *kc_setting(setting) = (size_t)value;
  return 0;
}
API status cuCtxGetCacheConfig(int *to) { return get_configuration(to, KC_CACHE_CONFIGURATION); }
API status cuCtxSetCacheConfig(int value) { return set_configuration(KC_CACHE_CONFIGURATION, value); }
API status cuCtxGetSharedMemConfig(int *to) { return get_configuration(to, KC_BANK_CONFIGURATION); }
API status cuCtxSetSharedMemConfig(int value) { return set_configuration(KC_BANK_CONFIGURATION, value); }
