// Streams captured into a graph with a fork and a join, which is launched four times.
#include "check.h"

__global__ void add(int *x, int n, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += by;
}

int main() {
  const int n = 512;
  std::vector<int> zeros(n, 0), result(2 * n);
  int *a = on_device(zeros), *b = on_device(zeros), *pinned;
  CHECK(cudaMallocHost(&pinned, 2 * n * sizeof(int)));
  cudaStream_t first, second;
  cudaEvent_t forked, joined;
  CHECK(cudaStreamCreate(&first));
  CHECK(cudaStreamCreate(&second));
  CHECK(cudaEventCreate(&forked));
  CHECK(cudaEventCreate(&joined));
  CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  cudaStreamCaptureStatus state;
  CHECK(cudaStreamIsCapturing(first, &state));
  EXPECT(state == cudaStreamCaptureStatusActive);
  add<<<2, 256, 0, first>>>(a, n, 1);
  CHECK(cudaEventRecord(forked, first));
  CHECK(cudaStreamWaitEvent(second, forked, 0));
  add<<<2, 256, 0, second>>>(b, n, 10);
  add<<<2, 256, 0, first>>>(a, n, 2);
  CHECK(cudaEventRecord(joined, second));
  CHECK(cudaStreamWaitEvent(first, joined, 0));
  CHECK(cudaMemcpyAsync(pinned, a, n * sizeof(int), cudaMemcpyDeviceToHost, first));
  CHECK(cudaMemcpyAsync(pinned + n, b, n * sizeof(int), cudaMemcpyDeviceToHost, first));
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(first, &graph));
  CHECK(cudaStreamIsCapturing(second, &state));
  EXPECT(state == cudaStreamCaptureStatusNone);
  for (int found : to_host(a, n)) EXPECT(found == 0);  // nothing has happened yet
  cudaGraphExec_t executable;
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < 4; i++) CHECK(cudaGraphLaunch(executable, first));
  CHECK(cudaStreamSynchronize(first));
  for (int i = 0; i < n; i++) EXPECT(pinned[i] == 12 && pinned[n + i] == 40);
  CHECK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphDestroy(graph));
}
