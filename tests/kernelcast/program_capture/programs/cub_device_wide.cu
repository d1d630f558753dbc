// cub: radix sort of pairs, exclusive sums and block-wide reductions.
#include <cub/cub.cuh>

#include "check.h"

__global__ void block_sums(const int *in, int *out) {
  using Reduce = cub::BlockReduce<int, 128>;
  __shared__ typename Reduce::TempStorage room;
  int sum = Reduce(room).Sum(in[blockIdx.x * 128 + threadIdx.x]);
  if (!threadIdx.x) out[blockIdx.x] = sum;
}

int main() {
  const int n = 1280;
  std::vector<unsigned> keys(n);
  std::vector<int> values(n);
  for (int i = 0; i < n; i++) keys[i] = i * 2654435761u, values[i] = i;
  unsigned *from_keys = on_device(keys), *to_keys = on_device(keys);
  int *from = on_device(values), *to = on_device(values);
  void *room = nullptr;
  size_t bytes = 0;
  CHECK(cub::DeviceRadixSort::SortPairs(room, bytes, from_keys, to_keys, from, to, n));
  CHECK(cudaMalloc(&room, bytes));
  CHECK(cub::DeviceRadixSort::SortPairs(room, bytes, from_keys, to_keys, from, to, n));
  std::vector<unsigned> sorted = to_host(to_keys, n);
  std::vector<int> moved = to_host(to, n);
  for (int i = 0; i < n; i++) {
    EXPECT(sorted[i] == keys[moved[i]]);
    EXPECT(!i || sorted[i - 1] < sorted[i]);
  }
  void *other_room = nullptr;
  CHECK(cub::DeviceScan::ExclusiveSum(other_room, bytes, from, to, n));
  CHECK(cudaMalloc(&other_room, bytes));
  CHECK(cub::DeviceScan::ExclusiveSum(other_room, bytes, from, to, n));
  std::vector<int> found = to_host(to, n);
  for (int i = 0; i < n; i++) EXPECT(found[i] == i * (i - 1) / 2);
  block_sums<<<n / 128, 128>>>(from, to);
  found = to_host(to, n / 128);
  for (int i = 0; i < n / 128; i++) EXPECT(found[i] == 128 * 128 * i + 127 * 64);
}
