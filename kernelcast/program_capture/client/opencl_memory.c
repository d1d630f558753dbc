/* Buffers and shared virtual memory: all of it lies where program and kernels see it alike. */
#include <stdlib.h>
#include <string.h>

#include "opencl.h"

#define ALIGNMENT 128
#define HOST_FLAGS (CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)

static status check_host(uint64_t flags, const void *host) {
  int needs = (flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0;
  if (needs != (host != NULL)) return CL_INVALID_HOST_PTR;
  int is_both = (flags & CL_MEM_USE_HOST_PTR) && (flags & (HOST_FLAGS & ~CL_MEM_USE_HOST_PTR));
  return is_both ? CL_INVALID_VALUE : CL_SUCCESS;
}

static int is_shared(const void *pointer) {
  const kc_session *facts = kc_connected();
  uint64_t address = (uint64_t)(uintptr_t)pointer;
  return address >= facts->base && address < facts->base + facts->size;
}

/* What a program gives at creation goes to the GPU before the call returns. */
static status fill_from_host(memory *it, const void *host) {
  memcpy(it->bytes, host, it->size);
  KC_POST(KC_CL_MOVE, TO_DEVICE, it->size, 0, (uint64_t)is_shared(host));
  return error_of(KC_ASK(KC_SYNCHRONIZE, 0));
}

API memory *clCreateBuffer(context *in, uint64_t flags, size_t size, void *host, status *error) {
  if (!is(in, CONTEXT)) return failed(error, CL_INVALID_CONTEXT);
  if (!size) return failed(error, CL_INVALID_BUFFER_SIZE);
  status failure = check_host(flags, host);
  if (failure) return failed(error, failure);
  uint64_t address = 0;
  memory *made = make(MEMORY, sizeof *made);
  made->in = in, made->type = CL_MEM_OBJECT_BUFFER, made->size = size;
  made->flags = flags & 7 ? flags : flags | CL_MEM_READ_WRITE;
  made->is_svm = (flags & CL_MEM_USE_HOST_PTR) && is_shared(host);
  if (made->is_svm) address = (uint64_t)(uintptr_t)host;
  else failure = error_of(KC_ASK_FOR(address, KC_ALLOCATE, size, KC_MANAGED));
  made->bytes = (char *)(uintptr_t)address;
  if (flags & CL_MEM_USE_HOST_PTR) made->host = host;
  if (!failure && host && !made->is_svm) failure = fill_from_host(made, host);
  if (failure) {
    free(made);
    return failed(error, failure);
  }
  retain(in, CONTEXT, 0);
  if (error) *error = CL_SUCCESS;
  return made;
}

API memory *clCreateBufferWithProperties(context *in, const uint64_t *properties, uint64_t flags,
                                         size_t size, void *host, status *error) {
  if (properties && properties[0]) return failed(error, CL_INVALID_PROPERTY);
  return clCreateBuffer(in, flags, size, host, error);
}

API memory *clCreateSubBuffer(memory *of, uint64_t flags, uint32_t how, const size_t *region,
                              status *error) {
  if (!is(of, MEMORY) || of->type != CL_MEM_OBJECT_BUFFER || of->parent)
    return failed(error, CL_INVALID_MEM_OBJECT);
  if (how != CL_BUFFER_CREATE_TYPE_REGION || !region) return failed(error, CL_INVALID_VALUE);
  size_t origin = region[0], size = region[1];
  if (!size) return failed(error, CL_INVALID_BUFFER_SIZE);
  if (origin > of->size || size > of->size - origin) return failed(error, CL_INVALID_VALUE);
  if (origin % ALIGNMENT) return failed(error, CL_MISALIGNED_SUB_BUFFER_OFFSET);
  memory *made = make(MEMORY, sizeof *made);
  made->in = of->in, made->type = of->type, made->size = size, made->origin = origin;
  made->parent = of, made->bytes = of->bytes + origin, made->is_svm = of->is_svm;
  made->flags = (flags & 7 ? flags : flags | (of->flags & 7)) | (of->flags & HOST_FLAGS);
  if (of->host) made->host = (char *)of->host + origin;
  retain(of, MEMORY, 0);
  retain(of->in, CONTEXT, 0);
  if (error) *error = CL_SUCCESS;
  return made;
}

API status clRetainMemObject(memory *it) { return retain(it, MEMORY, CL_INVALID_MEM_OBJECT); }

void release_memory(memory *it) {
  if (drop(it)) return;
  if (it->object) KC_POST(KC_TEXTURE_DESTROY, it->object);
  if (it->parent) release_memory(it->parent);
  else if (!it->is_svm) KC_ASK(KC_FREE, (uint64_t)(uintptr_t)it->bytes, KC_MANAGED);
  while (it->callbacks) {
    callback *first = it->callbacks;
    it->callbacks = first->next;
    ((void (*)(memory *, void *))first->function)(it, first->data);
    free(first);
  }
  while (it->mappings) {
    mapping *first = it->mappings;
    it->mappings = first->next;
    free(first);
  }
  release_context(it->in);
  free(it);
}

API status clReleaseMemObject(memory *it) {
  if (!is(it, MEMORY)) return CL_INVALID_MEM_OBJECT;
  release_memory(it);
  return CL_SUCCESS;
}

API status clSetMemObjectDestructorCallback(memory *of, void *function, void *data) {
  if (!is(of, MEMORY)) return CL_INVALID_MEM_OBJECT;
  return function && add_callback(&of->callbacks, function, data, 0) ? CL_SUCCESS : CL_INVALID_VALUE;
}

static uint32_t count_of_mappings(const memory *of) {
  uint32_t count = 0;
  for (const mapping *it = of->mappings; it; it = it->next) count++;
  return count;
}

API status clGetMemObjectInfo(const memory *of, uint32_t name, size_t room, void *to, size_t *needed) {
  if (!is(of, MEMORY)) return CL_INVALID_MEM_OBJECT;
  switch (name) {
    case CL_MEM_TYPE: return GIVE(uint32_t, of->type);
    case CL_MEM_FLAGS: return GIVE(uint64_t, of->flags);
    case CL_MEM_SIZE: return GIVE(size_t, of->size);
    case CL_MEM_HOST_PTR: return GIVE(void *, of->host);
    case CL_MEM_MAP_COUNT: return GIVE(uint32_t, count_of_mappings(of));
    case CL_MEM_REFERENCE_COUNT: return GIVE(uint32_t, (uint32_t)of->head.references);
    case CL_MEM_CONTEXT: return GIVE(void *, of->in);
    case CL_MEM_ASSOCIATED_MEMOBJECT: return GIVE(void *, of->parent);
    case CL_MEM_OFFSET: return GIVE(size_t, of->origin);
    case CL_MEM_USES_SVM_POINTER: return GIVE(uint32_t, (uint32_t)of->is_svm);
    case CL_MEM_PROPERTIES: return give(NULL, 0, room, to, needed);
    default: return CL_INVALID_VALUE;
  }
}

/* ---- shared virtual memory ---- */

API void *clSVMAlloc(context *in, uint64_t flags, size_t size, uint32_t alignment) {
  (void)flags;
  uint64_t address = 0;
  if (!is(in, CONTEXT) || !size || alignment & (alignment - 1) || alignment > 256) return NULL;
  return KC_ASK_FOR(address, KC_ALLOCATE, size, KC_MANAGED) ? NULL : (void *)(uintptr_t)address;
}

API void clSVMFree(context *in, void *pointer) {
  if (is(in, CONTEXT) && pointer) KC_ASK(KC_FREE, (uint64_t)(uintptr_t)pointer, KC_MANAGED);
}

typedef void (*free_function)(queue *, uint32_t, void **, void *);

API status clEnqueueSVMFree(queue *on, uint32_t pointers, void **list, free_function function,
                            void *data, uint32_t count, event *const *before, event **to) {
  status failure = begin_command(on, (waits){count, before});
  if (failure) return failure;
  failure = end_command(on, CL_COMMAND_SVM_FREE, 1, to);
  if (function) function(on, pointers, list, data);
  for (uint32_t i = 0; i < pointers && !function; i++) clSVMFree(on->in, list[i]);
  return failure;
}

static status move_svm(queue *on, uint32_t command, movement how, size_t bytes, int is_blocking,
                       event **to) {
  status failure = how == NOTHING ? CL_SUCCESS : move(on, how, bytes, NULL);
  return failure ? failure : end_command(on, command, is_blocking, to);
}

API status clEnqueueSVMMemcpy(queue *on, uint32_t is_blocking, void *into, const void *from,
                              size_t size, uint32_t count, event *const *before, event **to) {
  if (!into || !from) return CL_INVALID_VALUE;
  status failure = begin_command(on, (waits){count, before});
  if (failure) return failure;
  memmove(into, from, size);
  movement how = is_shared(into) ? is_shared(from) ? ON_DEVICE : TO_DEVICE : TO_HOST;
  return move_svm(on, CL_COMMAND_SVM_MEMCPY, how, size, (int)is_blocking, to);
}

API status clEnqueueSVMMemFill(queue *on, void *into, const void *pattern, size_t pattern_bytes,
                               size_t size, uint32_t count, event *const *before, event **to) {
  if (!into || !pattern || !pattern_bytes || size % pattern_bytes) return CL_INVALID_VALUE;
  status failure = begin_command(on, (waits){count, before});
  if (failure) return failure;
  for (size_t at = 0; at < size; at += pattern_bytes)
    memcpy((char *)into + at, pattern, pattern_bytes);
  return move_svm(on, CL_COMMAND_SVM_MEMFILL, FILL, size, 0, to);
}

/* Both sides see it always: mapping takes no time. */
API status clEnqueueSVMMap(queue *on, uint32_t is_blocking, uint64_t flags, void *pointer,
                           size_t size, uint32_t count, event *const *before, event **to) {
  (void)flags, (void)size;
  if (!pointer) return CL_INVALID_VALUE;
  status failure = begin_command(on, (waits){count, before});
  return failure ? failure
                 : move_svm(on, CL_COMMAND_SVM_MAP, NOTHING, 0, (int)is_blocking, to);
}
API status clEnqueueSVMUnmap(queue *on, void *pointer, uint32_t count, event *const *before,
                             event **to) {
  if (!pointer) return CL_INVALID_VALUE;
  status failure = begin_command(on, (waits){count, before});
  return failure ? failure : move_svm(on, CL_COMMAND_SVM_UNMAP, NOTHING, 0, 0, to);
}
API status clEnqueueSVMMigrateMem(queue *on, uint32_t pointers, const void **list,
                                  const size_t *sizes, uint64_t flags, uint32_t count,
                                  event *const *before, event **to) {
  (void)pointers, (void)list, (void)sizes, (void)flags;
  status failure = begin_command(on, (waits){count, before});
  return failure ? failure : move_svm(on, CL_COMMAND_SVM_MIGRATE_MEM, NOTHING, 0, 0, to);
}

/* ---- what there is not ---- */

API memory *clCreatePipe(context *in, uint64_t flags, uint32_t bytes, uint32_t packets,
                         const intptr_t *properties, status *error) {
  (void)in, (void)flags, (void)bytes, (void)packets, (void)properties;
  return failed(error, refuse("clCreatePipe", CL_INVALID_OPERATION));
}
API status clGetPipeInfo(memory *of, uint32_t name, size_t room, void *to, size_t *needed) {
  (void)of, (void)name, (void)room, (void)to, (void)needed;
  return CL_INVALID_MEM_OBJECT;
}
