/* Modules, libraries, their functions and variables, and the linker. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

#define WRAPPED_IMAGE 0x466243B1u /* what nvcc puts around a fat binary in a program */

enum { INFO_LOG = 3, INFO_LOG_BYTES, ERROR_LOG, ERROR_LOG_BYTES };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* What compiling told: nothing. */
static void empty_logs(unsigned count, const int *options, void **values) {
  for (unsigned i = 0; i < count; i++) {
    if ((options[i] == INFO_LOG || options[i] == ERROR_LOG) && values[i]) *(char *)values[i] = 0;
    if (options[i] == INFO_LOG_BYTES || options[i] == ERROR_LOG_BYTES) values[i] = NULL;
  }
}

static status load(module **to, const void *image, size_t bytes) {
  uint64_t id = 0;
  status failure = kc_ask(KC_MODULE, NULL, 0, image, bytes, &id, sizeof id, NULL);
  if (failure) return done(failure);
  *to = calloc(1, sizeof **to);
  (*to)->id = id;
  return 0;
}

API status cuModuleLoadData(module **to, const void *image) {
  uint32_t magic;
  if (!image) return KC_INVALID_VALUE;
  memcpy(&magic, image, sizeof magic);
  if (magic == WRAPPED_IMAGE) memcpy(&image, (const char *)image + 8, sizeof image);
  return load(to, image, kc_image_bytes(image));
}
ALSO(cuModuleLoadData, cuModuleLoadFatBinary)
API status cuModuleLoadDataEx(module **to, const void *image, unsigned count, const int *options,
                              void **values) {
  empty_logs(count, options, values);
  return cuModuleLoadData(to, image);
}

/* The contents of a file, ended by a zero; NULL when it cannot be read. */
static char *contents_of(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  char *found = NULL;
  size_t room = 0, part;
  *bytes = 0;
  do {
    room += 1 << 16;
    found = realloc(found, room + 1);
    part = fread(found + *bytes, 1, room - *bytes, file);
    *bytes += part;
  } while (*bytes == room);
  fclose(file);
  found[*bytes] = 0;
  return found;
}

API status cuModuleLoad(module **to, const char *path) {
  size_t bytes;
  char *image = contents_of(path, &bytes);
  if (!image) return FILE_NOT_FOUND;
  status failure = load(to, image, bytes);
  free(image);
  return failure;
}

API status cuModuleUnload(module *unloaded) {
  if (!unloaded) return INVALID_HANDLE;
  status failure = KC_ASK(KC_MODULE_UNLOAD, unloaded->id);
  for (function *next, *each = unloaded->functions; each; each = next) {
    next = each->next;
    free(each->name), free(each->parameters), free(each);
  }
  free(unloaded);
  return done(failure);
}
ALSO(cuModuleUnload, cuLibraryUnload)

static function *find(const module *in, const char *name) {
  for (function *each = in->functions; each; each = each->next)
    if (!strcmp(each->name, name)) return each;
  return NULL;
}

static status describe(function **to, module *in, const char *name) {
  kc_function facts;
  status failure = kc_describe(in->id, name, &facts);
  if (failure) return done(failure);
  size_t bytes = offsetof(kc_function, places) + 2 * sizeof *facts.places * facts.parameters;
  function *made = calloc(1, offsetof(function, facts) + bytes);
  memcpy(&made->facts, &facts, bytes);
  made->in = in, made->name = strdup(name);
  made->next = in->functions, in->functions = made;
  *to = made;
  return 0;
}

API status cuModuleGetFunction(function **to, module *in, const char *name) {
  if (!in) return INVALID_HANDLE;
  if (!name) return KC_INVALID_VALUE;
  pthread_mutex_lock(&lock);
  function *found = find(in, name);
  status failure = found ? 0 : describe(&found, in, name);
  pthread_mutex_unlock(&lock);
  if (!failure) *to = found;
  return failure;
}
ALSO(cuModuleGetFunction, cuLibraryGetKernel)

API status cuModuleGetGlobal_v2(device_pointer *address, size_t *size, module *in, const char *name) {
  uint64_t found[2] = {0, 0};
  if (!in) return INVALID_HANDLE;
  status failure =
      kc_ask(KC_VARIABLE, &in->id, sizeof in->id, name, strlen(name), found, sizeof found, NULL);
  if (failure) return done(failure);
  if (address) *address = found[0];
  if (size) *size = found[1];
  return 0;
}
API status cuLibraryGetGlobal(device_pointer *address, size_t *size, module *in, const char *name) {
  return cuModuleGetGlobal_v2(address, size, in, name);
}
ALSO(cuLibraryGetGlobal, cuLibraryGetManaged)
API status cuModuleGetLoadingMode(int *mode) {
  *mode = 2; /* code is loaded when it is first needed */
  return 0;
}

API status cuLibraryLoadData(module **to, const void *image, const int *options, void **values,
                             unsigned count, const int *library_options, void **library_values,
                             unsigned library_count) {
  (void)library_options, (void)library_values, (void)library_count;
  return cuModuleLoadDataEx(to, image, count, options, values);
}
API status cuLibraryLoadFromFile(module **to, const char *path, const int *options, void **values,
                                 unsigned count, const int *library_options, void **library_values,
                                 unsigned library_count) {
  (void)library_options, (void)library_values, (void)library_count;
  empty_logs(count, options, values);
  return cuModuleLoad(to, path);
}
API status cuLibraryGetModule(module **to, module *of) {
  *to = of;
  return of ? 0 : INVALID_HANDLE;
}
API status cuKernelGetFunction(function **to, function *of) {
  *to = of;
  return of ? 0 : INVALID_HANDLE;
}
API status cuKernelGetLibrary(module **to, const function *of) {
  *to = of->in;
  return 0;
}
ALSO(cuKernelGetLibrary, cuFuncGetModule)
API status cuFuncGetName(const char **to, const function *of) {
  *to = of->name;
  return 0;
}
ALSO(cuFuncGetName, cuKernelGetName)
API status cuFuncGetParamInfo(const function *of, size_t index, size_t *offset, size_t *size) {
  if (index >= of->facts.parameters) return KC_INVALID_VALUE;
  *offset = of->facts.places[2 * index];
  if (size) *size = of->facts.places[2 * index + 1];
  return 0;
}
ALSO(cuFuncGetParamInfo, cuKernelGetParamInfo)
API status cuFuncGetParamCount(const function *of, size_t *count) {
  *count = of->facts.parameters;
  return 0;
}
ALSO(cuFuncGetParamCount, cuKernelGetParamCount)
API status cuFuncIsLoaded(int *is_loaded, const function *of) {
  (void)of;
  *is_loaded = 1;
  return 0;
}
API status cuFuncLoad(function *loaded) { return loaded ? 0 : INVALID_HANDLE; }

/* ---- the linker: PTX texts become an image ---- */

enum { INPUT_PTX = 1, ROOM_BESIDE = 1 << 16 };
typedef struct {
  char *texts, *image;
  size_t bytes, count;
} linked;

API status cuLinkCreate_v2(unsigned count, const int *options, void **values, linked **to) {
  empty_logs(count, options, values);
  *to = calloc(1, sizeof **to);
  return 0;
}
ALSO(cuLinkCreate_v2, cuLinkCreate)
API status cuLinkAddData_v2(linked *to, int kind, const void *data, size_t size, const char *name,
                            unsigned count, const int *options, void **values) {
  (void)name;
  empty_logs(count, options, values);
  if (kind != INPUT_PTX) return kc_refuse("cuLinkAddData of other inputs than PTX");
  size_t length = strnlen(data, size);
  to->texts = realloc(to->texts, to->bytes + length + 1);
  memcpy(to->texts + to->bytes, data, length);
  to->bytes += length + 1, to->count++;
  to->texts[to->bytes - 1] = 0;
  return 0;
}
ALSO(cuLinkAddData_v2, cuLinkAddData)
API status cuLinkAddFile_v2(linked *to, int kind, const char *path, unsigned count, const int *options,
                            void **values) {
  if (kind != INPUT_PTX) return kc_refuse("cuLinkAddFile of other inputs than PTX");
  size_t bytes;
  char *text = contents_of(path, &bytes);
  if (!text) return FILE_NOT_FOUND;
  status failure = cuLinkAddData_v2(to, kind, text, bytes, path, count, options, values);
  free(text);
  return failure;
}
ALSO(cuLinkAddFile_v2, cuLinkAddFile)
API status cuLinkComplete(linked *of, void **image, size_t *size) {
  if (!of->count) return KC_INVALID_VALUE;
  size_t room = of->bytes + ROOM_BESIDE, answered = 0;
  free(of->image);
  of->image = calloc(1, room + 1);
  status failure = kc_ask(KC_LINK, NULL, 0, of->texts, of->bytes, of->image, room, &answered);
  if (failure) return done(failure);
  if (answered > room) return KC_OUT_OF_MEMORY;
  *image = of->image;
  if (size) *size = answered + 1;
  return 0;
}
API status cuLinkDestroy(linked *destroyed) {
  free(destroyed->texts), free(destroyed->image), free(destroyed);
  return 0;
}
