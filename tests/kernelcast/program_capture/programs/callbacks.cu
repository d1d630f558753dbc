// Functions of the host in a stream: they come in turn, and see what was copied before them.
#include "check.h"

__global__ void square(int *x, int n) {
  int i = threadIdx.x;
  if (i < n) x[i] *= x[i];
}

static int order, first_at, second_at, seen;
static int *pinned;

static void first(void *data) {
  first_at = ++order;
  seen = pinned[*(int *)data];
}
static void CUDART_CB second(cudaStream_t, cudaError_t status, void *data) {
  second_at = ++order;
  *(cudaError_t *)data = status;
}

int main() {
  const int n = 32;
  int *x, which = 7;
  cudaError_t told = cudaErrorUnknown;
  CHECK(cudaMallocHost(&pinned, n * sizeof(int)));
  CHECK(cudaMalloc(&x, n * sizeof(int)));
  for (int i = 0; i < n; i++) pinned[i] = i;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMemcpyAsync(x, pinned, n * sizeof(int), cudaMemcpyHostToDevice, stream));
  square<<<1, n, 0, stream>>>(x, n);
  CHECK(cudaMemcpyAsync(pinned, x, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaLaunchHostFunc(stream, first, &which));
  CHECK(cudaStreamAddCallback(stream, second, &told, 0));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(first_at == 1 && second_at == 2);
  EXPECT(seen == 49 && told == cudaSuccess);
}
