/* Functions that there are not: the user is told which and where the program calls them. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "client.h"

enum { ELF_TYPE_AT = 16, ELF_FIXED = 2 }; /* a file whose addresses are those of the process */

/* The file of the program or a library of it that an address lies in, and the address as the file has
   it; 0 where it is in one of our libraries, which lie beside this one. */
static int place_of(void *at, const char **file, uint64_t *address) {
  Dl_info found, own;
  if (!dladdr(at, &found) || !dladdr((void *)kc_refuse_at, &own) || !found.dli_fname) return 0;
  const char *end = strrchr(own.dli_fname, '/');
  if (end && !strncmp(own.dli_fname, found.dli_fname, (size_t)(end - own.dli_fname) + 1)) return 0;
  uint16_t type;
  memcpy(&type, (const char *)found.dli_fbase + ELF_TYPE_AT, sizeof type);
  *file = found.dli_fname;
  *address = (uint64_t)(uintptr_t)at - (type == ELF_FIXED ? 0 : (uint64_t)(uintptr_t)found.dli_fbase);
  return 1;
}

int kc_refuse_at(const char *name, void *from) {
  char text[4096];
  const char *file;
  uint64_t address;
  int bytes = snprintf(text, sizeof text, "%s", name);
  if (place_of(from, &file, &address)) /* the parts end with zero bytes */
    bytes = snprintf(text, sizeof text, "%s%c%llx%c%s", name, 0, (unsigned long long)address, 0, file);
  if ((size_t)bytes >= sizeof text) bytes = sizeof text - 1;
  kc_post(KC_REFUSED, NULL, 0, text, (size_t)bytes);
  return KC_NOT_SUPPORTED;
}
