// Threads of the host, each with the default stream of its own (--default-stream per-thread).
#include <thread>

#include "check.h"

__global__ void add(int *x, int n, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += by;
}

static void work(int number, bool *right) {
  const int n = 256;
  std::vector<int> in(n, number);
  int *x = on_device(in);
  for (int i = 0; i < 5; i++) add<<<1, n>>>(x, n, number);
  CHECK(cudaGetLastError());
  CHECK(cudaStreamSynchronize(0));
  *right = true;
  for (int value : to_host(x, n)) *right = *right && value == 6 * number;
  cudaEvent_t event;
  CHECK(cudaEventCreate(&event));
  CHECK(cudaEventRecord(event, 0));
  CHECK(cudaEventSynchronize(event));
  CHECK(cudaMemsetAsync(x, 0, n * sizeof(int), 0));
  CHECK(cudaFree(x));
}

int main() {
  const int count = 6;
  bool right[count] = {};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; i++) threads.emplace_back(work, i + 1, &right[i]);
  for (std::thread &thread : threads) thread.join();
  for (bool one : right) EXPECT(one);
}
