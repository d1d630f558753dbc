// HIP: an iterative solver with pitched memory, occupancy, a captured graph and an event between streams.
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call) \
  if (hipError_t status_ = (call)) fprintf(stderr, "%d: %s\n", __LINE__, hipGetErrorString(status_)), exit(1)

__global__ void relax(const double *from, double *to, int n, size_t pitch) {
  int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (x >= n - 1 || y >= n - 1) return;
  size_t i = y * pitch + x;
  to[i] = 0.25 * (from[i - 1] + from[i + 1] + from[i - pitch] + from[i + pitch]);
}

int main() {
  const int n = 24, steps = 600;
  std::vector<double> grid(n * n, 0.0);
  for (int i = 0; i < n; i++) grid[i] = 1;
  double *field[2];
  size_t pitch;
  const size_t row = n * sizeof(double);
  for (auto &it : field) {
    CHECK(hipMallocPitch((void **)&it, &pitch, row, n));
    CHECK(hipMemcpy2D(it, pitch, grid.data(), row, row, n, hipMemcpyHostToDevice));
  }
  int blocks = 0;
  CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, relax, 64, 0));
  if (blocks < 1) return 1;
  hipStream_t stream;
  hipGraph_t graph;
  hipGraphExec_t ready;
  CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  for (int k = 0; k < 2; k++)
    relax<<<dim3(3, 3), dim3(8, 8), 0, stream>>>(field[k], field[1 - k], n, pitch / sizeof(double));
  CHECK(hipStreamEndCapture(stream, &graph));
  CHECK(hipGraphInstantiate(&ready, graph, nullptr, nullptr, 0));
  for (int step = 0; step < steps; step += 2) CHECK(hipGraphLaunch(ready, stream));
  CHECK(hipStreamSynchronize(stream));
  CHECK(hipMemcpy2D(grid.data(), row, field[0], pitch, row, n, hipMemcpyDeviceToHost));
  for (int y = 1; y < n - 1; y++)
    for (int x = 1; x < n - 1; x++) {
      const double *it = &grid[y * n + x];
      if (std::fabs(*it - 0.25 * (it[-1] + it[1] + it[-n] + it[n])) > 1e-4) return 2;
    }
  CHECK(hipGraphExecDestroy(ready));
  CHECK(hipGraphDestroy(graph));
  CHECK(hipStreamDestroy(stream));
  for (auto it : field) CHECK(hipFree(it));
  puts("all right");
}
