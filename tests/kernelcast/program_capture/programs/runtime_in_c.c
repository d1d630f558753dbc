/* A program in C that launches nothing: copies between all kinds of memory, and errors. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(condition)                                                     \
  if (!(condition)) {                                                         \
    fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
    exit(1);                                                                  \
  }

int main(void) {
  enum { BYTES = 100000 };
  unsigned char *host = malloc(BYTES), *back = malloc(BYTES);
  void *first, *second, *pinned;
  for (int i = 0; i < BYTES; i++) host[i] = (unsigned char)(i * 31);
  EXPECT(!cudaMalloc(&first, BYTES) && !cudaMalloc(&second, BYTES));
  EXPECT(!cudaMallocHost(&pinned, BYTES));
  EXPECT(!cudaMemcpy(first, host, BYTES, cudaMemcpyHostToDevice));
  EXPECT(!cudaMemcpy(second, first, BYTES, cudaMemcpyDeviceToDevice));
  EXPECT(!cudaMemcpy(pinned, second, BYTES, cudaMemcpyDefault));
  EXPECT(!cudaMemcpy(back, pinned, BYTES, cudaMemcpyHostToHost));
  EXPECT(!memcmp(host, back, BYTES));
  EXPECT(!cudaMemset((char *)first + 10, 0x5a, 20));
  EXPECT(!cudaMemcpy(back, first, 40, cudaMemcpyDeviceToHost));
  EXPECT(back[9] == host[9] && back[10] == 0x5a && back[29] == 0x5a && back[30] == host[30]);
  EXPECT(cudaMemcpy(back, first, BYTES + 1, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  EXPECT(cudaPeekAtLastError() == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue && cudaGetLastError() == cudaSuccess);
  EXPECT(cudaMemcpy(back, first, 8, (enum cudaMemcpyKind)17) == cudaErrorInvalidMemcpyDirection);
  EXPECT(cudaFree(host) == cudaErrorInvalidValue);
  EXPECT(cudaMalloc(&second, (size_t)1 << 45) == cudaErrorMemoryAllocation);
  EXPECT(!strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory"));
  EXPECT(!cudaFree(first) && !cudaFree(NULL));
  EXPECT(cudaFree(first) == cudaErrorInvalidValue);
  EXPECT(!cudaFreeHost(pinned) && !cudaFreeHost(NULL));
  EXPECT(!cudaDeviceSynchronize());
  return 0;
}
