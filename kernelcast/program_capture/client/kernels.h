/* Kernels of our own, which the libraries in place of cuBLAS and cuRAND launch. Their names begin with
   `kernelcast_`, so that reports tell them from those of the program. */
#ifndef KERNELCAST_KERNELS_H
#define KERNELCAST_KERNELS_H
#include "client.h"

enum { KC_BLOCK_THREADS = 256 }; /* of all of these kernels */

typedef struct kc_kernel kc_kernel;

/* The PTX text of some kernels, each of which is loaded when it is launched for the first time. */
typedef struct {
  const char *text;
  kc_kernel *kernels;
} kc_kernels;

/* Puts the file `kernels/NAME.ptx` into the library as `NAME`. */
#define KC_KERNELS(name)                                                                        \
  __asm__(".pushsection .rodata\n" #name "_text: .incbin \"" KC_KERNEL_FOLDER "/" #name ".ptx\"\n" \
          ".byte 0\n.popsection\n");                                                            \
  extern const char name##_text[];                                                              \
  static kc_kernels name = {.text = name##_text}

/* Launches a kernel on as many blocks; `arguments` are as for cudaLaunchKernel. 0 or an error. */
KC_PUBLIC int kc_run(kc_kernels *of, const char *name, const uint64_t grid[3], uint64_t stream,
                     void **arguments);
#endif
