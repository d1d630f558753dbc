/* What the parts of the library in place of cuBLAS have in common. */
#ifndef KERNELCAST_CUBLAS_H
#define KERNELCAST_CUBLAS_H
#include <stdio.h>

#include "kernels.h"

#define API KC_PUBLIC

typedef int status; /* a cublasStatus_t */
enum {
  NOT_INITIALIZED = 1,
  ALLOC_FAILED = 3,
  INVALID_VALUE = 7,
  EXECUTION_FAILED = 13,
  NOT_SUPPORTED = 15,
};
enum { TRANSPOSED_NOT = 0, TRANSPOSED = 1, TRANSPOSED_CONJUGATED = 2 }; /* a cublasOperation_t */

typedef enum { F32, F64 } type;

/* A factor by value, or the place on the device where it lies. */
typedef struct {
  const void *at;
  union { float f32; double f64; } value;
} factor;

/* What a cublasHandle_t points to. */
typedef struct {
  uint64_t stream, parts; /* device memory for parts of sums, with a result at its end */
  int is_device_mode, math_mode, atomics_mode, processors;
} handle;

static inline uint64_t number(const void *pointer) { return (uint64_t)(uintptr_t)pointer; }
static inline status done(int failure) {
  return failure == KC_SUCCESS ? 0 : failure == KC_OUT_OF_MEMORY ? ALLOC_FAILED : EXECUTION_FAILED;
}
static inline int is_operation(int given) { return given >= TRANSPOSED_NOT && given <= TRANSPOSED_CONJUGATED; }

/* A factor that the program gave, by the handle's pointer mode. */
factor factor_of(const handle *of, type numbers, const void *given);
/* Whether a factor is known to be a number; false where it lies on the device. */
int is_known(const factor *of, type numbers, double value);
/* Memory for parts of sums, and the place behind it for a result of up to 8 bytes. */
status parts_of(handle *of, uint64_t *parts, uint64_t *result);
/* The name of a kernel: its stem and what numbers it is for. */
static inline void name_of(char to[64], const char *stem, type numbers) {
  snprintf(to, 64, "kernelcast_%s_%s", stem, numbers == F64 ? "f64" : "f32");
}
enum { MOST_PARTS = 1024, PART_BYTES = 32 };
#endif
