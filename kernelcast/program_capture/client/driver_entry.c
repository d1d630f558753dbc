/* How programs ask for the driver's functions by name. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "driver.h"

enum { FOUND, NO_SUCH_SYMBOL, MOST_NAME_BYTES = 128 };

/* Functions whose arguments changed: the ending that their name has since a version. Of one function
   the newest comes first; before the oldest the name has no ending. Others take the same arguments
   under all of their names. */
static const struct { const char *name, *ending; int since; } versions[] = {
    {"cuCtxCreate", "_v4", 12050},
    {"cuCtxCreate", "_v3", 11040},
    {"cuCtxCreate", "_v2", 3020},
    {"cuCtxGetDevice", "_v2", 13000},
    {"cuCtxSynchronize", "_v2", 13000},
    {"cuMemAdvise", "_v2", 12020},
    {"cuMemPrefetchAsync", "_v2", 12020},
    {"cuStreamGetCtx", "_v2", 12050},
    {"cuStreamGetCaptureInfo", "_v3", 12030},
    {"cuStreamGetCaptureInfo", "_v2", 11030},
    {"cuStreamBeginCapture", "_v2", 10010},
    {"cuGraphInstantiate", "WithFlags", 12000},
    {"cuGraphInstantiate", "_v2", 11000},
    {"cuGraphExecUpdate", "_v2", 12000},
    {"cuGraphAddKernelNode", "_v2", 12000},
    {"cuGraphKernelNodeSetParams", "_v2", 12000},
    {"cuGraphExecKernelNodeSetParams", "_v2", 12000},
    {"cuGraphAddDependencies", "_v2", 12030},
    {"cuGetProcAddress", "_v2", 12000},
};

static const char *ending_of(const char *name, int version) {
  int is_known = 0;
  for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
    if (strcmp(versions[i].name, name)) continue;
    is_known = 1;
    if (versions[i].since <= version) return versions[i].ending;
  }
  return is_known ? "" : "_v2";
}

static void *own(const char *name, const char *ending) {
  static void *self;
  char whole[MOST_NAME_BYTES];
  Dl_info where;
  if (!self && dladdr((void *)&versions, &where)) self = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (!self || snprintf(whole, sizeof whole, "%s%s", name, ending) >= (int)sizeof whole) return NULL;
  return dlsym(self, whole);
}

API status cuGetProcAddress_v2(const char *name, void **to, int version, unsigned long long flags,
                               int *found) {
  (void)flags; /* streams of each thread: the functions are the same */
  if (!name || !to) return KC_INVALID_VALUE;
  *to = own(name, ending_of(name, version));
  if (!*to) *to = own(name, "");
  if (found) *found = *to ? FOUND : NO_SUCH_SYMBOL;
  return *to ? 0 : NOT_FOUND;
}
API status cuGetProcAddress(const char *name, void **to, int version, unsigned long long flags) {
  return cuGetProcAddress_v2(name, to, version, flags, NULL);
}

/* Tables of functions without a name. A runtime that is linked statically lives on the first of these
   and cannot go on; other libraries of CUDA ask for more of them, and do without. */
API status cuGetExportTable(const void **to, const void *id) {
  static const unsigned char of_runtime[16] = {0x6B, 0xD5, 0xFB, 0x6C, 0x5B, 0xF4, 0xE7, 0x4A,
                                               0x89, 0x87, 0xD9, 0x39, 0x12, 0xFD, 0x9D, 0xF9};
  *to = NULL;
  if (memcmp(id, of_runtime, sizeof of_runtime)) return KC_NOT_SUPPORTED;
  return kc_refuse("cuGetExportTable from a CUDA runtime that is linked statically");
}
