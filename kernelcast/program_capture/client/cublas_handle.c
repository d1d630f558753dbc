/* Handles, their settings, and copies of vectors and matrices. */
#include <stdlib.h>
#include <string.h>

#include "cublas.h"

#define PROCESSORS 16 /* a CUdevice_attribute */

static const struct { status number; const char *name, *text; } statuses[] = {
    {0, "CUBLAS_STATUS_SUCCESS", "success"},
    {NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized"},
    {ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
    {INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE", "an unsupported value or parameter was passed to the function"},
    {8, "CUBLAS_STATUS_ARCH_MISMATCH", "the function needs another architecture"},
    {11, "CUBLAS_STATUS_MAPPING_ERROR", "an access to GPU memory space failed"},
    {EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED", "the function failed to launch on the GPU"},
    {14, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"},
    {NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED", "the functionality requested is not supported"},
    {16, "CUBLAS_STATUS_LICENSE_ERROR", "the license was not found"},
};

API const char *cublasGetStatusName(status number) {
  for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
    if (statuses[i].number == number) return statuses[i].name;
  return "unknown status";
}
API const char *cublasGetStatusString(status number) {
  for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
    if (statuses[i].number == number) return statuses[i].text;
  return "unknown status";
}

API status cublasCreate_v2(handle **to) {
  if (!to) return INVALID_VALUE;
  uint64_t processors = 1;
  int failure = KC_ASK_FOR(processors, KC_ATTRIBUTE, (uint64_t)PROCESSORS);
  if (failure) return NOT_INITIALIZED;
  *to = calloc(1, sizeof **to);
  (*to)->processors = (int)processors;
  return 0;
}
API status cublasDestroy_v2(handle *destroyed) {
  if (!destroyed) return NOT_INITIALIZED;
  if (destroyed->parts) KC_ASK(KC_FREE, destroyed->parts, (uint64_t)KC_DEVICE);
  free(destroyed);
  return 0;
}

status parts_of(handle *of, uint64_t *parts, uint64_t *result) {
  enum { ALL = MOST_PARTS * PART_BYTES };
  if (!of->parts) {
    int failure = KC_ASK_FOR(of->parts, KC_ALLOCATE, (uint64_t)ALL + PART_BYTES, (uint64_t)KC_DEVICE);
    if (failure) return done(failure);
  }
  *parts = of->parts, *result = of->parts + ALL;
  return 0;
}

factor factor_of(const handle *of, type numbers, const void *given) {
  factor made = {0};
  if (of->is_device_mode) made.at = given;
  else if (given) memcpy(&made.value, kc_visible(number(given)), numbers == F64 ? 8 : 4);
  return made;
}

int is_known(const factor *of, type numbers, double value) {
  return !of->at && (numbers == F64 ? of->value.f64 == value : of->value.f32 == (float)value);
}

/* ---- settings ---- */

#define SETTING(Name, field, T)                                              \
  API status cublasSet##Name(handle *of, T value) {                          \
    if (!of) return NOT_INITIALIZED;                                         \
    of->field = (__typeof__(of->field))value;                                \
    return 0;                                                                \
  }                                                                          \
  API status cublasGet##Name(const handle *of, T *value) {                   \
    if (!of) return NOT_INITIALIZED;                                         \
    *value = (T)of->field;                                                   \
    return 0;                                                                \
  }
SETTING(Stream_v2, stream, void *)
SETTING(PointerMode_v2, is_device_mode, int)
SETTING(MathMode, math_mode, int)
SETTING(AtomicsMode, atomics_mode, int)
SETTING(SmCountTarget, processors, int)

API status cublasSetWorkspace_v2(handle *of, void *workspace, size_t bytes) {
  (void)workspace, (void)bytes; /* our kernels need none */
  return of ? 0 : NOT_INITIALIZED;
}
API status cublasGetVersion_v2(const handle *of, int *version) {
  (void)of;
  *version = CUBLAS_NUMBER;
  return 0;
}
API status cublasGetProperty(int which, int *value) {
  if (which < 0 || which > 2) return INVALID_VALUE;
  *value = (const int[]){CUBLAS_MAJOR, 0, 0}[which];
  return 0;
}
API size_t cublasGetCudartVersion(void) { return CUBLAS_MAJOR * 1000; }
API status cublasLoggerConfigure(int is_on, int to_output, int to_error, const char *file) {
  (void)is_on, (void)to_output, (void)to_error, (void)file;
  return 0;
}
API status cublasSetLoggerCallback(void (*called)(const char *)) {
  (void)called;
  return 0;
}
API status cublasGetLoggerCallback(void (**called)(const char *)) {
  *called = NULL;
  return 0;
}

/* ---- copies ---- */

/* Elements of a vector are rows of a copy; so are columns of a matrix. */
static status copy(uint64_t to, int64_t to_pitch, uint64_t from, int64_t from_pitch, int64_t width,
                   int64_t height, uint64_t stream, int is_async) {
  kc_copy rows = {to, (uint64_t)to_pitch, 0, from, (uint64_t)from_pitch, 0, (uint64_t)width,
                  (uint64_t)height, 1, 4, stream, (uint64_t)is_async};
  return kc_do_copy(&rows) ? 11 : 0;
}
static status copy_vector(int64_t n, int64_t bytes, const void *x, int64_t dx, void *y, int64_t dy,
                          uint64_t stream, int is_async) {
  if (n < 0 || bytes <= 0 || dx <= 0 || dy <= 0) return INVALID_VALUE;
  if (dx == 1 && dy == 1) return copy(number(y), n * bytes, number(x), n * bytes, n * bytes, 1, stream, is_async);
  return copy(number(y), dy * bytes, number(x), dx * bytes, bytes, n, stream, is_async);
}
static status copy_matrix(int64_t rows, int64_t columns, int64_t bytes, const void *a, int64_t lda,
                          void *b, int64_t ldb, uint64_t stream, int is_async) {
  if (rows < 0 || columns < 0 || bytes <= 0 || lda < rows || ldb < rows) return INVALID_VALUE;
  return copy(number(b), ldb * bytes, number(a), lda * bytes, rows * bytes, columns, stream, is_async);
}

#define COPIES(Way, integer, suffix)                                                              \
  API status cublas##Way##Vector##suffix(integer n, integer bytes, const void *x, integer dx,     \
                                         void *y, integer dy) {                                   \
    return copy_vector(n, bytes, x, dx, y, dy, 0, 0);                                             \
  }                                                                                               \
  API status cublas##Way##VectorAsync##suffix(integer n, integer bytes, const void *x, integer dx, \
                                              void *y, integer dy, void *stream) {                \
    return copy_vector(n, bytes, x, dx, y, dy, number(stream), 1);                                \
  }                                                                                               \
  API status cublas##Way##Matrix##suffix(integer rows, integer columns, integer bytes,            \
                                         const void *a, integer lda, void *b, integer ldb) {      \
    return copy_matrix(rows, columns, bytes, a, lda, b, ldb, 0, 0);                               \
  }                                                                                               \
  API status cublas##Way##MatrixAsync##suffix(integer rows, integer columns, integer bytes,       \
                                              const void *a, integer lda, void *b, integer ldb,   \
                                              void *stream) {                                     \
    return copy_matrix(rows, columns, bytes, a, lda, b, ldb, number(stream), 1);                  \
  }
COPIES(Set, int, )
COPIES(Get, int, )
COPIES(Set, int64_t, _64)
COPIES(Get, int64_t, _64)
