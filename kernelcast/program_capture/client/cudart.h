/* What the parts of the CUDA runtime have in common. `CUDART_MAJOR` is the major version whose
   interface is built: 11, 12 or 13. */
#ifndef KERNELCAST_CUDART_H
#define KERNELCAST_CUDART_H
#include "client.h"
#include "cuda_types.h"

#define API KC_PUBLIC
/* Programs built for streams of each thread call functions with these endings. */
#define WITH_THREAD_STREAMS(name) \
  API __typeof__(name) name##_ptsz __attribute__((alias(#name)));
#define WITH_THREAD_COPIES(name) \
  API __typeof__(name) name##_ptds __attribute__((alias(#name)));

enum {
  INVALID_CONFIGURATION = 9,
  INVALID_SYMBOL = 13,
  INVALID_FUNCTION = 98,
  INVALID_DEVICE = 101,
  INVALID_HANDLE = 400,
  FILE_NOT_FOUND = 301,
  NOT_READY = 600,
};

typedef struct module {
  uint64_t id;
  int is_loaded;
  status failure;
  const void *image, **units;
} module;

typedef struct function {
  const void *host;
  module *in;
  const char *name;
  int is_described;
  status failure;
  kc_function facts;
} function;

/* Keeps an error for cudaGetLastError, and returns it. */
status done(status found);
/* The function behind what stands for it in the program, described; NULL where there is none. */
function *function_of(const void *host, status *why);
/* Resets the device and what is known of variables, whose places are new ones. */
status reset_variables(void);
status cudaGetLastError(void);
/* The place of a variable behind what stands for it in the program. */
status variable_of(const void *host, uint64_t *address, size_t *size);

/* A copy of a box as rows, of an asynchronous one in the default stream. */
kc_copy box_rows(const copy_3d *how);

static inline uint64_t number(const void *handle) { return (uint64_t)(uintptr_t)handle; }
static inline void *handle(uint64_t number) { return (void *)(uintptr_t)number; }
#endif
