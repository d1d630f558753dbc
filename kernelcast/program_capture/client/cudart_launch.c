/* Registration of a program's code, and launches. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart.h"
#include "errors.h"
#include "launches.h"

typedef struct variable {
  const void *host;
  module *in;
  const char *name;
  uint64_t address;
  size_t size;
  void **managed; /* where the program keeps the address of a managed variable */
} variable;

#define TABLE 65536
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static function *functions[TABLE];
static variable *variables[TABLE];
static module *modules[TABLE];
static size_t module_count;
static __thread status last_error;

status done(status found) {
  if (found) last_error = found;
  return found;
}

API status cudaGetLastError(void) {
  status found = last_error;
  last_error = 0;
  return found;
}

API status cudaPeekAtLastError(void) { return last_error; }

API const char *cudaGetErrorString(status number) {
  const kc_error *found = kc_error_of(number);
  return found ? found->text : "unrecognized error code";
}

API const char *cudaGetErrorName(status number) {
  const kc_error *found = kc_error_of(number);
  return found ? found->runtime_name : "unrecognized error code";
}

static size_t place_of(const void *host) {
  return (size_t)(((uintptr_t)host * 0x9E3779B97F4A7C15ull) >> 48) % TABLE;
}

static function *find_function(const void *host) {
  size_t at = place_of(host);
  while (functions[at] && functions[at]->host != host) at = (at + 1) % TABLE;
  return functions[at];
}

static variable *find_variable(const void *host) {
  size_t at = place_of(host);
  while (variables[at] && variables[at]->host != host) at = (at + 1) % TABLE;
  return variables[at];
}

/* Code of units that were compiled apart lies in images of their own, beside what was linked of them. */
static status load_units(module *wanted, size_t linked_bytes) {
  size_t count = 0, bytes = linked_bytes;
  for (; wanted->units[count]; count++) bytes += kc_image_bytes(wanted->units[count]);
  uint64_t *words = malloc((1 + count) * sizeof *words);
  char *all = malloc(bytes), *at = all;
  words[0] = count;
  for (size_t i = 0; i < count; i++) {
    words[1 + i] = kc_image_bytes(wanted->units[i]);
    at = mempcpy(at, wanted->units[i], words[1 + i]);
  }
  memcpy(at, wanted->image, linked_bytes);
  status failure = kc_ask(KC_UNITS, words, (1 + count) * sizeof *words, all, bytes, &wanted->id,
                          sizeof wanted->id, NULL);
  free(words), free(all);
  return failure;
}

static status load(module *wanted) {
  if (wanted->is_loaded) return wanted->failure;
  wanted->is_loaded = 1;
  size_t bytes = kc_image_bytes(wanted->image);
  wanted->failure = wanted->units && *wanted->units
                        ? load_units(wanted, bytes)
                        : kc_ask(KC_MODULE, NULL, 0, wanted->image, bytes, &wanted->id,
                                 sizeof wanted->id, NULL);
  return wanted->failure;
}

/* ---- registration: the code that compilers put into programs calls it before main ---- */

typedef struct { int magic, version; const void *image; const void **units; } wrapper;
enum { OF_UNITS = 2 }; /* a version; of other ones the last word is a name */

API void **__cudaRegisterFatBinary(void *registered) {
  module *made = calloc(1, sizeof *made);
  const wrapper *given = registered;
  made->image = given->image;
  if (given->version == OF_UNITS) made->units = given->units;
  pthread_mutex_lock(&lock);
  if (module_count < TABLE) modules[module_count++] = made;
  pthread_mutex_unlock(&lock);
  return (void **)made;
}

API void __cudaRegisterFatBinaryEnd(void **unused) { (void)unused; }

API void __cudaUnregisterFatBinary(void **unused) { (void)unused; }

API void __cudaRegisterFunction(void **in, const char *host, char *device, const char *name,
                                int thread_limit, void *thread, void *block, void *block_size,
                                void *grid_size, int *warp) {
  (void)device, (void)thread_limit, (void)thread, (void)block, (void)block_size, (void)grid_size,
      (void)warp;
  function *made = calloc(1, sizeof *made);
  made->host = host, made->in = (module *)in, made->name = name;
  pthread_mutex_lock(&lock);
  size_t at = place_of(host);
  while (functions[at]) at = (at + 1) % TABLE;
  functions[at] = made;
  pthread_mutex_unlock(&lock);
}

static variable *register_variable(void **in, const void *host, const char *name, size_t size) {
  variable *made = calloc(1, sizeof *made);
  made->host = host, made->in = (module *)in, made->name = name, made->size = size;
  pthread_mutex_lock(&lock);
  size_t at = place_of(host);
  while (variables[at]) at = (at + 1) % TABLE;
  variables[at] = made;
  pthread_mutex_unlock(&lock);
  return made;
}

API void __cudaRegisterVar(void **in, char *host, char *device, const char *name, int external,
                           size_t size, int constant, int global) {
  (void)device, (void)external, (void)constant, (void)global;
  register_variable(in, host, name, size);
}

static status place(variable *wanted) {
  if (wanted->address) return 0;
  status failure = load(wanted->in);
  if (failure) return failure;
  uint64_t found[2];
  failure = kc_ask(KC_VARIABLE, &wanted->in->id, sizeof wanted->in->id, wanted->name,
                   strlen(wanted->name), found, sizeof found, NULL);
  if (!failure) wanted->address = found[0], wanted->size = found[1];
  return failure;
}

/* All are named first: variables get their places together. */
static void place_managed(module *in) {
  for (int is_second = 0; is_second < 2; is_second++)
    for (size_t at = 0; at < TABLE; at++) {
      variable *found = variables[at];
      if (!found || !found->managed || found->in != in) continue;
      if (!is_second)
        kc_post(KC_SHARE, NULL, 0, found->name, strlen(found->name));
      else if (!place(found))
        *found->managed = handle(found->address);
      else
        kc_refuse("a managed variable that no kernel of the machine code uses");
    }
}

status reset_variables(void) {
  pthread_mutex_lock(&lock);
  status failure = kc_ask(KC_RESET, NULL, 0, NULL, 0, NULL, 0, NULL);
  for (size_t at = 0; at < TABLE; at++)
    if (variables[at]) variables[at]->address = 0;
  for (size_t i = 0; i < module_count; i++) place_managed(modules[i]);
  pthread_mutex_unlock(&lock);
  return failure;
}

API void __cudaRegisterManagedVar(void **in, void **host, char *device, const char *name,
                                  int external, size_t size, int constant, int global) {
  (void)device, (void)external, (void)constant, (void)global;
  register_variable(in, host, name, size)->managed = host;
}

API char __cudaInitModule(void **in) {
  pthread_mutex_lock(&lock);
  place_managed((module *)in);
  pthread_mutex_unlock(&lock);
  return 1;
}

API void __cudaRegisterTexture(void **in, const void *host, const void **device, const char *name,
                               int dimensions, int normalized, int external) {
  (void)device, (void)dimensions, (void)normalized, (void)external;
  register_variable(in, host, name, 0);
}

API void __cudaRegisterSurface(void **in, const void *host, const void **device, const char *name,
                               int dimensions, int external) {
  (void)device, (void)dimensions, (void)external;
  register_variable(in, host, name, 0);
}

function *function_of(const void *host, status *why) {
  *why = 0;
  pthread_mutex_lock(&lock);
  function *found = find_function(host);
  if (!found) {
    for (size_t i = 0; i < TABLE && !found; i++) /* a cudaFunction_t or cudaKernel_t is one itself */
      if (functions[i] == host) found = functions[i];
  }
  if (found && !found->is_described) {
    found->failure = load(found->in);
    if (!found->failure) found->failure = kc_describe(found->in->id, found->name, &found->facts);
    found->is_described = 1;
  }
  pthread_mutex_unlock(&lock);
  *why = !found ? INVALID_FUNCTION : found->failure;
  return *why ? NULL : found;
}

status variable_of(const void *host, uint64_t *address, size_t *size) {
  pthread_mutex_lock(&lock);
  variable *found = find_variable(host);
  status failure = found ? place(found) : INVALID_SYMBOL;
  if (!failure) *address = found->address, *size = found->size;
  pthread_mutex_unlock(&lock);
  return failure;
}

/* ---- launches ---- */

#define MOST_NESTED 8
static __thread struct { dim3 grid, block; size_t shared_bytes; stream_handle stream; } pushed[MOST_NESTED];
static __thread int push_count;

API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                         stream_handle stream) {
  if (push_count == MOST_NESTED) return 1;
  pushed[push_count].grid = grid, pushed[push_count].block = block;
  pushed[push_count].shared_bytes = shared_bytes, pushed[push_count].stream = stream;
  push_count++;
  return 0;
}

API status __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream) {
  if (!push_count) return done(INVALID_CONFIGURATION);
  push_count--;
  *grid = pushed[push_count].grid, *block = pushed[push_count].block;
  *shared_bytes = pushed[push_count].shared_bytes;
  *(stream_handle *)stream = pushed[push_count].stream;
  return 0;
}

static status launch(const void *host, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                     stream_handle stream, int is_cooperative, const unsigned *cluster) {
  status failure;
  function *called = function_of(host, &failure);
  kc_launch_request request;
  request.words = (kc_launch){.grid = {grid.x, grid.y, grid.z}, .block = {block.x, block.y, block.z},
                              .shared_bytes = shared_bytes, .stream = number(stream),
                              .is_cooperative = (uint64_t)is_cooperative};
  for (int i = 0; cluster && i < 3; i++) request.words.cluster[i] = cluster[i];
  if (!failure) failure = kc_set_arguments(&request, &called->facts, arguments);
  if (!failure) failure = kc_check_launch(&request.words, &called->facts);
  return done(kc_do_launch(&request, failure));
}

API status cudaLaunchKernel(const void *host, dim3 grid, dim3 block, void **arguments,
                            size_t shared_bytes, stream_handle stream) {
  return launch(host, grid, block, arguments, shared_bytes, stream, 0, NULL);
}

API status cudaLaunchCooperativeKernel(const void *host, dim3 grid, dim3 block, void **arguments,
                                       size_t shared_bytes, stream_handle stream) {
  return launch(host, grid, block, arguments, shared_bytes, stream, 1, NULL);
}

API status cudaLaunchKernelExC(const launch_configuration *how, const void *host, void **arguments) {
  unsigned cluster[3] = {0, 0, 0};
  int is_cooperative = 0;
  for (unsigned i = 0; i < how->attribute_count; i++) {
    const launch_attribute *given = &how->attributes[i];
    if (given->id == 2) is_cooperative = given->value.value;
    if (given->id == 4) memcpy(cluster, given->value.bytes, sizeof cluster);
  }
  return launch(host, how->grid, how->block, arguments, how->shared_bytes, how->stream,
                is_cooperative, cluster);
}

API status __cudaGetKernel(void **kernel, const void *host) {
  function *found = find_function(host);
  *kernel = found;
  return done(found ? 0 : INVALID_FUNCTION);
}

API status __cudaLaunchKernel(void *kernel, dim3 grid, dim3 block, void **arguments,
                              size_t shared_bytes, stream_handle stream) {
  return launch(((function *)kernel)->host, grid, block, arguments, shared_bytes, stream, 0, NULL);
}

API status cudaGetFuncBySymbol(void **found, const void *host) { return __cudaGetKernel(found, host); }
API status cudaGetKernel(void **found, const void *host) { return __cudaGetKernel(found, host); }

API status cudaGetSymbolAddress(void **to, const void *symbol) {
  uint64_t address;
  size_t size;
  status failure = variable_of(symbol, &address, &size);
  if (!failure) *to = handle(address);
  return done(failure);
}

API status cudaGetSymbolSize(size_t *size, const void *symbol) {
  uint64_t address;
  return done(variable_of(symbol, &address, size));
}
