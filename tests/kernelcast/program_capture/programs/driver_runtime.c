/* The runtime and the driver in one process: each takes what the other one has made. */
#include "driver.h"

int cudaMalloc(void **, size_t);
int cudaStreamCreate(object *);
int cudaMemcpyAsync(void *, const void *, size_t, int, object);
int cudaEventCreate(object *);
int cudaMallocArray(object *, const void *, size_t, size_t, unsigned);
int cudaFree(void *);

enum { COUNT = 100, BYTES = 4 * COUNT };

int main(int count, char **words) {
  EXPECT(count == 2);
  unsigned host[COUNT], back[COUNT], number = COUNT;
  pointer memory;
  object context, stream, event, array;
  for (unsigned i = 0; i < COUNT; i++) host[i] = i;
  CHECK(cudaMalloc((void **)&memory, BYTES));
  CHECK(cuCtxGetCurrent(&context));
  EXPECT(context);
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaEventCreate(&event));
  CHECK(cudaMemcpyAsync((void *)memory, host, BYTES, 1, stream));
  object function = loaded(words[1], "scaled");
  void *arguments[] = {&memory, &memory, &number};
  CHECK(cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, stream, arguments, NULL));
  CHECK(cuEventRecord(event, stream));
  CHECK(cuEventSynchronize(event));
  CHECK(cuMemcpyDtoH_v2(back, memory, BYTES));
  for (unsigned i = 0; i < COUNT; i++) EXPECT(back[i] == 10 * i + 3);

  const int channels[5] = {32, 0, 0, 0, 1};
  struct { size_t width, height, depth; int format; unsigned channels, flags; } told;
  CHECK(cudaMallocArray(&array, channels, 20, 5, 0));
  CHECK(cuArray3DGetDescriptor_v2(&told, array));
  EXPECT(told.width == 20 && told.height == 5 && told.format == 3 && told.channels == 1);
  CHECK(cuMemcpyHtoA_v2(array, 0, host, BYTES));
  CHECK(cuMemcpyAtoH_v2(back, array, 0, BYTES));
  EXPECT(!memcmp(back, host, BYTES));
  CHECK(cuArrayDestroy(array));
  CHECK(cudaFree((void *)memory));
  puts("all right");
  return 0;
}
