/* Functions on vectors, with 32-bit and 64-bit sizes. */
#include "cublas.h"

KC_KERNELS(blas_vectors);

/* As many blocks as have something to do, up to a number that fills every GPU. */
static uint64_t blocks_for(int64_t n) {
  uint64_t needed = ((uint64_t)n + KC_BLOCK_THREADS - 1) / KC_BLOCK_THREADS;
  return needed < MOST_PARTS ? needed : MOST_PARTS;
}

static status run(const handle *of, const char *stem, type numbers, uint64_t blocks, void **arguments) {
  char name[64];
  name_of(name, stem, numbers);
  return done(kc_run(&blas_vectors, name, (const uint64_t[]){blocks, 1, 1}, of->stream, arguments));
}

static status axpy(handle *of, type t, int64_t n, const void *given, const void *x, int64_t dx,
                   void *y, int64_t dy) {
  if (!of) return NOT_INITIALIZED;
  factor alpha = factor_of(of, t, given);
  if (n <= 0 || is_known(&alpha, t, 0)) return 0;
  return run(of, "axpy", t, blocks_for(n), (void *[]){&n, &alpha.at, &alpha.value, &x, &dx, &y, &dy});
}

static status scal(handle *of, type t, int64_t n, const void *given, void *x, int64_t dx) {
  if (!of) return NOT_INITIALIZED;
  factor alpha = factor_of(of, t, given);
  if (n <= 0 || dx <= 0 || is_known(&alpha, t, 1)) return 0;
  return run(of, "scal", t, blocks_for(n), (void *[]){&n, &alpha.at, &alpha.value, &x, &dx});
}

static status two(handle *of, const char *stem, type t, int64_t n, const void *x, int64_t dx, void *y,
                  int64_t dy) {
  if (!of) return NOT_INITIALIZED;
  return n <= 0 ? 0 : run(of, stem, t, blocks_for(n), (void *[]){&n, &x, &dx, &y, &dy});
}

static status rot(handle *of, type t, int64_t n, void *x, int64_t dx, void *y, int64_t dy,
                  const void *cosine, const void *sine) {
  if (!of) return NOT_INITIALIZED;
  factor c = factor_of(of, t, cosine), s = factor_of(of, t, sine);
  if (n <= 0) return 0;
  return run(of, "rot", t, blocks_for(n),
             (void *[]){&n, &x, &dx, &y, &dy, &c.at, &c.value, &s.at, &s.value});
}

/* ---- reductions ---- */

typedef struct {
  const char *name, *finish;
  uint64_t bytes; /* of the result; 0: as the numbers have */
} reduction;

static const reduction dots = {"dot", "sum_finish", 0}, asums = {"asum", "sum_finish", 0},
                       nrm2s = {"nrm2", "nrm2_finish", 0}, iamaxs = {"iamax", "iamax_finish", 4},
                       iamins = {"iamin", "iamin_finish", 4};

/* Where the numbers that are reduced lie; `y` is NULL but for a product of two vectors. */
typedef struct {
  int64_t n, dx, dy;
  const void *x, *y;
} operands;

/* A result of nothing is zero. */
static status give_zero(const handle *of, void *result, uint64_t bytes) {
  if (of->is_device_mode)
    return done(KC_ASK(KC_FILL, number(result), bytes, 0, 1, bytes, 1, of->stream, 1));
  for (uint64_t i = 0; i < bytes; i++) ((char *)kc_visible(number(result)))[i] = 0;
  return 0;
}

static status launch_reduction(handle *of, const reduction *how, type t, const operands *in,
                               uint64_t parts, uint64_t to) {
  operands o = *in;
  int blocks = (int)blocks_for(o.n);
  status failure = o.y ? run(of, how->name, t, (uint64_t)blocks,
                             (void *[]){&o.n, &o.x, &o.dx, &o.y, &o.dy, &parts, &to})
                       : run(of, how->name, t, (uint64_t)blocks, (void *[]){&o.n, &o.x, &o.dx, &parts, &to});
  if (failure || blocks == 1) return failure;
  return run(of, how->finish, t, 1, (void *[]){&blocks, &parts, &to});
}

static status reduce(handle *of, const reduction *how, type t, operands in, void *result) {
  if (!of) return NOT_INITIALIZED;
  if (!result) return INVALID_VALUE;
  uint64_t bytes = how->bytes ? how->bytes : t == F64 ? 8 : 4, parts, kept;
  if (in.n <= 0 || (!in.y && in.dx <= 0)) return give_zero(of, result, bytes);
  status failure = parts_of(of, &parts, &kept);
  if (failure) return failure;
  failure = launch_reduction(of, how, t, &in, parts, of->is_device_mode ? number(result) : kept);
  if (failure || of->is_device_mode) return failure;
  kc_copy back = {number(result), bytes, 0, kept, bytes, 0, bytes, 1, 1, 4, of->stream, 0};
  return done(kc_do_copy(&back));
}

/* Places are 32-bit numbers in memory; functions for 64-bit sizes give 64-bit ones. */
static status reduce_wide(handle *of, const reduction *how, type t, operands in, int64_t *result) {
  if (of && of->is_device_mode) {
    kc_refuse("cublasIamax and cublasIamin with 64-bit results on the device");
    return NOT_SUPPORTED;
  }
  int found = 0;
  status failure = in.n > INT32_MAX ? INVALID_VALUE : reduce(of, how, t, in, &found);
  if (!failure) *result = found;
  return failure;
}

#define VECTORS(L, t, T, integer, suffix)                                                           \
  API status cublas##L##axpy_v2##suffix(handle *of, integer n, const T *alpha, const T *x,         \
                                        integer dx, T *y, integer dy) {                            \
    return axpy(of, t, n, alpha, x, dx, y, dy);                                                    \
  }                                                                                                \
  API status cublas##L##scal_v2##suffix(handle *of, integer n, const T *alpha, T *x, integer dx) { \
    return scal(of, t, n, alpha, x, dx);                                                           \
  }                                                                                                \
  API status cublas##L##copy_v2##suffix(handle *of, integer n, const T *x, integer dx, T *y,       \
                                        integer dy) {                                              \
    return two(of, "copy", t, n, x, dx, y, dy);                                                    \
  }                                                                                                \
  API status cublas##L##swap_v2##suffix(handle *of, integer n, T *x, integer dx, T *y, integer dy) { \
    return two(of, "swap", t, n, x, dx, y, dy);                                                    \
  }                                                                                                \
  API status cublas##L##rot_v2##suffix(handle *of, integer n, T *x, integer dx, T *y, integer dy,  \
                                       const T *c, const T *s) {                                   \
    return rot(of, t, n, x, dx, y, dy, c, s);                                                      \
  }                                                                                                \
  API status cublas##L##dot_v2##suffix(handle *of, integer n, const T *x, integer dx, const T *y,  \
                                       integer dy, T *result) {                                    \
    return reduce(of, &dots, t, (operands){n, dx, dy, x, y}, result);                              \
  }                                                                                                \
  API status cublas##L##asum_v2##suffix(handle *of, integer n, const T *x, integer dx, T *result) { \
    return reduce(of, &asums, t, (operands){n, dx, 0, x, NULL}, result);                           \
  }                                                                                                \
  API status cublas##L##nrm2_v2##suffix(handle *of, integer n, const T *x, integer dx, T *result) { \
    return reduce(of, &nrm2s, t, (operands){n, dx, 0, x, NULL}, result);                           \
  }
VECTORS(S, F32, float, int, )
VECTORS(D, F64, double, int, )
VECTORS(S, F32, float, int64_t, _64)
VECTORS(D, F64, double, int64_t, _64)

#define PLACES(l, t, T)                                                                            \
  API status cublasI##l##amax_v2(handle *of, int n, const T *x, int dx, int *result) {             \
    return reduce(of, &iamaxs, t, (operands){n, dx, 0, x, NULL}, result);                          \
  }                                                                                                \
  API status cublasI##l##amin_v2(handle *of, int n, const T *x, int dx, int *result) {             \
    return reduce(of, &iamins, t, (operands){n, dx, 0, x, NULL}, result);                          \
  }                                                                                                \
  API status cublasI##l##amax_v2_64(handle *of, int64_t n, const T *x, int64_t dx, int64_t *result) { \
    return reduce_wide(of, &iamaxs, t, (operands){n, dx, 0, x, NULL}, result);                     \
  }                                                                                                \
  API status cublasI##l##amin_v2_64(handle *of, int64_t n, const T *x, int64_t dx, int64_t *result) { \
    return reduce_wide(of, &iamins, t, (operands){n, dx, 0, x, NULL}, result);                     \
  }
PLACES(s, F32, float)
PLACES(d, F64, double)
