/* Streams and events. Handles are the server's numbers; 0 to 2 are the streams that always are. */
#include <string.h>

#include "cudart.h"

static status create(void **to, kc_kind kind, uint64_t flags, uint64_t more) {
  uint64_t made = 0;
  status failure = KC_ASK_FOR(made, kind, flags, more);
  if (!failure) *to = handle(made);
  return done(failure);
}

API status cudaStreamCreateWithPriority(stream_handle *to, unsigned flags, int priority) {
  return create(to, KC_STREAM_CREATE, flags, (uint64_t)(int64_t)priority);
}
API status cudaStreamCreateWithFlags(stream_handle *to, unsigned flags) {
  return create(to, KC_STREAM_CREATE, flags, 0);
}
API status cudaStreamCreate(stream_handle *to) { return create(to, KC_STREAM_CREATE, 0, 0); }
API status cudaStreamDestroy(stream_handle stream) {
  return done(KC_ASK(KC_STREAM_DESTROY, number(stream)));
}
API status cudaStreamSynchronize(stream_handle stream) {
  return done(KC_ASK(KC_SYNCHRONIZE, number(stream)));
}
/* What was given to a stream is done when the next call comes. */
API status cudaStreamQuery(stream_handle stream) { return cudaStreamSynchronize(stream); }
API status cudaStreamWaitEvent(stream_handle stream, event_handle event, unsigned flags) {
  (void)flags;
  return done(KC_ASK(KC_STREAM_WAIT, number(stream), number(event)));
}
static status info(stream_handle stream, uint64_t *found) {
  uint64_t asked = number(stream);
  return done(kc_ask(KC_STREAM_INFO, &asked, sizeof asked, NULL, 0, found, 2 * sizeof *found, NULL));
}
API status cudaStreamGetFlags(stream_handle stream, unsigned *flags) {
  uint64_t found[2] = {0, 0};
  status failure = info(stream, found);
  *flags = (unsigned)found[0];
  return failure;
}
WITH_THREAD_STREAMS(cudaStreamGetFlags)
API status cudaStreamGetPriority(stream_handle stream, int *priority) {
  uint64_t found[2] = {0, 0};
  status failure = info(stream, found);
  *priority = (int)found[1];
  return failure;
}
WITH_THREAD_STREAMS(cudaStreamGetPriority)
API status cudaStreamGetId(stream_handle stream, unsigned long long *id) {
  *id = number(stream);
  return 0;
}
WITH_THREAD_STREAMS(cudaStreamGetId)
API status cudaStreamGetDevice(stream_handle stream, int *device) {
  (void)stream;
  *device = 0;
  return 0;
}
WITH_THREAD_STREAMS(cudaStreamGetDevice)
API status cudaStreamCopyAttributes(stream_handle to, stream_handle from) {
  (void)to, (void)from;
  return 0;
}
WITH_THREAD_STREAMS(cudaStreamCopyAttributes)
API status cudaStreamSetAttribute(stream_handle stream, int attribute, const void *value) {
  (void)stream, (void)attribute, (void)value;
  return 0;
}
WITH_THREAD_STREAMS(cudaStreamSetAttribute)
API status cudaStreamGetAttribute(stream_handle stream, int attribute, void *value) {
  (void)stream, (void)attribute;
  memset(value, 0, 64);
  return 0;
}
WITH_THREAD_STREAMS(cudaStreamGetAttribute)
API status cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return 0;
}

API status cudaLaunchHostFunc(stream_handle stream, void (*called)(void *), void *data) {
  return done(KC_ASK(KC_CALL, (uint64_t)(uintptr_t)called, number(data), number(stream)));
}
API status cudaStreamAddCallback(stream_handle stream, void (*called)(stream_handle, status, void *),
                                 void *data, unsigned flags) {
  (void)flags;
  status failure = cudaStreamSynchronize(stream);
  called(stream, failure, data);
  return failure;
}

API status cudaEventCreateWithFlags(event_handle *to, unsigned flags) {
  return create(to, KC_EVENT_CREATE, flags, 0);
}
API status cudaEventCreate(event_handle *to) { return create(to, KC_EVENT_CREATE, 0, 0); }
API status cudaEventDestroy(event_handle event) { return done(KC_ASK(KC_EVENT_DESTROY, number(event))); }
API status cudaEventRecord(event_handle event, stream_handle stream) {
  return done(KC_ASK(KC_EVENT_RECORD, number(event), number(stream)));
}
API status cudaEventRecordWithFlags(event_handle event, stream_handle stream, unsigned flags) {
  (void)flags;
  return cudaEventRecord(event, stream);
}
API status cudaEventSynchronize(event_handle event) {
  return done(KC_ASK(KC_EVENT_SYNCHRONIZE, number(event)));
}
API status cudaEventQuery(event_handle event) { return cudaEventSynchronize(event); }
API status cudaEventElapsedTime(float *milliseconds, event_handle first, event_handle second) {
  double found = 0;
  status failure = KC_ASK_FOR(found, KC_EVENT_ELAPSED, number(first), number(second));
  *milliseconds = (float)found;
  return done(failure);
}
API status cudaEventElapsedTime_v2(float *milliseconds, event_handle first, event_handle second) {
  return cudaEventElapsedTime(milliseconds, first, second);
}
