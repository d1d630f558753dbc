/* What the parts of the CUDA driver's interface have in common. */
#ifndef KERNELCAST_DRIVER_H
#define KERNELCAST_DRIVER_H
#include "client.h"
#include "cuda_types.h"

#define API KC_PUBLIC
/* Another name of a function: an older or newer version that takes the same arguments. */
#define ALSO(name, other) API __typeof__(name) other __attribute__((alias(#name)));
/* Programs built for streams of each thread ask for functions with these endings. */
#define WITH_THREAD_STREAMS(name) ALSO(name, name##_ptsz)
#define WITH_THREAD_COPIES(name) ALSO(name, name##_ptds)

enum {
  NO_DEVICE_OF_NUMBER = 101,
  INVALID_CONTEXT = 201,
  FILE_NOT_FOUND = 301,
  INVALID_HANDLE = 400,
  NOT_FOUND = 500,
  NOT_READY = 600,
};

typedef uint64_t device_pointer;

/* Modules and libraries are the same; so are functions and kernels. */
typedef struct module module;
typedef struct function {
  module *in;
  char *name;
  struct function *next;
  /* What cuFuncSetBlockShape and its kin keep for cuLaunch. */
  unsigned block[3], shared_bytes;
  char *parameters;
  kc_function facts; /* with as many places as there are parameters */
} function;
struct module {
  uint64_t id;
  function *functions;
};

/* The number that the driver has for an error; some of the server's are of the runtime only. */
status done(status found);
/* Refuses another device than the one that there is. */
status check_device(int device);
/* The context of this thread, or NULL. */
void *current_context(void);

static inline uint64_t number(const void *handle) { return (uint64_t)(uintptr_t)handle; }
static inline void *handle(uint64_t number) { return (void *)(uintptr_t)number; }
#endif
