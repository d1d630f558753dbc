/* The parts of cuBLAS's and the CUDA runtime's interfaces that these programs use, by their symbols. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *object;
int cudaMalloc(void **, size_t), cudaFree(void *), cudaMemcpy(void *, const void *, size_t, int);
int cudaDeviceSynchronize(void), cudaStreamCreate(object *), cudaMemset(void *, int, size_t);

#define CHECK(call)                                            \
  do {                                                         \
    int status_ = (call);                                      \
    if (status_) {                                             \
      printf("line %d: %s is %d\n", __LINE__, #call, status_); \
      exit(1);                                                 \
    }                                                          \
  } while (0)
#define EXPECT(condition)                                 \
  do {                                                    \
    if (!(condition)) {                                   \
      printf("line %d: not %s\n", __LINE__, #condition);  \
      exit(1);                                            \
    }                                                     \
  } while (0)

static inline void *on_device(const void *from, size_t bytes) {
  void *made;
  CHECK(cudaMalloc(&made, bytes ? bytes : 1));
  if (from) CHECK(cudaMemcpy(made, from, bytes, 4));
  return made;
}

/* Numbers between -1 and 1 that have few digits, so that sums of them are nearly exact. */
static inline double drawn(void) {
  static uint32_t state = 12345;
  state = state * 1664525 + 1013904223;
  return ((int)(state >> 20) - 2048) / 2048.0;
}

#ifdef DOUBLE
typedef double real;
#define TOLERANCE 1e-12
#define OF(name, rest) cublasD##name##rest
#define PLACE_OF(name) cublasId##name##_v2
#else
typedef float real;
#define TOLERANCE 2e-5
#define OF(name, rest) cublasS##name##rest
#define PLACE_OF(name) cublasIs##name##_v2
#endif

static inline int is_near(double found, double expected) {
  return fabs(found - expected) <= TOLERANCE * (1 + fabs(expected)) || (isnan(found) && isnan(expected));
}
static inline void expect_all(const real *found, const double *expected, int count, const char *what) {
  for (int i = 0; i < count; i++)
    if (!is_near((double)found[i], expected[i])) {
      printf("%s: element %d is %.9g, not %.9g\n", what, i, (double)found[i], expected[i]);
      exit(1);
    }
}

int cublasCreate_v2(object *), cublasDestroy_v2(object), cublasSetStream_v2(object, object);
int cublasGetStream_v2(object, object *), cublasSetPointerMode_v2(object, int);
int cublasGetPointerMode_v2(object, int *), cublasSetMathMode(object, int), cublasGetMathMode(object, int *);
int cublasGetVersion_v2(object, int *), cublasSetWorkspace_v2(object, void *, size_t);
int cublasGetProperty(int, int *), cublasSetSmCountTarget(object, int);
const char *cublasGetStatusString(int), *cublasGetStatusName(int);
int cublasSetVector(int, int, const void *, int, void *, int);
int cublasGetVector(int, int, const void *, int, void *, int);
int cublasSetVectorAsync(int, int, const void *, int, void *, int, object);
int cublasSetMatrix(int, int, int, const void *, int, void *, int);
int cublasGetMatrix(int, int, int, const void *, int, void *, int);
int cublasGetMatrixAsync(int, int, int, const void *, int, void *, int, object);

int OF(axpy, _v2)(object, int, const real *, const real *, int, real *, int);
int OF(scal, _v2)(object, int, const real *, real *, int);
int OF(copy, _v2)(object, int, const real *, int, real *, int);
int OF(swap, _v2)(object, int, real *, int, real *, int);
int OF(rot, _v2)(object, int, real *, int, real *, int, const real *, const real *);
int OF(dot, _v2)(object, int, const real *, int, const real *, int, real *);
int OF(asum, _v2)(object, int, const real *, int, real *);
int OF(nrm2, _v2)(object, int, const real *, int, real *);
int PLACE_OF(amax)(object, int, const real *, int, int *);
int PLACE_OF(amin)(object, int, const real *, int, int *);
int OF(gemv, _v2)(object, int, int, int, const real *, const real *, int, const real *, int, const real *,
                  real *, int);
int OF(ger, _v2)(object, int, int, const real *, const real *, int, const real *, int, real *, int);
int OF(geam, )(object, int, int, int, int, const real *, const real *, int, const real *, const real *, int,
               real *, int);
int OF(trsm, _v2)(object, int, int, int, int, int, int, const real *, const real *, int, real *, int);
int OF(trsv, _v2)(object, int, int, int, int, const real *, int, real *, int);
int OF(syrk, _v2)(object, int, int, int, int, const real *, const real *, int, const real *, real *, int);
int OF(gemm, _v2)(object, int, int, int, int, int, const real *, const real *, int, const real *, int,
                  const real *, real *, int);
int OF(gemm, _v2_64)(object, int, int, int64_t, int64_t, int64_t, const real *, const real *, int64_t,
                     const real *, int64_t, const real *, real *, int64_t);
int OF(gemm, StridedBatched)(object, int, int, int, int, int, const real *, const real *, int, long long,
                             const real *, int, long long, const real *, real *, int, long long, int);
int OF(gemm, Batched)(object, int, int, int, int, int, const real *, const real *const *, int,
                      const real *const *, int, const real *, real *const *, int, int);
int cublasGemmEx(object, int, int, int, int, int, const void *, const void *, int, int, const void *, int, int,
                 const void *, void *, int, int, int, int);
