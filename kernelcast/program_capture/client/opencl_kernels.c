/* Kernels and their arguments. */
#include <stdlib.h>
#include <string.h>

#include "opencl.h"

#define FACT_BYTES (1 << 17)

typedef struct {
  uint64_t id, max_threads, shared_bytes, private_bytes, required[3], count, end;
} kernel_facts;

/* ---- making ---- */

static status describe(kernel *it, const char *name) {
  struct { kernel_facts facts; uint64_t words[(FACT_BYTES) / 8]; } *answer = calloc(1, sizeof *answer);
  size_t answered = 0;
  uint64_t words[] = {it->of->module, 0, 0, 0};
  status failure = error_of(kc_ask(KC_CL_KERNEL, words, sizeof words, name, strlen(name), answer,
                                   sizeof *answer - 1, &answered));
  if (!failure) {
    const kernel_facts *facts = &answer->facts;
    it->id = facts->id, it->max_threads = facts->max_threads;
    it->shared_bytes = facts->shared_bytes, it->private_bytes = facts->private_bytes;
    memcpy(it->required, facts->required, sizeof it->required);
    it->count = facts->count, it->end = facts->end;
    it->arguments = calloc(it->count + 1, sizeof *it->arguments);
    it->block = calloc(1, it->end + 8);
    it->texts = strdup((char *)(answer->words + 3 * it->count)); /* names, a line for each */
    char *text = it->texts;
    for (uint64_t i = 0; i < it->count; i++) {
      argument *made = &it->arguments[i];
      made->kind = answer->words[3 * i], made->offset = answer->words[3 * i + 1];
      made->size = answer->words[3 * i + 2], made->name = text;
      text = strchr(text, '\n');
      *text++ = 0;
    }
  }
  free(answer);
  return failure;
}

API kernel *clCreateKernel(program *of, const char *name, status *error) {
  if (!is(of, PROGRAM)) return failed(error, CL_INVALID_PROGRAM);
  if (!of->module) return failed(error, CL_INVALID_PROGRAM_EXECUTABLE);
  if (!name) return failed(error, CL_INVALID_VALUE);
  kernel *made = make(KERNEL, sizeof *made);
  made->of = of;
  status failure = describe(made, name);
  if (failure) {
    free(made);
    return failed(error, failure);
  }
  made->name = strdup(name);
  retain(of, PROGRAM, 0);
  if (error) *error = CL_SUCCESS;
  return made;
}

API status clCreateKernelsInProgram(program *of, uint32_t room, kernel **to, uint32_t *count) {
  if (!is(of, PROGRAM)) return CL_INVALID_PROGRAM;
  if (!of->module) return CL_INVALID_PROGRAM_EXECUTABLE;
  if (count) *count = (uint32_t)of->kernel_count;
  if (!to) return CL_SUCCESS;
  if (room < of->kernel_count) return CL_INVALID_VALUE;
  char *names = strdup(of->names), *rest = names, *name;
  status failure = CL_SUCCESS;
  for (uint32_t i = 0; !failure && (name = strsep(&rest, ";")) && *name; i++)
    to[i] = clCreateKernel(of, name, &failure);
  free(names);
  return failure;
}

API status clRetainKernel(kernel *it) { return retain(it, KERNEL, CL_INVALID_KERNEL); }

API status clReleaseKernel(kernel *it) {
  if (!is(it, KERNEL)) return CL_INVALID_KERNEL;
  if (drop(it)) return CL_SUCCESS;
  release_program(it->of);
  free(it->name), free(it->texts), free(it->arguments), free(it->block);
  free(it);
  return CL_SUCCESS;
}

API kernel *clCloneKernel(const kernel *of, status *error) {
  if (!is(of, KERNEL)) return failed(error, CL_INVALID_KERNEL);
  kernel *made = clCreateKernel(of->of, of->name, error);
  if (!made) return NULL;
  memcpy(made->block, of->block, of->end);
  for (uint64_t i = 0; i < of->count; i++) made->arguments[i].is_set = of->arguments[i].is_set;
  return made;
}

/* ---- arguments ---- */

static status object_argument(const argument *to, size_t size, const void *value, uint64_t *word) {
  if (size != sizeof(void *)) return CL_INVALID_ARG_SIZE;
  const void *given = NULL;
  if (value) memcpy(&given, value, sizeof given);
  if (to->kind == OF_SAMPLER) {
    if (!is(given, SAMPLER)) return CL_INVALID_SAMPLER;
    *word = ((const sampler *)given)->object;
    return CL_SUCCESS;
  }
  if (!given && to->kind == POINTER) {
    *word = 0;
    return CL_SUCCESS;
  }
  if (!is(given, MEMORY)) return CL_INVALID_MEM_OBJECT;
  const memory *object = given;
  if ((to->kind == IMAGE) != (object->object != 0)) return CL_INVALID_MEM_OBJECT;
  *word = to->kind == IMAGE ? object->object : (uint64_t)(uintptr_t)object->bytes;
  return CL_SUCCESS;
}

API status clSetKernelArg(kernel *of, uint32_t number, size_t size, const void *value) {
  if (!is(of, KERNEL)) return CL_INVALID_KERNEL;
  if (number >= of->count) return CL_INVALID_ARG_INDEX;
  argument *to = &of->arguments[number];
  uint64_t word = size;
  status failure = CL_SUCCESS;
  if (to->kind == VALUE) {
    if (!value) return CL_INVALID_ARG_VALUE;
    if (size != to->size) return CL_INVALID_ARG_SIZE;
    memcpy(of->block + to->offset, value, size);
  } else {
    if (to->kind != LOCAL) failure = object_argument(to, size, value, &word);
    else if (value) failure = CL_INVALID_ARG_VALUE;
    else if (!size) failure = CL_INVALID_ARG_SIZE;
    if (failure) return failure;
    memcpy(of->block + to->offset, &word, sizeof word);
  }
  to->is_set = 1;
  return CL_SUCCESS;
}

API status clSetKernelArgSVMPointer(kernel *of, uint32_t number, const void *pointer) {
  if (!is(of, KERNEL)) return CL_INVALID_KERNEL;
  if (number >= of->count) return CL_INVALID_ARG_INDEX;
  argument *to = &of->arguments[number];
  if (to->kind != POINTER) return CL_INVALID_ARG_VALUE;
  memcpy(of->block + to->offset, &pointer, sizeof pointer);
  to->is_set = 1;
  return CL_SUCCESS;
}

/* All shared memory can be reached always. */
API status clSetKernelExecInfo(kernel *of, uint32_t name, size_t size, const void *value) {
  (void)name, (void)size, (void)value;
  return is(of, KERNEL) ? CL_SUCCESS : CL_INVALID_KERNEL;
}

/* ---- questions ---- */

API status clGetKernelInfo(const kernel *of, uint32_t name, size_t room, void *to, size_t *needed) {
  if (!is(of, KERNEL)) return CL_INVALID_KERNEL;
  switch (name) {
    case CL_KERNEL_FUNCTION_NAME: return give_text(of->name, room, to, needed);
    case CL_KERNEL_NUM_ARGS: return GIVE(uint32_t, (uint32_t)of->count);
    case CL_KERNEL_REFERENCE_COUNT: return GIVE(uint32_t, (uint32_t)of->head.references);
    case CL_KERNEL_CONTEXT: return GIVE(void *, of->of->in);
    case CL_KERNEL_PROGRAM: return GIVE(void *, of->of);
    case CL_KERNEL_ATTRIBUTES: return give_text("", room, to, needed);
    default: return CL_INVALID_VALUE;
  }
}

API status clGetKernelArgInfo(const kernel *of, uint32_t number, uint32_t name, size_t room, void *to,
                              size_t *needed) {
  if (!is(of, KERNEL)) return CL_INVALID_KERNEL;
  if (number >= of->count) return CL_INVALID_ARG_INDEX;
  const argument *it = &of->arguments[number];
  uint32_t space = it->kind == LOCAL                       ? CL_KERNEL_ARG_ADDRESS_LOCAL
                   : it->kind == POINTER || it->kind == IMAGE ? CL_KERNEL_ARG_ADDRESS_GLOBAL
                                                           : CL_KERNEL_ARG_ADDRESS_PRIVATE;
  switch (name) {
    case CL_KERNEL_ARG_NAME: return give_text(it->name, room, to, needed);
    case CL_KERNEL_ARG_ADDRESS_QUALIFIER: return GIVE(uint32_t, space);
    case CL_KERNEL_ARG_ACCESS_QUALIFIER:
      if (it->kind == IMAGE) return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
      return GIVE(uint32_t, CL_KERNEL_ARG_ACCESS_NONE);
    case CL_KERNEL_ARG_TYPE_NAME:
    case CL_KERNEL_ARG_TYPE_QUALIFIER: return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
    default: return CL_INVALID_VALUE;
  }
}

static uint64_t local_bytes(const kernel *of) {
  uint64_t bytes = of->shared_bytes, word;
  for (uint64_t i = 0; i < of->count; i++) {
    if (of->arguments[i].kind != LOCAL) continue;
    memcpy(&word, of->block + of->arguments[i].offset, sizeof word);
    bytes += word;
  }
  return bytes;
}

static size_t warp_width(void) {
  size_t found = 32;
  extern status clGetDeviceInfo(const device *, uint32_t, size_t, void *, size_t *);
  clGetDeviceInfo(&the_device, 0x1067, sizeof found, &found, NULL);
  return found;
}

API status clGetKernelWorkGroupInfo(const kernel *of, const device *with, uint32_t name, size_t room,
                                    void *to, size_t *needed) {
  if (!is(of, KERNEL)) return CL_INVALID_KERNEL;
  if (with && !is(with, DEVICE)) return CL_INVALID_DEVICE;
  switch (name) {
    case CL_KERNEL_WORK_GROUP_SIZE: return GIVE(size_t, of->max_threads);
    case CL_KERNEL_COMPILE_WORK_GROUP_SIZE:
      return give(of->required, sizeof of->required, room, to, needed);
    case CL_KERNEL_LOCAL_MEM_SIZE: return GIVE(uint64_t, local_bytes(of));
    case CL_KERNEL_PRIVATE_MEM_SIZE: return GIVE(uint64_t, of->private_bytes);
    case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE: return GIVE(size_t, warp_width());
    default: return CL_INVALID_VALUE;
  }
}

API status clGetKernelSubGroupInfo(const kernel *of, const device *with, uint32_t name,
                                   size_t input_bytes, const void *input, size_t room, void *to,
                                   size_t *needed) {
  if (!is(of, KERNEL)) return CL_INVALID_KERNEL;
  if (with && !is(with, DEVICE)) return CL_INVALID_DEVICE;
  const size_t *sizes = input;
  size_t threads = 1, width = warp_width();
  for (size_t i = 0; sizes && i < input_bytes / sizeof *sizes; i++) threads *= sizes[i];
  switch (name) {
    case CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE: return GIVE(size_t, width);
    case CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE: return GIVE(size_t, (threads + width - 1) / width);
    default: return CL_INVALID_VALUE;
  }
}
