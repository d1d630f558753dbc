// Arguments of all sizes and alignments, large structs by value, and grids of three dimensions.
#include "check.h"

struct Large {
  int values[900];
};
struct __align__(16) Odd {
  char letter;
  double number;
  short last[3];
};

__global__ void large(Large from, int *to) { to[threadIdx.x] = from.values[threadIdx.x * 3]; }
__global__ void many(int *to, char a, short b, long long c, double d, float4 e, bool f, int3 g, Odd h) {
  to[0] = a + b + (int)(c >> 40) + (int)d + (int)e.w + f + g.z;
  to[1] = h.letter + (int)h.number + h.last[2];
}
__global__ void number(int *to) {
  int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  to[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 100 + thread;
}
__global__ void nothing() {}

int main() {
  int *to;
  CHECK(cudaMalloc(&to, 4096 * sizeof(int)));
  Large given;
  for (int i = 0; i < 900; i++) given.values[i] = i * i;
  large<<<1, 300>>>(given, to);
  std::vector<int> found = to_host(to, 300);
  for (int i = 0; i < 300; i++) EXPECT(found[i] == 9 * i * i);
  many<<<1, 1>>>(to, 1, -2, 3ll << 40, 4.5, make_float4(0, 0, 0, 6), true, make_int3(1, 2, 7),
                 Odd{'x', 2.5, {0, 0, -9}});
  found = to_host(to, 2);
  EXPECT(found[0] == 1 - 2 + 3 + 4 + 6 + 1 + 7 && found[1] == 'x' + 2 - 9);
  number<<<dim3(2, 3, 4), dim3(4, 2, 2)>>>(to);
  found = to_host(to, 2 * 3 * 4 * 16);
  for (int i = 0; i < 2 * 3 * 4 * 16; i++) EXPECT(found[i] == i / 16 * 100 + i % 16);
  void *none[] = {nullptr};
  CHECK(cudaLaunchKernel((const void *)nothing, dim3(1), dim3(32), none, 0, 0));
  cudaFunction_t function;
  CHECK(cudaGetFuncBySymbol(&function, (const void *)nothing));
  size_t offset, size;
  CHECK(cudaFuncGetParamInfo((const void *)large, 1, &offset, &size));
  EXPECT(offset == sizeof(Large) && size == sizeof(int *));
}
