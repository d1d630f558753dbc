/* Streams and events. Handles are the server's numbers; 0 to 2 are the streams that always are. */
#include <string.h>

#include "driver.h"

static status create(void **to, kc_kind kind, uint64_t flags, uint64_t more) {
  uint64_t made = 0;
  status failure = KC_ASK_FOR(made, kind, flags, more);
  if (!failure) *to = handle(made);
  return done(failure);
}

API status cuStreamCreate(stream_handle *to, unsigned flags) {
  return create(to, KC_STREAM_CREATE, flags, 0);
}
API status cuStreamCreateWithPriority(stream_handle *to, unsigned flags, int priority) {
  return create(to, KC_STREAM_CREATE, flags, (uint64_t)(int64_t)priority);
}
API status cuStreamDestroy_v2(stream_handle stream) {
  return done(KC_ASK(KC_STREAM_DESTROY, number(stream)));
}
ALSO(cuStreamDestroy_v2, cuStreamDestroy)
API status cuStreamSynchronize(stream_handle stream) {
  return done(KC_ASK(KC_SYNCHRONIZE, number(stream)));
}
WITH_THREAD_STREAMS(cuStreamSynchronize)
/* What was given to a stream is done when the next call comes. */
ALSO(cuStreamSynchronize, cuStreamQuery)
ALSO(cuStreamSynchronize, cuStreamQuery_ptsz)
API status cuStreamWaitEvent(stream_handle stream, event_handle event, unsigned flags) {
  (void)flags;
  return done(KC_ASK(KC_STREAM_WAIT, number(stream), number(event)));
}
WITH_THREAD_STREAMS(cuStreamWaitEvent)
API status cuStreamGetFlags(stream_handle stream, unsigned *flags) {
  (void)stream;
  *flags = 0;
  return 0;
}
WITH_THREAD_STREAMS(cuStreamGetFlags)
API status cuStreamGetPriority(stream_handle stream, int *priority) {
  (void)stream;
  *priority = 0;
  return 0;
}
WITH_THREAD_STREAMS(cuStreamGetPriority)
API status cuStreamGetId(stream_handle stream, unsigned long long *id) {
  *id = number(stream);
  return 0;
}
WITH_THREAD_STREAMS(cuStreamGetId)
API status cuStreamGetDevice(stream_handle stream, int *device) {
  (void)stream;
  *device = 0;
  return 0;
}
WITH_THREAD_STREAMS(cuStreamGetDevice)
API status cuStreamGetCtx(stream_handle stream, void **to) {
  (void)stream;
  *to = current_context();
  return *to ? 0 : INVALID_CONTEXT;
}
WITH_THREAD_STREAMS(cuStreamGetCtx)
API status cuStreamGetCtx_v2(stream_handle stream, void **to, void **green) {
  if (green) *green = NULL;
  return cuStreamGetCtx(stream, to);
}
WITH_THREAD_STREAMS(cuStreamGetCtx_v2)
API status cuStreamSetAttribute(stream_handle stream, int attribute, const void *value) {
  (void)stream, (void)attribute, (void)value;
  return 0;
}
WITH_THREAD_STREAMS(cuStreamSetAttribute)
API status cuStreamGetAttribute(stream_handle stream, int attribute, void *value) {
  (void)stream, (void)attribute;
  memset(value, 0, 64);
  return 0;
}
WITH_THREAD_STREAMS(cuStreamGetAttribute)
API status cuStreamCopyAttributes(stream_handle to, stream_handle from) {
  (void)to, (void)from;
  return 0;
}
WITH_THREAD_STREAMS(cuStreamCopyAttributes)

API status cuLaunchHostFunc(stream_handle stream, void (*called)(void *), void *data) {
  return done(KC_ASK(KC_CALL, (uint64_t)(uintptr_t)called, number(data), number(stream)));
}
WITH_THREAD_STREAMS(cuLaunchHostFunc)
API status cuStreamAddCallback(stream_handle stream, void (*called)(stream_handle, status, void *),
                               void *data, unsigned flags) {
  (void)flags;
  status failure = cuStreamSynchronize(stream);
  called(stream, failure, data);
  return failure;
}
WITH_THREAD_STREAMS(cuStreamAddCallback)

API status cuEventCreate(event_handle *to, unsigned flags) {
  return create(to, KC_EVENT_CREATE, flags, 0);
}
API status cuEventDestroy_v2(event_handle event) { return done(KC_ASK(KC_EVENT_DESTROY, number(event))); }
ALSO(cuEventDestroy_v2, cuEventDestroy)
API status cuEventRecord(event_handle event, stream_handle stream) {
  return done(KC_ASK(KC_EVENT_RECORD, number(event), number(stream)));
}
WITH_THREAD_STREAMS(cuEventRecord)
API status cuEventRecordWithFlags(event_handle event, stream_handle stream, unsigned flags) {
  (void)flags;
  return cuEventRecord(event, stream);
}
WITH_THREAD_STREAMS(cuEventRecordWithFlags)
API status cuEventSynchronize(event_handle event) {
  return done(KC_ASK(KC_EVENT_SYNCHRONIZE, number(event)));
}
ALSO(cuEventSynchronize, cuEventQuery)
API status cuEventElapsedTime(float *milliseconds, event_handle first, event_handle second) {
  double found = 0;
  status failure = KC_ASK_FOR(found, KC_EVENT_ELAPSED, number(first), number(second));
  *milliseconds = (float)found;
  return done(failure);
}
ALSO(cuEventElapsedTime, cuEventElapsedTime_v2)
