/* Kernels of our own, which the libraries in place of cuBLAS and cuRAND launch. Their names begin with
   `kernelcast_`, so that reports tell them from those of the program. */
#ifndef KERNELCAST_KERNELS_H
#define KERNELCAST_KERNELS_H
#include "client.h"

enum { KC_BLOCK_THREADS = 256 }; /* of all of these kernels */

typedef struct kc_kernel kc_kernel;

/* The PTX text of some kernels, which is loaded when the first one is launched. */
typedef struct {
  const char *begin, *end;
  uint64_t module;
  int is_loaded, failure;
  kc_kernel *kernels;
} kc_kernels;

/* Puts the file `kernels/NAME.ptx` into the library as `NAME`. */
#define KC_KERNELS(name)                                                                         \
  __asm__(".pushsection .rodata\n" #name "_begin: .incbin \"" KC_KERNEL_FOLDER "/" #name ".ptx\"\n" \
          #name "_end: .byte 0\n.popsection\n");                                                 \
  extern const char name##_begin[], name##_end[];                                                \
  static kc_kernels name = {.begin = name##_begin, .end = name##_end}

/* Launches a kernel on as many blocks; `arguments` are as for cudaLaunchKernel. 0 or an error. */
KC_PUBLIC int kc_run(kc_kernels *of, const char *name, const uint64_t grid[3], uint64_t stream,
                     void **arguments);
#endif
