/* Objects of OpenCL: references, answers to questions, errors. */
#include <stdlib.h>
#include <string.h>

#include "opencl.h"
#include "opencl_functions.h"

platform the_platform = {{&cl_functions, PLATFORM, 1}};
device the_device = {{&cl_functions, DEVICE, 1}};

void *make(kind what, size_t bytes) {
  head *made = calloc(1, bytes);
  if (!made) return NULL;
  made->functions = &cl_functions, made->kind = what, made->references = 1;
  return made;
}

int is(const void *object, kind what) {
  const head *it = object;
  return it && it->functions == &cl_functions && it->kind == what && it->references > 0;
}

int drop(void *object) {
  return __atomic_sub_fetch(&((head *)object)->references, 1, __ATOMIC_ACQ_REL);
}

status retain(void *object, kind what, status otherwise) {
  if (!is(object, what)) return otherwise;
  __atomic_add_fetch(&((head *)object)->references, 1, __ATOMIC_RELAXED);
  return CL_SUCCESS;
}

status give(const void *value, size_t bytes, size_t room, void *to, size_t *needed) {
  if (to && room < bytes) return CL_INVALID_VALUE;
  if (to && bytes) memcpy(to, value, bytes);
  if (needed) *needed = bytes;
  return CL_SUCCESS;
}

status give_text(const char *text, size_t room, void *to, size_t *needed) {
  return give(text ? text : "", text ? strlen(text) + 1 : 1, room, to, needed);
}

status error_of(int found) {
  switch (found) {
    case KC_SUCCESS: return CL_SUCCESS;
    case KC_INVALID_VALUE: return CL_INVALID_VALUE;
    case KC_OUT_OF_MEMORY: return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    case 9: return CL_INVALID_WORK_GROUP_SIZE;
    case 209: return CL_INVALID_KERNEL_DEFINITION;
    case 500: return CL_INVALID_KERNEL_NAME;
    case KC_NOT_SUPPORTED: return CL_INVALID_OPERATION;
    default: return CL_OUT_OF_RESOURCES;
  }
}

status refuse(const char *what, status error) {
  kc_refuse(what);
  return error;
}

void *failed(status *to, status error) {
  if (to) *to = error;
  return NULL;
}

callback *add_callback(callback **to, void *function, void *data, int32_t at) {
  callback *made = calloc(1, sizeof *made);
  if (!made) return NULL;
  made->function = function, made->data = data, made->status = at;
  made->next = *to; /* the last one is called first */
  *to = made;
  return made;
}
