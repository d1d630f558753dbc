/* The library in place of cuRAND: generators on the device by kernels of our own, and on the host. */
#include <stdio.h>
#include <stdlib.h>


#include "kernels.h"
#include "kernels/random_orders.h"

#define API KC_PUBLIC
KC_KERNELS(random_kernels);

typedef int status; /* a curandStatus_t */
enum {
  NOT_INITIALIZED = 101,
  TYPE_ERROR = 103,
  OUT_OF_RANGE = 104,
  LENGTH_NOT_MULTIPLE = 105,
  LAUNCH_FAILURE = 201,
  INTERNAL_ERROR = 999,
};
enum { VERSION = 10310 };

typedef void put(const order *how, int distribution, uint64_t seed, uint64_t group, int stream);

/* A generator of random words: its number as a curandRngType_t, and how many quads a group has. */
typedef struct {
  int number;
  const char *name;
  uint64_t group;
  put *put;
} kind;
static const kind kinds[] = {{100, "xorwow", xorwow_group, put_xorwow}, /* what the default is */
                             {101, "xorwow", xorwow_group, put_xorwow},
                             {121, "mrg32k3a", mrg32k3a_group, put_mrg32k3a},
                             {161, "philox", philox_group, put_philox}};

typedef struct {
  const kind *kind;
  uint64_t seed, offset, used, stream; /* words since the offset that were given */
  int is_host;
} generator;

static status create(generator **to, int number, int is_host) {
  static const struct { int number; const char *name; } others[] = {
      {141, "MTGP32"}, {142, "MT19937"}, {200, "Sobol"}, {201, "Sobol"}, {202, "scrambled Sobol"},
      {203, "64-bit Sobol"}, {204, "scrambled 64-bit Sobol"}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (kinds[i].number != number) continue;
    kc_connected();
    *to = calloc(1, sizeof **to);
    (*to)->kind = &kinds[i], (*to)->is_host = is_host;
    return 0;
  }
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    char name[64];
    if (others[i].number != number) continue;
    snprintf(name, sizeof name, "curandCreateGenerator of %s", others[i].name);
    kc_refuse(name);
  }
  return TYPE_ERROR;
}
API status curandCreateGenerator(generator **to, int number) { return create(to, number, 0); }
API status curandCreateGeneratorHost(generator **to, int number) { return create(to, number, 1); }
API status curandDestroyGenerator(generator *destroyed) {
  if (!destroyed) return NOT_INITIALIZED;
  free(destroyed);
  return 0;
}

API status curandGetVersion(int *version) {
  *version = VERSION;
  return 0;
}
API status curandGetProperty(int which, int *value) {
  if (which < 0 || which > 2) return OUT_OF_RANGE;
  *value = (const int[]){VERSION / 1000, VERSION % 1000 / 100, VERSION % 100}[which];
  return 0;
}
API status curandSetStream(generator *of, void *stream) {
  if (!of) return NOT_INITIALIZED;
  of->stream = (uint64_t)(uintptr_t)stream;
  return 0;
}
API status curandSetPseudoRandomGeneratorSeed(generator *of, unsigned long long seed) {
  if (!of) return NOT_INITIALIZED;
  of->seed = seed, of->used = 0;
  return 0;
}
API status curandSetGeneratorOffset(generator *of, unsigned long long offset) {
  if (!of) return NOT_INITIALIZED;
  of->offset = offset, of->used = 0;
  return 0;
}
/* There is one order, whichever is asked for. */
API status curandSetGeneratorOrdering(generator *of, int ordering) {
  if (!of) return NOT_INITIALIZED;
  return ordering >= 100 && ordering <= 104 ? 0 : OUT_OF_RANGE;
}
API status curandSetQuasiRandomGeneratorDimensions(generator *of, unsigned dimensions) {
  (void)dimensions;
  return of ? TYPE_ERROR : NOT_INITIALIZED;
}
API status curandGenerateSeeds(generator *of) { return of ? 0 : NOT_INITIALIZED; }

/* ---- numbers ---- */

/* Words of a number, and of what is made at a time, which begins at a multiple of them. */
static const struct { const char *name; uint64_t words, unit; } shapes[DISTRIBUTIONS] = {
    [WORDS] = {"words", 1, 1},
    [UNIFORM_F32] = {"uniform_f32", 1, 1},
    [UNIFORM_F64] = {"uniform_f64", 2, 2},
    [NORMAL_F32] = {"normal_f32", 1, 2},
    [NORMAL_F64] = {"normal_f64", 2, 4}};

static status launch(const generator *of, int distribution, order how, uint64_t groups) {
  char name[64];
  uint64_t seed = of->seed;
  snprintf(name, sizeof name, "kernelcast_%s_%s", of->kind->name, shapes[distribution].name);
  void *arguments[] = {&how.to, &seed, &how.position, &how.count, &how.mean, &how.deviation, &how.is_log};
  return kc_run(&random_kernels, name, (const uint64_t[]){groups, 1, 1}, of->stream, arguments) ? LAUNCH_FAILURE : 0;
}

static status generate(generator *of, int distribution, order how) {
  if (!of) return NOT_INITIALIZED;
  int is_normal = distribution == NORMAL_F32 || distribution == NORMAL_F64;
  if (is_normal && how.count % 2) return LENGTH_NOT_MULTIPLE;
  if (is_normal && !(how.deviation > 0)) return OUT_OF_RANGE;
  if (!how.count) return 0;
  uint64_t unit = shapes[distribution].unit;
  how.position = (of->offset + of->used + unit - 1) / unit * unit;
  of->used = how.position + how.count * shapes[distribution].words - of->offset;
  uint64_t first = how.position / 4 / of->kind->group;
  uint64_t end = (end_of(&how, distribution) + of->kind->group - 1) / of->kind->group;
  if (!of->is_host) return launch(of, distribution, how, end - first);
  how.to = kc_visible((uint64_t)(uintptr_t)how.to);
  for (uint64_t group = first; group < end; group++)
    for (int stream = 0; stream < STREAMS; stream++)
      of->kind->put(&how, distribution, of->seed, group, stream);
  return 0;
}

API status curandGenerate(generator *of, unsigned *to, size_t count) {
  return generate(of, WORDS, (order){.to = to, .count = count});
}
API status curandGenerateUniform(generator *of, float *to, size_t count) {
  return generate(of, UNIFORM_F32, (order){.to = to, .count = count});
}
API status curandGenerateUniformDouble(generator *of, double *to, size_t count) {
  return generate(of, UNIFORM_F64, (order){.to = to, .count = count});
}
#define NORMAL(Name, distribution, T, log_too)                                                    \
  API status curandGenerate##Name(generator *of, T *to, size_t count, T mean, T deviation) {     \
    return generate(of, distribution,                                                            \
                    (order){.to = to, .count = count, .mean = mean, .deviation = deviation,      \
                            .is_log = log_too});                                                 \
  }
NORMAL(Normal, NORMAL_F32, float, 0)
NORMAL(NormalDouble, NORMAL_F64, double, 0)
NORMAL(LogNormal, NORMAL_F32, float, 1)
NORMAL(LogNormalDouble, NORMAL_F64, double, 1)
/* 64-bit words are of 64-bit quasirandom generators alone. */
API status curandGenerateLongLong(generator *of, unsigned long long *to, size_t count) {
  (void)to, (void)count;
  return of ? TYPE_ERROR : NOT_INITIALIZED;
}

#define REFUSED(name)      \
  API status name(void) {  \
    kc_refuse(#name);      \
    return INTERNAL_ERROR; \
  }
REFUSED(curandCreatePoissonDistribution)
REFUSED(curandDestroyDistribution)
REFUSED(curandGeneratePoisson)
REFUSED(curandGeneratePoissonMethod)
REFUSED(curandGenerateBinomial)
REFUSED(curandGenerateBinomialMethod)
REFUSED(curandGetDirectionVectors32)
REFUSED(curandGetDirectionVectors64)
REFUSED(curandGetScrambleConstants32)
REFUSED(curandGetScrambleConstants64)
