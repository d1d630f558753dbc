// Four streams with copies of their own, events between them, and times that make sense.
#include "check.h"

__global__ void scale(float *x, int n, float by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= by;
}

int main() {
  const int streams = 4, n = 4096;
  cudaStream_t stream[streams], last;
  cudaEvent_t begin, end, ready[streams];
  float *host, *device;
  CHECK(cudaMallocHost(&host, streams * n * sizeof(float)));
  CHECK(cudaMalloc(&device, streams * n * sizeof(float)));
  for (int i = 0; i < streams * n; i++) host[i] = i % 17;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  int least, greatest;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  CHECK(cudaStreamCreateWithPriority(&last, cudaStreamNonBlocking, greatest));
  CHECK(cudaEventRecord(begin));
  for (int s = 0; s < streams; s++) {
    CHECK(cudaStreamCreateWithFlags(&stream[s], s % 2 ? cudaStreamNonBlocking : cudaStreamDefault));
    CHECK(cudaEventCreateWithFlags(&ready[s], cudaEventDisableTiming));
    float *part = device + s * n;
    CHECK(cudaMemcpyAsync(part, host + s * n, n * sizeof(float), cudaMemcpyHostToDevice, stream[s]));
    scale<<<n / 256, 256, 0, stream[s]>>>(part, n, s + 1.0f);
    CHECK(cudaEventRecord(ready[s], stream[s]));
    CHECK(cudaStreamWaitEvent(last, ready[s], 0));
  }
  scale<<<streams * n / 256, 256, 0, last>>>(device, streams * n, 2.0f);
  CHECK(cudaMemcpyAsync(host, device, streams * n * sizeof(float), cudaMemcpyDeviceToHost, last));
  CHECK(cudaEventRecord(end, last));
  CHECK(cudaEventSynchronize(end));
  CHECK(cudaEventQuery(end));
  CHECK(cudaStreamSynchronize(last));
  CHECK(cudaStreamQuery(last));
  for (int i = 0; i < streams * n; i++) EXPECT(host[i] == (i % 17) * 2.0f * (i / n + 1));
  float ms = -1;
  CHECK(cudaEventElapsedTime(&ms, begin, end));
  EXPECT(ms > 0.005f && ms < 10.0f);
  for (int s = 0; s < streams; s++) {
    EXPECT(cudaEventElapsedTime(&ms, ready[s], end) == cudaErrorInvalidResourceHandle);
    CHECK(cudaStreamDestroy(stream[s]));
    CHECK(cudaEventDestroy(ready[s]));
  }
  cudaGetLastError();
  CHECK(cudaFreeHost(host));
  CHECK(cudaDeviceReset());
}
