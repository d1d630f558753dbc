// Variables of the module: constant and global memory, read and written by name and by address.
#include "check.h"

struct Facts {
  float factor;
  int offset[3];
};
__constant__ Facts facts;
__constant__ float table[4] = {1, 2, 4, 8};
__device__ int counter = 7;
__device__ float results[64];
static __device__ double own = 0.5;

__global__ void use() {
  int i = threadIdx.x;
  results[i] = facts.factor * table[i % 4] + facts.offset[i % 3];
  atomicAdd(&counter, 1);
  if (!i) own *= 2;
}

int main() {
  Facts given = {3, {10, 20, 30}};
  CHECK(cudaMemcpyToSymbol(facts, &given, sizeof given));
  use<<<1, 64>>>();
  float found[64];
  int count;
  double read;
  CHECK(cudaMemcpyFromSymbol(found, results, sizeof found));
  CHECK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
  CHECK(cudaMemcpyFromSymbol(&read, own, sizeof read));
  for (int i = 0; i < 64; i++) EXPECT(found[i] == 3 * (1 << i % 4) + 10 * (i % 3 + 1));
  EXPECT(count == 71 && read == 1);
  int middle = 200;
  CHECK(cudaMemcpyToSymbol(facts, &middle, sizeof middle, offsetof(Facts, offset) + 4));
  float *where, twice = 16;
  CHECK(cudaGetSymbolAddress((void **)&where, table));
  CHECK(cudaMemcpy(where + 3, &twice, sizeof twice, cudaMemcpyHostToDevice));
  size_t size;
  CHECK(cudaGetSymbolSize(&size, results));
  EXPECT(size == sizeof found);
  use<<<1, 64>>>();
  CHECK(cudaMemcpyFromSymbol(found, results, sizeof found));
  EXPECT(found[1] == 3 * 2 + 200 && found[3] == 3 * 16 + 10);
  CHECK(cudaMemcpyFromSymbol(&read, own, sizeof read));
  EXPECT(read == 2);
  CHECK(cudaMemset(where, 0, sizeof table));
  EXPECT(cudaMemcpyToSymbol(facts, found, sizeof found) == cudaErrorInvalidValue);
}
