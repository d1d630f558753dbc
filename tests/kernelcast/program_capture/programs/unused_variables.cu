// Variables that no kernel uses: the program reads and writes them all the same.
#include "check.h"

__device__ int numbers[4] = {1, 2, 3, 4};
__device__ int *pointer = &numbers[2];
__constant__ float factors[2];
__managed__ int counter = 5;

__global__ void store(int *x, int value) { *x = value; }

int main() {
  EXPECT(counter++ == 5);
  float given[] = {1.5f, 2}, read[2];
  CHECK(cudaMemcpyToSymbol(factors, given, sizeof given));
  CHECK(cudaMemcpyFromSymbol(read, factors, sizeof read));
  EXPECT(read[0] == 1.5f && read[1] == 2);
  int found[4], *place, *address;
  CHECK(cudaMemcpyFromSymbol(found, numbers, sizeof found));
  EXPECT(found[0] == 1 && found[3] == 4);
  CHECK(cudaGetSymbolAddress((void **)&place, numbers));
  CHECK(cudaMemcpyFromSymbol(&address, pointer, sizeof address));
  EXPECT(address == place + 2);
  store<<<1, 1>>>(place + 1, 20);
  store<<<1, 1>>>(&counter, 17);
  CHECK(cudaMemcpyFromSymbol(found, numbers, sizeof found));
  EXPECT(found[1] == 20 && counter == 17);
}
