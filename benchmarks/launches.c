/* Launches through the CUDA driver's interface: `launches empty N` makes N of an empty kernel,
   `launches solver N` makes N sweeps over a grid of 1024 x 1024. Prints microseconds a launch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef unsigned long long address;
int cuInit(unsigned), cuDeviceGet(int *, int), cuCtxCreate_v2(void **, unsigned, int);
int cuModuleLoadData(void **, const void *), cuModuleGetFunction(void **, void *, const char *);
int cuMemAlloc_v2(address *, size_t), cuMemsetD32_v2(address, unsigned, size_t);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   void *, void **, void **);
int cuCtxSynchronize(void);

static void check(int status) {
  if (status) fprintf(stderr, "CUDA error %d\n", status), exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static char *text_of(const char *path) {
  static char text[1 << 16];
  FILE *file = fopen(path, "r");
  if (!file) perror(path), exit(1);
  fread(text, 1, sizeof text - 1, file);
  fclose(file);
  return text;
}

int main(int argc, char **argv) {
  if (argc != 4) return fprintf(stderr, "usage: launches FILE.ptx empty|solver N\n"), 2;
  int is_solver = !strcmp(argv[2], "solver"), count = atoi(argv[3]), device;
  void *context, *module, *kernel;
  check(cuInit(0)), check(cuDeviceGet(&device, 0)), check(cuCtxCreate_v2(&context, 0, device));
  check(cuModuleLoadData(&module, text_of(argv[1])));
  check(cuModuleGetFunction(&kernel, module, argv[2]));
  address grids[2];
  unsigned n = 1024, blocks = is_solver ? n * n / 256 : 1, threads = is_solver ? 256 : 32;
  for (int i = 0; i < 2; i++)
    check(cuMemAlloc_v2(&grids[i], 4ull * n * n)), check(cuMemsetD32_v2(grids[i], i, n * n));
  double began = 0;
  for (int i = -4; i < count; i++) { /* the first ones are estimated, which takes longer */
    if (!i) check(cuCtxSynchronize()), began = now();
    void *arguments[] = {&grids[i & 1], &grids[~i & 1], &n};
    check(cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, 0, NULL, is_solver ? arguments : NULL, NULL));
  }
  check(cuCtxSynchronize());
  printf("%.2f\n", (now() - began) / count * 1e6);
  return 0;
}
