/* Jacobi's method on a square: two kernels a step, until nothing changes much. */
#include <math.h>

#include "opencl.h"

static const char *source =
    "__kernel void relax(__global const float *old, __global float *new, int n) {\n"
    "  int x = get_global_id(0) , y = get_global_id(1);\n"
    "  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;\n"
    "  int i = y * n + x;\n"
    "  new[i] = 0.25f * (old[i - 1] + old[i + 1] + old[i - n] + old[i + n]);\n"
    "}\n"
    "__kernel void change(__global const float *a, __global const float *b, __global int *most, int n) {\n"
    "  int i = get_global_id(0);\n"
    "  if (i < n) atomic_max(most, as_int(fabs(a[i] - b[i])));\n"
    "}\n";

enum { N = 32, STEPS = 400 };
static float grid[N][N];

int main(void) {
  begin();
  object program = built(source, NULL), relax = kernel_of(program, "relax");
  object change = kernel_of(program, "change");
  for (int x = 0; x < N; x++) grid[0][x] = 1;
  object field[] = {buffer(READ_WRITE | COPY_HOST_PTR, sizeof grid, grid),
                    buffer(READ_WRITE | COPY_HOST_PTR, sizeof grid, grid)};
  object most = buffer(READ_WRITE, sizeof(int), NULL);
  int n = N, all = N * N, zero = 0, steps = 0;
  float largest = 1;
  const size_t items[] = {N, N}, group[] = {16, 8};
  ARGUMENT(relax, 2, n);
  ARGUMENT(change, 2, most);
  ARGUMENT(change, 3, all);
  for (; steps < STEPS && largest > 1e-3f; steps++) {
    ARGUMENT(relax, 0, field[steps % 2]);
    ARGUMENT(relax, 1, field[1 - steps % 2]);
    CHECK(clEnqueueNDRangeKernel(queue, relax, 2, NULL, items, group, 0, NULL, NULL));
    ARGUMENT(change, 0, field[0]);
    ARGUMENT(change, 1, field[1]);
    CHECK(clEnqueueWriteBuffer(queue, most, 0, 0, sizeof zero, &zero, 0, NULL, NULL));
    launch(change, N * N, 256);
    if (steps % 10 == 9)
      CHECK(clEnqueueReadBuffer(queue, most, 1, 0, sizeof largest, &largest, 0, NULL, NULL));
  }
  EXPECT(steps > 100 && steps < STEPS);
  CHECK(clEnqueueReadBuffer(queue, field[0], 1, 0, sizeof grid, grid, 0, NULL, NULL));
  for (int y = 1; y < N - 1; y++)
    for (int x = 1; x < N - 1; x++) {
      float mean = 0.25f * (grid[y][x - 1] + grid[y][x + 1] + grid[y - 1][x] + grid[y + 1][x]);
      EXPECT(fabsf(grid[y][x] - mean) < 2e-3f);
      EXPECT(fabsf(grid[y][x] - grid[y][N - 1 - x]) < 1e-4f);
    }
  printf("%d steps\n", steps);
  end();
}
