/* Queues, events and what waits for them. A queue is a stream of the time line; those that promise
   no order keep one all the same. */
#include <stdlib.h>
#include <string.h>

#include "opencl.h"

#define QUEUE_NON_BLOCKING 1

/* ---- queues ---- */

static queue *new_queue(context *in, device *of, uint64_t flags, status *error) {
  if (!is(in, CONTEXT)) return failed(error, CL_INVALID_CONTEXT);
  if (!is(of, DEVICE)) return failed(error, CL_INVALID_DEVICE);
  if (flags >> 4) return failed(error, CL_INVALID_VALUE);
  if (flags & CL_QUEUE_ON_DEVICE)
    return failed(error, refuse("a queue on the device", CL_INVALID_QUEUE_PROPERTIES));
  queue *made = make(QUEUE, sizeof *made);
  made->in = in, made->flags = flags;
  status failure = error_of(KC_ASK_FOR(made->stream, KC_STREAM_CREATE, QUEUE_NON_BLOCKING, 0));
  if (failure) {
    free(made);
    return failed(error, failure);
  }
  retain(in, CONTEXT, 0);
  if (error) *error = CL_SUCCESS;
  return made;
}

API queue *clCreateCommandQueue(context *in, device *of, uint64_t flags, status *error) {
  return new_queue(in, of, flags, error);
}

API queue *clCreateCommandQueueWithProperties(context *in, device *of, const uint64_t *properties,
                                              status *error) {
  uint64_t flags = 0;
  size_t words = 0;
  for (; properties && properties[words]; words += 2)
    if (properties[words] == CL_QUEUE_PROPERTIES) flags = properties[words + 1];
  queue *made = new_queue(in, of, flags, error);
  if (made && properties) {
    made->property_bytes = (words + 1) * sizeof *properties;
    made->properties = malloc(made->property_bytes);
    memcpy(made->properties, properties, made->property_bytes);
  }
  return made;
}

API status clRetainCommandQueue(queue *it) { return retain(it, QUEUE, CL_INVALID_COMMAND_QUEUE); }

void release_queue(queue *it) {
  if (drop(it)) return;
  KC_POST(KC_STREAM_DESTROY, it->stream);
  release_context(it->in);
  free(it->properties);
  free(it);
}

API status clReleaseCommandQueue(queue *it) {
  if (!is(it, QUEUE)) return CL_INVALID_COMMAND_QUEUE;
  release_queue(it);
  return CL_SUCCESS;
}

API status clGetCommandQueueInfo(const queue *of, uint32_t name, size_t room, void *to,
                                 size_t *needed) {
  if (!is(of, QUEUE)) return CL_INVALID_COMMAND_QUEUE;
  switch (name) {
    case CL_QUEUE_CONTEXT: return GIVE(void *, of->in);
    case CL_QUEUE_DEVICE: return GIVE(void *, &the_device);
    case CL_QUEUE_REFERENCE_COUNT: return GIVE(uint32_t, (uint32_t)of->head.references);
    case CL_QUEUE_PROPERTIES: return GIVE(uint64_t, of->flags);
    case CL_QUEUE_DEVICE_DEFAULT: return GIVE(void *, NULL);
    case CL_QUEUE_PROPERTIES_ARRAY:
      return give(of->properties, of->property_bytes, room, to, needed);
    default: return name == CL_QUEUE_SIZE ? CL_INVALID_COMMAND_QUEUE : CL_INVALID_VALUE;
  }
}

API status clSetCommandQueueProperty(queue *of, uint64_t flags, uint32_t is_on, uint64_t *before) {
  if (!is(of, QUEUE)) return CL_INVALID_COMMAND_QUEUE;
  if (before) *before = of->flags;
  of->flags = is_on ? of->flags | flags : of->flags & ~flags;
  return CL_SUCCESS;
}

API status clFlush(queue *of) { return is(of, QUEUE) ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE; }
API status clFinish(queue *of) {
  return is(of, QUEUE) ? error_of(KC_ASK(KC_SYNCHRONIZE, of->stream)) : CL_INVALID_COMMAND_QUEUE;
}

/* ---- events ---- */

status begin_command(const queue *on, waits before) {
  if (!is(on, QUEUE)) return CL_INVALID_COMMAND_QUEUE;
  if (!before.list != !before.count) return CL_INVALID_EVENT_WAIT_LIST;
  for (uint32_t i = 0; i < before.count; i++) {
    const event *it = before.list[i];
    if (!is(it, EVENT)) return CL_INVALID_EVENT_WAIT_LIST;
    if (it->status > CL_COMPLETE)
      return refuse("a command that waits for a user event before it is set",
                    CL_INVALID_EVENT_WAIT_LIST);
    if (it->status < 0) return -14; /* an error of what it waits for */
    if (it->number && it->on != on) KC_POST(KC_STREAM_WAIT, on->stream, it->number);
  }
  return CL_SUCCESS;
}

status end_command(queue *on, uint32_t command, int is_blocking, event **to) {
  if (to) {
    event *made = make(EVENT, sizeof *made);
    uint64_t found[5] = {0, 0, 0, 0, 0};
    uint64_t is_mark = command == CL_COMMAND_MARKER || command == CL_COMMAND_BARRIER;
    status failure = error_of(KC_ASK_FOR(found, KC_CL_EVENT, on->stream, is_mark));
    if (failure) {
      free(made);
      return failure;
    }
    made->on = on, made->in = on->in, made->command = command, made->number = found[0];
    memcpy(made->times, found + 1, sizeof made->times);
    retain(on, QUEUE, 0);
    retain(on->in, CONTEXT, 0);
    *to = made;
  }
  return is_blocking ? error_of(KC_ASK(KC_SYNCHRONIZE, on->stream)) : CL_SUCCESS;
}

API status clRetainEvent(event *it) { return retain(it, EVENT, CL_INVALID_EVENT); }
API status clReleaseEvent(event *it) {
  if (!is(it, EVENT)) return CL_INVALID_EVENT;
  if (drop(it)) return CL_SUCCESS;
  if (it->number) KC_POST(KC_EVENT_DESTROY, it->number);
  if (it->on) release_queue(it->on);
  release_context(it->in);
  free(it);
  return CL_SUCCESS;
}

static status wait_for(const event *it) {
  return it->number ? error_of(KC_ASK(KC_EVENT_SYNCHRONIZE, it->number)) : CL_SUCCESS;
}

API status clWaitForEvents(uint32_t count, event *const *list) {
  if (!count || !list) return CL_INVALID_VALUE;
  for (uint32_t i = 0; i < count; i++) {
    if (!is(list[i], EVENT)) return CL_INVALID_EVENT;
    while (__atomic_load_n(&list[i]->status, __ATOMIC_ACQUIRE) > CL_COMPLETE)
      ; /* another thread sets it */
    if (list[i]->status < 0) return -14;
    status failure = wait_for(list[i]);
    if (failure) return failure;
  }
  return CL_SUCCESS;
}

API status clGetEventInfo(const event *of, uint32_t name, size_t room, void *to, size_t *needed) {
  if (!is(of, EVENT)) return CL_INVALID_EVENT;
  switch (name) {
    case CL_EVENT_COMMAND_QUEUE: return GIVE(void *, of->on);
    case CL_EVENT_CONTEXT: return GIVE(void *, of->in);
    case CL_EVENT_COMMAND_TYPE: return GIVE(uint32_t, of->command);
    case CL_EVENT_REFERENCE_COUNT: return GIVE(uint32_t, (uint32_t)of->head.references);
    case CL_EVENT_COMMAND_EXECUTION_STATUS:
      wait_for(of); /* the program is told that it is done */
      return GIVE(int32_t, of->status);
    default: return CL_INVALID_VALUE;
  }
}

API status clGetEventProfilingInfo(const event *of, uint32_t name, size_t room, void *to,
                                   size_t *needed) {
  if (!is(of, EVENT)) return CL_INVALID_EVENT;
  if (!of->on || !(of->on->flags & CL_QUEUE_PROFILING_ENABLE))
    return CL_PROFILING_INFO_NOT_AVAILABLE;
  if (name == CL_PROFILING_COMMAND_COMPLETE) name = CL_PROFILING_COMMAND_END;
  if (name < CL_PROFILING_COMMAND_QUEUED || name > CL_PROFILING_COMMAND_END) return CL_INVALID_VALUE;
  return GIVE(uint64_t, of->times[name - CL_PROFILING_COMMAND_QUEUED]);
}

typedef void (*event_function)(event *, int32_t, void *);

void run_event_callbacks(event *it) {
  while (it->callbacks) {
    callback *first = it->callbacks;
    it->callbacks = first->next;
    ((event_function)first->function)(it, it->status < 0 ? it->status : first->status, first->data);
    free(first);
  }
}

API status clSetEventCallback(event *of, int32_t at, event_function function, void *data) {
  if (!is(of, EVENT)) return CL_INVALID_EVENT;
  if (!function || at < CL_COMPLETE || at > CL_SUBMITTED) return CL_INVALID_VALUE;
  add_callback(&of->callbacks, (void *)function, data, at);
  if (of->status <= CL_COMPLETE) run_event_callbacks(of);
  return CL_SUCCESS;
}

API event *clCreateUserEvent(context *in, status *error) {
  if (!is(in, CONTEXT)) return failed(error, CL_INVALID_CONTEXT);
  event *made = make(EVENT, sizeof *made);
  made->in = in, made->command = CL_COMMAND_USER, made->status = CL_SUBMITTED;
  retain(in, CONTEXT, 0);
  if (error) *error = CL_SUCCESS;
  return made;
}

API status clSetUserEventStatus(event *of, int32_t now) {
  if (!is(of, EVENT) || of->on) return CL_INVALID_EVENT;
  if (now > CL_COMPLETE) return CL_INVALID_VALUE;
  if (of->status <= CL_COMPLETE) return CL_INVALID_OPERATION;
  __atomic_store_n(&of->status, now, __ATOMIC_RELEASE);
  run_event_callbacks(of);
  return CL_SUCCESS;
}

/* ---- markers and barriers ---- */

static status mark(queue *on, uint32_t command, waits before, event **to) {
  status failure = begin_command(on, before);
  return failure ? failure : end_command(on, command, 0, to);
}

API status clEnqueueMarkerWithWaitList(queue *on, uint32_t count, event *const *list, event **to) {
  return mark(on, CL_COMMAND_MARKER, (waits){count, list}, to);
}
API status clEnqueueBarrierWithWaitList(queue *on, uint32_t count, event *const *list, event **to) {
  return mark(on, CL_COMMAND_BARRIER, (waits){count, list}, to);
}
API status clEnqueueMarker(queue *on, event **to) {
  return to ? mark(on, CL_COMMAND_MARKER, (waits){0, NULL}, to) : CL_INVALID_VALUE;
}
API status clEnqueueBarrier(queue *on) {
  return mark(on, CL_COMMAND_BARRIER, (waits){0, NULL}, NULL);
}
API status clEnqueueWaitForEvents(queue *on, uint32_t count, event *const *list) {
  return count && list ? begin_command(on, (waits){count, list}) : CL_INVALID_VALUE;
}
