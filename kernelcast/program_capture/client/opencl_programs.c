/* Programs: sources and SPIR-V, which the server compiles. What is given as the binary of a program
   is its source with the options, so that caches of programs work. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "opencl.h"

#define BINARY_MARK "kernelcast OpenCL 1\n"
#define MARK_BYTES (sizeof BINARY_MARK - 1)
#define LOG_BYTES (1 << 16)

typedef void (*program_function)(program *, void *);

static program *new_program(context *in, const char *text, size_t bytes, int is_il) {
  program *made = make(PROGRAM, sizeof *made);
  made->in = in, made->text = malloc(bytes + 1), made->bytes = bytes, made->is_il = is_il;
  memcpy(made->text, text, bytes);
  made->text[bytes] = 0;
  made->build_status = CL_BUILD_NONE;
  made->options = strdup(""), made->log = strdup(""), made->names = strdup("");
  retain(in, CONTEXT, 0);
  return made;
}

API program *clCreateProgramWithSource(context *in, uint32_t count, const char **texts,
                                       const size_t *sizes, status *error) {
  if (!is(in, CONTEXT)) return failed(error, CL_INVALID_CONTEXT);
  if (!count || !texts) return failed(error, CL_INVALID_VALUE);
  size_t bytes = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (!texts[i]) return failed(error, CL_INVALID_VALUE);
    bytes += sizes && sizes[i] ? sizes[i] : strlen(texts[i]);
  }
  char *all = malloc(bytes + 1), *at = all;
  for (uint32_t i = 0; i < count; i++) {
    size_t part = sizes && sizes[i] ? sizes[i] : strlen(texts[i]);
    memcpy(at, texts[i], part);
    at += part;
  }
  program *made = new_program(in, all, bytes, 0);
  free(all);
  if (error) *error = CL_SUCCESS;
  return made;
}

API program *clCreateProgramWithIL(context *in, const void *il, size_t bytes, status *error) {
  if (!is(in, CONTEXT)) return failed(error, CL_INVALID_CONTEXT);
  if (!il || !bytes) return failed(error, CL_INVALID_VALUE);
  if (error) *error = CL_SUCCESS;
  return new_program(in, il, bytes, 1);
}

/* ---- binaries ---- */

static char *binary_of(const program *of, size_t *bytes) {
  size_t option_bytes = strlen(of->options) + 1;
  *bytes = MARK_BYTES + 1 + option_bytes + of->bytes;
  char *made = malloc(*bytes);
  memcpy(made, BINARY_MARK, MARK_BYTES);
  made[MARK_BYTES] = (char)('0' + of->is_il);
  memcpy(made + MARK_BYTES + 1, of->options, option_bytes);
  memcpy(made + MARK_BYTES + 1 + option_bytes, of->text, of->bytes);
  return made;
}

API program *clCreateProgramWithBinary(context *in, uint32_t count, device *const *devices,
                                       const size_t *sizes, const unsigned char **binaries,
                                       status *each, status *error) {
  if (!is(in, CONTEXT)) return failed(error, CL_INVALID_CONTEXT);
  if (count != 1 || !devices || !sizes || !binaries || !binaries[0])
    return failed(error, CL_INVALID_VALUE);
  if (!is(devices[0], DEVICE)) return failed(error, CL_INVALID_DEVICE);
  const char *bytes = (const char *)binaries[0];
  size_t head = MARK_BYTES + 1;
  int is_ours = sizes[0] > head && !memcmp(bytes, BINARY_MARK, MARK_BYTES);
  if (each) *each = is_ours ? CL_SUCCESS : CL_INVALID_BINARY;
  if (!is_ours)
    return failed(error, refuse("clCreateProgramWithBinary with machine code of a GPU",
                                CL_INVALID_BINARY));
  size_t option_bytes = strnlen(bytes + head, sizes[0] - head) + 1;
  if (head + option_bytes > sizes[0]) return failed(error, CL_INVALID_BINARY);
  program *made = new_program(in, bytes + head + option_bytes, sizes[0] - head - option_bytes,
                              bytes[MARK_BYTES] == '1');
  free(made->options);
  made->options = strdup(bytes + head);
  if (error) *error = CL_SUCCESS;
  return made;
}

API program *clCreateProgramWithBuiltInKernels(context *in, uint32_t count, device *const *devices,
                                               const char *names, status *error) {
  (void)in, (void)count, (void)devices, (void)names;
  return failed(error, CL_INVALID_VALUE); /* the device has none */
}

API status clRetainProgram(program *it) { return retain(it, PROGRAM, CL_INVALID_PROGRAM); }

void release_program(program *it) {
  if (drop(it)) return;
  if (it->module) KC_POST(KC_MODULE_UNLOAD, it->module);
  release_context(it->in);
  free(it->text), free(it->options), free(it->log), free(it->names);
  free(it);
}

API status clReleaseProgram(program *it) {
  if (!is(it, PROGRAM)) return CL_INVALID_PROGRAM;
  release_program(it);
  return CL_SUCCESS;
}

/* ---- building ---- */

static void set_text(char **to, const char *text) {
  char *made = strdup(text ? text : "");
  free(*to);
  *to = made;
}

/* Sends options, folder and source; the answer is the module, the number of kernels and a text:
   the kernels' names or what the compiler says. */
static status compile(program *it) {
  char folder[4096];
  if (!getcwd(folder, sizeof folder)) folder[0] = 0;
  size_t option_bytes = strlen(it->options) + 1, folder_bytes = strlen(folder) + 1;
  size_t bytes = option_bytes + folder_bytes + it->bytes, answered = 0;
  char *request = malloc(bytes);
  memcpy(request, it->options, option_bytes);
  memcpy(request + option_bytes, folder, folder_bytes);
  memcpy(request + option_bytes + folder_bytes, it->text, it->bytes);
  struct { uint64_t module, count; char text[LOG_BYTES]; } *answer = calloc(1, sizeof *answer);
  uint64_t is_il = (uint64_t)it->is_il;
  status failure = error_of(kc_ask(KC_CL_BUILD, &is_il, sizeof is_il, request, bytes, answer,
                                   sizeof *answer - 1, &answered));
  free(request);
  if (!failure) {
    it->module = answer->module, it->kernel_count = answer->count;
    set_text(answer->module ? &it->names : &it->log, answer->text);
  }
  if (failure || !it->module) failure = CL_BUILD_PROGRAM_FAILURE;
  it->build_status = failure ? CL_BUILD_ERROR : CL_SUCCESS;
  free(answer);
  return failure;
}

static status check_devices(const program *it, uint32_t count, device *const *devices) {
  if (!is(it, PROGRAM)) return CL_INVALID_PROGRAM;
  if (!count != !devices) return CL_INVALID_VALUE;
  for (uint32_t i = 0; i < count; i++)
    if (!is(devices[i], DEVICE)) return CL_INVALID_DEVICE;
  return CL_SUCCESS;
}

API status clBuildProgram(program *it, uint32_t count, device *const *devices, const char *options,
                          program_function tell, void *data) {
  status failure = check_devices(it, count, devices);
  if (failure) return failure;
  if (it->module) KC_POST(KC_MODULE_UNLOAD, it->module);
  it->module = 0;
  if (options && *options) set_text(&it->options, options);
  failure = compile(it);
  if (tell) tell(it, data);
  return failure;
}

API status clCompileProgram(program *it, uint32_t count, device *const *devices, const char *options,
                            uint32_t headers, program *const *header_list, const char **names,
                            program_function tell, void *data) {
  (void)header_list, (void)names;
  status failure = check_devices(it, count, devices);
  if (failure) return failure;
  if (headers) return refuse("clCompileProgram with headers as programs", CL_INVALID_OPERATION);
  failure = clBuildProgram(it, count, devices, options, tell, data);
  it->is_compiled_only = 1;
  return failure == CL_BUILD_PROGRAM_FAILURE ? CL_COMPILE_PROGRAM_FAILURE : failure;
}

API program *clLinkProgram(context *in, uint32_t count, device *const *devices, const char *options,
                           uint32_t parts, program *const *list, program_function tell, void *data,
                           status *error) {
  (void)count, (void)devices, (void)options; /* those of linking change nothing here */
  if (!is(in, CONTEXT)) return failed(error, CL_INVALID_CONTEXT);
  if (!parts || !list || !is(list[0], PROGRAM)) return failed(error, CL_INVALID_PROGRAM);
  if (parts > 1) return failed(error, refuse("clLinkProgram of several programs", CL_INVALID_OPERATION));
  program *made = new_program(in, list[0]->text, list[0]->bytes, list[0]->is_il);
  set_text(&made->options, list[0]->options);
  status failure = compile(made);
  if (tell) tell(made, data);
  if (error) *error = failure ? CL_LINK_PROGRAM_FAILURE : CL_SUCCESS;
  return made;
}

API status clSetProgramReleaseCallback(program *of, program_function function, void *data) {
  (void)of, (void)function, (void)data;
  return CL_INVALID_OPERATION; /* as for devices without destructors of variables */
}
API status clSetProgramSpecializationConstant(program *of, uint32_t number, size_t bytes,
                                              const void *value) {
  (void)of, (void)number, (void)bytes, (void)value;
  return refuse("clSetProgramSpecializationConstant", CL_INVALID_OPERATION);
}

/* ---- questions ---- */

static status give_binary(const program *of, size_t room, void *to, size_t *needed) {
  size_t bytes;
  if (to) {
    if (room < sizeof(char *)) return CL_INVALID_VALUE;
    char *made = binary_of(of, &bytes), *place = *(char **)to;
    if (place) memcpy(place, made, bytes);
    free(made);
  }
  if (needed) *needed = sizeof(char *);
  return CL_SUCCESS;
}

static size_t binary_bytes(const program *of) {
  return MARK_BYTES + 1 + strlen(of->options) + 1 + of->bytes;
}

API status clGetProgramInfo(const program *of, uint32_t name, size_t room, void *to, size_t *needed) {
  if (!is(of, PROGRAM)) return CL_INVALID_PROGRAM;
  switch (name) {
    case CL_PROGRAM_REFERENCE_COUNT: return GIVE(uint32_t, (uint32_t)of->head.references);
    case CL_PROGRAM_CONTEXT: return GIVE(void *, of->in);
    case CL_PROGRAM_NUM_DEVICES: return GIVE(uint32_t, 1);
    case CL_PROGRAM_DEVICES: return GIVE(void *, &the_device);
    case CL_PROGRAM_SOURCE: return give_text(of->is_il ? "" : of->text, room, to, needed);
    case CL_PROGRAM_BINARY_SIZES: return GIVE(size_t, of->module ? binary_bytes(of) : 0);
    case CL_PROGRAM_BINARIES: return give_binary(of, room, to, needed);
    case CL_PROGRAM_IL: return give(of->text, of->is_il ? of->bytes : 0, room, to, needed);
    case CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT: return GIVE(uint32_t, 0);
    case CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT: return GIVE(uint32_t, 0);
    case CL_PROGRAM_NUM_KERNELS:
    case CL_PROGRAM_KERNEL_NAMES:
      if (!of->module) return CL_INVALID_PROGRAM_EXECUTABLE;
      return name == CL_PROGRAM_NUM_KERNELS ? GIVE(size_t, of->kernel_count)
                                            : give_text(of->names, room, to, needed);
    default: return CL_INVALID_VALUE;
  }
}

API status clGetProgramBuildInfo(const program *of, const device *with, uint32_t name, size_t room,
                                 void *to, size_t *needed) {
  if (!is(of, PROGRAM)) return CL_INVALID_PROGRAM;
  if (!is(with, DEVICE)) return CL_INVALID_DEVICE;
  switch (name) {
    case CL_PROGRAM_BUILD_STATUS: return GIVE(int32_t, of->build_status);
    case CL_PROGRAM_BUILD_OPTIONS: return give_text(of->options, room, to, needed);
    case CL_PROGRAM_BUILD_LOG: return give_text(of->log, room, to, needed);
    case CL_PROGRAM_BINARY_TYPE:
      return GIVE(uint32_t, !of->module ? 0u : of->is_compiled_only ? 1u : 4u);
    case CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE: return GIVE(size_t, 0);
    default: return CL_INVALID_VALUE;
  }
}
