/* Random numbers of cuRAND's interface: writes those of a generator to a file, or checks what calls do. */
#include "blas.h"

int curandCreateGenerator(object *, int), curandCreateGeneratorHost(object *, int);
int curandDestroyGenerator(object), curandSetPseudoRandomGeneratorSeed(object, unsigned long long);
int curandSetGeneratorOffset(object, unsigned long long), curandSetStream(object, object);
int curandSetGeneratorOrdering(object, int), curandGetVersion(int *), curandGenerateSeeds(object);
int curandGenerate(object, unsigned *, size_t), curandGenerateUniform(object, float *, size_t);
int curandGenerateUniformDouble(object, double *, size_t);
int curandGenerateNormal(object, float *, size_t, float, float);
int curandGenerateNormalDouble(object, double *, size_t, double, double);
int curandGenerateLogNormal(object, float *, size_t, float, float);
int curandGenerateLogNormalDouble(object, double *, size_t, double, double);
int curandGeneratePoisson(object, unsigned *, size_t, double);
int curandGenerateLongLong(object, unsigned long long *, size_t);

enum { PHILOX = 161, MT19937 = 142, SOBOL = 201, FIRST = 3, WORDS = 1001 };
static FILE *to;

static void write_back(const void *numbers, size_t bytes) {
  void *back = malloc(bytes);
  CHECK(cudaMemcpy(back, numbers, bytes, 4));
  EXPECT(fwrite(back, 1, bytes, to) == bytes);
  free(back);
}

/* All distributions one after the other, of one sequence. */
static void write_all(int kind, int is_host, size_t count) {
  object of;
  void *numbers = is_host ? malloc(8 * count) : on_device(NULL, 8 * count);
  CHECK(is_host ? curandCreateGeneratorHost(&of, kind) : curandCreateGenerator(&of, kind));
  CHECK(curandSetPseudoRandomGeneratorSeed(of, 0x123456789abcdefull));
  CHECK(curandSetGeneratorOffset(of, FIRST));
  CHECK(curandGenerateSeeds(of) || curandSetGeneratorOrdering(of, 101));
  CHECK(curandGenerate(of, numbers, WORDS));
  write_back(numbers, 4 * WORDS);
  CHECK(curandGenerateUniform(of, numbers, count));
  write_back(numbers, 4 * count);
  CHECK(curandGenerateUniformDouble(of, numbers, count));
  write_back(numbers, 8 * count);
  CHECK(curandGenerateNormal(of, numbers, count, 2, 3));
  write_back(numbers, 4 * count);
  CHECK(curandGenerateNormalDouble(of, numbers, count, -1, 0.5));
  write_back(numbers, 8 * count);
  CHECK(curandGenerateLogNormal(of, numbers, count, 0, 0.5f));
  write_back(numbers, 4 * count);
  CHECK(curandGenerateLogNormalDouble(of, numbers, count, 1, 0.25));
  write_back(numbers, 8 * count);
  CHECK(curandDestroyGenerator(of));
}

static void check_calls(void) {
  object of, stream;
  int version;
  float *numbers = on_device(NULL, 4000);
  CHECK(curandGetVersion(&version) || cudaStreamCreate(&stream));
  EXPECT(version >= 10000);
  EXPECT(curandCreateGenerator(&of, MT19937) == 103 && curandCreateGenerator(&of, SOBOL) == 103);
  EXPECT(curandCreateGenerator(&of, 7) == 103);
  CHECK(curandCreateGenerator(&of, PHILOX) || curandSetStream(of, stream));
  EXPECT(curandGenerateNormal(of, numbers, 3, 0, 1) == 105);
  EXPECT(curandGenerateNormal(of, numbers, 4, 0, -1) == 104);
  EXPECT(curandGeneratePoisson(of, (unsigned *)numbers, 4, 1) == 999);
  EXPECT(curandGenerateLongLong(of, (unsigned long long *)numbers, 4) == 103);
  EXPECT(curandGenerateUniform(NULL, numbers, 4) == 101);
  CHECK(curandDestroyGenerator(of));
}

int main(int count, char **arguments) {
  if (count < 5) check_calls();
  else {
    to = fopen(arguments[1], "wb");
    EXPECT(to);
    write_all(atoi(arguments[2]), atoi(arguments[3]), (size_t)atol(arguments[4]));
    fclose(to);
  }
  printf("all right\n");
  return 0;
}
